//! The hash function for derived ids.

/// The 64-bit FNV-1a hash: small, and identical in every language.
///
/// ```
/// use recount_message::wire::Fnv1a;
///
/// let mut hash = Fnv1a::of("Hello, ");
/// hash.add("world");
/// assert_eq!(hash, Fnv1a::of("Hello, world"));
/// assert_eq!(Fnv1a::default().value(), 0xcbf2_9ce4_8422_2325);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    /// Hashes a text.
    ///
    /// ```
    /// use recount_message::wire::Fnv1a;
    ///
    /// assert_eq!(Fnv1a::of("a").value(), 0xaf63_dc4c_8601_ec8c);
    /// ```
    pub fn of(text: &str) -> Self {
        let mut hash = Self::default();
        hash.add(text);
        hash
    }

    /// Resumes from the value of another hash.
    ///
    /// ```
    /// use recount_message::wire::Fnv1a;
    ///
    /// assert_eq!(Fnv1a::from_value(Fnv1a::of("a").value()), Fnv1a::of("a"));
    /// ```
    pub fn from_value(value: u64) -> Self {
        Self(value)
    }

    /// Adds text.
    ///
    /// ```
    /// use recount_message::wire::Fnv1a;
    ///
    /// let mut hash = Fnv1a::default();
    /// hash.add("a");
    /// assert_eq!(hash, Fnv1a::of("a"));
    /// ```
    pub fn add(&mut self, text: &str) {
        self.0 = text.bytes().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    }

    /// Returns the current value.
    ///
    /// ```
    /// use recount_message::wire::Fnv1a;
    ///
    /// assert_eq!(format!("{:016x}", Fnv1a::of("").value()), "cbf29ce484222325");
    /// ```
    pub fn value(self) -> u64 {
        self.0
    }
}
