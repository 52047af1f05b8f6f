//! What clients say over a WebSocket.

use recount_log::Start;
use recount_message::{Json, Object};

use super::socket::Wanted;
use crate::fanout::{Framing, From, Style};
use crate::problem::Problem;
use crate::routes::stream::read_start;

/// Something that a client says.
#[derive(Debug)]
pub(super) enum Up {
    Subscribe(Wanted),
    /// To what happens to sessions.
    SubscribeToNews,
    Unsubscribe(String),
    UnsubscribeFromNews,
    Event {
        reference: Json,
        session: String,
        event: Json,
    },
}

/// What cannot be done, and about what it is.
#[derive(Debug)]
pub(super) struct BadUp {
    pub(super) session: Option<String>,
    pub(super) reference: Option<Json>,
    pub(super) problem: Problem,
}

/// The name by which one follows all sessions.
const NEWS: &str = "sessions";

/// Reads what a client says.
pub(super) fn read(text: &str) -> Result<Up, Box<BadUp>> {
    let bad = |problem: Problem| Box::new(BadUp { session: None, reference: None, problem });
    let body = Object::parse(text).map_err(|error| bad(error.into()))?;
    let text_of = |field: &str| body.get(field).and_then(Json::to_text);
    if let Some(name) = body.get("subscribe") {
        let Some(name) = name.to_text() else { return Err(bad(Problem::bad_field("subscribe", "expected a session"))) };
        if name == NEWS {
            return Ok(Up::SubscribeToNews);
        }
        return match wanted(&body, &name) {
            Ok(wanted) => Ok(Up::Subscribe(wanted)),
            Err(problem) => Err(Box::new(BadUp { session: Some(name), reference: None, problem })),
        };
    }
    if let Some(name) = text_of("unsubscribe") {
        return Ok(if name == NEWS { Up::UnsubscribeFromNews } else { Up::Unsubscribe(name) });
    }
    let reference = body.get("ref").cloned();
    let (Some(session), Some(event)) = (text_of("session"), body.get("event").cloned()) else {
        let problem = Problem::bad("expected {subscribe}, {unsubscribe} or {ref, session, event}");
        return Err(Box::new(BadUp { session: text_of("session"), reference, problem }));
    };
    Ok(Up::Event { reference: reference.unwrap_or_else(Json::null), session, event })
}

fn wanted(body: &Object, name: &str) -> Result<Wanted, Problem> {
    let flag = |field: &str, default: bool| match body.get(field).map(Json::as_str) {
        None | Some("null") => Ok(default),
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(_) => Err(Problem::bad_field(field, "expected true or false")),
    };
    let text = |field: &str| match body.get(field) {
        None => Ok(None),
        Some(value) if value.is_null() => Ok(None),
        Some(value) => value.to_text().map(Some).ok_or_else(|| Problem::bad_field(field, "expected a string")),
    };
    let dialect = text("dialect")?.unwrap_or_else(|| "native".to_owned()).parse();
    let dialect =
        dialect.map_err(|error: recount_dialect::UnknownDialect| Problem::bad_field("dialect", error.to_string()))?;
    let start = text("after")?.map_or(Ok(Start::Snapshot), |after| read_start(Some(&after)))?;
    Ok(Wanted {
        style: Style { dialect, signals: flag("signals", true)?, all: flag("all", false)?, framing: Framing::Ws },
        from: From::Log(start),
        name: name.to_owned(),
    })
}
