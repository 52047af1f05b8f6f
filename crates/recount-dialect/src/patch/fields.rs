//! Patches of the fields of one object.
//!
//! A patch holds the new value of each changed field, and under `-` the names of the removed ones. A field listed as nested
//! holds a patch of its own if both values are objects.

use recount_message::{Json, Object};

use super::{apply_valid, same_value};

/// The key that lists the removed fields.
const REMOVED: &str = "-";

/// Returns the patch that turns `given` into `wanted`.
pub(crate) fn difference(wanted: &Object, given: &Object, nested: &[&str]) -> Object {
    let mut patch = changes(wanted, given, nested);
    let removed: Vec<&str> = given.iter().map(|(name, _)| name).filter(|name| !wanted.contains_key(name)).collect();
    if !removed.is_empty() {
        patch.insert(REMOVED, removed);
    }
    patch
}

/// Returns the patch that adds and changes fields, without the removals.
pub(crate) fn changes(wanted: &Object, given: &Object, nested: &[&str]) -> Object {
    let mut patch = Object::new();
    // The last value of a repeated key wins.
    let is_last = |name: &str, value: &Json| wanted.get(name).is_some_and(|last| std::ptr::eq(last, value));
    for (name, value) in wanted.iter().filter(|(name, value)| is_last(name, value)) {
        match given.get(name) {
            Some(found) if same_value(value, found) => {}
            Some(found) if nested.contains(&name) => match (value.to_object(), found.to_object()) {
                (Some(value), Some(found)) => {
                    // Empty if only repeated keys differ.
                    let inner = difference(&value, &found, &[]);
                    if !inner.is_empty() {
                        patch.insert(name, inner);
                    }
                }
                _ => patch.insert(name, value.clone()),
            },
            _ => patch.insert(name, value.clone()),
        }
    }
    patch
}

/// Returns whether `object` is at least as close to `wanted` as `other` is: every field in which it differs from `wanted`
/// differs in `other` too.
pub(crate) fn is_as_close(object: &Object, other: &Object, wanted: &Object) -> bool {
    let differs = |name: &str, from: &Object| match (wanted.get(name), from.get(name)) {
        (Some(wanted), Some(found)) => !same_value(wanted, found),
        (wanted, found) => wanted.is_some() != found.is_some(),
    };
    let names = wanted.iter().chain(object.iter()).map(|(name, _)| name);
    names.into_iter().all(|name| !differs(name, object) || differs(name, other))
}

/// Applies a patch in place.
fn apply(given: &mut Object, patch: &Object, nested: &[&str]) {
    for (name, value) in patch.iter() {
        if name == REMOVED {
            for removed in value.to_array().unwrap_or_default().iter().filter_map(Json::as_str).map(str::to_owned) {
                given.remove(&removed);
            }
            continue;
        }
        let inner = given.get(name).filter(|_| nested.contains(&name)).and_then(Json::to_object);
        match (inner, value.to_object()) {
            (Some(mut inner), Some(patch)) => {
                apply(&mut inner, &patch, &[]);
                given.insert(name, inner);
            }
            _ => given.insert(name, value.clone()),
        }
    }
}

/// Applies a patch as far as `is_valid` accepts the result: all of it, or else field by field.
pub(crate) fn apply_if_valid(
    given: &Object,
    patch: &Object,
    nested: &[&str],
    is_valid: impl Fn(&Object) -> bool,
) -> Object {
    let parts = || patch.iter().map(|(name, value)| Object::from([(name, value.clone())])).collect();
    let applied = |given: &Object, patch: &Object| {
        let mut object = given.clone();
        apply(&mut object, patch, nested);
        object
    };
    apply_valid(given, patch, parts, applied, is_valid)
}

#[cfg(test)]
mod tests {
    use super::super::same_object;
    use super::*;

    fn object(text: &str) -> Object {
        Object::parse(text).unwrap()
    }

    #[test]
    fn patch_turns_one_object_into_the_other() {
        let wanted = object(r#"{"a":1,"s":{"x":1,"y":null},"n":null,"l":[1]}"#);
        let given = object(r#"{"a":2,"s":{"x":2,"z":3},"l":[1],"m":4}"#);
        let patch = difference(&wanted, &given, &["s"]);
        assert_eq!(patch.to_json(), r#"{"a":1,"s":{"x":1,"y":null,"-":["z"]},"n":null,"-":["m"]}"#);
        let mut applied = given;
        apply(&mut applied, &patch, &["s"]);
        assert!(same_object(&applied, &wanted));
    }

    #[test]
    fn apply_skips_fields_that_are_not_valid() {
        let given = object(r#"{"a":1,"b":2}"#);
        let patch = object(r#"{"a":3,"b":4}"#);
        let applied = apply_if_valid(&given, &patch, &[], |object| object.get("a") == Some(&Json::from(1)));
        assert_eq!(applied.to_json(), r#"{"a":1,"b":4}"#);
    }
}
