//! API keys.

use std::fmt;

use http::HeaderValue;
use http::header::InvalidHeaderValue;
use secrecy::{ExposeSecret, SecretString};

/// An API key. Its `Debug` output is redacted, and its memory is wiped on drop.
///
/// ```
/// use recount_model::client::ApiKey;
///
/// let key = ApiKey::new("sk-1234567890");
/// assert_eq!(format!("{key:?}"), "ApiKey(***)");
/// ```
#[derive(Clone)]
pub struct ApiKey {
    secret: SecretString,
}

/// The replacement for a redacted key.
const HIDDEN: &str = "***";

impl ApiKey {
    /// Creates a key from a text, without the surrounding white space that files and shells leave.
    #[must_use]
    pub fn new(key: impl AsRef<str>) -> Self {
        Self { secret: SecretString::from(key.as_ref().trim()) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.secret.expose_secret().is_empty()
    }

    /// Returns a header value that is marked as sensitive, so that it is not logged.
    pub(super) fn header(&self, prefix: &str) -> Result<HeaderValue, InvalidHeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", self.secret.expose_secret()))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Replaces the key in a text.
    pub(super) fn redact(&self, text: &str) -> String {
        let secret = self.secret.expose_secret();
        // Shorter keys are placeholders for endpoints without authentication, and would match ordinary words.
        if secret.len() < 6 { text.to_owned() } else { text.replace(secret, HIDDEN) }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({HIDDEN})")
    }
}

impl<T: AsRef<str>> From<T> for ApiKey {
    fn from(key: T) -> Self {
        Self::new(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redact_replaces_key() {
        let key = ApiKey::new(" sk-1234567890\n");
        assert_eq!(key.redact("bad key sk-1234567890, or Bearer sk-1234567890"), "bad key ***, or Bearer ***");
        assert_eq!(ApiKey::new("none").redact("none given"), "none given");
    }

    #[test]
    fn header_is_sensitive() {
        let header = ApiKey::new("sk-1234567890").header("Bearer ").ok();
        assert_eq!(format!("{header:?}"), "Some(Sensitive)");
        assert!(ApiKey::new("line\nbreak").header("").is_err());
    }
}
