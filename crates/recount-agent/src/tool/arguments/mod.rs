//! Parsing, repair and validation of the arguments of a tool call.

mod coerce;
mod parts;

use std::fmt;

use recount_message::{Json, Object};
use recount_model::repair::{self, RepairError};

use super::ToolError;
use super::compiled::CompiledTool;
use super::schema::{Violation, Violations};
use parts::JsonParts;

/// The maximum length of JSON in the description of a repair, in characters.
const MAX_QUOTED: usize = 60;

/// The valid arguments of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// The arguments of the tool. Keys are unique.
    pub object: Object,
    /// The repairs that were necessary. Empty for valid input.
    pub repaired: Vec<Repair>,
}

/// One repair of a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// The text was not valid JSON.
    Text(repair::Repair),
    /// A key occurred more than once. The last value was kept.
    RepeatedKey {
        /// The path of the key, such as `$.days`.
        path: String,
    },
    /// A value was converted to the type that the schema expects, without loss.
    Coerced {
        /// The path of the value.
        path: String,
        /// The original value.
        from: Json,
        /// The converted value.
        to: Json,
    },
    /// A property was `null`, which the schema does not allow, and was removed.
    NullRemoved {
        /// The path of the property.
        path: String,
    },
}

/// Arguments that are invalid and cannot be repaired. The message is sent to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid arguments for `{tool}`: {kind}")]
pub struct ArgumentError {
    /// The name of the tool.
    pub tool: String,
    /// The reason.
    pub kind: ArgumentErrorKind,
}

/// The reason why arguments are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentErrorKind {
    /// The text is not a JSON object.
    #[error("{0}: send one JSON object")]
    Malformed(RepairError),
    /// The arguments violate the schema.
    #[error("{0}")]
    Schema(Violations),
    /// The tool itself rejected the arguments.
    #[error("{0}")]
    Rejected(ToolError),
}

/// Parses and validates the arguments that a model wrote for a tool.
///
/// A blank text is an empty object. Text that is not valid JSON is repaired if it can be read in only one way. A value of
/// the wrong type is converted if nothing is lost. [`Arguments::repaired`] lists the repairs.
///
/// ```
/// use recount_agent::tool::{CompiledTool, FunctionTool, arguments};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Forecast {
///     city: String,
///     days: u8,
/// }
/// let tool = FunctionTool::new("forecast", "Returns the weather forecast.", |forecast: Forecast| async move {
///     Ok(format!("{} days of sun in {}", forecast.days, forecast.city))
/// });
/// let tool = CompiledTool::new(tool)?;
///
/// let arguments = arguments::parse(r#"{"city": "Paris", "days": "3"}"#, &tool)?;
/// assert_eq!(arguments.object.to_json(), r#"{"city":"Paris","days":3}"#);
/// assert_eq!(arguments.repaired[0].to_string(), r#"`"3"` became `3` (at $.days)"#);
///
/// let error = arguments::parse(r#"{"city": "Paris"}"#, &tool).unwrap_err();
/// assert_eq!(error.to_string(), "invalid arguments for `forecast`: \"days\" is a required property (at $)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The text cannot be repaired to a JSON object, the object violates the schema, or the tool rejects it.
pub fn parse(input: &str, tool: &CompiledTool) -> Result<Arguments, ArgumentError> {
    parse_for(input, tool).map_err(|kind| ArgumentError { tool: tool.spec().name.clone(), kind })
}

fn parse_for(input: &str, tool: &CompiledTool) -> Result<Arguments, ArgumentErrorKind> {
    let read = repair::parse_object(input).map_err(ArgumentErrorKind::Malformed)?;
    let mut repaired: Vec<Repair> = read.repairs.into_iter().map(Repair::Text).collect();
    let mut parts = JsonParts::of_object(&read.object, &mut repaired);
    coerce::coerce(&mut parts, tool.parameters(), &mut repaired).map_err(ArgumentErrorKind::Schema)?;
    let object = if repaired.is_empty() { read.object } else { parts.into_object() };
    tool.validate_arguments(&object).map_err(ArgumentErrorKind::Rejected)?;
    Ok(Arguments { object, repaired })
}

impl Arguments {
    /// Returns whether the arguments differ from what the model wrote.
    pub fn is_repaired(&self) -> bool {
        !self.repaired.is_empty()
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(repair) => repair.fmt(f),
            Self::RepeatedKey { path } => write!(f, "the last value of a repeated key was kept (at {path})"),
            Self::Coerced { path, from, to } => write!(f, "`{}` became `{}` (at {path})", Quoted(from), Quoted(to)),
            Self::NullRemoved { path } => write!(f, "`null` was removed (at {path})"),
        }
    }
}

/// JSON in a message, truncated to [`MAX_QUOTED`].
struct Quoted<'a>(&'a Json);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.as_raw();
        match text.char_indices().nth(MAX_QUOTED) {
            None => f.write_str(text),
            Some((end, _)) => write!(f, "{}…", text.get(..end).unwrap_or_default()),
        }
    }
}

impl Violations {
    fn at(path: String, message: impl Into<String>) -> Self {
        Self(vec![Violation { path, message: message.into() }])
    }
}
