//! Patches of whole JSON documents.
//!
//! A patch is an object whose keys are field names or list indexes. A value that is an object patches that field or item. A
//! list with one element replaces the value, and an empty list removes it.

use std::collections::{BTreeMap, HashSet};

use recount_message::{Json, Object};

use super::apply_valid;
use crate::json::parse_fields;

/// The maximum number of parts that are tried one by one if a patch is not valid as a whole. A larger patch is dropped.
const MAX_PARTS: usize = 32;

/// Returns the patch that turns `given` into `wanted`. Empty if they mean the same or if one of them cannot be parsed.
pub(crate) fn difference(given: &str, wanted: &str) -> Object {
    match (parse_fields(given), parse_fields(wanted)) {
        (Some(given), Some(wanted)) => of_objects(&given, &wanted),
        _ => Object::new(),
    }
}

/// Returns whether two documents are equal apart from the order of keys.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one == other
        || matches!((parse_fields(one), parse_fields(other)), (Some(one), Some(other)) if of_objects(&one, &other).is_empty())
}

/// Applies a patch as far as `is_valid` accepts the result: all of it, or else part by part.
pub(crate) fn apply_if_valid(given: &str, patch: &Object, is_valid: impl Fn(&str) -> bool) -> String {
    let Some(fields) = parse_fields(given) else { return given.to_owned() };
    let parts = || Some(parts(patch)).filter(|parts| parts.len() <= MAX_PARTS).unwrap_or_default();
    apply_valid(&fields, patch, parts, apply, |fields| is_valid(&fields.to_json())).to_json()
}

/// Splits a patch into one part per field, and the content into one part per block.
fn parts(patch: &Object) -> Vec<Object> {
    let mut parts = Vec::new();
    for (name, value) in patch.iter() {
        match value.to_object() {
            Some(blocks) if name == "content" => {
                let block =
                    |(index, block): (&str, &Json)| Object::from([(name, Object::from([(index, block.clone())]))]);
                parts.extend(blocks.iter().map(block));
            }
            _ => parts.push(Object::from([(name, value.clone())])),
        }
    }
    parts
}

/// Compares two objects. The keys of the patch are sorted, so that it does not depend on the order of fields.
fn of_objects(given: &Object, wanted: &Object) -> Object {
    let mut patch: BTreeMap<&str, Json> = BTreeMap::new();
    for (name, wanted) in wanted.iter() {
        let change = match given.get(name) {
            None => Some(Json::from([wanted.clone()])),
            Some(given) => of_values(given, wanted),
        };
        patch.extend(change.map(|change| (name, change)));
    }
    let removal: [Json; 0] = [];
    let removed = given.iter().filter(|(name, _)| !wanted.contains_key(name));
    patch.extend(removed.map(|(name, _)| (name, Json::from(removal.clone()))));
    patch.into_iter().collect()
}

fn of_values(given: &Json, wanted: &Json) -> Option<Json> {
    if given == wanted {
        return None;
    }
    let inner = match (given.to_object(), wanted.to_object()) {
        (Some(given), Some(wanted)) if !repeats_keys(&given) && !repeats_keys(&wanted) => of_objects(&given, &wanted),
        (None, None) => match (given.to_array(), wanted.to_array()) {
            (Some(given), Some(wanted)) if given.len() == wanted.len() => {
                let items = given.iter().zip(&wanted).enumerate();
                items
                    .filter_map(|(index, (given, wanted))| Some((index.to_string(), of_values(given, wanted)?)))
                    .collect()
            }
            _ => return Some(Json::from([wanted.clone()])),
        },
        _ => return Some(Json::from([wanted.clone()])),
    };
    (!inner.is_empty()).then(|| inner.into())
}

fn repeats_keys(object: &Object) -> bool {
    let mut names = HashSet::new();
    !object.iter().all(|(name, _)| names.insert(name))
}

fn apply(given: &Object, patch: &Object) -> Object {
    let mut object = given.clone();
    for (name, change) in patch.iter() {
        match (change.to_array(), given.get(name)) {
            (Some(replacement), _) => match replacement.into_iter().next() {
                Some(value) => object.insert(name, value),
                None => drop(object.remove(name)),
            },
            (None, Some(inner)) => object.insert(name, apply_within(inner, change)),
            (None, None) => {}
        }
    }
    object
}

fn apply_within(given: &Json, change: &Json) -> Json {
    let Some(change) = change.to_object() else { return given.clone() };
    if let Some(object) = given.to_object() {
        return apply(&object, &change).into();
    }
    let Some(mut items) = given.to_array() else { return given.clone() };
    for (index, change) in change.iter() {
        let Some(item) = index.parse().ok().and_then(|index: usize| items.get_mut(index)) else { continue };
        *item = match change.to_array() {
            Some(replacement) => replacement.into_iter().next().unwrap_or_else(Json::null),
            None => apply_within(item, change),
        };
    }
    items.into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;

    #[track_caller]
    fn check(given: &str, wanted: &str, expected: &str) {
        let patch = difference(given, wanted);
        assert_eq!(patch.to_json(), expected);
        let applied = apply_if_valid(given, &patch, |_| true);
        assert_eq!(difference(&applied, wanted), Object::new(), "{applied}");
    }

    #[test]
    fn patch_holds_only_changed_values() {
        check(r#"{"a":1,"b":[1,2]}"#, r#"{"b":[1,2],"a":1}"#, "{}");
        check(r#"{"a":1}"#, r#"{"a":1,"b":null}"#, r#"{"b":[null]}"#);
        check(r#"{"a":1,"b":2}"#, r#"{"b":2}"#, r#"{"a":[]}"#);
        check(r#"{"a":{"x":1,"y":2}}"#, r#"{"a":{"y":3,"x":1}}"#, r#"{"a":{"y":[3]}}"#);
        check(r#"{"a":[{"x":1},{"x":2}]}"#, r#"{"a":[{"x":1},{"x":2,"z":[]}]}"#, r#"{"a":{"1":{"z":[[]]}}}"#);
        check(r#"{"a":[1]}"#, r#"{"a":[1,2]}"#, r#"{"a":[[1,2]]}"#);
        check(r#"{"a":{}}"#, r#"{"a":[]}"#, r#"{"a":[[]]}"#);
    }

    #[test]
    fn apply_skips_parts_that_are_not_valid() {
        let patch = Object::parse(r#"{"a":[2],"content":{"0":[5],"1":[6]}}"#).unwrap();
        let applied =
            apply_if_valid(r#"{"a":1,"content":[3,4]}"#, &patch, |text| !text.contains('2') && !text.contains('5'));
        assert_eq!(applied, r#"{"a":1,"content":[3,6]}"#);
    }
}
