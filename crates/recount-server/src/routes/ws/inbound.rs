//! Messages from WebSocket clients.

use recount_log::Start;
use recount_message::{Json, Object};

use super::socket::SubscribeRequest;
use crate::call::check_fields;
use crate::fanout::{Framing, SignalFilter, StartPosition, StreamFormat};
use crate::media::Media;
use crate::params::{check_media, parse_media, signals_too_long};
use crate::problem::Problem;
use crate::routes::stream::parse_start;

/// A message from a client.
#[derive(Debug)]
pub(super) enum ClientMessage {
    Subscribe(SubscribeRequest),
    /// Subscribes to session events.
    SubscribeToSessionEvents,
    Unsubscribe(String),
    UnsubscribeFromSessionEvents,
    Event {
        reference: Json,
        session: String,
        event: Json,
    },
}

/// An invalid message, with the session and reference that it names.
#[derive(Debug)]
pub(super) struct InvalidMessage {
    pub(super) session: Option<String>,
    pub(super) reference: Option<Json>,
    pub(super) problem: Problem,
}

/// The name that subscribes to the events of all sessions.
pub(crate) const ALL_SESSIONS: &str = "sessions";

/// Parses a message.
pub(super) fn parse(text: &str) -> Result<ClientMessage, Box<InvalidMessage>> {
    let body = match Object::parse(text) {
        Ok(body) => body,
        Err(error) => return Err(Box::new(InvalidMessage { session: None, reference: None, problem: error.into() })),
    };
    parse_object(&body).map_err(|problem| {
        // As far as they can be read.
        let session = ["session", "subscribe", "unsubscribe"].iter().find_map(|field| text_of(&body, field));
        Box::new(InvalidMessage { session, reference: body.get("ref").cloned(), problem })
    })
}

fn parse_object(body: &Object) -> Result<ClientMessage, Problem> {
    if let Some(name) = body.get("subscribe") {
        let name = name
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| Problem::bad_field("subscribe", "expected the name of a session"))?;
        if name == ALL_SESSIONS {
            check_fields(body, &["subscribe", "ref"])?;
            return Ok(ClientMessage::SubscribeToSessionEvents);
        }
        check_fields(body, &["subscribe", "after", "dialect", "all", "signals", "media", "ref"])?;
        return subscribe_request(body, &name).map(ClientMessage::Subscribe);
    }
    if let Some(name) = body.get("unsubscribe") {
        let name = name
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| Problem::bad_field("unsubscribe", "expected the name of a session"))?;
        check_fields(body, &["unsubscribe", "ref"])?;
        return Ok(if name == ALL_SESSIONS {
            ClientMessage::UnsubscribeFromSessionEvents
        } else {
            ClientMessage::Unsubscribe(name)
        });
    }
    let (Some(session), Some(event)) = (text_of(body, "session"), body.get("event").cloned()) else {
        return Err(Problem::bad("expected {subscribe}, {unsubscribe} or {ref, session, event}"));
    };
    check_fields(body, &["ref", "session", "event"])?;
    Ok(ClientMessage::Event { reference: body.get("ref").cloned().unwrap_or_else(Json::null), session, event })
}

fn text_of(body: &Object, field: &str) -> Option<String> {
    body.get(field).and_then(Json::as_str).map(str::to_owned)
}

fn subscribe_request(body: &Object, name: &str) -> Result<SubscribeRequest, Problem> {
    let flag = |field: &str, default: bool| match body.get(field).map(Json::as_raw) {
        None | Some("null") => Ok(default),
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(_) => Err(Problem::bad_field(field, "expected true or false")),
    };
    let text = |field: &str| match body.get(field) {
        None => Ok(None),
        Some(value) if value.is_null() => Ok(None),
        Some(value) => {
            value.as_str().map(str::to_owned).map(Some).ok_or_else(|| Problem::bad_field(field, "expected a string"))
        }
    };
    let target = text("dialect")?.unwrap_or_else(|| "native".to_owned()).parse();
    let target =
        target.map_err(|error: recount_dialect::UnknownTarget| Problem::bad_field("dialect", error.to_string()))?;
    let media = text("media")?.map_or(Ok(Media::default()), |word| parse_media(&word))?;
    check_media(target, media)?;
    let start = text("after")?.map_or(Ok(Start::Snapshot), |after| parse_start(Some(&after)))?;
    let signals = match body.get("signals").and_then(Json::to_array) {
        Some(names) => {
            let names: Option<Vec<&str>> = names.iter().map(Json::as_str).collect();
            let names =
                names.ok_or_else(|| Problem::bad_field("signals", "expected true, false or a list of names"))?;
            SignalFilter::named(names.into_iter()).ok_or_else(signals_too_long)?
        }
        None => SignalFilter::all_or_none(flag("signals", true)?),
    };
    let all = flag("all", false)?;
    Ok(SubscribeRequest {
        format: StreamFormat { target, signals, all, media, framing: Framing::Ws },
        start: StartPosition::Log(start),
        name: name.to_owned(),
    })
}
