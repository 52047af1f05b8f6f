//! The complete validator, for schemas with keywords outside of the subset.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, Validator};
use serde_json::Value;

use super::error::{ErrorKind, ValidationError};
use super::location::{Location, Segment};
use super::types::Type;

/// Compiles a schema. Nothing is loaded from a file or an address.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options().offline().build(schema).map_err(|error| {
        let path = error.instance_path();
        if path.is_empty() { error.to_string() } else { format!("{error} (at {})", location(path)) }
    })
}

/// Returns the errors of a value, none if it is valid.
pub(super) fn errors(validator: &Validator, value: &Value) -> Vec<ValidationError> {
    if validator.is_valid(value) {
        return Vec::new();
    }
    validator.iter_errors(value).map(|error| converted(&error)).collect()
}

fn converted(error: &jsonschema::ValidationError<'_>) -> ValidationError {
    let kind = match error.kind() {
        ValidationErrorKind::Type { kind: TypeKind::Single(one) } => {
            ErrorKind::Type([type_of(*one)].into_iter().collect())
        }
        ValidationErrorKind::Type { kind: TypeKind::Multiple(types) } => {
            ErrorKind::Type(types.iter().map(type_of).collect())
        }
        ValidationErrorKind::Enum { options } => match options.as_ref() {
            Value::Array(options) => ErrorKind::Enum(options.as_slice().into()),
            _ => ErrorKind::Other,
        },
        ValidationErrorKind::Constant { expected_value } => ErrorKind::Const(expected_value.clone()),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            ErrorKind::NoAlternative(context.iter().map(|branch| branch.iter().map(converted).collect()).collect())
        }
        _ => ErrorKind::Other,
    };
    ValidationError::new(location(error.instance_path()), kind, error)
}

/// Parses a JSON pointer. `Location::segments` would leave out empty keys.
fn location(path: &jsonschema::paths::Location) -> Location {
    let segment = |segment: &str| match segment.parse() {
        Ok(index) => Segment::Index(index),
        Err(_) => Segment::Key(segment.replace("~1", "/").replace("~0", "~")),
    };
    path.as_str().split('/').skip(1).map(segment).collect()
}

fn type_of(one: JsonType) -> Type {
    match one {
        JsonType::Null => Type::Null,
        JsonType::Boolean => Type::Boolean,
        JsonType::Integer => Type::Integer,
        JsonType::Number => Type::Number,
        JsonType::String => Type::String,
        JsonType::Array => Type::Array,
        JsonType::Object => Type::Object,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use recount_testkit::json_text::json_text;
    use recount_testkit::random::Random;

    use super::*;
    use crate::tool::schema::parse;
    use crate::tool::schema::subset::Subset;

    /// Schemas with every keyword of the subset, for the values of the generator.
    const SCHEMAS: [&str; 24] = [
        r#"{"type":"object"}"#,
        r#"{"type":["integer","null","string"]}"#,
        r#"{"type":"integer","minimum":-3,"maximum":7}"#,
        r#"{"exclusiveMinimum":0,"exclusiveMaximum":10.5,"multipleOf":2}"#,
        r#"{"minLength":2,"maxLength":5}"#,
        r#"{"minItems":1,"maxItems":2,"uniqueItems":true,"items":{"type":"integer"}}"#,
        r#"{"prefixItems":[{"type":"string"},{"type":"boolean"}],"items":false}"#,
        r#"{"minProperties":1,"maxProperties":2,"propertyNames":{"maxLength":1}}"#,
        r#"{"properties":{"a":{"type":"integer"},"b":{"type":"number"},"é":{"type":"boolean"}},"required":["a","b"]}"#,
        r#"{"properties":{"a":true,"b":false},"additionalProperties":false}"#,
        r#"{"properties":{"a":{}},"additionalProperties":{"type":"string"}}"#,
        r#"{"dependentRequired":{"a":["b","c"]}}"#,
        r#"{"enum":[1,"x",true,null,[]]}"#,
        r#"{"enum":["x"]}"#,
        r#"{"properties":{"a":{"enum":[1,"x",true]},"b":{"const":2}}}"#,
        r#"{"const":{"a":1.0}}"#,
        r#"{"allOf":[{"type":"string"},{"maxLength":1}]}"#,
        r#"{"anyOf":[{"type":"string"},{"properties":{"a":{"type":"integer"}},"required":["a"],"type":"object"}]}"#,
        r#"{"oneOf":[{"type":"integer"},{"type":"number","minimum":5},{"type":"array","items":{"type":"object"}}]}"#,
        r#"{"not":{"type":["object","array"]}}"#,
        r#"{"if":{"type":"object"},"then":{"required":["a"]},"else":{"type":"array"}}"#,
        r##"{"properties":{"a":{"$ref":"#/$defs/A"}},"items":{"$ref":"#"},
            "$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["b"]}}}"##,
        r##"{"$ref":"#/$defs/x~1y","minimum":1,"$defs":{"x/y":{"anyOf":[{"maximum":9},{"type":"null"}]}}}"##,
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","format":"date","x":1,"default":3}"#,
    ];

    struct Compiled {
        text: &'static str,
        complete: Validator,
        subset: Subset,
    }

    static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
        let compiled = |text: &&'static str| {
            let schema: Value = serde_json::from_str(text).unwrap();
            Compiled { text, complete: compile(&schema).unwrap(), subset: parse::parse(&schema).unwrap() }
        };
        SCHEMAS.iter().map(compiled).collect()
    });

    /// The subset returns the same errors as the complete validator, in the same order.
    fn check(text: &str) {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return };
        for schema in COMPILED.iter() {
            let expected = errors(&schema.complete, &value);
            assert_eq!(schema.subset.errors(&value), expected, "{}: {value}", schema.text);
        }
    }

    proptest! {
        #[test]
        fn subset_agrees_with_complete_validator(seed: u64) {
            check(&json_text(&mut Random::new(seed)));
        }
    }

    #[test]
    fn subset_agrees_on_typical_values() {
        let values = [
            "null",
            "true",
            "0",
            "-4",
            "8",
            "2.5",
            "10",
            "3.0",
            "1e300",
            "18446744073709551615",
            r#""""#,
            r#""x""#,
            r#""eleven""#,
            "[]",
            "[1,1.0]",
            "[1,2,3]",
            r#"["x",true]"#,
            r#"["x",1,2]"#,
            "[{},[{}]]",
            "{}",
            r#"{"a":1}"#,
            r#"{"a":"x","b":1}"#,
            r#"{"a":{"a":{}}}"#,
            r#"{"b":1,"c":[],"d":null}"#,
            r#"{"a":1,"b":2,"é":3}"#,
            r#"{"a":{"b":1,"a":3}}"#,
            r#"[{"a":{"b":1,"a":{}}},[{"a":1}]]"#,
        ];
        values.into_iter().for_each(check);
    }
}
