//! What went wrong, as clients are told: problem JSON (RFC 9457).

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use recount_log::{Cursor, Error, StorageError};
use recount_message::{DecodeError, Json, Object};

use crate::telemetry::ErrorSummary;
use crate::tokens::Scope;

/// An answer that says what is wrong.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    status: StatusCode,
    /// A word for programs, which ends the `type`.
    kind: &'static str,
    detail: String,
    members: Vec<(&'static str, Json)>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The kind of a problem with what is there already.
const EXISTS: &str = "exists";
/// The kind of a problem with an input that does not fit.
const REFUSED: &str = "refused";

/// The media type of problems.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

impl Problem {
    pub(crate) fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Self {
        Self { status, kind, detail: detail.into(), members: Vec::new(), headers: Vec::new() }
    }

    /// Something in the request cannot be read.
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    /// A field or parameter is wrong.
    pub(crate) fn bad_field(field: &str, detail: impl Into<String>) -> Self {
        Self::bad(detail).with("field", field)
    }

    /// JSON that is not what was expected.
    pub(crate) fn decode(error: &DecodeError) -> Self {
        let problem = Self::bad(error.to_string());
        if error.path().is_empty() { problem } else { problem.with("field", error.path()) }
    }

    pub(crate) fn no_session(name: &str) -> Self {
        Self::not_found(format!("there is no session `{name}`"))
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// The caller's scope is too low.
    pub(crate) fn missing_scope(scope: Scope, required: Scope) -> Self {
        let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{required}\"");
        Self::forbidden(format!("insufficient scope `{scope}`: this requires `{required}`"))
            .header(header::WWW_AUTHENTICATE, &challenge)
    }

    pub(crate) fn conflict(kind: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, kind, detail)
    }

    pub(crate) fn unsupported_media_type(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)
    }

    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
    }

    pub(crate) fn with(mut self, member: &'static str, value: impl Into<Json>) -> Self {
        self.members.push((member, value.into()));
        self
    }

    /// With the line that it is about, counted from one.
    pub(crate) fn at_line(self, line: usize) -> Self {
        self.with("line", line as u64)
    }

    pub(crate) fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// What whoever watches the service is told of it.
    pub(crate) fn summary(&self) -> ErrorSummary {
        ErrorSummary { code: self.kind, detail: self.detail.clone() }
    }

    /// Whether there is one already of what was to be made.
    pub(crate) fn is_about_existing(&self) -> bool {
        self.kind == EXISTS
    }

    /// Whether an input was late, doubled or foreign.
    pub(crate) fn is_about_input(&self) -> bool {
        self.kind == REFUSED
    }

    pub(crate) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    pub(crate) fn to_json(&self) -> String {
        let mut object = Object::new();
        object.insert("type", format!("urn:recount:problem:{}", self.kind));
        object.insert("title", title(self.kind, self.status));
        object.insert("status", u64::from(self.status.as_u16()));
        object.insert("detail", self.detail.as_str());
        for (member, value) in &self.members {
            object.insert(*member, value.clone());
        }
        object.to_json()
    }

    /// What the log refused, where each event of a batch came from a line.
    pub(crate) fn of_log(error: &Error, lines: &[usize]) -> Self {
        match error {
            Error::UnknownSession(key) => Self::no_session(key.name()),
            // Only a fork asks for a message by its id.
            Error::UnknownMessage { id, .. } => {
                Self::not_found(format!("there is no message `{id}`")).with("field", "before")
            }
            Error::SessionExists(key) => Self::conflict(EXISTS, format!("there is a session `{}` already", key.name())),
            Error::Refused(refusal) => {
                let line = lines.get(refusal.index).copied().unwrap_or(refusal.index + 1);
                Self::conflict(REFUSED, refusal.to_string())
                    .with("reason", refusal.reason.as_str())
                    .with("id", refusal.event_id.as_str())
                    .at_line(line)
            }
            Error::Moved { head, .. } => {
                Self::conflict("moved", format!("the session is at {head} by now")).with("head", head.to_string())
            }
            Error::LeaseLost { .. } | Error::LeaseHeld { .. } | Error::Broken(_) => {
                Self::conflict("taken", error.to_string())
            }
            Error::Gap { reason, .. } => Self::gap(reason.as_str()),
            Error::Storage(StorageError::Full(_)) => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "full", "there is no room for it")
            }
            Error::Closed => Self::unavailable("the service is shutting down"),
            _ => {
                tracing::error!(%error, "the log failed");
                Self::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "internal",
                    "the log failed; its cause is in the service's log",
                )
            }
        }
    }

    /// A cursor that cannot be continued.
    pub(crate) fn gap(reason: &str) -> Self {
        let detail = format!("the cursor cannot be continued ({reason}); take a snapshot and go on from there");
        Self::new(StatusCode::GONE, "gap", detail).with("reason", reason)
    }

    /// A text that is no cursor.
    pub(crate) fn bad_cursor(field: &str, text: &str) -> Self {
        Self::bad_field(field, format!("{text:?} is no cursor: expected two numbers with a dot between them"))
    }
}

fn title(kind: &'static str, status: StatusCode) -> &'static str {
    match kind {
        REFUSED => "The input does not fit what the reply waits for",
        "moved" => "The session has moved on",
        "gap" => "The cursor cannot be continued",
        "no_agent" => "There is no such agent",
        EXISTS => "There is one already",
        "different" => "There is another one already",
        "busy" => "The session is busy",
        "taken" => "Somebody else works on it",
        "full" => "No room",
        "too_many_sessions" => "Too many sessions",
        _ => status.canonical_reason().unwrap_or("Error"),
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::of_log(&error, &[])
    }
}

impl From<DecodeError> for Problem {
    fn from(error: DecodeError) -> Self {
        Self::decode(&error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = self.to_json();
        let mut response = (self.status, [(header::CONTENT_TYPE, MEDIA_TYPE)], body).into_response();
        response.extensions_mut().insert(self.summary());
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// The text of a cursor, or nothing where it is absent or empty.
pub(crate) fn parse_cursor(field: &str, text: Option<&str>) -> Result<Option<Cursor>, Problem> {
    match text {
        None | Some("") => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| Problem::bad_cursor(field, text)),
    }
}
