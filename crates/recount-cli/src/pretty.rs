//! Formats JSON with indentation.

/// Indents a valid JSON text by two spaces per level.
///
/// Changes only white space: strings, numbers and the order of keys keep their exact text. Parsing the text into values
/// and printing them again would not preserve them.
pub(crate) fn indented(json: &str) -> String {
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len() + json.len() / 4);
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let mut end = at + 1;
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {}
            b'{' | b'[' => {
                let next = next_token(bytes, end);
                out.push(char::from(byte));
                if let Some(&close @ (b'}' | b']')) = bytes.get(next) {
                    out.push(char::from(close));
                    end = next + 1;
                } else {
                    depth += 1;
                    break_line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(char::from(byte));
            }
            b',' => {
                out.push(',');
                break_line(&mut out, depth);
            }
            b':' => out.push_str(": "),
            b'"' => {
                end = string_end(bytes, end);
                out.push_str(json.get(at..end).unwrap_or_default());
            }
            // Numbers and literals are ASCII.
            _ => out.push(char::from(byte)),
        }
        at = end;
    }
    out
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Returns the index of the next byte that is not white space.
fn next_token(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + (rest.len() - rest.trim_ascii_start().len())
}

/// Returns the index after the closing quote of the string whose first character is at `from`.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(found) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
            return bytes.len();
        };
        at += found + 1;
        if rest.get(found) == Some(&b'"') {
            return at;
        }
        at += 1;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use recount_message::Json;

    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let text = indented(json);
        assert_eq!(text, expected);
        assert_eq!(Json::parse(&text).unwrap(), Json::parse(json).unwrap());
        assert_eq!(indented(&text), expected, "a text that is indented already stays the same");
    }

    #[test]
    fn indents_by_two_spaces() {
        check(
            r#"{"a":1,"b":[true,{"c":null}]}"#,
            "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    {\n      \"c\": null\n    }\n  ]\n}",
        );
    }

    #[test]
    fn empty_containers_stay_on_one_line() {
        check(r#"{"a":{},"b":[]}"#, "{\n  \"a\": {},\n  \"b\": []\n}");
        check("[]", "[]");
        check("{ }", "{}");
    }

    #[test]
    fn keeps_the_text_of_numbers() {
        for lexeme in ["25.0", "-0", "1.0E-4", "1e400", "123456789012345678901234567890"] {
            check(lexeme, lexeme);
        }
    }

    #[test]
    fn keeps_key_order_and_duplicate_keys() {
        check(r#"{"b":1,"a":2,"b":3}"#, "{\n  \"b\": 1,\n  \"a\": 2,\n  \"b\": 3\n}");
    }

    #[test]
    fn brackets_inside_strings_are_ignored() {
        check(r#""{\"a\":[1, 2]} \\""#, r#""{\"a\":[1, 2]} \\""#);
        check(r#"["é 世 \\\"","]"]"#, "[\n  \"é 世 \\\\\\\"\",\n  \"]\"\n]");
    }
}
