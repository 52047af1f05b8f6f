//! Timestamps: events use the format of `Instant`, and messages have no time zone.

use std::borrow::Cow;

use recount_message::jiff::Timestamp;
use recount_message::jiff::tz::Offset;
use recount_message::parse_time;

/// The pattern of a timestamp up to its seconds.
const SECONDS: &str = "0000-00-00T00:00:00";

/// Converts an event's time to the native format. A text in the format of `Instant` is converted without losing digits,
/// and any other text is returned unchanged. Works on characters without parsing the date, because every event has a
/// time.
pub(crate) fn event_time_to_native(text: Cow<'_, str>) -> Cow<'_, str> {
    let Some((seconds, fraction)) = text.strip_suffix('Z').and_then(split_seconds) else { return text };
    let digits = match fraction.strip_prefix('.') {
        None if fraction.is_empty() => "",
        Some(digits) if matches!(digits.len(), 3 | 6) && is_digits(digits) && !digits.ends_with("000") => digits,
        _ => return text,
    };
    Cow::Owned(format!("{seconds}.{digits:0<6}+00:00"))
}

/// Converts an event's time to the format of `Instant`. A text without a time zone is returned unchanged, because the
/// zone is unknown.
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

/// Returns whether a time is unchanged by a round trip through the Java format.
pub(crate) fn round_trips(text: &str) -> bool {
    text.is_empty() || event_time_to_native(event_time_to_java(text)) == text
}

/// Splits a timestamp after its seconds.
fn split_seconds(text: &str) -> Option<(&str, &str)> {
    let (seconds, rest) = text.split_at_checked(SECONDS.len())?;
    let fits = |(found, wanted): (u8, u8)| if wanted == b'0' { found.is_ascii_digit() } else { found == wanted };
    seconds.bytes().zip(SECONDS.bytes()).all(fits).then_some((seconds, rest))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Converts a message's time to Java's format: UTC in milliseconds, without a zone.
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

/// Formats a time as `Instant` does: in UTC, with no, three, six or nine fractional digits.
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
    fn instants_round_trip() {
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
    fn native_time_round_trips() {
        let text = "2026-08-22T02:30:00.500000+00:00";
        assert_eq!(event_time_to_java(text), "2026-08-22T02:30:00.500Z");
        assert_eq!(event_time_to_native(event_time_to_java(text)), text);
    }

    #[test]
    fn missing_zone_is_not_guessed() {
        assert_eq!(event_time_to_java("2026-08-22T02:30:00.5"), "2026-08-22T02:30:00.5");
        assert_eq!(message_time_to_java("2026-08-22T02:30:00.5"), "2026-08-22 02:30:00.500");
        assert_eq!(message_time_to_java("2026-08-22T02:30:00+02:00"), "2026-08-22 00:30:00.000");
    }
}
