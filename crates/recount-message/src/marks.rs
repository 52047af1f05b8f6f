//! What the native fields cannot say, kept under the key `recount`: of a message's metadata, or of a block.

use crate::{Json, Object};

/// The key under which Recount keeps what is its own.
pub(crate) const KEY: &str = "recount";

/// A mark, where it is there.
pub(crate) fn get(marked: &Object, name: &str) -> Option<Json> {
    marked.get(KEY)?.to_object()?.get(name).cloned()
}

/// Sets a mark and leaves the others.
pub(crate) fn set(marked: &mut Object, name: &str, value: impl Into<Json>) {
    let mut marks = all(marked);
    marks.insert(name, value);
    marked.insert(KEY, marks);
}

/// Removes a mark, and the key with the last one.
pub(crate) fn remove(marked: &mut Object, name: &str) {
    let mut marks = all(marked);
    if marks.remove(name).is_none() {
        return;
    }
    if marks.is_empty() {
        marked.remove(KEY);
    } else {
        marked.insert(KEY, marks);
    }
}

fn all(marked: &Object) -> Object {
    marked.get(KEY).and_then(Json::to_object).unwrap_or_default()
}

/// Remembers that a field natively present had no value where it came from.
pub(crate) fn mark_absent(marked: &mut Object, field: &str) {
    let mut fields = absent(marked);
    if !fields.iter().any(|name| name == field) {
        fields.push(field.to_owned());
    }
    set(marked, "absent", fields);
}

/// Forgets that again.
pub(crate) fn unmark_absent(marked: &mut Object, field: &str) {
    let mut fields = absent(marked);
    fields.retain(|name| name != field);
    if fields.is_empty() {
        remove(marked, "absent");
    } else {
        set(marked, "absent", fields);
    }
}

/// Whether a field had no value where it came from.
pub(crate) fn is_absent(marked: &Object, field: &str) -> bool {
    absent(marked).iter().any(|name| name == field)
}

fn absent(marked: &Object) -> Vec<String> {
    get(marked, "absent")
        .and_then(|json| json.to_array())
        .map(|names| names.iter().filter_map(Json::as_str).map(str::to_owned).collect())
        .unwrap_or_default()
}
