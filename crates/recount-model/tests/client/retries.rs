//! Retries: which failures, how often and when.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use pretty_assertions::assert_eq;
use recount_message::Usage;
use recount_model::Provider;
use recount_model::client::{Body, BoxFuture, Model, Retries, Transport, TransportError};
use tokio::time::Instant;

use crate::server::{ScriptedResponse, Server};
use crate::support::{KEY, call, chunk, hello_response, model};

#[tokio::test]
async fn transient_failure_is_retried_and_signalled() {
    let server = Server::start([
        ScriptedResponse::status(500, ""),
        ScriptedResponse::status(429, "").header("retry-after", "0"),
        ScriptedResponse::ok(hello_response()),
    ])
    .await;
    let result = call(&model(Provider::OpenAi, &server)).await;
    assert_eq!((result.text().as_str(), result.outcome.requests), ("Hello", 3));
    assert_eq!(
        result.event_summary(),
        [
            "REPLY_START",
            "MODEL_CALL_START model-x",
            r#"recount.retry {"attempt":2,"model":"openai/model-x","class":"upstream"}"#,
            r#"recount.retry {"attempt":3,"model":"openai/model-x","class":"rate_limit"}"#,
            "TEXT_BLOCK_START",
            "TEXT_BLOCK_DELTA",
            "TEXT_BLOCK_DELTA",
            "TEXT_BLOCK_END",
            "MODEL_CALL_END",
            "REPLY_END",
        ]
    );
    let bodies: Vec<String> = server.requests().into_iter().map(|request| request.body).collect();
    assert!(bodies.iter().all(|body| *body == bodies[0]));
}

/// With two retries, the published package sends three times as many requests, because its parts retry on their own.
#[tokio::test]
async fn retry_limit_counts_requests() {
    for provider in Provider::ALL {
        for (status, requests) in [
            (400, 1),
            (401, 1),
            (403, 1),
            (404, 1),
            (408, 3),
            (409, 3),
            (422, 1),
            (429, 3),
            (500, 3),
            (503, 3),
            (529, 3),
        ] {
            let server = Server::start([ScriptedResponse::status(status, "{}")]).await;
            let result = call(&model(provider, &server)).await;
            assert_eq!((result.outcome.requests, server.requests().len()), (requests, requests as usize), "{status}");
        }
    }
}

#[tokio::test]
async fn should_retry_header_disables_retry() {
    let server = Server::start([ScriptedResponse::status(500, "").header("x-should-retry", "false")]).await;
    assert_eq!(call(&model(Provider::OpenAi, &server)).await.outcome.requests, 1);
    let broke = r#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#;
    let server = Server::start([ScriptedResponse::status(429, broke)]).await;
    assert_eq!(call(&model(Provider::OpenAi, &server)).await.outcome.requests, 1);
}

#[tokio::test]
async fn stream_broken_before_output_is_retried() {
    let empty = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n";
    for broken in [
        ScriptedResponse::cut(empty),
        ScriptedResponse::ok(empty),
        ScriptedResponse::ok("data: {\"error\":{\"message\":\"later\",\"type\":\"server_error\"}}\n\n"),
        // The start of a tag is buffered until it is known not to be one.
        ScriptedResponse::cut(chunk("<thi")),
    ] {
        let server = Server::start([broken, ScriptedResponse::ok(hello_response())]).await;
        let result = call(&model(Provider::OpenAi, &server)).await;
        assert_eq!((result.text().as_str(), result.outcome.requests), ("Hello", 2));
    }
}

#[tokio::test]
async fn usage_includes_failed_attempts() {
    let chunk = |usage: &str| format!("data: {{\"id\":\"c1\",\"choices\":[],\"usage\":{usage}}}\n\n");
    let spent = chunk(r#"{"prompt_tokens":10,"completion_tokens":1}"#);
    let response = hello_response()
        .replace("data: [DONE]", &format!("{}data: [DONE]", chunk(r#"{"prompt_tokens":10,"completion_tokens":2}"#)));
    let server = Server::start([ScriptedResponse::ok(spent), ScriptedResponse::ok(response)]).await;
    let result = call(&model(Provider::OpenAi, &server)).await;
    assert_eq!(result.outcome.requests, 2);
    assert_eq!(result.message.usage(), Some(&Usage::new(20, 3)));
}

#[tokio::test]
async fn stream_broken_after_output_is_not_retried() {
    let server = Server::start([ScriptedResponse::cut(chunk("Hel")), ScriptedResponse::ok(hello_response())]).await;
    let model = model(Provider::OpenAi, &server).fallback(model(Provider::OpenAi, &server));
    let result = call(&model).await;
    assert_eq!((result.text().as_str(), result.outcome.requests), ("Hel", 1));
    assert_eq!(result.error().1, "connection");
}

/// Returns responses from a list without a network, so that the clock can be paused.
struct Listed(Mutex<VecDeque<http::Response<String>>>);

impl Transport for Listed {
    fn send(
        &self,
        _request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Box<dyn Body>>, TransportError>> {
        let next = self.0.lock().unwrap().pop_front();
        let answer = next.map(|response| response.map(|body| Box::new(Bytes::from(body)) as Box<dyn Body>));
        Box::pin(async { answer.ok_or_else(|| TransportError::new("no more answers")) })
    }
}

fn listed(answers: impl IntoIterator<Item = http::Response<String>>) -> Model {
    let transport = Listed(Mutex::new(answers.into_iter().collect()));
    Model::with_environment(Provider::OpenAi, "model-x", |_| None).key(KEY).transport(transport)
}

fn busy(retry_after: Option<&str>) -> http::Response<String> {
    let mut response = http::Response::builder().status(429);
    if let Some(value) = retry_after {
        response = response.header("retry-after", value);
    }
    response.body(String::new()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn retry_after_delays_the_retry() {
    let began = Instant::now();
    let result = call(&listed([busy(Some("7")), busy(Some("13")), http::Response::new(hello_response())])).await;
    assert_eq!(result.text(), "Hello");
    assert_eq!(began.elapsed().as_secs(), 20);
}

#[tokio::test(start_paused = true)]
async fn long_retry_after_disables_retry() {
    let began = Instant::now();
    let result = call(&listed([busy(Some("3600")), http::Response::new(hello_response())])).await;
    assert_eq!((result.error().1, result.outcome.requests), ("rate_limit", 1));
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn delays_grow_exponentially() {
    let began = Instant::now();
    let retries = Retries { max_retries: 4, ..Retries::default() };
    let result = call(&listed((0..5).map(|_| busy(None))).retries(retries)).await;
    assert_eq!(result.outcome.requests, 5);
    let waited = began.elapsed();
    // 0.5, 1, 2 and 4 seconds, each with up to the same time as jitter.
    assert!(waited >= Duration::from_millis(7_500) && waited <= Duration::from_millis(15_010), "{waited:?}");
}
