//! Places in a session's log.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// Which history of a session a cursor belongs to: a random number that changes only when acknowledged entries may be
/// gone or rewritten.
///
/// It stays through restarts, take-overs and compaction. It changes when a backup is opened for the first time, when a
/// session is imported over, and after a power loss under [`Durability::Process`](crate::Durability::Process).
///
/// ```
/// use recount_log::Epoch;
///
/// assert_eq!(Epoch::from_random(0), Epoch::from_random(1), "it is never zero");
/// assert_eq!(Epoch::from_random(7).get(), 7);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(NonZeroU32);

impl Epoch {
    /// The epoch that a random number makes.
    pub fn from_random(number: u64) -> Self {
        let folded = u32::try_from((number ^ (number >> 32)) & u64::from(u32::MAX)).unwrap_or_default();
        Self(NonZeroU32::new(folded).unwrap_or(NonZeroU32::MIN))
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0.get()
    }
}

/// A place in a session's log: after the entry with a number, in an epoch.
///
/// As text it is `epoch.seq`, which clients hand back and never look into. Entries are numbered 1, 2, 3 … per session and
/// never anew; the place before the first is 0.
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
    /// The history that it belongs to.
    pub epoch: Epoch,
    /// The number of the last entry before the place.
    pub seq: u64,
}

/// A text that is no cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no cursor: expected two numbers with a dot between them")]
pub struct CursorError(String);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch.get(), self.seq)
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    /// Reads a cursor. What a backend may have put behind a second dot, to find the place faster, is passed over.
    fn from_str(text: &str) -> Result<Self, CursorError> {
        let error = || CursorError(text.to_owned());
        let mut parts = text.splitn(3, '.');
        let mut number = || {
            // `parse` would take a sign and any number of zeros, and two texts would be one cursor.
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

/// Where a reader begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start {
    /// With a snapshot of the head, and then what comes after it.
    Snapshot,
    /// With the entry after a cursor. If that cannot be continued, a gap and a snapshot come first.
    After(Cursor),
    /// With the first entry that there is.
    Beginning,
    /// With the next entry that is written.
    Now,
}

/// Why a cursor could not be continued.
///
/// ```
/// assert_eq!(recount_log::GapReason::Compacted.as_str(), "compacted");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GapReason {
    /// The cursor is of another history of the session.
    Epoch,
    /// The cursor is beyond the head.
    Future,
    /// The entry after the cursor has been joined with ones before it.
    Compacted,
}

impl GapReason {
    /// The word on the wire.
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
