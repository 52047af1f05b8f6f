//! A deterministic random number generator.

/// A small random number generator (SplitMix64). The same seed yields the same numbers in every version and on every machine,
/// which crates for random numbers do not guarantee.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or zero if `end` is zero.
    pub fn below(&mut self, end: usize) -> usize {
        // The bias is negligible for small numbers.
        (self.number() % (end.max(1) as u64)) as usize
    }

    /// Returns a number from `first` to `last`, inclusive.
    pub fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last.saturating_sub(first) + 1)
    }

    /// Returns `true` with a probability in percent.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns a random element.
    ///
    /// # Panics
    ///
    /// If the slice is empty.
    pub fn pick<T: Copy>(&mut self, things: &[T]) -> T {
        *self.pick_ref(things)
    }

    /// Returns a reference to a random element.
    ///
    /// # Panics
    ///
    /// If the slice is empty.
    pub fn pick_ref<'t, T>(&mut self, things: &'t [T]) -> &'t T {
        &things[self.below(things.len())]
    }

    /// Returns the elements in random order.
    pub fn shuffled<T>(&mut self, mut things: Vec<T>) -> Vec<T> {
        for at in (1..things.len()).rev() {
            things.swap(at, self.below(at + 1));
        }
        things
    }
}
