//! A provider's key, which nobody gets to see.

use std::fmt;

use http::HeaderValue;
use http::header::InvalidHeaderValue;
use secrecy::{ExposeSecret, SecretString};

/// A key. It cannot be printed, and it is wiped from memory when it is dropped.
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

/// What stands where a key stood.
const HIDDEN: &str = "***";

impl ApiKey {
    /// Takes a key, without the white space around it that files and shells leave.
    #[must_use]
    pub fn new(key: impl AsRef<str>) -> Self {
        Self { secret: SecretString::from(key.as_ref().trim()) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.secret.expose_secret().is_empty()
    }

    /// The value of a header, marked so that nothing prints it.
    pub(super) fn header(&self, prefix: &str) -> Result<HeaderValue, InvalidHeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", self.secret.expose_secret()))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// A text without the key in it.
    pub(super) fn redact(&self, text: &str) -> String {
        let secret = self.secret.expose_secret();
        // A shorter one is a placeholder for endpoints that want none, and would be found in every other word.
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
    fn a_key_is_taken_out_of_what_others_say() {
        let key = ApiKey::new(" sk-1234567890\n");
        assert_eq!(key.redact("bad key sk-1234567890, or Bearer sk-1234567890"), "bad key ***, or Bearer ***");
        assert_eq!(ApiKey::new("none").redact("there is none"), "there is none");
    }

    #[test]
    fn a_header_with_it_is_not_printed_either() {
        let header = ApiKey::new("sk-1234567890").header("Bearer ").ok();
        assert_eq!(format!("{header:?}"), "Some(Sensitive)");
        assert!(ApiKey::new("line\nbreak").header("").is_err());
    }
}
