//! Values without a native field, stored under the key `recount` of the metadata of a message or the extra fields of a block.

use crate::{Json, Object};

/// The key of Recount's extensions.
pub(crate) const KEY: &str = "recount";

/// Returns an extension; `None` if it is not set.
pub(crate) fn get(holder: &Object, name: &str) -> Option<Json> {
    holder.get(KEY)?.to_object()?.get(name).cloned()
}

/// Sets one extension and keeps the others.
pub(crate) fn set(holder: &mut Object, name: &str, value: impl Into<Json>) {
    let mut extensions = all(holder);
    extensions.insert(name, value);
    holder.insert(KEY, extensions);
}

/// Removes an extension. Removes the key `recount` with the last one.
pub(crate) fn remove(holder: &mut Object, name: &str) {
    let mut extensions = all(holder);
    if extensions.remove(name).is_none() {
        return;
    }
    if extensions.is_empty() {
        holder.remove(KEY);
    } else {
        holder.insert(KEY, extensions);
    }
}

fn all(holder: &Object) -> Object {
    holder.get(KEY).and_then(Json::to_object).unwrap_or_default()
}

/// Records that a required native field was absent in the original format.
pub(crate) fn mark_absent(holder: &mut Object, field: &str) {
    let mut fields = absent(holder);
    if !fields.iter().any(|name| name == field) {
        fields.push(field.to_owned());
    }
    set(holder, "absent", fields);
}

/// Removes the record of an absent field.
pub(crate) fn unmark_absent(holder: &mut Object, field: &str) {
    let mut fields = absent(holder);
    fields.retain(|name| name != field);
    if fields.is_empty() {
        remove(holder, "absent");
    } else {
        set(holder, "absent", fields);
    }
}

/// Returns whether a field was absent in the original format.
pub(crate) fn is_absent(holder: &Object, field: &str) -> bool {
    absent(holder).iter().any(|name| name == field)
}

fn absent(holder: &Object) -> Vec<String> {
    get(holder, "absent")
        .and_then(|json| json.to_array())
        .map(|names| names.iter().filter_map(Json::as_str).map(str::to_owned).collect())
        .unwrap_or_default()
}
