//! The arguments of a call, for providers that want them as an object.

use recount_message::{Json, Object};

use super::turns::Call;
use super::warning::{FormatWarning, FormatWarningKind};
use crate::repair;

/// The arguments of a call as an object, which is empty where they are none.
pub(crate) fn parse_or_empty(call: &Call<'_>, warnings: &mut Vec<FormatWarning>) -> Json {
    parse_arguments(call.input).unwrap_or_else(|| {
        warnings.push(FormatWarning::new(call.own_id, FormatWarningKind::InvalidArguments));
        Object::new().into()
    })
}

/// The object that a call's input is, or the one that it would have become.
///
/// Nothing when it is neither. Numbers stay as they were written.
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
        assert_eq!(parse_arguments(input).as_ref().map(Json::as_str), expected, "{input}");
    }

    #[test]
    fn numbers_stay_as_they_were_written() {
        check(r#"{"a": 25.0, "b": 12345678901234567890123}"#, Some(r#"{"a":25.0,"b":12345678901234567890123}"#));
    }

    #[test]
    fn nothing_is_no_arguments() {
        check("", Some("{}"));
        check(" \n", Some("{}"));
    }

    #[test]
    fn what_broke_off_is_closed() {
        check(r#"{"city": "Paris", "un"#, Some(r#"{"city":"Paris"}"#));
    }

    #[test]
    fn what_is_no_object_or_leaves_nothing_is_none() {
        for input in [r#"{"ci"#, "[1, 2]", "not json", "{", "3", "\"text\"", "null"] {
            check(input, None);
        }
    }
}
