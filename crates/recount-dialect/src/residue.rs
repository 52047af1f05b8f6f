//! What one side says and the other cannot: kept under the key `recount`, by the name of the dialect that it belongs to.

use recount_message::{Json, Object};

/// The key that everything of Recount's own is under.
pub(crate) const KEY: &str = "recount";

/// What is kept for a dialect under the marks of an object: of a message's or event's metadata, or of a block's extra.
pub(crate) fn get(marked: &Object, dialect: &str) -> Object {
    marks(marked).get(dialect).and_then(Json::to_object).unwrap_or_default()
}

/// Takes what is kept for a dialect.
pub(crate) fn take(marked: &mut Object, dialect: &str) -> Object {
    let mut marks = marks(marked);
    let kept = marks.remove(dialect);
    if kept.is_some() {
        set_marks(marked, marks);
    }
    kept.and_then(|kept| kept.to_object()).unwrap_or_default()
}

/// Keeps something for a dialect, where there is something to keep.
pub(crate) fn keep(marked: &mut Object, dialect: &str, kept: Object) {
    if !kept.is_empty() {
        let mut marks = marks(marked);
        marks.insert(dialect, kept);
        set_marks(marked, marks);
    }
}

/// Everything under the key.
pub(crate) fn marks(marked: &Object) -> Object {
    marked.get(KEY).and_then(Json::to_object).unwrap_or_default()
}

/// Replaces everything under the key. Where nothing is left the key goes.
pub(crate) fn set_marks(marked: &mut Object, marks: Object) {
    if marks.is_empty() {
        marked.remove(KEY);
    } else {
        marked.insert(KEY, marks);
    }
}

/// Whether a field was absent that the native side must have.
pub(crate) fn is_absent(marked: &Object, field: &str) -> bool {
    absent(&marks(marked)).iter().any(|name| name == field)
}

/// Notes that a field was absent.
pub(crate) fn mark_absent(marked: &mut Object, field: &str) {
    let mut marks = marks(marked);
    let mut fields = absent(&marks);
    if !fields.iter().any(|name| name == field) {
        fields.push(field.to_owned());
    }
    marks.insert("absent", fields);
    set_marks(marked, marks);
}

/// Forgets that a field was absent.
pub(crate) fn unmark_absent(marked: &mut Object, field: &str) {
    let mut marks = marks(marked);
    let mut fields = absent(&marks);
    fields.retain(|name| name != field);
    if fields.is_empty() {
        marks.remove("absent");
    } else {
        marks.insert("absent", fields);
    }
    set_marks(marked, marks);
}

fn absent(marks: &Object) -> Vec<String> {
    let names = marks.get("absent").and_then(Json::to_list).unwrap_or_default();
    names.iter().filter_map(Json::to_text).collect()
}

/// The fields that are not `null`. Of a key that comes twice the last value counts.
pub(crate) fn without_nulls(object: &Object) -> Object {
    let mut last = Object::new();
    for (name, value) in object.iter() {
        last.insert(name, value.clone());
    }
    last.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name, value.clone())).collect()
}

/// Whether two values are the same, whatever the order of their keys.
pub(crate) fn same_value(one: &Json, other: &Json) -> bool {
    if one == other {
        return true;
    }
    match (one.to_object(), other.to_object()) {
        (Some(one), Some(other)) => same_object(&one, &other),
        (None, None) => match (one.to_list(), other.to_list()) {
            (Some(one), Some(other)) => {
                one.len() == other.len() && one.iter().zip(&other).all(|(one, other)| same_value(one, other))
            }
            _ => false,
        },
        _ => false,
    }
}

/// The same for objects.
pub(crate) fn same_object(one: &Object, other: &Object) -> bool {
    one.len() == other.len()
        && one.iter().all(|(key, value)| other.get(key).is_some_and(|found| same_value(value, found)))
}

/// The name under which a difference lists the fields that are not there.
const GONE: &str = "-";

/// What must be done to `given` to get `wanted`: the fields that differ, and the names of those that are too many. A field
/// that is `nested` is compared field by field.
pub(crate) fn difference(wanted: &Object, given: &Object, nested: &[&str]) -> Object {
    let mut difference = changes(wanted, given, nested);
    let gone: Vec<&str> = given.iter().map(|(name, _)| name).filter(|name| !wanted.contains_key(name)).collect();
    if !gone.is_empty() {
        difference.insert(GONE, gone);
    }
    difference
}

/// The same, but for the fields that are too many.
pub(crate) fn changes(wanted: &Object, given: &Object, nested: &[&str]) -> Object {
    let mut difference = Object::new();
    let counts = |name: &str, value: &Json| wanted.get(name).is_some_and(|last| std::ptr::eq(last, value));
    for (name, value) in wanted.iter().filter(|(name, value)| counts(name, value)) {
        match given.get(name) {
            Some(found) if same_value(value, found) => {}
            Some(found) if nested.contains(&name) => match (value.to_object(), found.to_object()) {
                (Some(value), Some(found)) => {
                    // Where only repeated keys differ there is nothing to be done.
                    let inner = self::difference(&value, &found, &[]);
                    if !inner.is_empty() {
                        difference.insert(name, inner);
                    }
                }
                _ => difference.insert(name, value.clone()),
            },
            _ => difference.insert(name, value.clone()),
        }
    }
    difference
}

/// Whether one object comes as near to what is wanted as another does: it differs from it where that one differs too.
pub(crate) fn is_as_near(object: &Object, other: &Object, wanted: &Object) -> bool {
    let differs = |name: &str, from: &Object| match (wanted.get(name), from.get(name)) {
        (Some(wanted), Some(found)) => !same_value(wanted, found),
        (wanted, found) => wanted.is_some() != found.is_some(),
    };
    let names = wanted.iter().chain(object.iter()).map(|(name, _)| name);
    names.into_iter().all(|name| !differs(name, object) || differs(name, other))
}

/// Does to an object what a difference says.
pub(crate) fn apply(given: &mut Object, difference: &Object, nested: &[&str]) {
    for (name, value) in difference.iter() {
        if name == GONE {
            for gone in value.to_list().unwrap_or_default().iter().filter_map(Json::to_text) {
                given.remove(&gone);
            }
            continue;
        }
        let inner = given.get(name).filter(|_| nested.contains(&name)).and_then(Json::to_object);
        match (inner, value.to_object()) {
            (Some(mut inner), Some(difference)) => {
                apply(&mut inner, &difference, &[]);
                given.insert(name, inner);
            }
            _ => given.insert(name, value.clone()),
        }
    }
}

/// Does what a difference says as far as it still holds: the whole of it, or else each part that does by itself.
pub(crate) fn apply_what_holds(
    given: &Object,
    difference: &Object,
    nested: &[&str],
    holds: impl Fn(&Object) -> bool,
) -> Object {
    let applied = |difference: &Object| {
        let mut object = given.clone();
        apply(&mut object, difference, nested);
        holds(&object).then_some(object)
    };
    if difference.is_empty() {
        return given.clone();
    }
    if let Some(object) = applied(difference) {
        return object;
    }
    difference.iter().fold(given.clone(), |before, (name, value)| {
        let mut object = before.clone();
        apply(&mut object, &Object::from([(name, value.clone())]), nested);
        if holds(&object) { object } else { before }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object {
        Object::parse(text).unwrap()
    }

    #[test]
    fn a_difference_leads_from_one_to_the_other() {
        let wanted = object(r#"{"a":1,"s":{"x":1,"y":null},"n":null,"l":[1]}"#);
        let given = object(r#"{"a":2,"s":{"x":2,"z":3},"l":[1],"m":4}"#);
        let difference = difference(&wanted, &given, &["s"]);
        assert_eq!(difference.to_json(), r#"{"a":1,"s":{"x":1,"y":null,"-":["z"]},"n":null,"-":["m"]}"#);
        let mut applied = given;
        apply(&mut applied, &difference, &["s"]);
        assert!(same_object(&applied, &wanted));
    }

    #[test]
    fn what_does_not_hold_any_more_is_left_out() {
        let given = object(r#"{"a":1,"b":2}"#);
        let difference = object(r#"{"a":3,"b":4}"#);
        let applied = apply_what_holds(&given, &difference, &[], |object| object.get("a") == Some(&Json::from(1)));
        assert_eq!(applied.to_json(), r#"{"a":1,"b":4}"#);
    }
}
