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
/// What readers hear, once, who have been told everything that was there.
const LIVE: &[u8] = b": live\n\n";

/// The headers of a stream. Proxies are told to hand on each piece as it comes.
const HEADERS: [(&str, &str); 3] = [
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-store, no-transform"),
    ("x-accel-buffering", "no"),
];

/// What the AI SDK knows its streams by.
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

/// Begins to read a session, as its client asks; nothing where there is nothing to wait for.
pub(crate) async fn open(
    app: &App,
    caller: Caller,
    session: Session,
    params: &Params,
    headers: &HeaderMap,
) -> Result<Option<SseReader>, Problem> {
    let style = params.stream_format(Framing::Sse)?;
    let from = match headers.get("last-event-id").filter(|id| !id.is_empty()) {
        // What a browser sends along is its memory, and not something that anybody could mend.
        Some(id) => match id.to_str().ok().and_then(|id| id.parse().ok()) {
            Some(cursor) => StartPosition::Log(Start::After(cursor)),
            None => StartPosition::InvalidCursor,
        },
        None => StartPosition::Log(parse_start(params.get("after"))?),
    };
    let reply = params.get("reply");
    let source = if style.target == Target::FrontEnd(FrontEnd::AiSdk) {
        let which = match (reply, from) {
            (Some(id), _) => ReplySelector::ById(id),
            (None, StartPosition::InvalidCursor | StartPosition::Log(Start::Snapshot)) => ReplySelector::Running,
            (None, StartPosition::Log(start)) => ReplySelector::FromPosition(start),
        };
        match ReplyReader::begin(&session, &style, which).await? {
            Some(reply) => Source::Reply(Box::new(reply)),
            None => return Ok(None),
        }
    } else if reply.is_some() {
        return Err(Problem::bad_field("reply", "only a stream of the dialect `ai-sdk` is of one reply"));
    } else {
        let is_from_now = from == StartPosition::Log(Start::Now);
        Source::Session { follow: Subscriber::begin(app.feeds(), session, style, from).await?, is_from_now }
    };
    let (beat, _counted) = (app.heartbeat().subscribe(), app.metrics().reader("sse"));
    Ok(Some(SseReader { app: app.clone(), caller, source, beat, _counted }))
}

/// Where a client wants to begin.
pub(crate) fn parse_start(after: Option<&str>) -> Result<Start, Problem> {
    match after {
        None | Some("") => Ok(Start::Snapshot),
        Some("start") => Ok(Start::Beginning),
        Some("now") => Ok(Start::Now),
        Some(text) => text.parse().map(Start::After).map_err(|_| Problem::bad_cursor("after", text)),
    }
}

/// What is read.
#[derive(Debug)]
enum Source {
    Session {
        follow: Subscriber,
        /// Whether the client asked for what comes now, so that it has no place to come back to before it is told one.
        is_from_now: bool,
    },
    Reply(Box<ReplyReader>),
}

impl Source {
    /// What comes next, if there is something to send; nothing means that it is over. A connection may be lent.
    async fn next(&mut self, connection: Option<&Arc<TcpStream>>) -> Result<Option<Bytes>, Error> {
        match self {
            Self::Reply(reply) => reply.next().await,
            Self::Session { follow, is_from_now } => {
                let next = match connection {
                    Some(connection) => follow.next_lending(connection).await?,
                    None => follow.next().await?.into(),
                };
                Ok(Some(match next {
                    SseDelivery::Frames(bytes) => bytes,
                    SseDelivery::Live(cursor) if *is_from_now => format!(": live\nid: {cursor}\n\n").into(),
                    SseDelivery::Live(_) => Bytes::from_static(LIVE),
                }))
            }
        }
    }

    /// Takes a connection back, and gives what has to be sent before anything else.
    fn recall(&mut self) -> Option<Bytes> {
        match self {
            Self::Session { follow, .. } => follow.recall(),
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
    beat: watch::Receiver<()>,
    _counted: GaugeGuard,
}

impl SseReader {
    /// The headers of what is read.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let own = matches!(self.source, Source::Reply(_)).then_some(UI_MESSAGE_STREAM);
        HEADERS.into_iter().chain(own)
    }

    /// What to send next; nothing means that the stream is over. Until there is something, the connection may be written to
    /// by others.
    pub(crate) async fn next(&mut self, connection: Option<&Arc<TcpStream>>) -> Option<Bytes> {
        tokio::select! {
            biased;
            () = self.app.closing().cancelled() => None,
            // EncoderState what there is to tell, of which there may always be more.
            beat = self.beat.changed() => {
                let goes_on = beat.is_ok() && self.caller.is_authorized(&self.app);
                // What is left of something else is as good a sign of life.
                goes_on.then(|| self.source.recall().unwrap_or(Bytes::from_static(HEARTBEAT)))
            }
            // After an error the client comes back, and is told what there is to tell.
            next = self.source.next(connection) => next.ok().flatten(),
        }
    }
}

/// The same as a stream, for the body of a response.
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
