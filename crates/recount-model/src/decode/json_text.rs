//! Transformations of JSON text.

use recount_message::Json;

/// Returns a JSON value with a space after each comma and colon, as AgentScope writes the input of calls. Invalid JSON
/// is returned unchanged.
pub(super) fn spaced_json(text: &str) -> String {
    let Ok(value) = Json::parse(text) else { return text.to_owned() };
    let mut out = String::with_capacity(text.len() + 16);
    let mut in_string = false;
    let mut escaped = false;
    for char in value.as_raw().chars() {
        out.push(char);
        if in_string {
            match char {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
        } else if char == '"' {
            in_string = true;
        } else if char == ',' || char == ':' {
            out.push(' ');
        }
    }
    out
}

/// Replaces unpaired surrogate escapes (`\ud83d` alone) by the replacement character. `None` if there are none.
///
/// Some servers split a character between two chunks. A string cannot hold the halves, but the rest of the stream is
/// valid.
pub(super) fn without_lone_surrogates(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (length, is_lone) = match unit(escape) {
            Some(0xD800..=0xDBFF) if matches!(escape.get(6..).and_then(unit), Some(0xDC00..=0xDFFF)) => (12, false),
            Some(0xD800..=0xDFFF) => (6, true),
            Some(_) => (6, false),
            None => (escape.chars().take(2).map(char::len_utf8).sum(), false),
        };
        let (kept, after) = escape.split_at(length);
        out.push_str(if is_lone { "\\ufffd" } else { kept });
        changed |= is_lone;
        rest = after;
    }
    out.push_str(rest);
    changed.then_some(out)
}

/// Returns the UTF-16 code unit of the escape at the start of a text.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaced_json_matches_python() {
        assert_eq!(
            spaced_json(r#"{"a":[1,2.0],"b, c":"x:\",y","d":{}}"#),
            r#"{"a": [1, 2.0], "b, c": "x:\",y", "d": {}}"#
        );
        assert_eq!(spaced_json(r#"{ "q" :"\u4f60" }"#), r#"{"q": "你"}"#);
        assert_eq!(spaced_json("{nonsense"), "{nonsense");
    }

    #[test]
    fn replaces_lone_surrogates() {
        assert_eq!(without_lone_surrogates(r#"{"a":"\ud83d"}"#).as_deref(), Some(r#"{"a":"\ufffd"}"#));
        assert_eq!(without_lone_surrogates(r#"\ude00\ud83dx"#).as_deref(), Some(r#"\ufffd\ufffdx"#));
        assert_eq!(without_lone_surrogates(r#"\ud83d\ude00"#), None);
        assert_eq!(without_lone_surrogates(r#"\\ud83d \u00e9 \n \"#), None);
        assert_eq!(without_lone_surrogates(r#"\é"#), None);
    }
}
