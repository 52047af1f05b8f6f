//! A reply as a stream.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use recount_message::{AgentEvent, EventKind, Msg, ReplyFold};

use crate::BoxFuture;
use crate::agent::Shared;
use crate::error::Error;

/// A reply as a stream of events. The reply only progresses while the stream is read.
///
/// Dropping the stream before its end interrupts the reply: all blocks are ended, and all calls get results.
#[must_use = "a reply only progresses while it is read"]
pub struct ReplyStream {
    shared: Arc<Shared>,
    reply_id: String,
    /// The future that runs the reply. `None` after its end.
    work: Option<BoxFuture<'static, Result<Msg, Error>>>,
    outcome: Option<Result<Msg, Error>>,
    /// The resumed reply, as it was before.
    resumed_from: Option<ReplyFold>,
}

impl ReplyStream {
    pub(crate) fn new(
        shared: Arc<Shared>,
        reply_id: String,
        work: BoxFuture<'static, Result<Msg, Error>>,
        resumed_from: Option<ReplyFold>,
    ) -> Self {
        Self { shared, reply_id, work: Some(work), outcome: None, resumed_from }
    }

    /// Returns the id of the reply. The stream also contains the replies of [sub-agents](crate::multi_agent::SubAgent),
    /// which have other ids.
    #[must_use]
    pub fn reply_id(&self) -> &str {
        &self.reply_id
    }

    /// Returns the next event. `None` if the reply has ended or waits for an answer.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        std::future::poll_fn(|context| self.poll_event(context)).await
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        loop {
            if let Some(event) = self.shared.lock().next_event() {
                return Poll::Ready(Some(event));
            }
            let Some(work) = &mut self.work else { return Poll::Ready(None) };
            self.shared.lock().set_waker(context.waker());
            match work.as_mut().poll(context) {
                Poll::Ready(outcome) => {
                    self.outcome = Some(outcome);
                    self.work = None;
                }
                Poll::Pending => {
                    let event = self.shared.lock().next_event();
                    return event.map_or(Poll::Pending, |event| Poll::Ready(Some(event)));
                }
            }
        }
    }

    /// Runs the reply until it ends or waits for an answer, and returns its message. A waiting reply is not finished.
    ///
    /// # Errors
    ///
    /// Fails if the reply has failed, or if it was interrupted and
    /// [`raise_on_interrupt`](crate::AgentBuilder::raise_on_interrupt) is set.
    pub async fn into_msg(mut self) -> Result<Msg, Error> {
        self.shared.lock().set_has_reader(false);
        if let Some(work) = self.work.as_mut() {
            self.outcome = Some(work.await);
            self.work = None;
        }
        match self.outcome.take() {
            Some(outcome) => outcome,
            // Unreachable: the outcome is set when the future completes.
            None => Err(Error::Rejected(crate::InputRejection::NothingWaiting)),
        }
    }

    /// Converts the stream to a stream of text deltas.
    pub fn text(self) -> TextStream {
        TextStream { stream: self }
    }

    /// Converts the stream to a stream of messages, one after each event.
    pub fn messages(mut self) -> MessageStream {
        let fold = self.resumed_from.take();
        MessageStream { stream: self, fold }
    }
}

// Events that are written while the reply is closed must not reach the next stream.
impl Drop for ReplyStream {
    fn drop(&mut self) {
        if self.work.is_some() {
            self.shared.lock().set_has_reader(false);
            self.work = None;
        }
    }
}

impl Stream for ReplyStream {
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_event(context)
    }
}

impl std::fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplyStream").field("is_over", &self.work.is_none()).finish_non_exhaustive()
    }
}

/// The text deltas of a reply: see [`ReplyStream::text`].
#[derive(Debug)]
#[must_use = "a reply only progresses while it is read"]
pub struct TextStream {
    stream: ReplyStream,
}

impl TextStream {
    /// Returns the next text delta. `None` if the reply has ended or waits for an answer.
    pub async fn next(&mut self) -> Option<String> {
        std::future::poll_fn(|context| self.poll_text(context)).await
    }

    fn poll_text(&mut self, context: &mut Context<'_>) -> Poll<Option<String>> {
        loop {
            match self.stream.poll_event(context) {
                Poll::Ready(Some(event)) => {
                    if let EventKind::TextBlockDelta(delta) = event.kind
                        && delta.reply_id == self.stream.reply_id
                    {
                        return Poll::Ready(Some(delta.delta.into_owned()));
                    }
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Runs the reply until it ends or waits for an answer, and returns its message. See [`ReplyStream::into_msg`].
    ///
    /// # Errors
    ///
    /// Same as [`ReplyStream::into_msg`].
    pub async fn into_msg(self) -> Result<Msg, Error> {
        self.stream.into_msg().await
    }
}

impl Stream for TextStream {
    type Item = String;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_text(context)
    }
}

/// The message of a reply after each event: see [`ReplyStream::messages`].
#[derive(Debug)]
#[must_use = "a reply only progresses while it is read"]
pub struct MessageStream {
    stream: ReplyStream,
    fold: Option<ReplyFold>,
}

impl MessageStream {
    /// Returns the message after the next event. `None` if the reply has ended or waits for an answer.
    pub async fn next(&mut self) -> Option<Msg> {
        std::future::poll_fn(|context| self.poll_message(context)).await
    }

    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Option<Msg>> {
        loop {
            match self.stream.poll_event(context) {
                Poll::Ready(Some(event)) => {
                    if event.reply_id().is_some_and(|id| id != self.stream.reply_id) {
                        continue;
                    }
                    if let Some(fold) = &mut self.fold {
                        let _ = fold.apply(&event);
                    } else {
                        self.fold = ReplyFold::start(&event);
                    }
                    if let Some(fold) = &self.fold {
                        return Poll::Ready(Some(fold.message().clone()));
                    }
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Runs the reply until it ends or waits for an answer, and returns its message. See [`ReplyStream::into_msg`].
    ///
    /// # Errors
    ///
    /// Same as [`ReplyStream::into_msg`].
    pub async fn into_msg(self) -> Result<Msg, Error> {
        self.stream.into_msg().await
    }
}

impl Stream for MessageStream {
    type Item = Msg;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_message(context)
    }
}
