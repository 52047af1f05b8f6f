//! Sessions: list, create, read, change and delete.

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

/// The default number of sessions per page.
const PAGE: usize = 100;
const MAX_PAGE: usize = 1_000;
/// The maximum length of a title, in characters.
const MAX_TITLE: usize = 1_024;

/// `GET /v1/sessions`
pub(crate) async fn list(call: Call) -> RouteResult {
    let limit = call.params.number("limit", PAGE, MAX_PAGE)?;
    let after = call.params.get("after").map(|name| call.key_of("after", name)).transpose()?;
    let mut rows = call.app.log().sessions(Some(&call.caller.tenant), after, limit + 1).await?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| has_more).map(|row| row.key.name().to_owned());
    let mut sessions = Vec::with_capacity(rows.len());
    for row in rows {
        match describe(&call.app, &row).await {
            Ok(session) => sessions.push(Json::from(session)),
            // Deleted in the meantime.
            Err(Error::UnknownSession(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut fields = Object::new();
    fields.insert("sessions", sessions);
    fields.insert("next", next);
    Ok(json(StatusCode::OK, fields.to_json()))
}

/// `POST /v1/sessions`
pub(crate) async fn create(mut call: Call) -> RouteResult {
    let body = call.object().await?;
    let properties = changed_properties(&call.app, &body, Object::new())?;
    create_session(&call, &new_id(), &properties).await
}

/// `PUT /v1/sessions/{id}`
pub(crate) async fn put(mut call: Call) -> RouteResult {
    let key = call.key()?;
    let body = call.object().await?;
    let session = call.app.log().session(key.clone());
    match session.info().await {
        Err(Error::UnknownSession(_)) => {
            let properties = changed_properties(&call.app, &body, Object::new())?;
            match create_session(&call, key.name(), &properties).await {
                // Another client has created it in the meantime.
                Err(problem) if problem.is_session_exists() => {}
                created => return created,
            }
        }
        found => drop(found?),
    }
    if body.is_empty() { respond(&call, &session).await } else { change(&call, &session, &body).await }
}

/// `GET /v1/sessions/{id}`
pub(crate) async fn get(call: Call) -> RouteResult {
    let session = call.session().await?;
    respond(&call, &session).await
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

/// Returns a random name for a session.
pub(super) fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// Rejects a new session if the tenant has reached its limit.
pub(super) async fn check_session_limit(call: &Call) -> Result<(), Problem> {
    let limit = call.app.limits().sessions;
    let count = call.app.session_count(&call.caller.tenant, limit).await?;
    if count < limit {
        return Ok(());
    }
    let detail = format!("the limit of {limit} sessions is reached");
    Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_sessions", detail))
}

/// Returns the key of a new session.
pub(super) fn new_key(call: &Call, name: &str) -> Result<SessionKey, Problem> {
    if name == ALL_SESSIONS {
        let detail = format!("the name `{ALL_SESSIONS}` is reserved for subscriptions to all sessions");
        return Err(Problem::bad_field("id", detail));
    }
    call.key_of("id", name)
}

async fn create_session(call: &Call, name: &str, properties: &Object) -> RouteResult {
    check_session_limit(call).await?;
    let session = call.app.log().create_with(new_key(call, name)?, properties).await?;
    created(call, &session).await
}

async fn change(call: &Call, session: &Session, body: &Object) -> RouteResult {
    {
        // Without the lock, one of two concurrent changes would be lost.
        let _lock = call.app.properties_lock().lock().await;
        let current = Object::parse(&session.info().await?.properties).unwrap_or_default();
        session.set_properties(&changed_properties(&call.app, body, current)?).await?;
    }
    respond_and_publish(call, StatusCode::OK, session, SessionChange::Changed).await
}

/// Returns the response for a new session and publishes it.
pub(super) async fn created(call: &Call, session: &Session) -> RouteResult {
    call.app.session_created(session.key().clone());
    let mut response = respond_and_publish(call, StatusCode::CREATED, session, SessionChange::Created).await?;
    let path = format!("{}/v1/sessions/{}", call.path_prefix(), session.key().name());
    if let Ok(location) = HeaderValue::from_str(&path) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// Returns the session as a response and publishes the change.
async fn respond_and_publish(call: &Call, status: StatusCode, session: &Session, change: SessionChange) -> RouteResult {
    let info = describe(&call.app, &session.info().await?).await?;
    call.app.session_events().publish(&call.caller.tenant, session.key().name(), change, Some(&info.to_json()));
    Ok(json(status, with_usage(&call.app, session, info).await?.to_json()))
}

async fn respond(call: &Call, session: &Session) -> RouteResult {
    let info = describe(&call.app, &session.info().await?).await?;
    Ok(json(StatusCode::OK, with_usage(&call.app, session, info).await?.to_json()))
}

/// Adds the token usage, which requires reading messages. Lists omit it.
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

/// Applies a request body to the properties of a session: absent fields are kept, `null` removes a field.
fn changed_properties(app: &App, body: &Object, mut properties: Object) -> Result<Object, Problem> {
    for (field, value) in body.iter() {
        if value.is_null() {
            properties.remove(field);
        }
        let invalid = |expected: &str| Err(Problem::bad_field(field, format!("expected {expected}")));
        match field {
            "agent" => match value.as_str().map(str::to_owned) {
                Some(name) if app.host().agents().iter().any(|agent| agent.name == name) => {}
                Some(name) => return Err(Problem::bad_field(field, format!("unknown agent `{name}`"))),
                None if value.is_null() => {}
                None => return invalid("the name of an agent"),
            },
            "title" if value.is_null() || value.as_str().is_some_and(|title| title.chars().count() <= MAX_TITLE) => {}
            "title" => return invalid("a string of at most 1024 characters"),
            "metadata" if value.is_null() || value.to_object().is_some() => {}
            "metadata" => return invalid("an object"),
            "retention" if value.is_null() => {}
            "retention" => match value.as_str().map(parse_duration) {
                Some(Ok(_)) => {}
                Some(Err(problem)) => return Err(Problem::bad_field(field, problem)),
                None => return invalid("a duration such as \"30d\""),
            },
            _ => {
                let detail = format!("unknown field `{field}`; expected agent, title, metadata, retention");
                return Err(Problem::bad_field(field, detail));
            }
        }
        if !value.is_null() {
            properties.insert(field, value.clone());
        }
    }
    Ok(properties)
}

/// Returns a session as JSON, without its usage.
pub(crate) async fn describe(app: &App, row: &SessionRow) -> Result<Object, Error> {
    let properties = Object::parse(&row.properties).unwrap_or_default();
    let field = |name: &str| properties.get(name).cloned().unwrap_or_else(Json::null);
    let SessionState { status, open, last_finished } = session_state(app, &row.key).await?;
    let mut session = Object::new();
    session.insert("id", row.key.name());
    session.insert("cursor", Cursor { epoch: row.epoch, seq: row.head }.to_string());
    let agent = properties.get("agent").cloned().unwrap_or_else(|| Json::from(app.host().default_agent()));
    session.insert("agent", agent);
    session.insert("title", field("title"));
    session.insert("metadata", properties.get("metadata").cloned().unwrap_or_else(|| Json::from(Object::new())));
    session.insert("retention", field("retention"));
    session.insert("created_at", row.created_at.as_str());
    session.insert("updated_at", last_finished.map_or_else(|| row.created_at.clone(), format_time));
    session.insert("status", status);
    session.insert("open", open);
    Ok(session)
}

/// The state of a session as clients see it.
struct SessionState {
    status: &'static str,
    /// The ids of the open top-level replies.
    open: Vec<String>,
    /// The time at which the last message was complete.
    last_finished: Option<Timestamp>,
}

async fn session_state(app: &App, key: &SessionKey) -> Result<SessionState, Error> {
    let read_key = key.clone();
    let read = app.log().read(move |view| Ok((view.open_reply_infos(&read_key)?, view.last_finished_at(&read_key)?)));
    let (open, last_finished) = read.await?;
    let last_finished = last_finished.and_then(|at| Timestamp::from_millisecond(at).ok());
    if open.is_empty() {
        return Ok(SessionState { status: "idle", open: Vec::new(), last_finished });
    }
    let open = app.log().session(key.clone()).open_replies().await?;
    let status = match open.as_slice() {
        // Ended in the meantime.
        [] => "idle",
        open if open.iter().any(is_waiting) => "waiting",
        _ => "running",
    };
    let open = open.into_iter().filter(|reply| !reply.nested).map(|reply| reply.id).collect();
    Ok(SessionState { status, open, last_finished })
}

/// Returns the message of an open reply in its current state.
fn message_of(reply: &OpenReply) -> Option<Msg> {
    reply.fold.message()?.decode().ok()
}

/// Whether a reply waits for a confirmation or an external result.
fn is_waiting(reply: &OpenReply) -> bool {
    message_of(reply).is_some_and(|message| {
        let mut calls = message.blocks::<ToolCallBlock>();
        calls.any(|call| matches!(call.state, ToolCallState::Asking | ToolCallState::Submitted))
    })
}
