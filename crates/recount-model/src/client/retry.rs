//! Retry policy.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use http::HeaderMap;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use recount_message::{ErrorType, Usage};

use crate::decode::{CallError, CallErrorKind};

/// How often and after which delays a failed call is retried.
///
/// The limit is for the whole call: with fallbacks, a call sends at most 1 + retries + fallbacks requests.
///
/// ```
/// use std::time::Duration;
///
/// use recount_model::client::Retries;
///
/// let patient = Retries { max_retries: 5, max_retry_after: Duration::from_secs(300), ..Retries::default() };
/// assert_eq!(Retries::none().max_retries, 0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// The maximum number of retries.
    pub max_retries: u32,
    /// The delay before the first retry. It doubles with each retry, plus up to the same time as random jitter, so that
    /// clients that failed together do not retry together.
    pub initial_delay: Duration,
    /// The maximum delay.
    pub max_delay: Duration,
    /// The maximum `Retry-After` that is honoured. The call is not retried if the provider asks for more.
    pub max_retry_after: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            max_retries: 2,
            initial_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(8),
            max_retry_after: Duration::from_secs(60),
        }
    }
}

impl Retries {
    /// Disables retries.
    #[must_use]
    pub fn none() -> Self {
        Self { max_retries: 0, ..Self::default() }
    }

    /// Returns the delays before the retries of one call.
    pub(super) fn delays(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        ExponentialBuilder::new()
            .with_min_delay(self.initial_delay)
            .with_max_delay(self.max_delay)
            .with_max_times(usize::try_from(self.max_retries).unwrap_or(usize::MAX))
            .with_jitter()
            .build()
    }
}

/// A failed attempt that has written no block.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: CallError,
    /// The usage that the provider reported despite the failure.
    pub(super) usage: Option<Usage>,
    pub(super) hints: RetryHints,
}

/// The retry hints of a response's status and headers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RetryHints {
    /// The `x-should-retry` header, by which OpenAI and Anthropic override the status.
    should_retry: Option<bool>,
    /// The delay requested by the provider.
    pub(super) retry_after: Option<Duration>,
    /// Whether the status is 409, which is transient although its class is not.
    is_conflict: bool,
    /// Whether the provider rejected the request as invalid or unsupported.
    is_bad_request: bool,
}

impl RetryHints {
    pub(super) fn of(status: http::StatusCode, headers: &HeaderMap, now: Timestamp) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        Self {
            should_retry: text("x-should-retry").and_then(|word| word.parse().ok()),
            retry_after: text("retry-after-ms")
                .and_then(milliseconds)
                .or_else(|| text("retry-after").and_then(|value| wait(value, now))),
            is_conflict: status == http::StatusCode::CONFLICT,
            is_bad_request: matches!(status, http::StatusCode::BAD_REQUEST | http::StatusCode::UNPROCESSABLE_ENTITY),
        }
    }
}

impl Failure {
    /// Whether the provider may accept the request with another structured output method.
    pub(super) fn may_accept_other_method(&self) -> bool {
        self.hints.is_bad_request && !self.error.is_context_overflow()
    }

    /// Whether the same request may succeed later.
    pub(super) fn is_retryable(&self) -> bool {
        if let Some(should_retry) = self.hints.should_retry {
            return should_retry;
        }
        match self.error.kind() {
            // The same request would fail again.
            CallErrorKind::TooLarge | CallErrorKind::Cancelled | CallErrorKind::Setup => false,
            CallErrorKind::Provider
            | CallErrorKind::Malformed
            | CallErrorKind::Truncated
            | CallErrorKind::Unreachable
            | CallErrorKind::TimedOut => match self.error.class() {
                // A used-up quota does not recover within seconds.
                ErrorType::RateLimit => self.error.code() != Some("insufficient_quota"),
                ErrorType::Upstream | ErrorType::Connection => true,
                ErrorType::InvalidRequest => self.hints.is_conflict,
                // Invalid credentials, missing permissions and internal errors.
                _ => false,
            },
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self { error, usage: None, hints: RetryHints::default() }
    }
}

fn milliseconds(value: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(value.parse::<f64>().ok()? / 1_000.0).ok()
}

/// Parses the value of `Retry-After`: seconds or a date.
fn wait(value: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    // A date in the past means no delay.
    Some(Duration::try_from(until.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use http::{HeaderName, HeaderValue, StatusCode};

    use super::*;

    fn hints(headers: &[(&'static str, &'static str)]) -> RetryHints {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        RetryHints::of(StatusCode::TOO_MANY_REQUESTS, &headers, "1994-11-06T08:49:00Z".parse().unwrap())
    }

    #[test]
    fn parses_retry_after_formats() {
        for (name, value, expected) in [
            ("retry-after", "7", Some(Duration::from_secs(7))),
            ("retry-after", "0.5", Some(Duration::from_millis(500))),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(Duration::from_secs(37))),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(Duration::ZERO)),
            ("retry-after-ms", "1500", Some(Duration::from_millis(1_500))),
            ("retry-after", "-1", None),
            ("retry-after", "NaN", None),
            ("retry-after", "inf", None),
            ("retry-after", "1e300", None),
            ("retry-after", "soon", None),
        ] {
            assert_eq!(hints(&[(name, value)]).retry_after, expected, "{name}: {value}");
        }
    }

    #[test]
    fn should_retry_header_overrides_class() {
        let reported =
            |status, headers| Failure { hints: hints(headers), ..CallError::reported(None, &[], Some(status)).into() };
        assert!(reported(429, &[]).is_retryable());
        assert!(!reported(429, &[("x-should-retry", "false")]).is_retryable());
        assert!(reported(400, &[("x-should-retry", "true")]).is_retryable());
        let broke = CallError::reported(None, &[Some("insufficient_quota")], Some(429));
        assert!(!Failure::from(broke).is_retryable());
    }

    #[test]
    fn delays_match_max_retries() {
        let retries = Retries { max_retries: 3, ..Retries::default() };
        let delays: Vec<Duration> = retries.delays().collect();
        assert_eq!(delays.len(), 3);
        assert!(delays.iter().all(|delay| *delay >= retries.initial_delay && *delay <= retries.max_delay * 2));
        assert_eq!(Retries::none().delays().count(), 0);
    }
}
