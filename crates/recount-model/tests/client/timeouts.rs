//! How long a call waits, by a clock that is stopped.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use pretty_assertions::assert_eq;
use recount_message::Msg;
use recount_model::Provider;
use recount_model::client::{Body, BoxFuture, CallOptions, Model, Retries, Transport, TransportError};
use recount_model::decode::CallErrorKind;
use tokio::time::{Instant, sleep};

use crate::asking::{Answered, ask_with, bare, chunk, hello};

/// A provider that takes its time: for the head of its answer, and before each piece of it.
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

/// Asks, and says how many seconds it took.
async fn ask(slow: Slow, options: &CallOptions) -> (Answered, u64) {
    let model: Model = bare(Provider::OpenAi).retries(Retries::none()).transport(slow);
    let began = Instant::now();
    let answered = ask_with(&model, &[Msg::user("Alice", "Hello")], options).await;
    (answered, began.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_is_an_answer() {
    let pieces = hello().split_inclusive("\n\n").map(|piece| (seconds(119), piece.to_owned())).collect::<Vec<_>>();
    let count = pieces.len() as u64;
    let (answered, took) = ask(Slow { head: seconds(0), pieces }, &CallOptions::new()).await;
    assert_eq!((answered.text().as_str(), took), ("Hello", count * 119));
}

#[tokio::test(start_paused = true)]
async fn head_and_first_piece_share_their_time() {
    let slow = Slow { head: seconds(100), pieces: vec![(seconds(100), hello())] };
    let (answered, took) = ask(slow, &CallOptions::new()).await;
    assert_eq!((answered.error().0, answered.error().1, took), (CallErrorKind::TimedOut, "connection", 120));
}

#[tokio::test(start_paused = true)]
async fn silence_in_the_middle_ends_it() {
    let pieces = vec![(seconds(100), chunk("Hel")), (seconds(121), chunk("lo"))];
    let (answered, took) = ask(Slow { head: seconds(0), pieces }, &CallOptions::new()).await;
    assert_eq!((answered.text().as_str(), answered.error().0, took), ("Hel", CallErrorKind::TimedOut, 220));
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_one_piece_may_take_longer() {
    let body = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    let slow = Slow { head: seconds(599), pieces: vec![(seconds(0), body.to_owned())] };
    let (answered, took) = ask(slow, &CallOptions::new().unstreamed()).await;
    assert_eq!((answered.text().as_str(), took), ("Hello", 599));
}
