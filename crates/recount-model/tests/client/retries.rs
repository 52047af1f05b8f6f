//! What is tried again, how often and when.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use pretty_assertions::assert_eq;
use recount_message::Usage;
use recount_model::Provider;
use recount_model::client::{Body, BoxFuture, Model, Retries, Transport, TransportError};
use tokio::time::Instant;

use crate::asking::{KEY, ask, chunk, hello, model};
use crate::server::{Answer, Server};

#[tokio::test]
async fn what_passes_is_tried_again_and_told() {
    let server = Server::start([
        Answer::status(500, ""),
        Answer::status(429, "").header("retry-after", "0"),
        Answer::ok(hello()),
    ])
    .await;
    let answered = ask(&model(Provider::OpenAi, &server)).await;
    assert_eq!((answered.text().as_str(), answered.outcome.requests), ("Hello", 3));
    assert_eq!(
        answered.story(),
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
    let bodies: Vec<String> = server.asked().into_iter().map(|asked| asked.body).collect();
    assert!(bodies.iter().all(|body| *body == bodies[0]));
}

/// With two retries, the published package makes three times as many requests, because its parts retry by themselves.
#[tokio::test]
async fn retries_do_not_multiply() {
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
            let server = Server::start([Answer::status(status, "{}")]).await;
            let answered = ask(&model(provider, &server)).await;
            assert_eq!((answered.outcome.requests, server.asked().len()), (requests, requests as usize), "{status}");
        }
    }
}

#[tokio::test]
async fn the_provider_may_say_that_it_is_no_use() {
    let server = Server::start([Answer::status(500, "").header("x-should-retry", "false")]).await;
    assert_eq!(ask(&model(Provider::OpenAi, &server)).await.outcome.requests, 1);
    let broke = r#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#;
    let server = Server::start([Answer::status(429, broke)]).await;
    assert_eq!(ask(&model(Provider::OpenAi, &server)).await.outcome.requests, 1);
}

#[tokio::test]
async fn a_stream_that_breaks_before_anything_was_shown_is_tried_again() {
    let empty = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n";
    for broken in [
        Answer::cut(empty),
        Answer::ok(empty),
        Answer::ok("data: {\"error\":{\"message\":\"later\",\"type\":\"server_error\"}}\n\n"),
        // The beginning of a tag is held back until it is known to be none.
        Answer::cut(chunk("<thi")),
    ] {
        let server = Server::start([broken, Answer::ok(hello())]).await;
        let answered = ask(&model(Provider::OpenAi, &server)).await;
        assert_eq!((answered.text().as_str(), answered.outcome.requests), ("Hello", 2));
    }
}

#[tokio::test]
async fn the_tokens_of_a_failed_attempt_count_too() {
    let chunk = |usage: &str| format!("data: {{\"id\":\"c1\",\"choices\":[],\"usage\":{usage}}}\n\n");
    let spent = chunk(r#"{"prompt_tokens":10,"completion_tokens":1}"#);
    let said = hello()
        .replace("data: [DONE]", &format!("{}data: [DONE]", chunk(r#"{"prompt_tokens":10,"completion_tokens":2}"#)));
    let server = Server::start([Answer::ok(spent), Answer::ok(said)]).await;
    let answered = ask(&model(Provider::OpenAi, &server)).await;
    assert_eq!(answered.outcome.requests, 2);
    assert_eq!(answered.message.usage(), Some(&Usage::new(20, 3)));
}

#[tokio::test]
async fn once_something_was_shown_nothing_is_repeated() {
    let server = Server::start([Answer::cut(chunk("Hel")), Answer::ok(hello())]).await;
    let model = model(Provider::OpenAi, &server).fallback(model(Provider::OpenAi, &server));
    let answered = ask(&model).await;
    assert_eq!((answered.text().as_str(), answered.outcome.requests), ("Hel", 1));
    assert_eq!(answered.error().1, "connection");
}

/// Answers from a list, without a network, so that the clock can be stopped.
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
async fn retry_after_is_waited_for() {
    let began = Instant::now();
    let answered = ask(&listed([busy(Some("7")), busy(Some("13")), http::Response::new(hello())])).await;
    assert_eq!(answered.text(), "Hello");
    assert_eq!(began.elapsed().as_secs(), 20);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_an_hour() {
    let began = Instant::now();
    let answered = ask(&listed([busy(Some("3600")), http::Response::new(hello())])).await;
    assert_eq!((answered.error().1, answered.outcome.requests), ("rate_limit", 1));
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn waits_grow() {
    let began = Instant::now();
    let retries = Retries { max_retries: 4, ..Retries::default() };
    let answered = ask(&listed((0..5).map(|_| busy(None))).retries(retries)).await;
    assert_eq!(answered.outcome.requests, 5);
    let waited = began.elapsed();
    // Half a second, one, two and four, each up to twice as long.
    assert!(waited >= Duration::from_millis(7_500) && waited <= Duration::from_millis(15_010), "{waited:?}");
}
