//! Error responses that no route generates.
//!
//! Hyper rejects a request that is not valid HTTP before it is routed, with an empty body. [`ProblemRewriter`] adds the problem
//! JSON that all other errors have.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::problem::{MEDIA_TYPE, Problem};

/// Returns a problem as a complete HTTP/1.1 response with `connection: close`.
pub(super) fn error_response(problem: &Problem) -> String {
    let (status, body) = (problem.status(), problem.to_json());
    let mut response = format!("HTTP/1.1 {} {}\r\n", status.as_u16(), status.canonical_reason().unwrap_or("Error"));
    for (name, value) in problem.headers() {
        response.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap_or_default()));
    }
    response.push_str(&format!(
        "content-type: {MEDIA_TYPE}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ));
    response
}

/// A connection whose empty 4xx responses are replaced by problem JSON.
#[derive(Debug)]
pub(super) struct ProblemRewriter<S> {
    stream: S,
    /// The part of a replacement that is not written yet.
    pending: Bytes,
}

impl<S> ProblemRewriter<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, pending: Bytes::new() }
    }
}

/// Returns the replacement for a response, if it is a 4xx response without a body. No route returns one.
fn rewrite(response: &[u8]) -> Option<String> {
    let text = response.strip_prefix(b"HTTP/1.1 4").and_then(|_| std::str::from_utf8(response).ok())?;
    if !text.contains("\r\ncontent-length: 0\r\n") || !text.ends_with("\r\n\r\n") {
        return None;
    }
    let status = StatusCode::from_bytes(text.get(9..12)?.as_bytes()).ok()?;
    let problem = match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE | StatusCode::URI_TOO_LONG => {
            Problem::new(status, "too_large", "the request head is too large")
        }
        _ => Problem::new(status, "bad_request", "invalid HTTP/1.1 request"),
    };
    Some(error_response(&problem))
}

impl<S: AsyncWrite + Unpin> ProblemRewriter<S> {
    fn poll_pending(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.pending.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.pending))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.pending.advance(written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ProblemRewriter<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_pending(context))?;
        match rewrite(bytes) {
            // Written by the flush that follows.
            Some(response) => {
                self.pending = response.into();
                Poll::Ready(Ok(bytes.len()))
            }
            None => Pin::new(&mut self.stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match pieces {
            [only] => self.poll_write(context, only),
            _ => {
                ready!(self.poll_pending(context))?;
                Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_pending(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_pending(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ProblemRewriter<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}
