//! SHA-256 digests of uploads.

use std::fmt::{self, Write};
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// The SHA-256 digest of some bytes. As text it is 64 hexadecimal digits.
///
/// ```
/// use recount_log::Digest;
///
/// let digest = Digest::of(b"hello");
/// assert_eq!(digest.url(), format!("recount-blob:sha256:{digest}"));
/// assert_eq!(Digest::in_url(&digest.url()), Some(digest));
/// assert_eq!(digest.to_string().parse(), Ok(digest));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// The error of an invalid digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a digest: expected 64 hexadecimal digits")]
pub struct DigestError(String);

/// The prefix of an upload's URL.
const SCHEME: &str = "recount-blob:sha256:";
const DIGITS: usize = 64;

impl Digest {
    /// Computes the digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Creates a digest from its 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the URL by which messages reference the upload.
    pub fn url(&self) -> String {
        format!("{SCHEME}{self}")
    }

    /// Parses the digest in the URL of an upload. `None` for other URLs.
    pub fn in_url(url: &str) -> Option<Self> {
        url.strip_prefix(SCHEME)?.parse().ok()
    }

    /// Finds the digests of all upload URLs in a text.
    pub(crate) fn all_in(text: &str) -> impl Iterator<Item = Self> {
        text.match_indices(SCHEME).filter_map(|(at, _)| {
            let start = at + SCHEME.len();
            text.get(start..start + DIGITS)?.parse().ok()
        })
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(DIGITS);
        for byte in self.0 {
            write!(text, "{byte:02x}")?;
        }
        f.pad(&text)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let error = || DigestError(text.to_owned());
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            // Lower case only, so that each digest has one spelling.
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(error()),
        };
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != 32 || !rest.is_empty() {
            return Err(error());
        }
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(bytes))
    }
}
