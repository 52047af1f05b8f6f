//! Times: of events as `Instant` prints them, of messages without a zone.

use std::borrow::Cow;

use recount_message::jiff::Timestamp;
use recount_message::jiff::tz::Offset;
use recount_message::parse_time;

/// What every time in UTC begins with, up to the seconds.
const SECONDS: &str = "0000-00-00T00:00:00";

/// An event's time, natively. What is as `Instant` prints it becomes what Recount writes, where no digit gets lost; any
/// other text stays as it is. Streams are full of times, so this looks at characters only.
pub(crate) fn event_time_to_native(text: Cow<'_, str>) -> Cow<'_, str> {
    let Some((seconds, fraction)) = text.strip_suffix('Z').and_then(split_seconds) else { return text };
    let digits = match fraction.strip_prefix('.') {
        None if fraction.is_empty() => "",
        Some(digits) if matches!(digits.len(), 3 | 6) && is_digits(digits) && !digits.ends_with("000") => digits,
        _ => return text,
    };
    Cow::Owned(format!("{seconds}.{digits:0<6}+00:00"))
}

/// An event's time as `Instant` prints it. A text without a zone stays as it is: which zone it means is not known.
pub(crate) fn event_time_to_java(text: &str) -> Cow<'_, str> {
    let canonical = text.strip_suffix("+00:00").and_then(split_seconds).and_then(|(seconds, fraction)| {
        let digits = fraction.strip_prefix('.').filter(|digits| digits.len() == 6 && is_digits(digits))?;
        Some((seconds, digits))
    });
    if let Some((seconds, digits)) = canonical {
        return Cow::Owned(match digits.strip_suffix("000") {
            Some("000") => format!("{seconds}Z"),
            Some(milliseconds) => format!("{seconds}.{milliseconds}Z"),
            None => format!("{seconds}.{digits}Z"),
        });
    }
    if split_seconds(text).is_some_and(|(_, rest)| is_digits(rest.strip_prefix('.').unwrap_or(rest))) {
        return Cow::Borrowed(text);
    }
    match text.parse::<Timestamp>() {
        Ok(time) => Cow::Owned(instant(time)),
        Err(_) => Cow::Borrowed(text),
    }
}

/// Whether an event's time is the same after it has been to Java.
pub(crate) fn comes_back(text: &str) -> bool {
    text.is_empty() || event_time_to_native(event_time_to_java(text)) == text
}

/// Splits a time after its seconds.
fn split_seconds(text: &str) -> Option<(&str, &str)> {
    let (seconds, rest) = text.split_at_checked(SECONDS.len())?;
    let fits = |(found, wanted): (u8, u8)| if wanted == b'0' { found.is_ascii_digit() } else { found == wanted };
    seconds.bytes().zip(SECONDS.bytes()).all(fits).then_some((seconds, rest))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A message's time as Java writes it: to the millisecond, without a zone. What has a zone is told in UTC.
pub(crate) fn message_time_to_java(text: &str) -> Cow<'_, str> {
    let Some(time) = parse_time(text) else { return Cow::Borrowed(text) };
    let at = Offset::UTC.to_datetime(time);
    Cow::Owned(format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
        at.subsec_nanosecond() / 1_000_000
    ))
}

/// As `Instant` prints it: UTC, and as many digits as it takes, by threes.
fn instant(time: Timestamp) -> String {
    let at = Offset::UTC.to_datetime(time);
    let seconds = format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second()
    );
    match at.subsec_nanosecond() {
        0 => format!("{seconds}Z"),
        nanos if nanos % 1_000_000 == 0 => format!("{seconds}.{:03}Z", nanos / 1_000_000),
        nanos if nanos % 1_000 == 0 => format!("{seconds}.{:06}Z", nanos / 1_000),
        nanos => format!("{seconds}.{nanos:09}Z"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_come_back() {
        for text in [
            "2026-08-22T02:30:00Z",
            "2026-08-22T02:30:00.500Z",
            "2026-08-22T02:30:00.123456Z",
            "2026-08-22T02:30:00.123456789Z",
            "2026-08-22T02:30:00.120Z",
            "t",
            "",
        ] {
            assert_eq!(event_time_to_java(&event_time_to_native(text.into())), text);
        }
    }

    #[test]
    fn what_recount_writes_comes_back() {
        let text = "2026-08-22T02:30:00.500000+00:00";
        assert_eq!(event_time_to_java(text), "2026-08-22T02:30:00.500Z");
        assert_eq!(event_time_to_native(event_time_to_java(text)), text);
    }

    #[test]
    fn no_zone_is_invented() {
        assert_eq!(event_time_to_java("2026-08-22T02:30:00.5"), "2026-08-22T02:30:00.5");
        assert_eq!(message_time_to_java("2026-08-22T02:30:00.5"), "2026-08-22 02:30:00.500");
        assert_eq!(message_time_to_java("2026-08-22T02:30:00+02:00"), "2026-08-22 00:30:00.000");
    }
}
