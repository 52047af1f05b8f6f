//! Refusals that no route gives.
//!
//! What cannot be read as HTTP never comes to a route: hyper refuses it by itself, with a status and nothing else. Whoever reads
//! that is told as much as by every other error.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::problem::{MEDIA_TYPE, Problem};

/// A problem as the whole answer, after which the connection is closed.
pub(super) fn refusal(problem: &Problem) -> String {
    let (status, body) = (problem.status(), problem.to_json());
    let mut answer = format!("HTTP/1.1 {} {}\r\n", status.as_u16(), status.canonical_reason().unwrap_or("Error"));
    for (name, value) in problem.headers() {
        answer.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap_or_default()));
    }
    answer.push_str(&format!(
        "content-type: {MEDIA_TYPE}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ));
    answer
}

/// A connection on which refusals say what is wrong.
#[derive(Debug)]
pub(super) struct Explained<S> {
    stream: S,
    /// What is still to be written in place of a refusal.
    rest: Bytes,
}

impl<S> Explained<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, rest: Bytes::new() }
    }
}

/// What is said in place of an answer, if it is a refusal without a body. No route gives one.
fn explained(answer: &[u8]) -> Option<String> {
    let text = answer.strip_prefix(b"HTTP/1.1 4").and_then(|_| std::str::from_utf8(answer).ok())?;
    if !text.contains("\r\ncontent-length: 0\r\n") || !text.ends_with("\r\n\r\n") {
        return None;
    }
    let status = StatusCode::from_bytes(text.get(9..12)?.as_bytes()).ok()?;
    let problem = match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE | StatusCode::URI_TOO_LONG => {
            Problem::new(status, "too_large", "the head of the request is too large")
        }
        _ => Problem::new(status, "bad_request", "the request is no HTTP/1.1 that can be read"),
    };
    Some(refusal(&problem))
}

impl<S: AsyncWrite + Unpin> Explained<S> {
    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.rest.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.rest))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.rest.advance(written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Explained<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_rest(context))?;
        match explained(bytes) {
            // It is written when the connection is flushed, which follows.
            Some(answer) => {
                self.rest = answer.into();
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
                ready!(self.poll_rest(context))?;
                Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_rest(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_rest(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Explained<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}
