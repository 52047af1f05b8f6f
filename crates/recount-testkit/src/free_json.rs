//! Generator of free-form JSON: metadata, values, structured output and unknown fields.

use recount_message::{Json, Object};

use crate::random::Random;
use crate::samples;

/// Numbers, of which some cannot be represented as 64-bit floats.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-0.0",
    "7",
    "-1",
    "25.0",
    "1.0E-4",
    "1e5",
    "1E+2",
    "0.1",
    "3.141592653589793",
    "9007199254740993",
    "18446744073709551616",
    "-123456789012345678901234567890",
    "123456789012345678901234567890.5",
    "1e400",
    "5e-324",
];

const KEYS: &[&str] = &["a", "b", "id", "type", "key with space", "ключ", "", "\"", "\u{2028}", "__proto__", "state"];

/// Generates an object with up to three keys, which are sometimes repeated.
pub fn object(random: &mut Random) -> Object {
    object_of(random, 3)
}

fn object_of(random: &mut Random, depth: usize) -> Object {
    let mut entries: Vec<(String, Json)> = Vec::new();
    for _ in 0..random.below(4) {
        let key = random.pick(KEYS);
        let is_new = entries.iter().all(|(known, _)| known != key);
        if is_new || random.chance(10) {
            entries.push((key.to_owned(), value_of(random, depth)));
        }
    }
    entries.into_iter().collect()
}

/// Generates any value.
pub fn value(random: &mut Random) -> Json {
    value_of(random, 3)
}

fn value_of(random: &mut Random, depth: usize) -> Json {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => Json::null(),
        1 => random.chance(50).into(),
        2 | 3 => number(random),
        4 => samples::text(random).into(),
        5 => object_of(random, depth - 1).into(),
        6 => (0..random.below(4)).map(|_| value_of(random, depth - 1)).collect::<Vec<_>>().into(),
        _ => nested(random),
    }
}

fn number(random: &mut Random) -> Json {
    let lexeme = random.pick(NUMBERS);
    Json::parse(lexeme).unwrap_or_else(|_| Json::null())
}

/// Generates a deeply nested value. Its depth is far below the limit, which has tests of its own.
fn nested(random: &mut Random) -> Json {
    let mut value = number(random);
    for _ in 0..random.below(20) {
        value = if random.chance(50) { Json::from([value]) } else { Object::from([("in", value)]).into() };
    }
    value
}

/// Generates fields that no implementation declares.
pub fn unknown_fields(random: &mut Random) -> Object {
    let names = ["x_seen", "x-trace", "x \"quoted\"", "x_🌍"];
    let count = random.between(1, 2);
    names.iter().skip(random.below(3)).take(count).map(|name| (*name, value(random))).collect()
}

/// Generates metadata, which is usually empty.
pub fn rare_metadata(random: &mut Random) -> Object {
    if random.chance(15) { object(random) } else { Object::new() }
}

/// Generates unknown fields, usually none.
pub fn rare_fields(random: &mut Random) -> Object {
    if random.chance(8) { unknown_fields(random) } else { Object::new() }
}
