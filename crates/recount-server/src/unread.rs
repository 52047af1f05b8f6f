//! Bodies that nobody reads to their end.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt as _;

/// For so long a client goes on sending what nobody wants.
const PATIENCE: Duration = Duration::from_secs(2);

/// A body whose rest is read and thrown away when nobody wants it any more.
///
/// A request may be refused before its body has come. If the connection were closed then, the client could lose the answer,
/// or find out only with its next request.
#[derive(Debug)]
pub(crate) struct Unread {
    body: Body,
    /// How much more is read at most.
    most: usize,
}

impl Unread {
    /// A body of which, in the end, so many bytes are read that nobody wants.
    pub(crate) fn up_to(most: usize, body: Body) -> Body {
        if body.is_end_stream() { body } else { Body::new(Self { body, most }) }
    }
}

impl http_body::Body for Unread {
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

impl Drop for Unread {
    fn drop(&mut self) {
        let body = std::mem::replace(&mut self.body, Body::empty());
        let is_hopeless = body.size_hint().lower() > self.most as u64;
        if body.is_end_stream() || is_hopeless || tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        tokio::spawn(tokio::time::timeout(PATIENCE, throw_away(body, self.most)));
    }
}

async fn throw_away(mut body: Body, most: usize) {
    let mut read = 0;
    while let Some(Ok(frame)) = body.frame().await {
        read += frame.data_ref().map_or(0, Bytes::len);
        if read > most {
            return;
        }
    }
}
