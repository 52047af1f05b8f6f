//! A session as server-sent events.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::IntoResponse as _;
use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderMap, HeaderValue, StatusCode};
use recount_log::{Session, Start};
use tokio::sync::watch;

use super::Answer;
use crate::app::App;
use crate::call::Call;
use crate::fanout::{Follow, Framing, From, Next};
use crate::guard::Caller;
use crate::metrics::Counted;
use crate::params::Params;
use crate::problem::Problem;

/// What readers hear who would hear nothing otherwise.
const HEARTBEAT: &[u8] = b":\n\n";

/// The headers of a stream. Proxies are told to hand on each piece as it comes.
pub(crate) const HEADERS: [(&str, &str); 3] = [
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-store, no-transform"),
    ("x-accel-buffering", "no"),
];

/// `GET /v1/sessions/{id}/stream`
pub(super) async fn get(call: Call) -> Answer {
    let session = call.session().await?;
    let reader = open(&call.app, call.caller.clone(), session, &call.params, call.headers()).await?;
    let mut response = (StatusCode::OK, Body::from_stream(Frames::of(reader))).into_response();
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// Begins to read a session, as its client asks.
pub(crate) async fn open(
    app: &App,
    caller: Caller,
    session: Session,
    params: &Params,
    headers: &HeaderMap,
) -> Result<SseReader, Problem> {
    params.check()?;
    let style = params.style(Framing::Sse)?;
    let from = match headers.get("last-event-id").filter(|id| !id.is_empty()) {
        // What a browser sends along is its memory, and not something that anybody could mend.
        Some(id) => match id.to_str().ok().and_then(|id| id.parse().ok()) {
            Some(cursor) => From::Log(Start::After(cursor)),
            None => From::Unreadable,
        },
        None => From::Log(read_start(params.get("after"))?),
    };
    let follow = Follow::begin(app.feeds(), session, style, from).await?;
    let (beat, _counted) = (app.heartbeat().subscribe(), app.metrics().reader("sse"));
    Ok(SseReader { app: app.clone(), caller, follow, beat, _counted })
}

/// Where a client wants to begin.
pub(crate) fn read_start(after: Option<&str>) -> Result<Start, Problem> {
    match after {
        None | Some("") => Ok(Start::Snapshot),
        Some("start") => Ok(Start::Beginning),
        Some("now") => Ok(Start::Now),
        Some(text) => text.parse().map(Start::After).map_err(|_| Problem::bad_cursor("after", text)),
    }
}

/// Reads a session as server-sent events.
#[derive(Debug)]
pub(crate) struct SseReader {
    app: App,
    caller: Caller,
    follow: Follow,
    beat: watch::Receiver<()>,
    _counted: Counted,
}

impl SseReader {
    /// What to send next; nothing means that the stream is over.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        loop {
            tokio::select! {
                biased;
                () = self.app.closing().cancelled() => return None,
                // Before what there is to tell, of which there may always be more.
                beat = self.beat.changed() => {
                    let goes_on = beat.is_ok() && self.caller.is_welcome(&self.app);
                    return goes_on.then(|| Bytes::from_static(HEARTBEAT));
                }
                next = self.follow.next() => match next {
                    Ok(Next::Frames(slice)) => return Some(slice.bytes()),
                    Ok(Next::Live(_)) => {}
                    // The client comes back, and is told what there is to tell.
                    Err(_) => return None,
                },
            }
        }
    }
}

/// The same as a stream, for the body of a response.
struct Frames(Pin<Box<dyn Stream<Item = Result<Bytes, std::convert::Infallible>> + Send>>);

impl Frames {
    fn of(reader: SseReader) -> Self {
        let frames = futures_util::stream::unfold(reader, async |mut reader| {
            let bytes = reader.next().await?;
            Some((Ok(bytes), reader))
        });
        Self(Box::pin(frames))
    }
}

impl Stream for Frames {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}
