//! The sources of time, random numbers and ids.

use std::fmt;

use recount_message::jiff::Timestamp;
use recount_message::{Clock, IdSource, RandomIds, SystemClock};

/// A source of random numbers.
pub trait Rng {
    /// Returns the next number. It must be unpredictable, except in a simulation.
    fn next_u64(&mut self) -> u64;
}

/// The random numbers of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRng;

impl Rng for SystemRng {
    fn next_u64(&mut self) -> u64 {
        // Six bits of a random UUID are fixed. The rotation moves them over random bits of the other half.
        let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
        high.rotate_left(32) ^ low
    }
}

/// The clock, random numbers and ids of a log. A simulation provides its own.
pub struct Env {
    clock: Box<dyn Clock + Send>,
    rng: Box<dyn Rng + Send>,
    ids: Box<dyn IdSource + Send>,
}

impl Env {
    /// Creates an environment from its sources.
    pub fn new(
        clock: impl Clock + Send + 'static,
        rng: impl Rng + Send + 'static,
        ids: impl IdSource + Send + 'static,
    ) -> Self {
        Self { clock: Box::new(clock), rng: Box::new(rng), ids: Box::new(ids) }
    }

    pub(crate) fn now(&mut self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.rng.next_u64()
    }

    pub(crate) fn id(&mut self) -> String {
        self.ids.next_id()
    }
}

impl Default for Env {
    /// The system clock, random numbers of the operating system, and random ids.
    fn default() -> Self {
        Self::new(SystemClock, SystemRng, RandomIds)
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Env").finish_non_exhaustive()
    }
}
