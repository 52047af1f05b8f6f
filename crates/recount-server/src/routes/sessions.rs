//! Sessions.

use http::{HeaderValue, StatusCode, header};
use recount_log::storage::SessionRow;
use recount_log::{Cursor, Error, OpenReply, Session, SessionKey};
use recount_message::jiff::Timestamp;
use recount_message::{Json, Msg, Object, ToolCallBlock, ToolCallState, Usage, format_time};

use super::ws::ALL_SESSIONS;
use super::{RouteResult, json};
use crate::app::App;
use crate::call::Call;
use crate::duration::parse_duration;
use crate::problem::Problem;
use crate::session_events::SessionChange;

/// How many sessions a page has.
const PAGE: usize = 100;
const LARGEST_PAGE: usize = 1_000;
/// How many characters a title has at most.
const LONGEST_TITLE: usize = 1_024;

/// `GET /v1/sessions`
pub(crate) async fn list(call: Call) -> RouteResult {
    let limit = call.params.number("limit", PAGE, LARGEST_PAGE)?;
    let after = call.params.get("after").map(|name| call.key_of("after", name)).transpose()?;
    let mut rows = call.app.log().sessions(Some(&call.caller.tenant), after, limit + 1).await?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| has_more).map(|row| row.key.name().to_owned());
    let mut sessions = Vec::with_capacity(rows.len());
    for row in rows {
        match describe(&call.app, &row).await {
            Ok(session) => sessions.push(Json::from(session)),
            // It was removed in the meantime.
            Err(Error::UnknownSession(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut answer = Object::new();
    answer.insert("sessions", sessions);
    answer.insert("next", next);
    Ok(json(StatusCode::OK, answer.to_json()))
}

/// `POST /v1/sessions`
pub(crate) async fn create(mut call: Call) -> RouteResult {
    let body = call.object().await?;
    let about = described(&call.app, &body, Object::new())?;
    make(&call, &new_id(), &about).await
}

/// `PUT /v1/sessions/{id}`
pub(crate) async fn put(mut call: Call) -> RouteResult {
    let key = call.key()?;
    let body = call.object().await?;
    let session = call.app.log().session(key.clone());
    match session.info().await {
        Err(Error::UnknownSession(_)) => {
            let about = described(&call.app, &body, Object::new())?;
            match make(&call, key.name(), &about).await {
                // Somebody was first in that moment.
                Err(problem) if problem.is_about_existing() => {}
                made => return made,
            }
        }
        found => drop(found?),
    }
    if body.is_empty() { answer(&call, &session).await } else { change(&call, &session, &body).await }
}

/// `GET /v1/sessions/{id}`
pub(crate) async fn get(call: Call) -> RouteResult {
    let session = call.session().await?;
    answer(&call, &session).await
}

/// `PATCH /v1/sessions/{id}`
pub(crate) async fn patch(mut call: Call) -> RouteResult {
    let session = call.session().await?;
    let body = call.object().await?;
    change(&call, &session, &body).await
}

/// `DELETE /v1/sessions/{id}`
pub(crate) async fn delete(call: Call) -> RouteResult {
    let session = call.session().await?;
    session.delete().await?;
    call.app.session_deleted(session.key());
    call.app.host().forget(session.key());
    call.app.session_events().publish(&call.caller.tenant, session.key().name(), SessionChange::Deleted, None);
    Ok(axum::response::IntoResponse::into_response(StatusCode::NO_CONTENT))
}

/// A name for a session that was given none.
pub(super) fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// Whether the tenant may have one more.
pub(super) async fn check_room(call: &Call) -> Result<(), Problem> {
    let most = call.app.limits().sessions;
    let count = call.app.session_count(&call.caller.tenant, most).await?;
    if count < most {
        return Ok(());
    }
    let detail = format!("there are {most} sessions already, as many as are allowed");
    Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_sessions", detail))
}

/// The key of a session that is to be made.
pub(super) fn new_key(call: &Call, name: &str) -> Result<SessionKey, Problem> {
    if name == ALL_SESSIONS {
        let detail =
            format!("`{ALL_SESSIONS}` is what one follows to hear of all sessions, and cannot be the name of one");
        return Err(Problem::bad_field("id", detail));
    }
    call.key_of("id", name)
}

async fn make(call: &Call, name: &str, about: &Object) -> RouteResult {
    check_room(call).await?;
    let session = call.app.log().create_with(new_key(call, name)?, about).await?;
    created(call, &session).await
}

async fn change(call: &Call, session: &Session, body: &Object) -> RouteResult {
    {
        // Of two that change different things at once, the second one would undo the first.
        let _alone = call.app.properties_lock().lock().await;
        let known = Object::parse(&session.info().await?.properties).unwrap_or_default();
        session.set_properties(&described(&call.app, body, known)?).await?;
    }
    announced(call, StatusCode::OK, session, SessionChange::Changed).await
}

/// The answer to somebody who has made a session.
pub(super) async fn created(call: &Call, session: &Session) -> RouteResult {
    call.app.session_created(session.key().clone());
    let mut response = announced(call, StatusCode::CREATED, session, SessionChange::Created).await?;
    let path = format!("{}/v1/sessions/{}", call.path_prefix(), session.key().name());
    if let Ok(location) = HeaderValue::from_str(&path) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// The answer to somebody who has changed a session. Those who follow the sessions are told as well.
async fn announced(call: &Call, status: StatusCode, session: &Session, change: SessionChange) -> RouteResult {
    let info = describe(&call.app, &session.info().await?).await?;
    call.app.session_events().publish(&call.caller.tenant, session.key().name(), change, Some(&info.to_json()));
    Ok(json(status, with_usage(&call.app, session, info).await?.to_json()))
}

async fn answer(call: &Call, session: &Session) -> RouteResult {
    let info = describe(&call.app, &session.info().await?).await?;
    Ok(json(StatusCode::OK, with_usage(&call.app, session, info).await?.to_json()))
}

/// A session as whoever asks for it alone sees it. Lists leave the usage out, for which messages have to be looked at.
async fn with_usage(app: &App, session: &Session, mut info: Object) -> Result<Object, Error> {
    let complete = app.usages().of(session).await?;
    let open = session.open_replies().await?;
    let usage: Usage = open.iter().filter_map(|reply| message_of(reply)?.usage().cloned()).chain([complete]).sum();
    let mut tokens = Object::new();
    tokens.insert("input_tokens", usage.input_tokens);
    tokens.insert("output_tokens", usage.output_tokens);
    tokens.insert("cache_input_tokens", usage.cache_input_tokens);
    tokens.insert("cache_creation_input_tokens", usage.cache_creation_input_tokens);
    info.insert("usage", tokens);
    Ok(info)
}

/// What is known about a session after a request: what the request leaves out stays, `null` removes.
fn described(app: &App, body: &Object, mut about: Object) -> Result<Object, Problem> {
    for (field, value) in body.iter() {
        if value.is_null() {
            about.remove(field);
        }
        let wrong = |expected: &str| Err(Problem::bad_field(field, format!("expected {expected}")));
        match field {
            "agent" => match value.as_str().map(str::to_owned) {
                Some(name) if app.host().agents().iter().any(|agent| agent.name == name) => {}
                Some(name) => return Err(Problem::bad_field(field, format!("there is no agent `{name}`"))),
                None if value.is_null() => {}
                None => return wrong("the name of an agent"),
            },
            "title"
                if value.is_null() || value.as_str().is_some_and(|title| title.chars().count() <= LONGEST_TITLE) => {}
            "title" => return wrong("a string of at most 1024 characters"),
            "metadata" if value.is_null() || value.to_object().is_some() => {}
            "metadata" => return wrong("an object"),
            "retention" if value.is_null() => {}
            "retention" => match value.as_str().map(parse_duration) {
                Some(Ok(_)) => {}
                Some(Err(problem)) => return Err(Problem::bad_field(field, problem)),
                None => return wrong("a duration such as \"30d\""),
            },
            _ => {
                let detail = format!("there is no field `{field}` here; expected agent, title, metadata, retention");
                return Err(Problem::bad_field(field, detail));
            }
        }
        if !value.is_null() {
            about.insert(field, value.clone());
        }
    }
    Ok(about)
}

/// A session as clients see it.
pub(crate) async fn describe(app: &App, row: &SessionRow) -> Result<Object, Error> {
    let about = Object::parse(&row.properties).unwrap_or_default();
    let field = |name: &str| about.get(name).cloned().unwrap_or_else(Json::null);
    let SessionState { status, open, settled } = standing(app, &row.key).await?;
    let mut session = Object::new();
    session.insert("id", row.key.name());
    session.insert("cursor", Cursor { epoch: row.epoch, seq: row.head }.to_string());
    let agent = about.get("agent").cloned().unwrap_or_else(|| Json::from(app.host().default_agent()));
    session.insert("agent", agent);
    session.insert("title", field("title"));
    session.insert("metadata", about.get("metadata").cloned().unwrap_or_else(|| Json::from(Object::new())));
    session.insert("retention", field("retention"));
    session.insert("created_at", row.created_at.as_str());
    session.insert("updated_at", settled.map_or_else(|| row.created_at.clone(), format_time));
    session.insert("status", status);
    session.insert("open", open);
    Ok(session)
}

/// How a session stands.
struct SessionState {
    status: &'static str,
    /// The replies that are open.
    open: Vec<String>,
    /// When its last message was complete.
    settled: Option<Timestamp>,
}

async fn standing(app: &App, key: &SessionKey) -> Result<SessionState, Error> {
    let looked = key.clone();
    let look = app.log().read(move |view| Ok((view.open_reply_infos(&looked)?, view.last_finished_at(&looked)?)));
    let (opened, settled) = look.await?;
    let settled = settled.and_then(|at| Timestamp::from_millisecond(at).ok());
    if opened.is_empty() {
        return Ok(SessionState { status: "idle", open: Vec::new(), settled });
    }
    let open = app.log().session(key.clone()).open_replies().await?;
    let status = match open.as_slice() {
        // They have ended in the meantime.
        [] => "idle",
        open if open.iter().any(is_waiting) => "waiting",
        _ => "running",
    };
    let open = open.into_iter().filter(|reply| !reply.nested).map(|reply| reply.id).collect();
    Ok(SessionState { status, open, settled })
}

/// An open reply's message, as far as it has come.
fn message_of(reply: &OpenReply) -> Option<Msg> {
    let item = Object::parse(&reply.fold).ok()?;
    Msg::from_json(item.get("message")?.as_raw()).ok()
}

/// Whether a reply waits for somebody.
fn is_waiting(reply: &OpenReply) -> bool {
    message_of(reply).is_some_and(|message| {
        let mut calls = message.blocks::<ToolCallBlock>();
        calls.any(|call| matches!(call.state, ToolCallState::Asking | ToolCallState::Submitted))
    })
}
