//! JSON Schemas, compiled once and asked often.

use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{ValidationError, Validator};
use recount_message::Json;
use serde_json::Value;

/// So many mistakes are told of at once. A model that mends these finds out about the rest.
const MOST_TOLD: usize = 5;
/// So long may a mistake be told, since it quotes the value.
const LONGEST_TOLD: usize = 300;

/// A JSON Schema that is ready to check values.
///
/// References are followed within the schema and never to a file or an address elsewhere.
///
/// ```
/// use recount_agent::tool::Schema;
/// use recount_message::Json;
///
/// let schema = Schema::compile(&Json::parse(r#"{"properties":{"days":{"type":"integer","maximum":7}}}"#)?)?;
/// assert!(schema.check(&Json::parse(r#"{"days":3}"#)?).is_ok());
/// let violations = schema.check(&Json::parse(r#"{"days":30}"#)?).unwrap_err();
/// assert_eq!(violations.to_string(), "30 is greater than the maximum of 7 (at $.days)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
}

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(String);

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, as `$.days` or `$.places[2]`.
    pub path: String,
    /// What.
    pub message: String,
}

/// Everything that is wrong with a value, in the order in which it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations(pub Vec<Violation>);

impl Schema {
    /// Makes a schema ready.
    ///
    /// # Errors
    ///
    /// When it is no JSON Schema, or refers to something that is not in it.
    pub fn compile(schema: &Json) -> Result<Self, SchemaError> {
        let value: Value = serde_json::from_str(schema.as_str()).map_err(|error| SchemaError(error.to_string()))?;
        let validator = jsonschema::options().offline().build(&value).map_err(|error| {
            let path = error.instance_path();
            SchemaError(if path.is_empty() { error.to_string() } else { format!("{error} (at {})", path_of(path)) })
        })?;
        Ok(Self { validator })
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// When it is not what the schema asks for.
    pub fn check(&self, value: &Json) -> Result<(), Violations> {
        let value = serde_json::from_str(value.as_str())
            .map_err(|error| Violations(vec![Violation { path: "$".to_owned(), message: error.to_string() }]))?;
        let errors = self.errors(&value);
        if errors.is_empty() { Ok(()) } else { Err(Violations::of(&errors)) }
    }

    pub(super) fn errors<'a>(&'a self, value: &'a Value) -> Vec<ValidationError<'a>> {
        if self.validator.is_valid(value) { Vec::new() } else { self.validator.iter_errors(value).collect() }
    }
}

impl Violations {
    pub(super) fn of(errors: &[ValidationError<'_>]) -> Self {
        let mut told = Vec::new();
        for error in errors {
            tell(error, &mut told);
        }
        Self(told)
    }
}

/// Says what is wrong. Of alternatives that are all wrong, the one that comes closest is told of.
fn tell(error: &ValidationError<'_>, told: &mut Vec<Violation>) {
    match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let here = error.instance_path().as_str().len();
            // An alternative is close when it is the value's parts that are wrong and not the value as a whole.
            let goes_deeper = |errors: &&Vec<ValidationError<'static>>| {
                !errors.is_empty() && errors.iter().all(|error| error.instance_path().as_str().len() > here)
            };
            match context.iter().filter(goes_deeper).min_by_key(|errors| errors.len()) {
                Some(closest) => closest.iter().for_each(|error| tell(error, told)),
                None => told.push(violation(error)),
            }
        }
        _ => told.push(violation(error)),
    }
}

fn violation(error: &ValidationError<'_>) -> Violation {
    let mut message = error.to_string();
    if message.len() > LONGEST_TOLD {
        message = message.chars().take(LONGEST_TOLD).chain("…".chars()).collect();
    }
    Violation { path: path_of(error.instance_path()), message }
}

/// A place as people write it.
pub(super) fn path_of(location: &Location) -> String {
    let mut path = "$".to_owned();
    for segment in location.segments() {
        match segment {
            LocationSegment::Index(index) => path.push_str(&format!("[{index}]")),
            LocationSegment::Property(name) => push_key(&mut path, &name),
        }
    }
    path
}

pub(super) fn push_key(path: &mut String, key: &str) {
    let is_plain = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if is_plain {
        path.push('.');
        path.push_str(key);
    } else {
        path.push_str(&format!("[{key:?}]"));
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {})", self.message, self.path)
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.0.iter().take(MOST_TOLD).enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            violation.fmt(f)?;
        }
        match self.0.len().saturating_sub(MOST_TOLD) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl std::error::Error for Violations {}
