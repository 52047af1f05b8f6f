//! Ids and times for what a writer writes.

use std::fmt;

use crate::ids::{CountingIds, IdSource, RandomIds};
use crate::time::{Clock, SteppingClock, SystemClock, format_time};

/// Where a writer takes its ids and times from.
pub struct Stamps {
    ids: Box<dyn IdSource + Send>,
    clock: Box<dyn Clock + Send>,
}

impl Stamps {
    /// Ids and times from given sources.
    pub fn new(ids: impl IdSource + Send + 'static, clock: impl Clock + Send + 'static) -> Self {
        Self { ids: Box::new(ids), clock: Box::new(clock) }
    }

    /// Ids that count up and times that step on, the same each time.
    pub fn repeatable() -> Self {
        Self::new(CountingIds::new("id-"), SteppingClock::default())
    }

    /// A new id.
    pub fn id(&mut self) -> String {
        self.ids.next_id()
    }

    /// The present time, as it is written.
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
