//! The JSON Schema of a Rust type, for models.

use std::cell::Cell;

use recount_message::{Json, Object};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

/// Returns the schema of a type.
///
/// Nested types are inlined, because some providers do not resolve references. Properties have the order of the fields.
/// Models write them in this order, and a reason written before a result improves it.
pub(crate) fn schema_of<T: JsonSchema + DeserializeOwned>() -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(schema) = &mut schema {
        // The title is the name of the Rust type.
        schema.remove("title");
    }
    ordered(&schema, fields_of::<T>())
}

/// Orders the properties of a schema: the given fields first, then required properties, then the others.
fn ordered(schema: &Value, fields: &[&str]) -> Json {
    match schema {
        Value::Array(elements) => elements.iter().map(|element| ordered(element, &[])).collect::<Vec<_>>().into(),
        Value::Object(entries) => {
            let required = entries.get("required").and_then(Value::as_array).into_iter().flatten();
            let names: Vec<&str> = fields.iter().copied().chain(required.filter_map(Value::as_str)).collect();
            let position = |name: &str| names.iter().position(|known| *known == name).unwrap_or(names.len());
            let entry = |(key, value): (&String, &Value)| match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    let mut properties: Vec<_> = properties.iter().collect();
                    properties.sort_by_key(|(name, _)| position(name));
                    let properties = properties.into_iter().map(|(name, schema)| (name, ordered(schema, &[])));
                    (key.clone(), Json::from(properties.collect::<Object>()))
                }
                _ => (key.clone(), ordered(value, &[])),
            };
            entries.iter().map(entry).collect::<Object>().into()
        }
        other => other.clone().into(),
    }
}

/// Returns the field names of a struct in their order. Empty for other types.
fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let fields = Cell::new(&[][..]);
    // The deserialization fails after it has passed the field names.
    let _ = T::deserialize(FieldNames(&fields));
    fields.get()
}

/// A deserializer without data that records the field names that are requested.
struct FieldNames<'a>(&'a Cell<&'static [&'static str]>);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Self::Error> {
        Err(Error::custom("no data"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.0.set(fields);
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only the schema is tested")]
    struct Plan {
        /// The reason for the plan.
        reason: String,
        #[serde(default, rename = "budget")]
        money: u8,
        a_step: Step,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only the schema is tested")]
    struct Step {
        title: String,
        after: Option<String>,
        done: bool,
    }

    #[test]
    fn properties_follow_field_order() {
        let schema = schema_of::<Plan>().to_object().unwrap();
        let keys = |schema: &Object| -> Vec<String> {
            let properties = schema.get("properties").and_then(Json::to_object).unwrap();
            properties.iter().map(|(key, _)| key.to_owned()).collect()
        };
        assert_eq!(keys(&schema), ["reason", "budget", "a_step"]);
        let step = schema.get("properties").and_then(Json::to_object).unwrap().get("a_step").unwrap().clone();
        assert_eq!(keys(&step.to_object().unwrap()), ["title", "done", "after"]);
    }

    #[test]
    fn schema_omits_title_and_meta_schema() {
        let schema = schema_of::<Step>();
        let expected = concat!(
            r#"{"properties":{"title":{"type":"string"},"after":{"type":["string","null"]},"done":{"type":"boolean"}},"#,
            r#""required":["title","done"],"type":"object"}"#
        );
        assert_eq!(schema.as_raw(), expected);
    }
}
