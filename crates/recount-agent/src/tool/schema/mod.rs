//! JSON Schema validation.
//!
//! The built-in [validator](Subset) covers the keywords that the schemas of agents use. The feature `json-schema` adds a
//! complete one for the others, see [`Schema`].

mod error;
#[cfg(feature = "json-schema")]
mod full;
mod location;
mod number;
mod parse;
mod subset;
mod types;

use std::fmt;

use recount_message::Json;
use serde_json::Value;

pub(super) use error::{ErrorKind, ValidationError};
pub(super) use location::{Location, Segment, push_key};
use parse::ParseError;
use subset::Subset;
pub(super) use types::{Type, Types};

/// The maximum number of violations in a message. A model that corrects these is shown the others on the next attempt.
const MAX_REPORTED: usize = 5;

/// A compiled JSON Schema, draft 2020-12.
///
/// References are resolved within the schema, never to a file or an address.
///
/// Without the feature `json-schema`, these keywords are rejected by [`compile`](Self::compile) because they cannot be
/// validated: `pattern`, `patternProperties`, `contains`, `dependentSchemas`, `unevaluatedItems`, `unevaluatedProperties`,
/// `$dynamicRef`, a fractional `multipleOf`, a nested `$id`, and a `$schema` that names another draft. As in draft 2020-12,
/// `format` and unknown keywords are not validated.
///
/// ```
/// use recount_agent::tool::Schema;
/// use recount_message::Json;
///
/// let schema = Schema::compile(&Json::parse(r#"{"properties":{"days":{"type":"integer","maximum":7}}}"#)?)?;
/// assert!(schema.validate(&Json::parse(r#"{"days":3}"#)?).is_ok());
/// let violations = schema.validate(&Json::parse(r#"{"days":30}"#)?).unwrap_err();
/// assert_eq!(violations.to_string(), "30 is greater than the maximum of 7 (at $.days)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
}

#[derive(Debug)]
enum Validator {
    Subset(Subset),
    #[cfg(feature = "json-schema")]
    Full(Box<jsonschema::Validator>),
}

/// A schema that is invalid, or has a keyword that needs the feature `json-schema`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(String);

/// One violation of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The path of the invalid value, such as `$.days` or `$.places[2]`.
    pub path: String,
    /// The description, with the value.
    pub message: String,
}

/// All violations of a schema by one value, in the order of validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations(pub Vec<Violation>);

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// The value is not a valid JSON Schema, has a reference to something outside of it, or needs the feature
    /// `json-schema`.
    pub fn compile(schema: &Json) -> Result<Self, SchemaError> {
        let value: Value = serde_json::from_str(schema.as_raw()).map_err(|error| SchemaError(error.to_string()))?;
        match parse::parse(&value) {
            Ok(subset) => Ok(Self { validator: Validator::Subset(subset) }),
            Err(ParseError::Invalid(error)) => Err(SchemaError(error)),
            #[cfg(feature = "json-schema")]
            Err(ParseError::Unsupported { .. }) => {
                let validator = full::compile(&value).map_err(SchemaError)?;
                Ok(Self { validator: Validator::Full(Box::new(validator)) })
            }
            #[cfg(not(feature = "json-schema"))]
            Err(ParseError::Unsupported { keyword, location }) => Err(SchemaError(format!(
                "{keyword} is not supported without the feature `json-schema` of `recount-agent` (at {location})"
            ))),
        }
    }

    /// Validates a value.
    ///
    /// # Errors
    ///
    /// Returns all violations.
    pub fn validate(&self, value: &Json) -> Result<(), Violations> {
        let value = serde_json::from_str(value.as_raw())
            .map_err(|error| Violations(vec![Violation { path: "$".to_owned(), message: error.to_string() }]))?;
        let errors = self.errors(&value);
        if errors.is_empty() { Ok(()) } else { Err(Violations::new(&errors)) }
    }

    /// Returns the errors of a value, none if it is valid.
    pub(super) fn errors(&self, value: &Value) -> Vec<ValidationError> {
        match &self.validator {
            Validator::Subset(subset) => subset.errors(value),
            #[cfg(feature = "json-schema")]
            Validator::Full(validator) => full::errors(validator, value),
        }
    }
}

impl Violations {
    pub(super) fn new(errors: &[ValidationError]) -> Self {
        let mut violations = Vec::new();
        for error in errors {
            collect(error, &mut violations);
        }
        Self(violations)
    }
}

/// Collects the violations of an error. If all alternatives of an `anyOf` or `oneOf` failed, these are the violations of the
/// closest alternative.
fn collect(error: &ValidationError, violations: &mut Vec<Violation>) {
    if let ErrorKind::NoAlternative(alternatives) = &error.kind {
        // An alternative is close if parts of the value are invalid, but not the value as a whole.
        let is_close = |errors: &&Vec<ValidationError>| {
            !errors.is_empty() && errors.iter().all(|inner| inner.location.len() > error.location.len())
        };
        if let Some(closest) = alternatives.iter().filter(is_close).min_by_key(|errors| errors.len()) {
            closest.iter().for_each(|error| collect(error, violations));
            return;
        }
    }
    violations.push(Violation { path: error.location.to_string(), message: error.message.clone() });
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {})", self.message, self.path)
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.0.iter().take(MAX_REPORTED).enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            violation.fmt(f)?;
        }
        match self.0.len().saturating_sub(MAX_REPORTED) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl std::error::Error for Violations {}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn compile(schema: &str) -> Result<Schema, SchemaError> {
        Schema::compile(&Json::parse(schema).unwrap())
    }

    #[test]
    fn invalid_schemas_are_rejected() {
        let check = |schema: &str, expected: &str| {
            assert_eq!(compile(schema).unwrap_err().to_string(), expected, "{schema}");
        };
        check("3", "3 is not a schema: expected an object or a boolean (at $)");
        check(
            r#"{"properties":{"a b":[]}}"#,
            "[] is not a schema: expected an object or a boolean (at $.properties[\"a b\"])",
        );
        check(r#"{"type":["string","text"]}"#, "unknown type \"text\" (at $.type)");
        check(r#"{"required":true}"#, "true is not a list of strings (at $.required)");
        check(r#"{"anyOf":[]}"#, "[] is not a list of schemas (at $.anyOf)");
        check(r#"{"minLength":-1}"#, "-1 is not a natural number (at $.minLength)");
        check(r#"{"multipleOf":0}"#, "0 is not a positive number (at $.multipleOf)");
        check(r##"{"items":{"$ref":"#/$defs/A"}}"##, "`#/$defs/A` does not exist (at $.items[\"$ref\"])");
    }

    #[test]
    fn circular_and_nested_references_terminate() {
        let circular = compile(r##"{"anyOf":[{"$ref":"#"},{"allOf":[{"$ref":"#"},{"$ref":"#"}]}]}"##).unwrap();
        assert!(circular.validate(&Json::from(1)).is_ok());
        // Each of the definitions refers to the next one several times.
        let chain = |length: usize, references: usize, last: &str| {
            let link = |index: usize| {
                let reference = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, index + 1);
                format!(r#""d{index}":{{"anyOf":[{}]}}"#, vec![reference; references].join(","))
            };
            let links: Vec<String> = (0..length).map(link).collect();
            format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d{length}":{last}}}}}"##, links.join(","))
        };
        let doubling = compile(&chain(40, 2, "false")).unwrap();
        assert!(doubling.validate(&Json::from(1)).unwrap_err().to_string().contains("too many alternatives"));
        let deep = compile(&chain(5_000, 1, "true")).unwrap();
        assert!(deep.validate(&Json::from(1)).unwrap_err().to_string().contains("too deeply"));
    }

    #[test]
    fn pattern_needs_the_feature() {
        let schema = compile(r#"{"properties":{"a":{"pattern":"^x"}}}"#);
        #[cfg(feature = "json-schema")]
        {
            let violations = schema.unwrap().validate(&Json::parse(r#"{"a":"y"}"#).unwrap()).unwrap_err();
            assert_eq!(violations.to_string(), "\"y\" does not match \"^x\" (at $.a)");
        }
        #[cfg(not(feature = "json-schema"))]
        assert_eq!(
            schema.unwrap_err().to_string(),
            "`pattern` is not supported without the feature `json-schema` of `recount-agent` (at $.properties.a.pattern)"
        );
    }
}
