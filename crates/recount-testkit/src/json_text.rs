//! Generator of valid and almost valid JSON texts.

use crate::random::Random;
use crate::samples;

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "null",
    "true",
    "false",
    "nul",
    "0",
    "-",
    "1",
    ".",
    "e",
    "E+",
    "00",
    "1e400",
    " ",
    "\n",
    "\t",
    "\u{c}",
    "\u{0}",
    "\u{feff}",
    "\u{a0}",
    "a",
    "é",
    "🌍",
    "\\u0041",
    "\\ud83c\\udf0d",
    "\\ud83c",
    "\\udf0d",
    "\\uD83C\\u0041",
    "\\u00",
    "\\x",
    "\\/",
    "\"a\":",
    "\u{7f}",
    "\u{1f}",
    "'",
    "NaN",
    "Infinity",
    "/**/",
];

/// Generates a JSON text with random white space and escapes.
pub fn json_text(random: &mut Random) -> String {
    let mut out = String::new();
    write_value(random, 4, &mut out);
    space(random, &mut out);
    out
}

/// Generates a JSON object with few different keys, so that the keys are likely to occur in a schema.
pub fn object_text(random: &mut Random) -> String {
    let mut keys = vec!["a", "b", "é", "c d"];
    let mut out = String::new();
    space(random, &mut out);
    out.push('{');
    let count = random.below(keys.len() + 1);
    for index in 0..count {
        if index > 0 {
            out.push(',');
        }
        space(random, &mut out);
        // Keys are sometimes repeated.
        let key = if random.chance(5) { random.pick(&keys) } else { keys.remove(random.below(keys.len())) };
        out.push_str(&format!("\"{key}\""));
        space(random, &mut out);
        out.push(':');
        write_argument(random, &mut out);
        space(random, &mut out);
    }
    out.push('}');
    out
}

/// Writes a value, which is often the text of a value of another type.
fn write_argument(random: &mut Random, out: &mut String) {
    const STRINGIFIED: &[&str] =
        &["\"42\"", "\" -1.5\"", "\"true\"", "\"None\"", "\"[1, 2]\"", "\"{}\"", "42", "7.0", "\"x\"", "[]", "null"];
    if random.chance(60) {
        out.push_str(random.pick(STRINGIFIED));
    } else {
        write_value(random, 3, out);
    }
}

/// Applies random mutations to a text, so that it is most likely invalid JSON.
pub fn mutated(random: &mut Random, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..random.between(1, 4) {
        let at = random.below(characters.len() + 1);
        match random.below(5) {
            0 if at < characters.len() => {
                characters.remove(at);
            }
            1 => characters.truncate(at),
            2 => {
                let end = (at + random.below(8)).min(characters.len());
                let again: Vec<char> = characters[at..end].to_vec();
                characters.splice(at..at, again);
            }
            _ => {
                let token = random.pick(TOKENS);
                characters.splice(at..at, token.chars());
            }
        }
    }
    characters.into_iter().collect()
}

/// Inserts random white space into a JSON text.
pub fn spaced(random: &mut Random, text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    let mut in_string = false;
    while let Some(character) = characters.next() {
        let is_structure = !in_string && matches!(character, '{' | '}' | '[' | ']' | ':' | ',');
        if is_structure {
            space(random, &mut out);
        }
        out.push(character);
        match character {
            '"' => in_string = !in_string,
            '\\' => out.extend(characters.next()),
            _ if is_structure => space(random, &mut out),
            _ => {}
        }
    }
    out
}

/// Generates arrays and objects with a nesting depth.
pub fn nested(random: &mut Random, depth: usize) -> String {
    let mut out = String::new();
    let mut ends = Vec::new();
    for _ in 0..depth {
        if random.chance(50) {
            out.push('[');
            ends.push("]");
        } else {
            out.push_str("{\"a\":");
            ends.push("}");
        }
    }
    out.push('0');
    out.extend(ends.into_iter().rev());
    out
}

fn space(random: &mut Random, out: &mut String) {
    if random.chance(15) {
        out.push_str(random.pick(&[" ", "\n", "\r\n", "\t ", "  "]));
    }
}

fn write_value(random: &mut Random, depth: usize, out: &mut String) {
    space(random, out);
    match random.below(if depth == 0 { 4 } else { 6 }) {
        0 => out.push_str(random.pick(&["null", "true", "false"])),
        1 => write_number(random, out),
        2 | 3 => write_string(random, out),
        4 => write_list(random, out, ['[', ']'], |random, out| write_value(random, depth - 1, out)),
        _ => write_list(random, out, ['{', '}'], |random, out| {
            space(random, out);
            write_string(random, out);
            space(random, out);
            out.push(':');
            write_value(random, depth - 1, out);
        }),
    }
    space(random, out);
}

fn write_list(
    random: &mut Random,
    out: &mut String,
    [open, close]: [char; 2],
    mut item: impl FnMut(&mut Random, &mut String),
) {
    out.push(open);
    // Sometimes long enough to exceed the small buffers of a decoder.
    let count = if random.chance(3) { 40 } else { random.below(4) };
    for index in 0..count {
        if index > 0 {
            out.push(',');
        }
        item(random, out);
    }
    space(random, out);
    out.push(close);
}

fn write_number(random: &mut Random, out: &mut String) {
    if random.chance(30) {
        out.push('-');
    }
    out.push_str(random.pick(&["0", "1", "25", "9007199254740993", "123456789012345678901234567890"]));
    if random.chance(30) {
        out.push_str(random.pick(&[".0", ".5", ".000", ".1234567890123456789"]));
    }
    if random.chance(30) {
        out.push_str(random.pick(&["e0", "E-4", "e+2", "e400", "E00"]));
    }
}

fn write_string(random: &mut Random, out: &mut String) {
    out.push('"');
    for character in samples::text(random).chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' if random.chance(50) => out.push_str("\\n"),
            '/' if random.chance(50) => out.push_str("\\/"),
            control if control < ' ' => write_escape(random, control, out),
            other if random.chance(10) => write_escape(random, other, out),
            other => out.push(other),
        }
    }
    out.push('"');
}

fn write_escape(random: &mut Random, character: char, out: &mut String) {
    let upper = random.chance(50);
    for unit in character.encode_utf16(&mut [0; 2]) {
        out.push_str(&if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
    }
}
