//! Ids and times of events.

use std::fmt;

use jiff::Timestamp;

use crate::ids::{CountingIds, IdSource, RandomIds};
use crate::time::{Clock, SteppingClock, SystemClock, format_time};

/// The source of ids and times for a writer.
///
/// ```
/// use recount_message::{ReplyEnd, ReplyWriter, Stamps};
///
/// // The ids and times are the same in every run.
/// let write = || ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday").end(ReplyEnd::completed());
/// assert_eq!(write().to_json(), write().to_json());
/// ```
pub struct Stamps {
    ids: Box<dyn IdSource + Send>,
    clock: Box<dyn Clock + Send>,
}

impl Stamps {
    /// Creates stamps from an id source and a clock.
    ///
    /// ```
    /// use recount_message::{CountingIds, Stamps, SystemClock};
    ///
    /// let mut stamps = Stamps::new(CountingIds::new("reply-"), SystemClock);
    /// assert_eq!(stamps.id(), "reply-1");
    /// ```
    pub fn new(ids: impl IdSource + Send + 'static, clock: impl Clock + Send + 'static) -> Self {
        Self { ids: Box::new(ids), clock: Box::new(clock) }
    }

    /// Creates stamps with consecutive ids and times that are the same in every run, for tests.
    ///
    /// ```
    /// use recount_message::Stamps;
    ///
    /// let mut stamps = Stamps::repeatable();
    /// assert_eq!(stamps.id(), "id-1");
    /// assert_eq!(stamps.time(), "2026-01-01T00:00:00.000000+00:00");
    /// ```
    pub fn repeatable() -> Self {
        Self::new(CountingIds::new("id-"), SteppingClock::default())
    }

    /// Returns a new id.
    ///
    /// ```
    /// use recount_message::Stamps;
    ///
    /// let mut stamps = Stamps::default();
    /// assert_ne!(stamps.id(), stamps.id());
    /// ```
    pub fn id(&mut self) -> String {
        self.ids.next_id()
    }

    /// Returns the current time.
    ///
    /// ```
    /// use recount_message::Stamps;
    ///
    /// let mut stamps = Stamps::repeatable();
    /// assert!(stamps.now() < stamps.now());
    /// ```
    pub fn now(&mut self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the current time in the format of events.
    ///
    /// ```
    /// use recount_message::{Stamps, parse_time};
    ///
    /// assert!(parse_time(&Stamps::default().time()).is_some());
    /// ```
    pub fn time(&mut self) -> String {
        format_time(self.clock.now())
    }
}

impl Default for Stamps {
    /// Uses random ids and the system clock.
    fn default() -> Self {
        Self::new(RandomIds, SystemClock)
    }
}

impl fmt::Debug for Stamps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stamps").finish_non_exhaustive()
    }
}
