//! Conversion of values that have the wrong type.
//!
//! Conversions are derived from validation errors, so references, alternatives and conditions of the schema are resolved by
//! the validator, and a valid value is never changed.

use recount_message::Json;
use serde_json::Value;

use super::Repair;
use super::parts::JsonParts;
use crate::tool::schema::{ErrorKind, Location, Schema, Type, Types, ValidationError, Violations};

/// The maximum number of validations. A conversion can reveal an error within the converted value.
const MAX_ROUNDS: usize = 8;

/// A change to one part of a value.
struct Edit {
    location: Location,
    change: Change,
}

enum Change {
    Replace(Json),
    /// Removes the property.
    Remove,
}

/// Converts a value until it is valid, and records each repair.
pub(super) fn coerce(value: &mut JsonParts, schema: &Schema, repairs: &mut Vec<Repair>) -> Result<(), Violations> {
    for _ in 0..MAX_ROUNDS {
        let errors = schema.errors(&value.to_value()?);
        if errors.is_empty() {
            return Ok(());
        }
        let edits: Vec<Edit> = errors.iter().flat_map(|error| edits(error, value)).collect();
        if edits.is_empty() {
            return Err(Violations::new(&errors));
        }
        for edit in edits {
            apply(edit, value, repairs);
        }
    }
    let errors = schema.errors(&value.to_value()?);
    if errors.is_empty() { Ok(()) } else { Err(Violations::new(&errors)) }
}

fn apply(edit: Edit, value: &mut JsonParts, repairs: &mut Vec<Repair>) {
    let path = edit.location.to_string();
    match edit.change {
        Change::Replace(to) => {
            let Some(part) = value.get_mut(edit.location.segments()) else { return };
            let from = part.json();
            *part = JsonParts::new(&to);
            repairs.push(Repair::Coerced { path, from, to });
        }
        Change::Remove => {
            let Some((last, parents)) = edit.location.segments().split_last() else { return };
            if value.get_mut(parents).is_some_and(|parent| parent.remove(last)) {
                repairs.push(Repair::NullRemoved { path });
            }
        }
    }
}

/// Returns the edits that correct an error, none if that is not possible without loss.
fn edits(error: &ValidationError, value: &JsonParts) -> Vec<Edit> {
    let location = &error.location;
    let replace = |json: Option<Json>| {
        json.map(|json| Edit { location: location.clone(), change: Change::Replace(json) }).into_iter().collect()
    };
    match &error.kind {
        ErrorKind::Type(types) => match value.get(location.segments()) {
            Some(JsonParts::Leaf(json)) if json.is_null() && !location.is_empty() => {
                vec![Edit { location: location.clone(), change: Change::Remove }]
            }
            Some(part) => replace(converted(part, *types)),
            None => Vec::new(),
        },
        ErrorKind::Enum(options) => match value.get(location.segments()) {
            Some(JsonParts::Leaf(json)) => replace(options.iter().find_map(|option| same_text(json, option))),
            Some(JsonParts::Object(_) | JsonParts::Array(_)) | None => Vec::new(),
        },
        ErrorKind::Const(expected) => match value.get(location.segments()) {
            Some(JsonParts::Leaf(json)) => replace(same_text(json, expected)),
            Some(JsonParts::Object(_) | JsonParts::Array(_)) | None => Vec::new(),
        },
        // The first alternative whose errors can all be corrected.
        ErrorKind::NoAlternative(alternatives) => alternatives
            .iter()
            .map(|errors| errors.iter().map(|error| edits(error, value)).collect::<Vec<_>>())
            .find(|edits| !edits.is_empty() && edits.iter().all(|edits| !edits.is_empty()))
            .map(|edits| edits.into_iter().flatten().collect())
            .unwrap_or_default(),
        ErrorKind::Other => Vec::new(),
    }
}

/// Converts a value to one of the expected types. Returns `None` if that is not possible without loss.
fn converted(part: &JsonParts, expected: Types) -> Option<Json> {
    let as_list = || expected.contains(Type::Array).then(|| Json::from(vec![part.json()]));
    match part {
        JsonParts::Array(_) => None,
        JsonParts::Object(_) => as_list(),
        JsonParts::Leaf(json) => match json.as_str().map(str::to_owned) {
            Some(text) => parsed(&text, expected).or_else(as_list),
            None if json.is_null() => None,
            None if expected.contains(Type::String) => Some(Json::from(json.as_raw())),
            None => as_list(),
        },
    }
}

/// Parses the value in a string. Returns `None` unless it has one of the expected types.
fn parsed(text: &str, expected: Types) -> Option<Json> {
    let text = match text.trim() {
        "True" => "true",
        "False" => "false",
        "None" => "null",
        other => other,
    };
    let json = Json::parse(text).ok()?;
    let is_expected = match text.bytes().next()? {
        b'{' => expected.contains(Type::Object),
        b'[' => expected.contains(Type::Array),
        b't' | b'f' => expected.contains(Type::Boolean),
        b'n' => expected.contains(Type::Null),
        b'"' => false,
        _ => expected.contains(Type::Number) || expected.contains(Type::Integer),
    };
    is_expected.then_some(json)
}

/// Returns an option if it differs from a value only by its type, such as `1` and `"1"`.
fn same_text(json: &Json, option: &Value) -> Option<Json> {
    let is_same = match (json.as_str().map(str::to_owned), option) {
        (Some(text), Value::Number(_) | Value::Bool(_)) => {
            Json::parse(text.trim()).is_ok_and(|parsed| parsed == Json::from(option.clone()))
        }
        (None, Value::String(option)) => json.as_raw() == option,
        _ => false,
    };
    is_same.then(|| Json::from(option.clone()))
}
