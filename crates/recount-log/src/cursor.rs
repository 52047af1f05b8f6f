//! Positions in a session.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// A random number that identifies the history of a session. It changes only when acknowledged entries may be lost or
/// rewritten.
///
/// Restarts, take-overs and compaction keep the epoch. It changes when a backup is opened for the first time, when an import
/// replaces the session, and after a power loss under [`Durability::Process`](crate::Durability::Process).
///
/// ```
/// use recount_log::Epoch;
///
/// assert_eq!(Epoch::from_random(0), Epoch::from_random(1), "an epoch is never zero");
/// assert_eq!(Epoch::from_random(7).get(), 7);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(NonZeroU32);

impl Epoch {
    /// Creates an epoch from a random number.
    pub fn from_random(number: u64) -> Self {
        let folded = u32::try_from((number ^ (number >> 32)) & u64::from(u32::MAX)).unwrap_or_default();
        Self(NonZeroU32::new(folded).unwrap_or(NonZeroU32::MIN))
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0.get()
    }
}

/// A position in a session: after an entry, in an epoch.
///
/// As text it is `epoch.seq`, which is opaque to clients. Entries are numbered 1, 2, 3 … per session, and numbers are never
/// reused. The position before the first entry is 0.
///
/// ```
/// use recount_log::Cursor;
///
/// let cursor: Cursor = "2857740885.42".parse()?;
/// assert_eq!((cursor.seq, cursor.to_string().as_str()), (42, "2857740885.42"));
/// assert!("42".parse::<Cursor>().is_err());
/// # Ok::<(), recount_log::CursorError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cursor {
    /// The epoch.
    pub epoch: Epoch,
    /// The number of the entry before the position.
    pub seq: u64,
}

/// The error of an invalid cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a cursor: expected two numbers with a dot between them")]
pub struct CursorError(String);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch.get(), self.seq)
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    /// Parses a cursor. Text after a second dot is ignored; a backend may use it as a seek hint.
    fn from_str(text: &str) -> Result<Self, CursorError> {
        let error = || CursorError(text.to_owned());
        let mut parts = text.splitn(3, '.');
        let mut number = || {
            // `parse` would accept a sign and leading zeros, so that several texts would be the same cursor.
            let digits =
                parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit())).ok_or_else(error)?;
            if digits.len() > 1 && digits.starts_with('0') {
                return Err(error());
            }
            digits.parse::<u64>().map_err(|_| error())
        };
        let (epoch, seq) = (number()?, number()?);
        let epoch = u32::try_from(epoch).ok().and_then(NonZeroU32::new).ok_or_else(error)?;
        Ok(Self { epoch: Epoch(epoch), seq })
    }
}

/// The start position of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start {
    /// A snapshot of the head, and then the entries after it.
    Snapshot,
    /// The entry after a cursor. If the session does not continue from there, a gap and a snapshot come first.
    After(Cursor),
    /// The first entry.
    Beginning,
    /// The next entry to be committed.
    Now,
}

/// The reason why a session does not continue from a cursor.
///
/// ```
/// assert_eq!(recount_log::GapReason::Compacted.as_str(), "compacted");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GapReason {
    /// The cursor belongs to another epoch.
    Epoch,
    /// The cursor is beyond the head.
    Future,
    /// The cursor is inside of compacted entries.
    Compacted,
}

impl GapReason {
    /// The code on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Epoch => "epoch",
            Self::Future => "future",
            Self::Compacted => "compacted",
        }
    }
}

impl fmt::Display for GapReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
