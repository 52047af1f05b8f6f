//! An event or a message is the same however it is spelled.

use recount_message::{Event, Json, Msg, Object};

use super::{Verdict, ensure_same};
use crate::json_text;
use crate::random::Random;

/// An event whose fields stand in another order, with white space between them and a field that comes twice, is the
/// same event.
///
/// # Errors
///
/// When it is not.
pub fn event_in_any_spelling(event: &Event<'_>, seed: u64) -> Verdict {
    let Some(text) = respelled(&event.to_json(), &event.extra, seed) else { return Ok(()) };
    ensure_same!(Event::from_json(&text).as_ref(), Ok(event), "an event spelled {text}");
    Ok(())
}

/// The same for a message.
///
/// # Errors
///
/// When it is not.
pub fn message_in_any_spelling(message: &Msg, seed: u64) -> Verdict {
    let Some(text) = respelled(&message.to_json(), &message.extra, seed) else { return Ok(()) };
    ensure_same!(Msg::from_json(&text).as_ref(), Ok(message), "a message spelled {text}");
    Ok(())
}

/// The same object in another spelling. Only the unknown fields keep their order, which is all that counts about it.
/// What nests deeper than a free value may is left alone.
fn respelled(text: &str, unknown: &Object, seed: u64) -> Option<String> {
    let mut random = Random::new(seed);
    let object = Object::parse(text).ok()?;
    let is_unknown = |key: &str| unknown.contains_key(key);
    let declared: Vec<(&str, Json)> =
        object.iter().filter(|(key, _)| !is_unknown(key)).map(|(key, value)| (key, value.clone())).collect();
    let mut fields = random.shuffled(declared);
    if !fields.is_empty() && random.chance(50) {
        // The last one of a name counts.
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
