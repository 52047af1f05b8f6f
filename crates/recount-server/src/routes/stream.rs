//! A session as server-sent events.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::IntoResponse as _;
use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderMap, HeaderValue, StatusCode};
use recount_dialect::{FrontEnd, Target};
use recount_log::{Error, Session, Start};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::RouteResult;
use crate::app::App;
use crate::auth::Caller;
use crate::call::Call;
use crate::fanout::{Framing, ReplyReader, ReplySelector, SseDelivery, StartPosition, Subscriber};
use crate::metrics::GaugeGuard;
use crate::params::Params;
use crate::problem::Problem;

/// The path of the route. The parameter `{id}` is the name of the session.
pub(crate) const PATH: &str = "/v1/sessions/{id}/stream";

/// The frame that idle readers receive at each heartbeat.
const HEARTBEAT: &[u8] = b":\n\n";
/// The frame, sent once, that separates existing entries from new ones.
const LIVE: &[u8] = b": live\n\n";

/// The response headers of a stream. They turn off buffering in proxies.
const HEADERS: [(&str, &str); 3] = [
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-store, no-transform"),
    ("x-accel-buffering", "no"),
];

/// The header by which the AI SDK recognizes its streams.
const UI_MESSAGE_STREAM: (&str, &str) = ("x-vercel-ai-ui-message-stream", "v1");

/// `GET /v1/sessions/{id}/stream`
pub(super) async fn get(call: Call) -> RouteResult {
    let session = call.session().await?;
    let reader = open(&call.app, call.caller.clone(), session, &call.params, call.headers()).await?;
    let Some(reader) = reader else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let headers: Vec<_> = reader.headers().collect();
    let mut response = (StatusCode::OK, Body::from_stream(Frames::of(reader))).into_response();
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// Opens a session for reading. Returns `None` if the client asked for the running reply and there is none.
pub(crate) async fn open(
    app: &App,
    caller: Caller,
    session: Session,
    params: &Params,
    headers: &HeaderMap,
) -> Result<Option<SseReader>, Problem> {
    let format = params.stream_format(Framing::Sse)?;
    let start = match headers.get("last-event-id").filter(|id| !id.is_empty()) {
        // Browsers send this header themselves, so an invalid value is a gap and not an error of the caller.
        Some(id) => match id.to_str().ok().and_then(|id| id.parse().ok()) {
            Some(cursor) => StartPosition::Log(Start::After(cursor)),
            None => StartPosition::InvalidCursor,
        },
        None => StartPosition::Log(parse_start(params.get("after"))?),
    };
    let reply = params.get("reply");
    let source = if format.target == Target::FrontEnd(FrontEnd::AiSdk) {
        let selector = match (reply, start) {
            (Some(id), _) => ReplySelector::ById(id),
            (None, StartPosition::InvalidCursor | StartPosition::Log(Start::Snapshot)) => ReplySelector::Running,
            (None, StartPosition::Log(start)) => ReplySelector::FromPosition(start),
        };
        match ReplyReader::open(&session, &format, selector).await? {
            Some(reply) => Source::Reply(Box::new(reply)),
            None => return Ok(None),
        }
    } else if reply.is_some() {
        return Err(Problem::bad_field("reply", "`reply` requires the dialect `ai-sdk`"));
    } else {
        let starts_now = start == StartPosition::Log(Start::Now);
        Source::Session { subscriber: Subscriber::subscribe(app.feeds(), session, format, start).await?, starts_now }
    };
    let (heartbeat, _gauge) = (app.heartbeat().subscribe(), app.metrics().reader("sse"));
    Ok(Some(SseReader { app: app.clone(), caller, source, heartbeat, _gauge }))
}

/// Parses the parameter `after`. Without it, a reader starts with a snapshot.
pub(crate) fn parse_start(after: Option<&str>) -> Result<Start, Problem> {
    match after {
        None | Some("") => Ok(Start::Snapshot),
        Some("start") => Ok(Start::Beginning),
        Some("now") => Ok(Start::Now),
        Some(text) => text.parse().map(Start::After).map_err(|_| Problem::bad_cursor("after", text)),
    }
}

/// The source of the frames of a stream.
#[derive(Debug)]
enum Source {
    Session {
        subscriber: Subscriber,
        /// Whether the client asked for new entries only. It receives the current cursor, to have one to reconnect with.
        starts_now: bool,
    },
    Reply(Box<ReplyReader>),
}

impl Source {
    /// Waits for the next frames; `None` when the source has ended. With a socket, the feed may write to it directly.
    async fn next(&mut self, socket: Option<&Arc<TcpStream>>) -> Result<Option<Bytes>, Error> {
        match self {
            Self::Reply(reply) => reply.next().await,
            Self::Session { subscriber, starts_now } => {
                let next = match socket {
                    Some(socket) => subscriber.next_with_direct_write(socket).await?,
                    None => subscriber.next().await?.into(),
                };
                Ok(Some(match next {
                    SseDelivery::Frames(bytes) => bytes,
                    SseDelivery::Live(cursor) if *starts_now => format!(": live\nid: {cursor}\n\n").into(),
                    SseDelivery::Live(_) => Bytes::from_static(LIVE),
                }))
            }
        }
    }

    /// Takes the socket back. Returns the bytes that must be sent before anything else.
    fn reclaim(&mut self) -> Option<Bytes> {
        match self {
            Self::Session { subscriber, .. } => subscriber.reclaim(),
            Self::Reply(_) => None,
        }
    }
}

/// Reads a session as server-sent events.
#[derive(Debug)]
pub(crate) struct SseReader {
    app: App,
    caller: Caller,
    source: Source,
    heartbeat: watch::Receiver<()>,
    _gauge: GaugeGuard,
}

impl SseReader {
    /// Returns the response headers of the stream.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let protocol = matches!(self.source, Source::Reply(_)).then_some(UI_MESSAGE_STREAM);
        HEADERS.into_iter().chain(protocol)
    }

    /// Waits for the next bytes; `None` when the stream is over. With a socket, the feed may write to it directly in the
    /// meantime.
    pub(crate) async fn next(&mut self, socket: Option<&Arc<TcpStream>>) -> Option<Bytes> {
        tokio::select! {
            biased;
            () = self.app.closing().cancelled() => None,
            // Before frames, of which there may always be more.
            beat = self.heartbeat.changed() => {
                let is_open = beat.is_ok() && self.caller.is_authorized(&self.app);
                // Unsent bytes are as good as a heartbeat.
                is_open.then(|| self.source.reclaim().unwrap_or(Bytes::from_static(HEARTBEAT)))
            }
            // After an error the client reconnects and receives the cause as a response.
            next = self.source.next(socket) => next.ok().flatten(),
        }
    }
}

/// An [`SseReader`] as the body of a response.
struct Frames(Pin<Box<dyn Stream<Item = Result<Bytes, std::convert::Infallible>> + Send>>);

impl Frames {
    fn of(reader: SseReader) -> Self {
        let frames = futures_util::stream::unfold(reader, async |mut reader| {
            let bytes = reader.next(None).await?;
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
