//! Values of the wrong type, turned into the right one.
//!
//! The schema's own errors say where and what. So references, alternatives and conditions need no second reading of the
//! schema, and a value that is right is never touched.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::Location;
use jsonschema::{JsonType, ValidationError};
use recount_message::Json;
use serde_json::Value;

use super::Repair;
use super::tree::Tree;
use crate::tool::schema::{Schema, Violations, path_of};

/// Mending one value may show what is wrong within it, so it is tried as often as schemas are deep.
const ROUNDS: usize = 8;

/// What is to be done with one value.
struct Edit {
    place: Location,
    change: Change,
}

enum Change {
    Become(Json),
    LeaveOut,
}

/// Makes a value fit a schema, and notes what had to change for that.
pub(super) fn fit(tree: &mut Tree, schema: &Schema, repairs: &mut Vec<Repair>) -> Result<(), Violations> {
    for _ in 0..ROUNDS {
        let value = tree.value()?;
        let errors = schema.errors(&value);
        if errors.is_empty() {
            return Ok(());
        }
        let edits: Vec<Edit> = errors.iter().flat_map(|error| edits(error, tree)).collect();
        if edits.is_empty() {
            return Err(Violations::of(&errors));
        }
        for edit in edits {
            apply(edit, tree, repairs);
        }
    }
    let value = tree.value()?;
    let errors = schema.errors(&value);
    if errors.is_empty() { Ok(()) } else { Err(Violations::of(&errors)) }
}

fn apply(edit: Edit, tree: &mut Tree, repairs: &mut Vec<Repair>) {
    let path = path_of(&edit.place);
    match edit.change {
        Change::Become(to) => {
            let Some(part) = tree.get_mut(edit.place.segments()) else { return };
            let from = part.to_json();
            *part = Tree::of(&to);
            repairs.push(Repair::Coerced { path, from, to });
        }
        Change::LeaveOut => {
            let segments: Vec<_> = edit.place.segments().collect();
            let Some((last, parents)) = segments.split_last() else { return };
            if tree.get_mut(parents.iter().cloned()).is_some_and(|parent| parent.remove(last)) {
                repairs.push(Repair::NullLeftOut { path });
            }
        }
    }
}

/// What would mend an error. Nothing for what cannot be mended.
fn edits(error: &ValidationError<'_>, tree: &Tree) -> Vec<Edit> {
    let place = error.instance_path();
    let become_one = |json: Option<Json>| {
        json.map(|json| Edit { place: place.clone(), change: Change::Become(json) }).into_iter().collect()
    };
    match error.kind() {
        ValidationErrorKind::Type { kind } => match tree.get(place.segments()) {
            Some(Tree::Leaf(json)) if json.is_null() && !place.is_empty() => {
                vec![Edit { place: place.clone(), change: Change::LeaveOut }]
            }
            Some(part) => become_one(converted(part, kind)),
            None => Vec::new(),
        },
        ValidationErrorKind::Enum { options } => match (options.as_ref(), tree.get(place.segments())) {
            (Value::Array(options), Some(Tree::Leaf(json))) => become_one(options.iter().find_map(|o| same(json, o))),
            _ => Vec::new(),
        },
        ValidationErrorKind::Constant { expected_value } => match tree.get(place.segments()) {
            Some(Tree::Leaf(json)) => become_one(same(json, expected_value)),
            Some(Tree::Object(_) | Tree::Array(_)) | None => Vec::new(),
        },
        // The first alternative that everything can be mended for.
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => context
            .iter()
            .map(|branch| branch.iter().map(|error| edits(error, tree)).collect::<Vec<_>>())
            .find(|branch| !branch.is_empty() && branch.iter().all(|edits| !edits.is_empty()))
            .map(|branch| branch.into_iter().flatten().collect())
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A value as one of the types that are asked for, if nothing is lost by it.
fn converted(part: &Tree, kind: &TypeKind) -> Option<Json> {
    let wants = |wanted: JsonType| match kind {
        TypeKind::Single(one) => *one == wanted,
        TypeKind::Multiple(several) => several.contains(wanted),
    };
    let in_a_list = || wants(JsonType::Array).then(|| Json::from(vec![part.to_json()]));
    match part {
        Tree::Array(_) => None,
        Tree::Object(_) => in_a_list(),
        Tree::Leaf(json) => match json.to_text() {
            Some(text) => told_in(&text, wants).or_else(in_a_list),
            None if json.is_null() => None,
            None if wants(JsonType::String) => Some(Json::from(json.as_str())),
            None => in_a_list(),
        },
    }
}

/// The value that a string tells of, if it is of a type that is asked for.
fn told_in(text: &str, wants: impl Fn(JsonType) -> bool) -> Option<Json> {
    let text = match text.trim() {
        "True" => "true",
        "False" => "false",
        "None" => "null",
        other => other,
    };
    let json = Json::parse(text).ok()?;
    let is_wanted = match text.bytes().next()? {
        b'{' => wants(JsonType::Object),
        b'[' => wants(JsonType::Array),
        b't' | b'f' => wants(JsonType::Boolean),
        b'n' => wants(JsonType::Null),
        b'"' => false,
        _ => wants(JsonType::Number) || wants(JsonType::Integer),
    };
    is_wanted.then_some(json)
}

/// An option that is the same as a value but for its type: `1` and `"1"`.
fn same(json: &Json, option: &Value) -> Option<Json> {
    let is_same = match (json.to_text(), option) {
        (Some(text), Value::Number(_) | Value::Bool(_)) => {
            Json::parse(text.trim()).is_ok_and(|told| told == Json::from(option.clone()))
        }
        (None, Value::String(option)) => json.as_str() == option,
        _ => false,
    };
    is_same.then(|| Json::from(option.clone()))
}
