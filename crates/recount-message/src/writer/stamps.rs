//! Ids and times for what a writer writes.

use std::fmt;

use jiff::Timestamp;

use crate::ids::{CountingIds, IdSource, RandomIds};
use crate::time::{Clock, SteppingClock, SystemClock, format_time};

/// Where a writer takes its ids and times from.
///
/// ```
/// use recount_message::{ReplyEnd, ReplyWriter, Stamps};
///
/// // The same ids and times each time make the same message.
/// let write = || ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday").end(ReplyEnd::completed());
/// assert_eq!(write().to_json(), write().to_json());
/// ```
pub struct Stamps {
    ids: Box<dyn IdSource + Send>,
    clock: Box<dyn Clock + Send>,
}

impl Stamps {
    /// Ids and times from given sources.
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

    /// Ids that count up and times that step on, the same each time.
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

    /// A new id.
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

    /// The present moment.
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

    /// The present time, as it is written.
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
    /// Random ids and the machine's clock.
    fn default() -> Self {
        Self::new(RandomIds, SystemClock)
    }
}

impl fmt::Debug for Stamps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stamps").finish_non_exhaustive()
    }
}
