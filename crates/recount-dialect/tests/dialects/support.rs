//! Comparison of JSON by its meaning.

use recount_message::{Json, Object};

/// Returns JSON with its keys sorted.
pub(crate) fn sorted(json: &str) -> String {
    sorted_without(&Json::parse(json).unwrap(), &[]).to_string()
}

/// Returns JSON with its keys sorted and without some keys, at any depth.
pub(crate) fn sorted_without(json: &Json, names: &[&str]) -> Json {
    if let Some(object) = json.to_object() {
        let fields = object.iter().filter(|(name, _)| !names.contains(name));
        let mut fields: Vec<(String, Json)> =
            fields.map(|(name, value)| (name.to_owned(), sorted_without(value, names))).collect();
        // The last value of a repeated key wins, and the others are dropped.
        fields.reverse();
        fields.sort_by(|one, other| one.0.cmp(&other.0));
        fields.dedup_by(|one, other| one.0 == other.0);
        return fields.into_iter().collect::<Object>().into();
    }
    match json.to_array() {
        Some(list) => list.iter().map(|item| sorted_without(item, names)).collect::<Vec<_>>().into(),
        None => json.clone(),
    }
}
