//! Canonical encoding of strings and keys.

use super::scan::{is_plain, next_special};

/// Writes a string with quotes. Escapes only the characters that JSON requires, in the short form if there is one.
///
/// ```
/// let mut out = String::new();
/// recount_message::wire::write_string(&mut out, "a \"b\"");
/// assert_eq!(out, r#""a \"b\"""#);
/// ```
#[inline]
pub fn string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    if is_plain(text.as_bytes()) {
        out.push_str(text);
    } else {
        escaped(out, text);
    }
    out.push('"');
}

#[inline(never)]
fn escaped(out: &mut String, mut text: &str) {
    loop {
        let special = next_special(text.as_bytes(), 0);
        let Some((plain, rest)) = text.split_at_checked(special) else { return };
        out.push_str(plain);
        let mut characters = rest.chars();
        match characters.next() {
            None => return,
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(control) => out.push_str(&format!("\\u{:04x}", control as u32)),
        }
        text = characters.as_str();
    }
}

/// Writes `"key":`, preceded by a comma unless it is the first key of its object.
///
/// ```
/// use recount_message::wire::write_key;
///
/// let mut out = String::from("{");
/// write_key(&mut out, "a");
/// out.push('1');
/// write_key(&mut out, "b");
/// assert_eq!(out, r#"{"a":1,"b":"#);
/// ```
pub fn key(out: &mut String, name: &str) {
    if !out.ends_with('{') {
        out.push(',');
    }
    string(out, name);
    out.push(':');
}
