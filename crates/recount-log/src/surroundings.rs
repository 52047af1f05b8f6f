//! What the log takes from the world: time, chance and ids.

use std::fmt;

use recount_message::jiff::Timestamp;
use recount_message::{Clock, IdSource, RandomIds, SystemClock};

/// Draws random numbers.
pub trait Chance {
    /// A number that nobody can guess, or in a simulation the next one of a sequence.
    fn number(&mut self) -> u64;
}

/// The random numbers of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemChance;

impl Chance for SystemChance {
    fn number(&mut self) -> u64 {
        // Six bits of a random UUID are fixed; the other half covers them.
        let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
        high.rotate_left(32) ^ low
    }
}

/// Time, chance and ids, as the log gets them. A simulation gives it its own.
pub struct Surroundings {
    clock: Box<dyn Clock + Send>,
    chance: Box<dyn Chance + Send>,
    ids: Box<dyn IdSource + Send>,
}

impl Surroundings {
    /// Surroundings of one's own making.
    pub fn new(
        clock: impl Clock + Send + 'static,
        chance: impl Chance + Send + 'static,
        ids: impl IdSource + Send + 'static,
    ) -> Self {
        Self { clock: Box::new(clock), chance: Box::new(chance), ids: Box::new(ids) }
    }

    pub(crate) fn now(&mut self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.chance.number()
    }

    pub(crate) fn id(&mut self) -> String {
        self.ids.next_id()
    }
}

impl Default for Surroundings {
    /// The machine's clock, random numbers and random ids.
    fn default() -> Self {
        Self::new(SystemClock, SystemChance, RandomIds)
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").finish_non_exhaustive()
    }
}
