//! Errors from responses with an unsuccessful status.

use http::StatusCode;
use serde_json::Value;

use crate::decode::CallError;

/// Returns the error for a response with an unsuccessful status.
pub(super) fn response_error(status: StatusCode, body: &[u8]) -> CallError {
    let body = parse_body(body);
    let message = match (&body.message, status.canonical_reason()) {
        (Some(message), _) => format!("{}: {message}", status.as_u16()),
        (None, Some(reason)) => format!("{} {reason}", status.as_u16()),
        (None, None) => status.as_u16().to_string(),
    };
    let codes: Vec<Option<&str>> = body.codes.iter().map(|code| Some(code.as_str())).collect();
    CallError::reported(Some(&message), &codes, Some(u64::from(status.as_u16())))
}

/// Returns the error for a redirect. Redirects are not followed, because the request carries the API key.
pub(super) fn redirect_error(status: StatusCode, location: &str) -> CallError {
    let target = location.split(['?', '#']).next().unwrap_or_default();
    let message = format!("{}: redirect to {target} was not followed", status.as_u16());
    CallError::reported(Some(&message), &[], Some(u64::from(StatusCode::BAD_REQUEST.as_u16())))
}

#[derive(Debug, Default)]
struct ErrorBody {
    message: Option<String>,
    codes: Vec<String>,
}

/// Parses the error formats of the providers: `{"error": {"message", "type", "code", "status"}}`, `{"error": "…"}`,
/// `{"message", "code"}`, `{"detail": "…"}`, each of them also in an array, or plain text.
fn parse_body(body: &[u8]) -> ErrorBody {
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        return ErrorBody { message: plain_text(body), codes: vec![] };
    };
    let whole = value.get(0).unwrap_or(&value);
    let error = whole.get("error").filter(|error| !error.is_null()).unwrap_or(whole);
    if let Some(message) = error.as_str() {
        return ErrorBody { message: shortened(message), codes: vec![] };
    }
    let text = |key: &str| error.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let message = ["message", "detail", "msg"].into_iter().find_map(text);
    let codes = ["code", "type", "status"].into_iter().filter_map(text).map(ToOwned::to_owned).collect();
    ErrorBody { message: message.and_then(shortened), codes }
}

/// Returns a plain-text body. `None` for HTML, such as the error page of a proxy.
fn plain_text(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    if text.starts_with('<') { None } else { shortened(text) }
}

/// Trims a text to the length of an error message. `None` if it is blank.
fn shortened(text: &str) -> Option<String> {
    const ENOUGH: usize = 1_000;
    let short: String = text.trim().chars().take(ENOUGH).collect();
    Some(short).filter(|short| !short.is_empty())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use recount_message::ErrorType;

    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, class: ErrorType, message: &str, code: Option<&str>) {
        let error = response_error(StatusCode::from_u16(status).unwrap(), body.as_bytes());
        assert_eq!((error.class(), error.to_string().as_str(), error.code()), (class, message, code));
    }

    #[test]
    fn parses_every_error_format() {
        check(
            401,
            r#"{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            ErrorType::Authentication,
            "401: Incorrect API key",
            Some("invalid_api_key"),
        );
        check(
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ErrorType::Upstream,
            "529: Overloaded",
            Some("overloaded_error"),
        );
        check(
            429,
            r#"[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}]"#,
            ErrorType::RateLimit,
            "429: Quota",
            Some("RESOURCE_EXHAUSTED"),
        );
        check(404, r#"{"error":"model 'x' not found"}"#, ErrorType::InvalidRequest, "404: model 'x' not found", None);
        check(403, r#"{"code":"AccessDenied","message":"no"}"#, ErrorType::Permission, "403: no", Some("AccessDenied"));
        check(422, r#"{"detail":"bad"}"#, ErrorType::InvalidRequest, "422: bad", None);
        check(502, "<html><body>Bad gateway</body></html>", ErrorType::Upstream, "502 Bad Gateway", None);
        check(500, "it broke\n", ErrorType::Upstream, "500: it broke", None);
        check(500, "", ErrorType::Upstream, "500 Internal Server Error", None);
        check(418, "null", ErrorType::InvalidRequest, "418 I'm a teapot", None);
    }
}
