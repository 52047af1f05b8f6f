//! Sources of new ids.

/// A source of new ids. Tests and simulations use one with predictable ids.
///
/// ```
/// use recount_message::{IdSource, RandomIds, Stamps, SystemClock};
///
/// struct Prefixed;
///
/// impl IdSource for Prefixed {
///     fn next_id(&mut self) -> String {
///         format!("msg_{}", RandomIds.next_id())
///     }
/// }
///
/// assert!(Stamps::new(Prefixed, SystemClock).id().starts_with("msg_"));
/// ```
pub trait IdSource {
    /// Returns a new id.
    ///
    /// ```
    /// use recount_message::{IdSource, RandomIds};
    ///
    /// let mut ids = RandomIds;
    /// assert_ne!(ids.next_id(), ids.next_id());
    /// ```
    fn next_id(&mut self) -> String;
}

/// Random ids of 32 hexadecimal digits, as in AgentScope Python.
///
/// ```
/// use recount_message::{IdSource, RandomIds};
///
/// let id = RandomIds.next_id();
/// assert!(id.len() == 32 && id.chars().all(|digit| digit.is_ascii_hexdigit()));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn next_id(&mut self) -> String {
        random_id()
    }
}

/// Ids for tests: a prefix and consecutive numbers.
///
/// ```
/// use recount_message::{CountingIds, IdSource};
///
/// let mut ids = CountingIds::new("e");
/// assert_eq!((ids.next_id(), ids.next_id()), ("e1".to_owned(), "e2".to_owned()));
/// ```
#[derive(Debug, Clone)]
pub struct CountingIds {
    prefix: String,
    given: u64,
}

impl CountingIds {
    /// Creates a source of ids with a prefix.
    ///
    /// ```
    /// use recount_message::{CountingIds, IdSource};
    ///
    /// assert_eq!(CountingIds::new("test-").next_id(), "test-1");
    /// ```
    pub fn new(prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), given: 0 }
    }
}

impl IdSource for CountingIds {
    fn next_id(&mut self) -> String {
        self.given += 1;
        format!("{}{}", self.prefix, self.given)
    }
}

pub(crate) fn random_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
