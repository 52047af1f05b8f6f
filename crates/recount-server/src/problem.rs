//! Error responses: problem JSON (RFC 9457).

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use recount_log::{Cursor, Error, StorageError};
use recount_message::{DecodeError, Json, Object};

use crate::telemetry::ErrorSummary;
use crate::tokens::Scope;

/// An error response.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    status: StatusCode,
    /// The problem code, which is the last part of `type`.
    code: &'static str,
    detail: String,
    members: Vec<(&'static str, Json)>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The code for a session that already exists.
const EXISTS: &str = "exists";
/// The code for an input event that the log rejects.
const REFUSED: &str = "refused";

/// The media type of error responses.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), members: Vec::new(), headers: Vec::new() }
    }

    /// The request is malformed.
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    /// A field, parameter or header is invalid.
    pub(crate) fn bad_field(field: &str, detail: impl Into<String>) -> Self {
        Self::bad(detail).with("field", field)
    }

    /// A body is not valid JSON, or does not have the expected fields.
    pub(crate) fn decode(error: &DecodeError) -> Self {
        let problem = Self::bad(error.to_string());
        if error.path().is_empty() { problem } else { problem.with("field", error.path()) }
    }

    pub(crate) fn no_session(name: &str) -> Self {
        Self::not_found(format!("unknown session `{name}`"))
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

    pub(crate) fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, detail)
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

    /// Adds the line of the body, counted from one.
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

    /// Returns the summary for telemetry.
    pub(crate) fn summary(&self) -> ErrorSummary {
        ErrorSummary { code: self.code, detail: self.detail.clone() }
    }

    /// Whether the session to be created already exists.
    pub(crate) fn is_session_exists(&self) -> bool {
        self.code == EXISTS
    }

    /// Whether the log has rejected an input event.
    pub(crate) fn is_input_rejected(&self) -> bool {
        self.code == REFUSED
    }

    pub(crate) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    pub(crate) fn to_json(&self) -> String {
        let mut object = Object::new();
        object.insert("type", format!("urn:recount:problem:{}", self.code));
        object.insert("title", title(self.code, self.status));
        object.insert("status", u64::from(self.status.as_u16()));
        object.insert("detail", self.detail.as_str());
        for (member, value) in &self.members {
            object.insert(*member, value.clone());
        }
        object.to_json()
    }

    /// Converts an error of the log. `lines` has the line of the request body for each event of the batch.
    pub(crate) fn of_log(error: &Error, lines: &[usize]) -> Self {
        match error {
            Error::UnknownSession(key) => Self::no_session(key.name()),
            // Only a fork looks up a message by its id.
            Error::UnknownMessage { id, .. } => {
                Self::not_found(format!("unknown message `{id}`")).with("field", "before")
            }
            Error::SessionExists(key) => Self::conflict(EXISTS, format!("the session `{}` already exists", key.name())),
            Error::Refused(refusal) => {
                let line = lines.get(refusal.index).copied().unwrap_or(refusal.index + 1);
                Self::conflict(REFUSED, refusal.to_string())
                    .with("reason", refusal.reason.as_str())
                    .with("id", refusal.event_id.as_str())
                    .at_line(line)
            }
            Error::Moved { head, .. } => {
                Self::conflict("moved", format!("the head of the session is {head}")).with("head", head.to_string())
            }
            Error::LeaseLost { .. } | Error::LeaseHeld { .. } | Error::Broken(_) => {
                Self::conflict("taken", error.to_string())
            }
            Error::Gap { reason, .. } => Self::gap(reason.as_str()),
            Error::Storage(StorageError::Full(_)) => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "full", "no disk space left")
            }
            Error::Closed => Self::unavailable("the service is shutting down"),
            _ => {
                tracing::error!(%error, "log operation failed");
                Self::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "internal",
                    "log operation failed; see the server log for the cause",
                )
            }
        }
    }

    /// Reading cannot continue from a cursor.
    pub(crate) fn gap(reason: &str) -> Self {
        let detail =
            format!("cannot resume from the cursor ({reason}); hint: read a snapshot and continue from its cursor");
        Self::new(StatusCode::GONE, "gap", detail).with("reason", reason)
    }

    /// A cursor has an invalid syntax.
    pub(crate) fn bad_cursor(field: &str, text: &str) -> Self {
        Self::bad_field(field, format!("invalid cursor {text:?}: expected two numbers separated by a dot"))
    }
}

fn title(code: &'static str, status: StatusCode) -> &'static str {
    match code {
        REFUSED => "The reply does not wait for this input",
        "moved" => "The head of the session has changed",
        "gap" => "Cannot resume from the cursor",
        "no_agent" => "Agent unavailable",
        EXISTS => "Session already exists",
        "different" => "Id already in use",
        "busy" => "The session is busy",
        "taken" => "Session is in use by another process",
        "full" => "Insufficient storage",
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

/// Parses a cursor. An absent or empty one is `None`.
pub(crate) fn parse_cursor(field: &str, text: Option<&str>) -> Result<Option<Cursor>, Problem> {
    match text {
        None | Some("") => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| Problem::bad_cursor(field, text)),
    }
}
