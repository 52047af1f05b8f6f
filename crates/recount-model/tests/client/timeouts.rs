//! Timeouts, with a paused clock.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use pretty_assertions::assert_eq;
use recount_message::Msg;
use recount_model::Provider;
use recount_model::client::{Body, BoxFuture, CallOptions, Model, Retries, Transport, TransportError};
use recount_model::decode::CallErrorKind;
use tokio::time::{Instant, sleep};

use crate::support::{TestCall, call_with, chunk, hello_response, model_without_server};

/// A transport with a delay before the head and before each chunk.
#[derive(Debug, Clone)]
struct Slow {
    head: Duration,
    pieces: Vec<(Duration, String)>,
}

struct SlowBody(VecDeque<(Duration, String)>);

impl Transport for Slow {
    fn send(
        &self,
        _request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Box<dyn Body>>, TransportError>> {
        Box::pin(async {
            sleep(self.head).await;
            Ok(http::Response::new(Box::new(SlowBody(self.pieces.clone().into())) as Box<dyn Body>))
        })
    }
}

impl Body for SlowBody {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, TransportError>> {
        Box::pin(async {
            let Some((wait, piece)) = self.0.pop_front() else { return Ok(None) };
            sleep(wait).await;
            Ok(Some(Bytes::from(piece)))
        })
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Calls the model and returns the elapsed seconds.
async fn call(slow: Slow, options: &CallOptions) -> (TestCall, u64) {
    let model: Model = model_without_server(Provider::OpenAi).retries(Retries::none()).transport(slow);
    let began = Instant::now();
    let result = call_with(&model, &[Msg::user("Alice", "Hello")], options).await;
    (result, began.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn slow_response_completes_within_chunk_timeout() {
    let pieces =
        hello_response().split_inclusive("\n\n").map(|piece| (seconds(119), piece.to_owned())).collect::<Vec<_>>();
    let count = pieces.len() as u64;
    let (result, took) = call(Slow { head: seconds(0), pieces }, &CallOptions::new()).await;
    assert_eq!((result.text().as_str(), took), ("Hello", count * 119));
}

#[tokio::test(start_paused = true)]
async fn first_byte_timeout_covers_head_and_first_chunk() {
    let slow = Slow { head: seconds(100), pieces: vec![(seconds(100), hello_response())] };
    let (result, took) = call(slow, &CallOptions::new()).await;
    assert_eq!((result.error().0, result.error().1, took), (CallErrorKind::TimedOut, "connection", 120));
}

#[tokio::test(start_paused = true)]
async fn chunk_timeout_ends_the_call() {
    let pieces = vec![(seconds(100), chunk("Hel")), (seconds(121), chunk("lo"))];
    let (result, took) = call(Slow { head: seconds(0), pieces }, &CallOptions::new()).await;
    assert_eq!((result.text().as_str(), result.error().0, took), ("Hel", CallErrorKind::TimedOut, 220));
}

#[tokio::test(start_paused = true)]
async fn unstreamed_response_has_longer_timeout() {
    let body = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    let slow = Slow { head: seconds(599), pieces: vec![(seconds(0), body.to_owned())] };
    let (result, took) = call(slow, &CallOptions::new().unstreamed()).await;
    assert_eq!((result.text().as_str(), took), ("Hello", 599));
}
