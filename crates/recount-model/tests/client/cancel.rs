//! Cancelled calls close their connection.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use pretty_assertions::assert_eq;
use recount_message::{AgentEvent, FinishedReason, Msg, ReplyWriter, Stamps};
use recount_model::Provider;
use recount_model::client::{CallOptions, CancellationToken};
use recount_model::decode::CallErrorKind;

use crate::server::{ScriptedResponse, Server};
use crate::support::{call_with, chunk, model};

#[tokio::test]
async fn token_cancels_during_response() {
    let server = Server::start([ScriptedResponse::stuck(chunk("Once upon a"))]).await;
    let token = CancellationToken::new();
    let options = CallOptions::new().cancelled_by(token.clone());
    let mut events = Vec::new();
    let stop_at_the_first_word = |event: AgentEvent| {
        if event.type_name() == "TEXT_BLOCK_DELTA" {
            token.cancel();
        }
        events.push(event);
    };
    let reply = ReplyWriter::start(stop_at_the_first_word, Stamps::repeatable(), "s1", "Friday");
    let (message, outcome) = model(Provider::OpenAi, &server).reply(&[Msg::user("Alice", "Hi")], &options, reply).await;
    server.closed().await;
    assert!(outcome.is_cancelled());
    assert_eq!(message.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(message.text().as_deref(), Some("Once upon a"));
    let types: Vec<&str> = events.iter().map(AgentEvent::type_name).collect();
    assert_eq!(
        types,
        [
            "REPLY_START",
            "MODEL_CALL_START",
            "TEXT_BLOCK_START",
            "TEXT_BLOCK_DELTA",
            "TEXT_BLOCK_END",
            "MODEL_CALL_END",
            "REPLY_END",
        ]
    );
}

#[tokio::test]
async fn token_cancels_before_response() {
    let server = Server::start([ScriptedResponse::silence()]).await;
    let token = CancellationToken::new();
    let options = CallOptions::new().cancelled_by(token.clone());
    let model = model(Provider::OpenAi, &server).fallback(model(Provider::OpenAi, &server));
    let stop_when_asked = async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let messages = [Msg::user("Alice", "Hi")];
    let (result, ()) = tokio::join!(call_with(&model, &messages, &options), stop_when_asked);
    assert_eq!(result.error().0, CallErrorKind::Cancelled);
    assert_eq!(result.message.finished_reason(), Some(FinishedReason::Interrupted));
    server.closed().await;
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn dropping_the_call_closes_the_connection() {
    let server = Server::start([ScriptedResponse::stuck(chunk("Once upon a"))]).await;
    let model = model(Provider::OpenAi, &server);
    let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    let messages = [Msg::user("Alice", "Hi")];
    let options = CallOptions::new();
    {
        let mut call = pin!(model.call(&messages, &options, &mut reply));
        std::future::poll_fn(|cx| {
            assert!(call.as_mut().poll(cx).is_pending());
            if server.requests().is_empty() {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(())
        })
        .await;
    }
    server.closed().await;
    reply.interrupt_model_call(None);
    assert!(!reply.has_ended());
}
