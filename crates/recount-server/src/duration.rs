//! Parsing of durations and sizes.

use std::time::Duration;

/// Parses a duration: a number and one of `s`, `m`, `h`, `d`.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(recount_server::parse_duration("30d"), Ok(Duration::from_secs(30 * 24 * 3600)));
/// assert!(recount_server::parse_duration("soon").is_err());
/// ```
///
/// # Errors
///
/// Returns a message with the expected format if `text` is not a duration.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let error = || format!("invalid duration {text:?}: expected a number and one of s, m, h, d, such as \"30d\"");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(error)?;
    let number: u64 = number.trim().parse().map_err(|_| error())?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(error()),
    };
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(error)
}

/// Parses a size: a number of bytes, `KiB`, `MiB` or `GiB`.
///
/// ```
/// assert_eq!(recount_server::parse_size("32 MiB"), Ok(32 * 1024 * 1024));
/// ```
///
/// # Errors
///
/// Returns a message with the expected format if `text` is not a size.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let error = || format!("invalid size {text:?}: expected a number of bytes, KiB, MiB or GiB, such as \"32 MiB\"");
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let unit = text.strip_prefix(digits).unwrap_or_default().trim();
    let number: usize = digits.trim().parse().map_err(|_| error())?;
    let bytes = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(error()),
    };
    number.checked_mul(bytes).ok_or_else(error)
}
