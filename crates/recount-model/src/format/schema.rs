//! Conversion of JSON Schemas to the subsets that providers support.

use recount_message::{Json, Object};

/// Returns the schema unchanged.
pub(crate) fn unchanged(schema: &Json) -> Json {
    schema.clone()
}

/// Replaces local `$ref`s by their targets. A recursive reference becomes an unrestricted object.
pub(crate) fn inlined(schema: &Json) -> Json {
    let Some(mut object) = schema.to_object() else { return schema.clone() };
    let mut definitions = Object::new();
    for key in ["$defs", "definitions"] {
        if let Some(named) = object.get(key).and_then(Json::to_object) {
            object.remove(key);
            for (name, definition) in named.iter() {
                definitions.insert(name, definition.clone());
            }
        }
    }
    if definitions.is_empty() { object.into() } else { resolve_object(&object, &definitions, &mut Vec::new()) }
}

fn resolve(schema: &Json, definitions: &Object, within: &mut Vec<String>) -> Json {
    if let Some(list) = schema.to_array() {
        return Json::from(list.iter().map(|element| resolve(element, definitions, within)).collect::<Vec<_>>());
    }
    match schema.to_object() {
        Some(object) => resolve_object(&object, definitions, within),
        None => schema.clone(),
    }
}

fn resolve_object(object: &Object, definitions: &Object, within: &mut Vec<String>) -> Json {
    let mut resolved = Object::new();
    let depth = within.len();
    if let Some(reference) = object.get("$ref") {
        let name = reference.as_str().and_then(definition_name);
        let definition = name.as_deref().and_then(|name| definitions.get(name));
        let (Some(name), Some(definition)) = (name, definition) else { return object.clone().into() };
        if within.contains(&name) {
            let description = format!("(circular: {name})");
            return Object::from([("type", "object".to_owned()), ("description", description)]).into();
        }
        within.push(name);
        resolved = resolve(definition, definitions, within).to_object().unwrap_or_default();
    }
    for (key, value) in object.iter() {
        match key {
            "$ref" | "$defs" | "definitions" => {}
            // Values, not schemas.
            "default" | "const" | "enum" | "examples" => resolved.insert(key, value.clone()),
            // The keys are property names, even if they are `$ref` or `default`.
            "properties" | "patternProperties" | "dependentSchemas" => {
                let named = value.to_object().map(|named| {
                    named.iter().map(|(name, schema)| (name, resolve(schema, definitions, within))).collect::<Object>()
                });
                resolved.insert(key, named.map_or_else(|| value.clone(), Json::from));
            }
            _ => resolved.insert(key, resolve(value, definitions, within)),
        }
    }
    within.truncate(depth);
    resolved.into()
}

fn definition_name(path: &str) -> Option<String> {
    let name = path.strip_prefix("#/$defs/").or_else(|| path.strip_prefix("#/definitions/"))?;
    name.rsplit('/').next().map(str::to_owned)
}

/// Converts a schema to Gemini's subset: no references, no `null` type, types in upper case.
pub(crate) fn for_gemini(schema: &Json) -> Json {
    gemini(&inlined(schema))
}

fn gemini(schema: &Json) -> Json {
    if let Some(list) = schema.to_array() {
        return Json::from(list.iter().map(gemini).collect::<Vec<_>>());
    }
    let Some(mut object) = schema.to_object() else { return schema.clone() };
    for key in ["$schema", "additionalProperties"] {
        object.remove(key);
    }
    if object.get("default").is_some_and(Json::is_null) {
        object.remove("default");
    }
    remove_null_type(&mut object);
    let only = object.remove("const").filter(|_| !object.contains_key("enum"));
    if let Some(value) = only {
        object.insert("enum", vec![value]);
    }
    if let Some(alternatives) = object.get("anyOf").and_then(Json::to_array) {
        let real: Vec<&Json> = alternatives.iter().filter(|schema| !is_null(schema)).collect();
        match (real.as_slice(), real.len() < alternatives.len()) {
            ([only], true) => {
                object.remove("anyOf");
                let mut merged = gemini(only).to_object().unwrap_or_default();
                for (key, value) in gemini_object(&object).iter() {
                    if !merged.contains_key(key) {
                        merged.insert(key, value.clone());
                    }
                }
                return merged.into();
            }
            ([], true) => {
                object.remove("anyOf");
            }
            (_, true) => object.insert("anyOf", real.into_iter().cloned().collect::<Vec<_>>()),
            (_, false) => {}
        }
    }
    gemini_object(&object).into()
}

/// Converts the schemas inside an object.
fn gemini_object(object: &Object) -> Object {
    let converted = object.iter().map(|(key, value)| {
        let value = match key {
            "properties" | "patternProperties" | "$defs" => value.to_object().map_or_else(
                || value.clone(),
                |named| named.iter().map(|(name, schema)| (name, gemini(schema))).collect::<Object>().into(),
            ),
            "items" | "not" | "if" | "then" | "else" | "allOf" | "oneOf" | "anyOf" => gemini(value),
            "type" => value.as_str().map_or_else(|| value.clone(), |name| name.to_ascii_uppercase().into()),
            _ => value.clone(),
        };
        (key, value)
    });
    converted.collect()
}

/// Removes `null` from a list of types. Several remaining types become alternatives.
fn remove_null_type(object: &mut Object) {
    let Some(kind) = object.get("type") else { return };
    let types = match (kind.as_str().map(str::to_owned), kind.to_array()) {
        (Some(one), _) => vec![one],
        (None, Some(several)) => several.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        (None, None) => return,
    };
    let real: Vec<&String> = types.iter().filter(|name| *name != "null").collect();
    match real.as_slice() {
        [] => object.insert("type", "object"),
        [one] => object.insert("type", one.as_str()),
        several => {
            let alternatives: Vec<Object> =
                several.iter().map(|name| Object::from([("type", name.as_str())])).collect();
            object.remove("type");
            // An existing `anyOf` is more specific, and both cannot be expressed together.
            if !object.contains_key("anyOf") {
                object.insert("anyOf", alternatives);
            }
        }
    }
}

fn is_null(schema: &Json) -> bool {
    let kind = schema.to_object().and_then(|object| object.get("type").cloned());
    kind.is_some_and(|kind| kind.as_raw() == "\"null\"" || kind.as_raw() == "[\"null\"]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(convert: fn(&Json) -> Json, schema: &str, expected: &str) {
        assert_eq!(convert(&Json::parse(schema).unwrap()).as_raw(), expected);
    }

    #[test]
    fn inlines_references() {
        check(
            inlined,
            r##"{"$defs":{"A":{"type":"string","minLength":1.0}},"properties":{"a":{"$ref":"#/$defs/A","title":"T"}}}"##,
            r#"{"properties":{"a":{"type":"string","minLength":1.0,"title":"T"}}}"#,
        );
    }

    #[test]
    fn recursive_reference_becomes_an_object() {
        check(
            inlined,
            r##"{"$defs":{"A":{"items":{"$ref":"#/$defs/A"}}},"$ref":"#/$defs/A"}"##,
            r#"{"items":{"type":"object","description":"(circular: A)"}}"#,
        );
    }

    #[test]
    fn keeps_external_references_and_values() {
        let schema = r##"{"properties":{"a":{"$ref":"https://example.com/a"}},"default":{"$ref":"#/$defs/A"}}"##;
        check(inlined, schema, schema);
    }

    #[test]
    fn gemini_schema_has_no_null() {
        check(
            for_gemini,
            r#"{"anyOf":[{"type":"string"},{"type":"null"}],"title":"T"}"#,
            r#"{"type":"STRING","title":"T"}"#,
        );
        check(for_gemini, r#"{"type":["integer","null"]}"#, r#"{"type":"INTEGER"}"#);
        check(for_gemini, r#"{"type":["integer","string"]}"#, r#"{"anyOf":[{"type":"INTEGER"},{"type":"STRING"}]}"#);
        check(for_gemini, r#"{"type":"null"}"#, r#"{"type":"OBJECT"}"#);
        check(for_gemini, r#"{"const":1.0,"additionalProperties":false}"#, r#"{"enum":[1.0]}"#);
    }
}
