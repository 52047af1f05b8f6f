//! A reply as it comes.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use recount_message::{AgentEvent, EventKind, Msg, ReplyFold};

use crate::BoxFuture;
use crate::agent::Shared;
use crate::error::Error;

/// A reply as it comes, event by event. It goes on as long as it is read.
///
/// When it is dropped before its end, the reply ends as interrupted, with every block closed and every call answered.
#[must_use = "a reply goes on only as long as it is read"]
pub struct ReplyStream {
    shared: Arc<Shared>,
    reply_id: String,
    /// The reply that is worked on, until it has come to its end.
    work: Option<BoxFuture<'static, Result<Msg, Error>>>,
    outcome: Option<Result<Msg, Error>>,
    /// The reply as it stood when it was taken up again.
    taken_up: Option<ReplyFold>,
}

impl ReplyStream {
    pub(crate) fn new(
        shared: Arc<Shared>,
        reply_id: String,
        work: BoxFuture<'static, Result<Msg, Error>>,
        taken_up: Option<ReplyFold>,
    ) -> Self {
        Self { shared, reply_id, work: Some(work), outcome: None, taken_up }
    }

    /// The id of the reply. Events of other replies are of [agents](crate::multi_agent::SubAgent) that work on it.
    #[must_use]
    pub fn reply_id(&self) -> &str {
        &self.reply_id
    }

    /// The next event; nothing when the reply has ended or waits.
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

    /// Reads the rest and gives the message. It is not finished when the reply waits for somebody.
    ///
    /// # Errors
    ///
    /// When the reply failed, or was interrupted and the agent is set to say so.
    pub async fn into_msg(mut self) -> Result<Msg, Error> {
        self.shared.lock().set_reader(false);
        if let Some(work) = self.work.as_mut() {
            self.outcome = Some(work.await);
            self.work = None;
        }
        match self.outcome.take() {
            Some(outcome) => outcome,
            // The work is taken only to be replaced by its outcome.
            None => Err(Error::Rejected(crate::InputRejection::NothingWaiting)),
        }
    }

    /// The text of the answer, as it comes.
    pub fn text(self) -> TextStream {
        TextStream { stream: self }
    }

    /// The message after each event.
    pub fn messages(mut self) -> MessageStream {
        let fold = self.taken_up.take();
        MessageStream { stream: self, fold }
    }
}

/// What a reply says when it ends with its stream is for its log, and not for whoever reads the next one.
impl Drop for ReplyStream {
    fn drop(&mut self) {
        if self.work.is_some() {
            self.shared.lock().set_reader(false);
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

/// The text of a reply, as it comes: see [`ReplyStream::text`].
#[derive(Debug)]
#[must_use = "a reply goes on only as long as it is read"]
pub struct TextStream {
    stream: ReplyStream,
}

impl TextStream {
    /// The next piece of text.
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

    /// Reads the rest and gives the message, as [`ReplyStream::into_msg`].
    ///
    /// # Errors
    ///
    /// When the reply failed.
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
#[must_use = "a reply goes on only as long as it is read"]
pub struct MessageStream {
    stream: ReplyStream,
    fold: Option<ReplyFold>,
}

impl MessageStream {
    /// The message after the next event.
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

    /// Reads the rest and gives the message, as [`ReplyStream::into_msg`].
    ///
    /// # Errors
    ///
    /// When the reply failed.
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
