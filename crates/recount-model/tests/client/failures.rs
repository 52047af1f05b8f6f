//! What goes wrong ends in a class, and with closed blocks.

use std::time::Duration;

use http::{HeaderName, HeaderValue};
use pretty_assertions::assert_eq;
use recount_message::{FinishedReason, TextBlock};
use recount_model::Provider;
use recount_model::client::{Retries, Timeouts};
use recount_model::decode::{CallErrorKind, DecodeOptions};
use tokio::net::TcpListener;

use crate::asking::{Answered, KEY, ask, bare, chat, chunk, hello, model};
use crate::server::{Answer, Server};

/// Asks a server for one answer.
async fn once(answer: Answer) -> Answered {
    let server = Server::start([answer]).await;
    ask(&model(Provider::OpenAi, &server).retries(Retries::none())).await
}

#[tokio::test]
async fn statuses_have_classes() {
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
        let answered = once(Answer::status(status, r#"{"error":{"message":"no","type":"some_error"}}"#)).await;
        assert_eq!(answered.error(), (CallErrorKind::Provider, class, format!("{status}: no")));
        assert_eq!(answered.message.finished_reason(), Some(FinishedReason::Error));
        assert_eq!(answered.message.error().unwrap().kind.as_str(), class);
    }
}

#[tokio::test]
async fn a_key_that_the_provider_repeats_is_hidden() {
    let said = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    let answered = once(Answer::status(401, said)).await;
    assert_eq!(answered.error().2, "401: Incorrect API key provided: ***");
    let in_the_stream = format!("data: {{\"error\":{{\"message\":\"bad {KEY}\"}}}}\n\n");
    assert_eq!(once(Answer::ok(in_the_stream)).await.error().2, "bad ***");
}

#[tokio::test]
async fn a_header_that_the_provider_repeats_is_hidden() {
    let server = Server::start([Answer::status(403, "no entry with ticket-1234567")]).await;
    let ticket = HeaderValue::from_static("ticket-1234567");
    let model = model(Provider::OpenAi, &server).header(HeaderName::from_static("x-ticket"), ticket);
    assert_eq!(ask(&model).await.error().2, "403: no entry with ***");
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let elsewhere = Server::start([Answer::ok(hello())]).await;
    let answered = once(Answer::status(307, "").header("location", &format!("{}/?secret", elsewhere.url()))).await;
    assert_eq!(answered.error().1, "invalid_request");
    assert_eq!(answered.error().2, format!("307: redirect to {}/ was not followed", elsewhere.url()));
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn a_cut_stream_keeps_what_was_said() {
    let answered = once(Answer::cut(chunk("Once upon a"))).await;
    assert_eq!(answered.text(), "Once upon a");
    assert_eq!((answered.error().0, answered.error().1), (CallErrorKind::Unreachable, "connection"));
    assert!(answered.message.first::<TextBlock>().unwrap().extra.contains_key("cut"));
}

#[tokio::test]
async fn a_stream_that_ends_too_early_is_truncated() {
    let answered = once(Answer::ok(chunk("Once upon a"))).await;
    assert_eq!((answered.error().0, answered.error().1), (CallErrorKind::Truncated, "connection"));
    assert!(answered.outcome.end.is_truncated());
}

#[tokio::test]
async fn a_cut_after_the_end_does_no_harm() {
    let answered = once(Answer::cut(hello())).await;
    assert_eq!((answered.text().as_str(), answered.outcome.is_complete()), ("Hello", true));
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error() {
    for body in ["data: {\"choices\": oops\n\n", "<html>Welcome to the hotel</html>", "data: \u{1}\n\n"] {
        let answered = once(Answer::ok(body)).await;
        assert_eq!((answered.error().0, answered.error().1), (CallErrorKind::Malformed, "upstream"), "{body}");
    }
    let answered = once(Answer::ok([chunk("Hel").as_bytes(), b"data: \xff\xfe\n\n"].concat())).await;
    assert_eq!((answered.text().as_str(), answered.error().0), ("Hel", CallErrorKind::Malformed));
}

#[tokio::test]
async fn an_empty_answer_is_truncated() {
    assert_eq!(once(Answer::ok("")).await.error().0, CallErrorKind::Truncated);
}

#[tokio::test]
async fn too_much_is_an_error() {
    let long = "x".repeat(5_000);
    for options in [
        DecodeOptions { max_event_bytes: 1_000, ..DecodeOptions::default() },
        DecodeOptions { max_response_bytes: 1_000, ..DecodeOptions::default() },
    ] {
        let server = Server::start([Answer::pieces(chat(&["short", &long]).as_bytes(), 512)]).await;
        let answered = ask(&model(Provider::OpenAi, &server).decoding(options)).await;
        assert_eq!((answered.error().0, answered.error().1), (CallErrorKind::TooLarge, "upstream"));
        assert_eq!(answered.text(), "short");
    }
}

#[tokio::test]
async fn an_error_without_end_is_read_only_so_far() {
    let answered = once(Answer::status(500, "x".repeat(1 << 20))).await;
    assert!(answered.error().2.len() < 2_000);
}

#[tokio::test]
async fn nobody_listens() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let model = bare(Provider::OpenAi).base_url(&format!("http://{address}")).unwrap();
    let answered = ask(&model).await;
    assert_eq!((answered.error().0, answered.error().1), (CallErrorKind::Unreachable, "connection"));
    let message = answered.error().2;
    assert!(message.starts_with(&format!("cannot connect to http://{address}: ")), "{message}");
    assert_eq!(answered.outcome.requests, 3);
}

#[tokio::test]
async fn the_connection_is_closed_instead_of_an_answer() {
    let answered = once(Answer::nothing()).await;
    assert_eq!((answered.error().0, answered.error().1), (CallErrorKind::Unreachable, "connection"));
}

#[tokio::test]
async fn nothing_comes() {
    let server = Server::start([Answer::silence()]).await;
    let timeouts = Timeouts { first_byte: Duration::from_millis(20), ..Timeouts::default() };
    let answered = ask(&model(Provider::OpenAi, &server).timeouts(timeouts).retries(Retries::none())).await;
    assert_eq!((answered.error().0, answered.error().1), (CallErrorKind::TimedOut, "connection"));
    assert_eq!(answered.error().2, format!("no data from {} for 20ms", server.url()));
}

#[tokio::test]
async fn nothing_more_comes() {
    let server = Server::start([Answer::stuck(chunk("Once upon a"))]).await;
    let timeouts = Timeouts { between_chunks: Duration::from_millis(20), ..Timeouts::default() };
    let answered = ask(&model(Provider::OpenAi, &server).timeouts(timeouts)).await;
    assert_eq!(answered.text(), "Once upon a");
    assert_eq!((answered.error().0, answered.error().1), (CallErrorKind::TimedOut, "connection"));
    assert_eq!(answered.outcome.requests, 1);
    server.closed().await;
}
