//! JSON in the spelling in which AgentScope writes the arguments that a provider gives as an object.

use recount_message::Json;

/// A JSON value with a space after each comma and colon. What cannot be kept as JSON stays as it is.
pub(super) fn spaced_json(text: &str) -> String {
    let Ok(value) = Json::parse(text) else { return text.to_owned() };
    let mut out = String::with_capacity(text.len() + 16);
    let mut in_string = false;
    let mut escaped = false;
    for char in value.as_str().chars() {
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

/// A text in which half a surrogate pair (`\ud83d` alone) is the replacement character. Nothing if there is none.
///
/// Some servers cut a character in two between two chunks. No text can hold the halves, but the rest of the stream is good.
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

/// The UTF-16 unit that a text escapes at its beginning.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_as_python_puts_them() {
        assert_eq!(
            spaced_json(r#"{"a":[1,2.0],"b, c":"x:\",y","d":{}}"#),
            r#"{"a": [1, 2.0], "b, c": "x:\",y", "d": {}}"#
        );
        assert_eq!(spaced_json(r#"{ "q" :"\u4f60" }"#), r#"{"q": "你"}"#);
        assert_eq!(spaced_json("{nonsense"), "{nonsense");
    }

    #[test]
    fn half_a_pair_is_replaced() {
        assert_eq!(without_lone_surrogates(r#"{"a":"\ud83d"}"#).as_deref(), Some(r#"{"a":"\ufffd"}"#));
        assert_eq!(without_lone_surrogates(r#"\ude00\ud83dx"#).as_deref(), Some(r#"\ufffd\ufffdx"#));
        assert_eq!(without_lone_surrogates(r#"\ud83d\ude00"#), None);
        assert_eq!(without_lone_surrogates(r#"\\ud83d \u00e9 \n \"#), None);
        assert_eq!(without_lone_surrogates(r#"\é"#), None);
    }
}
