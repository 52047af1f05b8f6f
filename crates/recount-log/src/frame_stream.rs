//! A reader as a stream.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use crate::Error;
use crate::reader::Reader;
use crate::subscription::Frame;

type NextFrame = Pin<Box<dyn Future<Output = (Reader, Result<Frame, Error>)> + Send>>;

/// The frames of a session as a [`Stream`], as returned by [`Session::follow`](crate::Session::follow).
///
/// The stream has no end while the log is open. After an error it ends.
pub struct FrameStream {
    next: Option<NextFrame>,
}

impl FrameStream {
    pub(crate) fn new(reader: Reader) -> Self {
        Self { next: Some(next_frame(reader)) }
    }
}

fn next_frame(mut reader: Reader) -> NextFrame {
    Box::pin(async move {
        let frame = reader.next().await;
        (reader, frame)
    })
}

impl Stream for FrameStream {
    type Item = Result<Frame, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(next) = &mut self.next else { return Poll::Ready(None) };
        let (reader, frame) = ready!(next.as_mut().poll(context));
        self.next = frame.is_ok().then(|| next_frame(reader));
        Poll::Ready(Some(frame))
    }
}

impl fmt::Debug for FrameStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameStream").field("has_ended", &self.next.is_none()).finish()
    }
}
