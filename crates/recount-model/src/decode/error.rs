//! Errors of model calls.

use recount_message::{ErrorInfo, ErrorType};

/// The error of a model call.
///
/// ```
/// use recount_message::{ErrorType, ReplyWriter, Stamps};
/// use recount_model::Provider;
/// use recount_model::decode::{CallErrorKind, DecodeOptions, Decoder};
///
/// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
/// let mut decoder = Decoder::new(Provider::Anthropic, DecodeOptions::default());
/// let overloaded = br#"data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
/// decoder.push(overloaded, &mut reply)?;
/// let error = decoder.finish(&mut reply).error.unwrap();
/// assert_eq!((error.kind(), error.class()), (CallErrorKind::Provider, ErrorType::Upstream));
/// assert_eq!(error.to_string(), "Overloaded");
/// assert_eq!(error.code(), Some("overloaded_error"));
/// # Ok::<(), recount_model::decode::CallError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    kind: CallErrorKind,
    class: ErrorType,
    message: String,
    code: Option<String>,
}

/// The kind of a [`CallError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallErrorKind {
    /// The provider reported the error.
    Provider,
    /// The response is not valid for the provider's API.
    Malformed,
    /// The response exceeds a limit.
    TooLarge,
    /// The stream ended before the model had finished.
    Truncated,
    /// The connection to the provider failed or broke.
    Unreachable,
    /// The provider did not respond in time.
    TimedOut,
    /// The request could not be built: a missing key, an invalid URL, an unknown tool.
    Setup,
    /// The caller cancelled the call.
    Cancelled,
}

impl CallError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> CallErrorKind {
        self.kind
    }

    /// Returns the class of the error, as used in events.
    #[must_use]
    pub fn class(&self) -> ErrorType {
        self.class
    }

    /// Returns the provider's code for the error. `None` if it gave none.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// Returns the error in the form in which a reply ends with it.
    ///
    /// ```
    /// use recount_message::{ErrorType, ReplyEnd, ReplyWriter, Stamps};
    /// use recount_model::Provider;
    /// use recount_model::decode::{DecodeOptions, Decoder};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let end = Decoder::new(Provider::Ollama, DecodeOptions::default()).finish(&mut reply);
    /// let message = reply.end(ReplyEnd::failed(end.error.unwrap().info()));
    /// assert_eq!(message.error().unwrap().kind, ErrorType::Connection);
    /// ```
    #[must_use]
    pub fn info(&self) -> ErrorInfo {
        ErrorInfo::new(self.class, self.message.clone())
    }

    /// Creates an error, for models that are called by other means than this crate's client.
    ///
    /// ```
    /// use recount_message::ErrorType;
    /// use recount_model::decode::{CallError, CallErrorKind};
    ///
    /// let error = CallError::new(CallErrorKind::TimedOut, ErrorType::Connection, "nothing came for a minute");
    /// assert_eq!(error.info().message, "nothing came for a minute");
    /// ```
    pub fn new(kind: CallErrorKind, class: ErrorType, message: impl Into<String>) -> Self {
        Self { kind, class, message: message.into(), code: None }
    }

    /// Returns the error with a changed message.
    #[cfg(feature = "client")]
    pub(crate) fn with_message(mut self, change: impl FnOnce(&str) -> String) -> Self {
        self.message = change(&self.message);
        self
    }

    pub(super) fn malformed(message: impl Into<String>) -> Self {
        Self { kind: CallErrorKind::Malformed, class: ErrorType::Upstream, message: message.into(), code: None }
    }

    pub(super) fn too_large(what: &str, limit: usize) -> Self {
        let message = format!("{what} is larger than {limit} bytes");
        Self { kind: CallErrorKind::TooLarge, class: ErrorType::Upstream, message, code: None }
    }

    pub(super) fn too_many_blocks(limit: usize) -> Self {
        let message = format!("the response has more than {limit} blocks");
        Self { kind: CallErrorKind::TooLarge, class: ErrorType::Upstream, message, code: None }
    }

    pub(super) fn truncated() -> Self {
        let message = "the stream ended before the model had finished".to_owned();
        Self { kind: CallErrorKind::Truncated, class: ErrorType::Connection, message, code: None }
    }

    /// Creates an error from the message, the codes and the HTTP status that the provider reported.
    pub(crate) fn reported(message: Option<&str>, codes: &[Option<&str>], status: Option<u64>) -> Self {
        let codes: Vec<&str> = codes.iter().copied().flatten().filter(|code| !code.is_empty()).collect();
        let numbers = codes.iter().filter_map(|code| code.parse().ok());
        let status = status.into_iter().chain(numbers).find(|status| (400..600).contains(status));
        let class = status
            .map(class_of_status)
            .or_else(|| codes.iter().find_map(|code| class_of_code(code)))
            .unwrap_or(ErrorType::Upstream);
        let code = codes.first().map(|code| (*code).to_owned());
        let message = message.filter(|message| !message.is_empty()).map_or_else(
            || code.clone().unwrap_or_else(|| "the provider reported an error without a message".to_owned()),
            ToOwned::to_owned,
        );
        Self { kind: CallErrorKind::Provider, class, message, code }
    }
}

/// Returns the class of an unsuccessful HTTP status.
fn class_of_status(status: u64) -> ErrorType {
    match status {
        401 => ErrorType::Authentication,
        402 | 403 => ErrorType::Permission,
        408 => ErrorType::Connection,
        429 => ErrorType::RateLimit,
        500.. => ErrorType::Upstream,
        _ => ErrorType::InvalidRequest,
    }
}

/// Returns the class of a provider's error code. `None` if no pattern matches; the first matching pattern wins. The
/// patterns cover the codes of OpenAI (`invalid_api_key`), Anthropic (`overloaded_error`), Google
/// (`RESOURCE_EXHAUSTED`) and DashScope (`InvalidApiKey`).
fn class_of_code(word: &str) -> Option<ErrorType> {
    const WORDS: &[(ErrorType, &[&str])] = &[
        (ErrorType::Authentication, &["authentication", "apikey", "unauthenticated", "unauthorized"]),
        (ErrorType::Permission, &["permission", "forbidden", "billing", "accessdenied", "arrearage", "balance"]),
        (ErrorType::RateLimit, &["ratelimit", "quota", "exhausted", "toomany", "throttl"]),
        (ErrorType::Upstream, &["overloaded", "server", "apierror", "internal", "unavailable", "timeout", "deadline"]),
        (
            ErrorType::InvalidRequest,
            &["invalid", "notfound", "badrequest", "toolarge", "contextlength", "precondition"],
        ),
    ];
    let word: String = word.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_lowercase()).collect();
    WORDS.iter().find(|(_, parts)| parts.iter().any(|part| word.contains(part))).map(|(class, _)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(codes: &[Option<&str>], status: Option<u64>, class: ErrorType) {
        assert_eq!(CallError::reported(None, codes, status).class(), class, "{codes:?} {status:?}");
    }

    #[test]
    fn status_overrides_code() {
        check(&[Some("UNAVAILABLE")], Some(503), ErrorType::Upstream);
        check(&[Some("server_error")], Some(429), ErrorType::RateLimit);
        check(&[Some("401")], None, ErrorType::Authentication);
        check(&[Some("whatever")], Some(404), ErrorType::InvalidRequest);
        check(&[Some("server_error")], Some(200), ErrorType::Upstream);
    }

    #[test]
    fn classifies_codes_of_every_provider() {
        for (code, class) in [
            ("invalid_api_key", ErrorType::Authentication),
            ("InvalidApiKey", ErrorType::Authentication),
            ("UNAUTHENTICATED", ErrorType::Authentication),
            ("permission_error", ErrorType::Permission),
            ("Arrearage", ErrorType::Permission),
            ("rate_limit_exceeded", ErrorType::RateLimit),
            ("insufficient_quota", ErrorType::RateLimit),
            ("RESOURCE_EXHAUSTED", ErrorType::RateLimit),
            ("overloaded_error", ErrorType::Upstream),
            ("server_error", ErrorType::Upstream),
            ("DEADLINE_EXCEEDED", ErrorType::Upstream),
            ("invalid_request_error", ErrorType::InvalidRequest),
            ("context_length_exceeded", ErrorType::InvalidRequest),
            ("INVALID_ARGUMENT", ErrorType::InvalidRequest),
            ("something_new", ErrorType::Upstream),
        ] {
            check(&[Some(code)], None, class);
        }
    }

    #[test]
    fn message_falls_back_to_code() {
        assert_eq!(CallError::reported(Some("no"), &[Some("x")], None).to_string(), "no");
        assert_eq!(CallError::reported(Some(""), &[None, Some("x")], None).to_string(), "x");
        assert!(!CallError::reported(None, &[None], None).to_string().is_empty());
    }
}
