//! Values recorded from 1.0.9, examples from the documentation, and generated values.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod any;
mod documents;
mod streams;
mod values;

use recount_message::{Json, Object};

/// Returns the lines of a file with recorded values.
fn recorded(file: &str) -> Vec<Object> {
    let path = format!("{}/../../conformance/vectors/java/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| Object::parse(line).unwrap()).collect()
}

fn text_of(object: &Object, name: &str) -> String {
    object.get(name).and_then(Json::as_str).map_or_else(|| panic!("no {name} in {}", object.to_json()), str::to_owned)
}

/// Returns JSON with its keys sorted. The last value of a repeated key wins.
fn sorted(json: &str) -> String {
    sorted_value(&Json::parse(json).unwrap_or_else(|error| panic!("{error}: {json}"))).to_string()
}

fn sorted_value(json: &Json) -> Json {
    if let Some(object) = json.to_object() {
        let mut fields: Vec<(String, Json)> =
            object.iter().map(|(name, value)| (name.to_owned(), sorted_value(value))).collect();
        fields.reverse();
        fields.sort_by(|one, other| one.0.cmp(&other.0));
        fields.dedup_by(|one, other| one.0 == other.0);
        return fields.into_iter().collect::<Object>().into();
    }
    match json.to_array() {
        Some(list) => list.iter().map(sorted_value).collect::<Vec<_>>().into(),
        None => json.clone(),
    }
}
