//! The input of a call, for providers that require an object.

use recount_message::{Json, Object};

use super::turns::Call;
use super::warning::{FormatWarning, FormatWarningKind};
use crate::repair;

/// Parses the input of a call. Invalid input becomes an empty object and adds a warning.
pub(crate) fn parse_or_empty(call: &Call<'_>, warnings: &mut Vec<FormatWarning>) -> Json {
    parse_arguments(call.input).unwrap_or_else(|| {
        warnings.push(FormatWarning::new(call.own_id, FormatWarningKind::InvalidArguments));
        Object::new().into()
    })
}

/// Parses the input of a call, repairing it if possible. Numbers keep their digits.
///
/// Returns `None` if the input is invalid, or if the repair leaves nothing of it.
fn parse_arguments(input: &str) -> Option<Json> {
    let read = repair::parse_object(input).ok()?;
    let is_lost = read.object.is_empty() && !read.repairs.is_empty();
    (!is_lost).then(|| read.object.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: Option<&str>) {
        assert_eq!(parse_arguments(input).as_ref().map(Json::as_raw), expected, "{input}");
    }

    #[test]
    fn numbers_keep_their_digits() {
        check(r#"{"a": 25.0, "b": 12345678901234567890123}"#, Some(r#"{"a":25.0,"b":12345678901234567890123}"#));
    }

    #[test]
    fn blank_input_is_an_empty_object() {
        check("", Some("{}"));
        check(" \n", Some("{}"));
    }

    #[test]
    fn truncated_input_is_closed() {
        check(r#"{"city": "Paris", "un"#, Some(r#"{"city":"Paris"}"#));
    }

    #[test]
    fn invalid_input_is_none() {
        for input in [r#"{"ci"#, "[1, 2]", "not json", "{", "3", "\"text\"", "null"] {
            check(input, None);
        }
    }
}
