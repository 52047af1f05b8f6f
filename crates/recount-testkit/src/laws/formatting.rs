//! Decoding does not depend on the formatting of the JSON.

use recount_message::{Event, Json, Msg, Object};

use super::{Verdict, ensure_same};
use crate::json_text;
use crate::random::Random;

/// An event decodes to the same value if its fields are reordered, padded with white space, or repeated.
///
/// # Errors
///
/// If the law is violated.
pub fn event_decodes_in_any_formatting(event: &Event<'_>, seed: u64) -> Verdict {
    let Some(text) = respelled(&event.to_json(), &event.extra, seed) else { return Ok(()) };
    ensure_same!(Event::from_json(&text).as_ref(), Ok(event), "an event formatted as {text}");
    Ok(())
}

/// A message decodes to the same value if its fields are reordered, padded with white space, or repeated.
///
/// # Errors
///
/// If the law is violated.
pub fn message_decodes_in_any_formatting(message: &Msg, seed: u64) -> Verdict {
    let Some(text) = respelled(&message.to_json(), &message.extra, seed) else { return Ok(()) };
    ensure_same!(Msg::from_json(&text).as_ref(), Ok(message), "a message formatted as {text}");
    Ok(())
}

/// Returns an object with shuffled fields, white space and repeated keys. Unknown fields keep their relative order, which is
/// significant. `None` if the text is nested too deeply to parse.
fn respelled(text: &str, unknown: &Object, seed: u64) -> Option<String> {
    let mut random = Random::new(seed);
    let object = Object::parse(text).ok()?;
    let is_unknown = |key: &str| unknown.contains_key(key);
    let declared: Vec<(&str, Json)> =
        object.iter().filter(|(key, _)| !is_unknown(key)).map(|(key, value)| (key, value.clone())).collect();
    let mut fields = random.shuffled(declared);
    if !fields.is_empty() && random.chance(50) {
        // The last value of a repeated key counts.
        let name = random.pick_ref(&fields).0;
        fields.insert(0, (name, Json::from("not this")));
    }
    let mut least = 0;
    for (key, value) in object.iter().filter(|(key, _)| is_unknown(key)) {
        let at = random.between(least, fields.len());
        fields.insert(at, (key, value.clone()));
        least = at + 1;
    }
    let fields: Object = fields.into_iter().collect();
    Some(json_text::spaced(&mut random, &fields.to_json()))
}
