//! Clocks, and the text format of times. Times are stored as text and parsed on demand.

use std::fmt;

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

/// A source of the current time. Tests and simulations use one with predictable times.
///
/// ```
/// use recount_message::jiff::Timestamp;
/// use recount_message::{Clock, CountingIds, Stamps};
///
/// struct Stopped;
///
/// impl Clock for Stopped {
///     fn now(&mut self) -> Timestamp {
///         Timestamp::UNIX_EPOCH
///     }
/// }
///
/// let mut stamps = Stamps::new(CountingIds::new("e"), Stopped);
/// assert_eq!(stamps.time(), "1970-01-01T00:00:00.000000+00:00");
/// ```
pub trait Clock {
    /// Returns the current time.
    ///
    /// ```
    /// use recount_message::{Clock, SteppingClock};
    ///
    /// let mut clock = SteppingClock::default();
    /// assert!(clock.now() < clock.now());
    /// ```
    fn now(&mut self) -> Timestamp;
}

/// The system clock.
///
/// ```
/// use recount_message::jiff::Timestamp;
/// use recount_message::{Clock, SystemClock};
///
/// assert!(SystemClock.now() <= Timestamp::now());
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&mut self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock for tests that advances by a constant step at each call.
///
/// ```
/// use recount_message::{Clock, SteppingClock, format_time};
///
/// let mut clock = SteppingClock::default();
/// assert_eq!(format_time(clock.now()), "2026-01-01T00:00:00.000000+00:00");
/// assert_eq!(format_time(clock.now()), "2026-01-01T00:00:00.001000+00:00");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SteppingClock {
    next: Timestamp,
    step: SignedDuration,
}

impl SteppingClock {
    /// Creates a clock that returns `start` first and advances by `step`.
    ///
    /// ```
    /// use recount_message::jiff::{SignedDuration, Timestamp};
    /// use recount_message::{Clock, SteppingClock};
    ///
    /// let mut clock = SteppingClock::new(Timestamp::UNIX_EPOCH, SignedDuration::from_secs(60));
    /// clock.now();
    /// assert_eq!(clock.now().to_string(), "1970-01-01T00:01:00Z");
    /// ```
    pub fn new(start: Timestamp, step: SignedDuration) -> Self {
        Self { next: start, step }
    }
}

impl Default for SteppingClock {
    /// Starts at 2026-01-01T00:00:00Z and advances by one millisecond.
    fn default() -> Self {
        let start = Timestamp::from_second(1_767_225_600).unwrap_or(Timestamp::UNIX_EPOCH);
        Self::new(start, SignedDuration::from_millis(1))
    }
}

impl Clock for SteppingClock {
    fn now(&mut self) -> Timestamp {
        let now = self.next;
        self.next = now.checked_add(self.step).unwrap_or(Timestamp::MAX);
        now
    }
}

/// Formats a time as in events: UTC, six fractional digits, `+00:00`.
///
/// ```
/// use recount_message::format_time;
///
/// let time = "2026-11-15T19:38:53.1Z".parse().unwrap();
/// assert_eq!(format_time(time), "2026-11-15T19:38:53.100000+00:00");
/// ```
pub fn format_time(time: Timestamp) -> String {
    struct Canonical(DateTime);

    impl fmt::Display for Canonical {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let at = self.0;
            write!(
                f,
                "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}+00:00",
                at.year(),
                at.month(),
                at.day(),
                at.hour(),
                at.minute(),
                at.second(),
                at.subsec_nanosecond() / 1_000
            )
        }
    }

    Canonical(Offset::UTC.to_datetime(time)).to_string()
}

/// Parses a time in any format that AgentScope writes; `None` if the text is not a time. A time without a zone is UTC.
///
/// ```
/// use recount_message::parse_time;
///
/// // The formats of AgentScope Python, Recount and AgentScope Java.
/// let python = parse_time("2026-11-15T19:38:53.133908").unwrap();
/// assert_eq!(parse_time("2026-11-15T19:38:53.133908+00:00"), Some(python));
/// assert!(parse_time("2026-11-15 19:38:53.133").is_some());
/// assert!(parse_time("yesterday").is_none());
/// ```
pub fn parse_time(text: &str) -> Option<Timestamp> {
    parse_time_in(text, Offset::UTC)
}

/// Parses a time like [`parse_time`]. A time without a zone is in `zone`.
///
/// ```
/// use recount_message::jiff::tz::offset;
/// use recount_message::{parse_time, parse_time_in};
///
/// let beijing = parse_time_in("2026-11-15 19:38:53", offset(8));
/// assert_eq!(beijing, parse_time("2026-11-15T11:38:53Z"));
/// ```
pub fn parse_time_in(text: &str, zone: Offset) -> Option<Timestamp> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let civil: DateTime = text.parse().ok()?;
    zone.to_timestamp(civil).ok()
}

/// Returns the current time of the system clock in the format of events.
pub(crate) fn now_text() -> String {
    format_time(SystemClock.now())
}
