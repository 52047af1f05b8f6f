//! Comparison of results with those of the reference.

use recount_message::Json;
use serde_json::Value;

/// Placeholder for a time or an id that the reference generated.
fn is_made_up(value: &str) -> bool {
    matches!(value, "<now>" | "<random>")
}

/// Returns the first difference from the expected value.
pub(crate) fn difference(ours: &Value, theirs: &Value) -> Option<String> {
    let at = |place: &str, inner: Option<String>| inner.map(|inner| format!("{place}.{inner}"));
    match (ours, theirs) {
        (Value::String(_), Value::String(theirs)) if is_made_up(theirs) => None,
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => ours
            .iter()
            .zip(theirs)
            .enumerate()
            .find_map(|(index, (ours, theirs))| at(&format!("[{index}]"), difference(ours, theirs))),
        (Value::Object(ours), Value::Object(theirs)) if ours.keys().eq(theirs.keys()) => {
            ours.iter().zip(theirs.values()).find_map(|((key, ours), theirs)| at(key, difference(ours, theirs)))
        }
        _ if ours == theirs => None,
        _ => Some(format!(" {ours} in place of {theirs}")),
    }
}

/// Compares texts including the order of keys. Keys that the reference does not have are ignored, and numbers are compared by
/// value, because the reference formats them again.
pub(crate) fn ordered_difference(ours: &Json, theirs: &Json) -> Option<String> {
    let at = |place: &str, inner: Option<String>| inner.map(|inner| format!("{place}.{inner}"));
    if let (Some(ours), Some(theirs)) = (ours.to_object(), theirs.to_object()) {
        let mut mine = ours.iter().filter(|(key, _)| theirs.contains_key(key));
        for (key, theirs) in theirs.iter() {
            match mine.next() {
                Some((name, ours)) if name == key => {
                    if let Some(difference) = at(key, ordered_difference(ours, theirs)) {
                        return Some(difference);
                    }
                }
                other => return Some(format!("the key {key}, where {:?} is", other.map(|(name, _)| name))),
            }
        }
        return None;
    }
    if let (Some(ours), Some(theirs)) = (ours.to_array(), theirs.to_array())
        && ours.len() == theirs.len()
    {
        return ours
            .iter()
            .zip(&theirs)
            .enumerate()
            .find_map(|(index, (ours, theirs))| at(&format!("[{index}]"), ordered_difference(ours, theirs)));
    }
    let number = |json: &Json| json.as_raw().parse::<f64>().ok();
    let same = match theirs.as_str() {
        Some(text) if is_made_up(text) => ours.as_str().is_some(),
        _ => match (number(ours), number(theirs)) {
            (Some(ours), Some(theirs)) => ours.to_bits() == theirs.to_bits(),
            // The reference converts numbers beyond the range of a double to null.
            (Some(ours), None) if ours.is_infinite() => theirs.is_null(),
            _ => ours == theirs,
        },
    };
    (!same).then(|| format!(" {ours} in place of {theirs}"))
}
