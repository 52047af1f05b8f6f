//! What one JSON text says and another does not, whatever the order of their keys.
//!
//! A difference is JSON: an object goes into the fields of an object or the items of a list by name or number; a list
//! holds what stands there instead, or nothing where there should be nothing.

use std::collections::{BTreeMap, HashSet};

use recount_message::wire::Fields;
use recount_message::{Json, Object};

/// How many parts are tried one by one where a difference does not hold as a whole. Beyond it none is.
const MOST_PARTS: usize = 32;

/// What leads from one text to another. Nothing where they say the same, or where one cannot be compared.
pub(super) fn between(given: &str, wanted: &str) -> Object {
    match (fields(given), fields(wanted)) {
        (Some(given), Some(wanted)) => of_objects(&given, &wanted),
        _ => Object::new(),
    }
}

/// Whether two texts say the same.
pub(super) fn is_none_between(one: &str, other: &str) -> bool {
    one == other
        || matches!((fields(one), fields(other)), (Some(one), Some(other)) if of_objects(&one, &other).is_empty())
}

/// Does what a difference says as far as it still holds: all of it, or each part that holds by itself.
pub(super) fn apply_what_holds(given: &str, difference: &Object, holds: impl Fn(&str) -> bool) -> String {
    let Some(mut fields) = fields(given) else { return given.to_owned() };
    let whole = applied(&fields, difference).to_json();
    if holds(&whole) {
        return whole;
    }
    let parts = parts(difference);
    if parts.len() > MOST_PARTS {
        return given.to_owned();
    }
    for part in parts {
        let candidate = applied(&fields, &part);
        if holds(&candidate.to_json()) {
            fields = candidate;
        }
    }
    fields.to_json()
}

/// The fields of a text, where none of them nests too deep to be held by itself.
fn fields(text: &str) -> Option<Object> {
    Fields::document(text).ok()?.rest().ok()
}

/// A difference field by field, and that of the content block by block.
fn parts(difference: &Object) -> Vec<Object> {
    let mut parts = Vec::new();
    for (name, value) in difference.iter() {
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

/// The order of the names follows from nothing but them, so that a text in another order has the same difference.
fn of_objects(given: &Object, wanted: &Object) -> Object {
    let mut difference: BTreeMap<&str, Json> = BTreeMap::new();
    for (name, wanted) in wanted.iter() {
        let change = match given.get(name) {
            None => Some(Json::from([wanted.clone()])),
            Some(given) => of_values(given, wanted),
        };
        difference.extend(change.map(|change| (name, change)));
    }
    let nothing: [Json; 0] = [];
    let gone = given.iter().filter(|(name, _)| !wanted.contains_key(name));
    difference.extend(gone.map(|(name, _)| (name, Json::from(nothing.clone()))));
    difference.into_iter().collect()
}

fn of_values(given: &Json, wanted: &Json) -> Option<Json> {
    if given == wanted {
        return None;
    }
    let inner = match (given.to_object(), wanted.to_object()) {
        (Some(given), Some(wanted)) if !repeats_keys(&given) && !repeats_keys(&wanted) => of_objects(&given, &wanted),
        (None, None) => match (given.to_list(), wanted.to_list()) {
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

fn applied(given: &Object, difference: &Object) -> Object {
    let mut object = given.clone();
    for (name, change) in difference.iter() {
        match (change.to_list(), given.get(name)) {
            (Some(instead), _) => match instead.into_iter().next() {
                Some(value) => object.insert(name, value),
                None => drop(object.remove(name)),
            },
            (None, Some(inner)) => object.insert(name, applied_within(inner, change)),
            (None, None) => {}
        }
    }
    object
}

fn applied_within(given: &Json, change: &Json) -> Json {
    let Some(change) = change.to_object() else { return given.clone() };
    if let Some(object) = given.to_object() {
        return applied(&object, &change).into();
    }
    let Some(mut items) = given.to_list() else { return given.clone() };
    for (index, change) in change.iter() {
        let Some(item) = index.parse().ok().and_then(|index: usize| items.get_mut(index)) else { continue };
        *item = match change.to_list() {
            Some(instead) => instead.into_iter().next().unwrap_or_else(Json::null),
            None => applied_within(item, change),
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
        let difference = between(given, wanted);
        assert_eq!(difference.to_json(), expected);
        let applied = apply_what_holds(given, &difference, |_| true);
        assert_eq!(between(&applied, wanted), Object::new(), "{applied}");
    }

    #[test]
    fn a_difference_says_no_more_than_what_differs() {
        check(r#"{"a":1,"b":[1,2]}"#, r#"{"b":[1,2],"a":1}"#, "{}");
        check(r#"{"a":1}"#, r#"{"a":1,"b":null}"#, r#"{"b":[null]}"#);
        check(r#"{"a":1,"b":2}"#, r#"{"b":2}"#, r#"{"a":[]}"#);
        check(r#"{"a":{"x":1,"y":2}}"#, r#"{"a":{"y":3,"x":1}}"#, r#"{"a":{"y":[3]}}"#);
        check(r#"{"a":[{"x":1},{"x":2}]}"#, r#"{"a":[{"x":1},{"x":2,"z":[]}]}"#, r#"{"a":{"1":{"z":[[]]}}}"#);
        check(r#"{"a":[1]}"#, r#"{"a":[1,2]}"#, r#"{"a":[[1,2]]}"#);
        check(r#"{"a":{}}"#, r#"{"a":[]}"#, r#"{"a":[[]]}"#);
    }

    #[test]
    fn what_does_not_hold_is_left_out() {
        let difference = Object::parse(r#"{"a":[2],"content":{"0":[5],"1":[6]}}"#).unwrap();
        let applied = apply_what_holds(r#"{"a":1,"content":[3,4]}"#, &difference, |text| {
            !text.contains('2') && !text.contains('5')
        });
        assert_eq!(applied, r#"{"a":1,"content":[3,6]}"#);
    }
}
