//! Request bodies that are drained when they are dropped.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt as _;

/// The time limit for draining a body.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// A body whose unread rest is read and discarded on drop.
///
/// A request may be rejected before its body has arrived. If the connection were closed at that moment, the client could lose
/// the response to a connection reset.
#[derive(Debug)]
pub(crate) struct DrainBody {
    body: Body,
    /// The maximum number of bytes to discard.
    limit: usize,
}

impl DrainBody {
    /// Wraps a body so that up to `limit` unread bytes are discarded when it is dropped.
    pub(crate) fn wrap(limit: usize, body: Body) -> Body {
        if body.is_end_stream() { body } else { Body::new(Self { body, limit }) }
    }
}

impl http_body::Body for DrainBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for DrainBody {
    fn drop(&mut self) {
        let body = std::mem::replace(&mut self.body, Body::empty());
        let exceeds_limit = body.size_hint().lower() > self.limit as u64;
        if body.is_end_stream() || exceeds_limit || tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        tokio::spawn(tokio::time::timeout(DRAIN_TIMEOUT, discard(body, self.limit)));
    }
}

async fn discard(mut body: Body, limit: usize) {
    let mut discarded = 0;
    while let Some(Ok(frame)) = body.frame().await {
        discarded += frame.data_ref().map_or(0, Bytes::len);
        if discarded > limit {
            return;
        }
    }
}
