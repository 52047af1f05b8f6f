//! Failures have a class and close all blocks.

use std::time::Duration;

use http::{HeaderName, HeaderValue};
use pretty_assertions::assert_eq;
use recount_message::{FinishedReason, TextBlock};
use recount_model::Provider;
use recount_model::client::{Retries, Timeouts};
use recount_model::decode::{CallErrorKind, DecodeOptions};
use tokio::net::TcpListener;

use crate::server::{ScriptedResponse, Server};
use crate::support::{KEY, TestCall, call, chat, chunk, hello_response, model, model_without_server};

/// Calls a server that sends one response.
async fn once(answer: ScriptedResponse) -> TestCall {
    let server = Server::start([answer]).await;
    call(&model(Provider::OpenAi, &server).retries(Retries::none())).await
}

#[tokio::test]
async fn status_determines_error_class() {
    for (status, class) in [
        (400, "invalid_request"),
        (401, "authentication"),
        (402, "permission"),
        (403, "permission"),
        (404, "invalid_request"),
        (408, "connection"),
        (409, "invalid_request"),
        (413, "invalid_request"),
        (422, "invalid_request"),
        (429, "rate_limit"),
        (500, "upstream"),
        (503, "upstream"),
        (529, "upstream"),
    ] {
        let result = once(ScriptedResponse::status(status, r#"{"error":{"message":"no","type":"some_error"}}"#)).await;
        assert_eq!(result.error(), (CallErrorKind::Provider, class, format!("{status}: no")));
        assert_eq!(result.message.finished_reason(), Some(FinishedReason::Error));
        assert_eq!(result.message.error().unwrap().kind.as_str(), class);
    }
}

#[tokio::test]
async fn error_hides_echoed_api_key() {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    let result = once(ScriptedResponse::status(401, body)).await;
    assert_eq!(result.error().2, "401: Incorrect API key provided: ***");
    let in_the_stream = format!("data: {{\"error\":{{\"message\":\"bad {KEY}\"}}}}\n\n");
    assert_eq!(once(ScriptedResponse::ok(in_the_stream)).await.error().2, "bad ***");
}

#[tokio::test]
async fn error_hides_echoed_header() {
    let server = Server::start([ScriptedResponse::status(403, "no entry with ticket-1234567")]).await;
    let ticket = HeaderValue::from_static("ticket-1234567");
    let model = model(Provider::OpenAi, &server).header(HeaderName::from_static("x-ticket"), ticket);
    assert_eq!(call(&model).await.error().2, "403: no entry with ***");
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let elsewhere = Server::start([ScriptedResponse::ok(hello_response())]).await;
    let result =
        once(ScriptedResponse::status(307, "").header("location", &format!("{}/?secret", elsewhere.url()))).await;
    assert_eq!(result.error().1, "invalid_request");
    assert_eq!(result.error().2, format!("307: redirect to {}/ was not followed", elsewhere.url()));
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn broken_stream_keeps_received_text() {
    let result = once(ScriptedResponse::cut(chunk("Once upon a"))).await;
    assert_eq!(result.text(), "Once upon a");
    assert_eq!((result.error().0, result.error().1), (CallErrorKind::Unreachable, "connection"));
    assert!(result.message.first::<TextBlock>().unwrap().extra.contains_key("cut"));
}

#[tokio::test]
async fn early_end_of_stream_is_truncated() {
    let result = once(ScriptedResponse::ok(chunk("Once upon a"))).await;
    assert_eq!((result.error().0, result.error().1), (CallErrorKind::Truncated, "connection"));
    assert!(result.outcome.end.is_truncated());
}

#[tokio::test]
async fn broken_connection_after_end_is_ignored() {
    let result = once(ScriptedResponse::cut(hello_response())).await;
    assert_eq!((result.text().as_str(), result.outcome.is_complete()), ("Hello", true));
}

#[tokio::test]
async fn invalid_response_is_malformed() {
    for body in ["data: {\"choices\": oops\n\n", "<html>Welcome to the hotel</html>", "data: \u{1}\n\n"] {
        let result = once(ScriptedResponse::ok(body)).await;
        assert_eq!((result.error().0, result.error().1), (CallErrorKind::Malformed, "upstream"), "{body}");
    }
    let result = once(ScriptedResponse::ok([chunk("Hel").as_bytes(), b"data: \xff\xfe\n\n"].concat())).await;
    assert_eq!((result.text().as_str(), result.error().0), ("Hel", CallErrorKind::Malformed));
}

#[tokio::test]
async fn empty_response_is_truncated() {
    assert_eq!(once(ScriptedResponse::ok("")).await.error().0, CallErrorKind::Truncated);
}

#[tokio::test]
async fn oversized_response_is_rejected() {
    let long = "x".repeat(5_000);
    for options in [
        DecodeOptions { max_event_bytes: 1_000, ..DecodeOptions::default() },
        DecodeOptions { max_response_bytes: 1_000, ..DecodeOptions::default() },
    ] {
        let server = Server::start([ScriptedResponse::pieces(chat(&["short", &long]).as_bytes(), 512)]).await;
        let result = call(&model(Provider::OpenAi, &server).decoding(options)).await;
        assert_eq!((result.error().0, result.error().1), (CallErrorKind::TooLarge, "upstream"));
        assert_eq!(result.text(), "short");
    }
}

#[tokio::test]
async fn error_body_is_limited() {
    let result = once(ScriptedResponse::status(500, "x".repeat(1 << 20))).await;
    assert!(result.error().2.len() < 2_000);
}

#[tokio::test]
async fn connection_refused_names_address() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let model = model_without_server(Provider::OpenAi).base_url(&format!("http://{address}")).unwrap();
    let result = call(&model).await;
    assert_eq!((result.error().0, result.error().1), (CallErrorKind::Unreachable, "connection"));
    let message = result.error().2;
    assert!(message.starts_with(&format!("cannot connect to http://{address}: ")), "{message}");
    assert_eq!(result.outcome.requests, 3);
}

#[tokio::test]
async fn closed_connection_is_unreachable() {
    let result = once(ScriptedResponse::nothing()).await;
    assert_eq!((result.error().0, result.error().1), (CallErrorKind::Unreachable, "connection"));
}

#[tokio::test]
async fn first_byte_timeout_names_address() {
    let server = Server::start([ScriptedResponse::silence()]).await;
    let timeouts = Timeouts { first_byte: Duration::from_millis(20), ..Timeouts::default() };
    let result = call(&model(Provider::OpenAi, &server).timeouts(timeouts).retries(Retries::none())).await;
    assert_eq!((result.error().0, result.error().1), (CallErrorKind::TimedOut, "connection"));
    assert_eq!(result.error().2, format!("no data from {} for 20ms", server.url()));
}

#[tokio::test]
async fn chunk_timeout_keeps_received_text() {
    let server = Server::start([ScriptedResponse::stuck(chunk("Once upon a"))]).await;
    let timeouts = Timeouts { between_chunks: Duration::from_millis(20), ..Timeouts::default() };
    let result = call(&model(Provider::OpenAi, &server).timeouts(timeouts)).await;
    assert_eq!(result.text(), "Once upon a");
    assert_eq!((result.error().0, result.error().1), (CallErrorKind::TimedOut, "connection"));
    assert_eq!(result.outcome.requests, 1);
    server.closed().await;
}
