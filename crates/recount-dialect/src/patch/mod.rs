//! Differences between JSON values, applied only if the result still means the same.
//!
//! Patches are stored in messages and logs, in one of two encodings: [`fields`] compares the fields of one object, [`tree`]
//! compares whole documents.

pub(crate) mod fields;
pub(crate) mod tree;

use recount_message::{Json, Object};

/// Applies `patch` as a whole if `is_valid` accepts the result. Otherwise applies each of `parts` whose result it accepts.
fn apply_valid(
    given: &Object,
    patch: &Object,
    parts: impl FnOnce() -> Vec<Object>,
    apply: impl Fn(&Object, &Object) -> Object,
    is_valid: impl Fn(&Object) -> bool,
) -> Object {
    if patch.is_empty() {
        return given.clone();
    }
    let whole = apply(given, patch);
    if is_valid(&whole) {
        return whole;
    }
    parts().iter().fold(given.clone(), |before, part| {
        let candidate = apply(&before, part);
        if is_valid(&candidate) { candidate } else { before }
    })
}

/// Returns whether two values are equal apart from the order of keys.
pub(crate) fn same_value(one: &Json, other: &Json) -> bool {
    if one == other {
        return true;
    }
    match (one.to_object(), other.to_object()) {
        (Some(one), Some(other)) => same_object(&one, &other),
        (None, None) => match (one.to_array(), other.to_array()) {
            (Some(one), Some(other)) => {
                one.len() == other.len() && one.iter().zip(&other).all(|(one, other)| same_value(one, other))
            }
            _ => false,
        },
        _ => false,
    }
}

/// Returns whether two objects are equal apart from the order of keys.
pub(crate) fn same_object(one: &Object, other: &Object) -> bool {
    one.len() == other.len()
        && one.iter().all(|(key, value)| other.get(key).is_some_and(|found| same_value(value, found)))
}
