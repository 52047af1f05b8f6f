//! What a model gives a tool to work with: read, repaired where that is safe, and checked.

mod coerce;
mod tree;

use std::fmt;

use recount_message::{Json, Object};
use recount_model::repair::{self, RepairError};

use super::ToolError;
use super::mounted::Mounted;
use super::schema::{Violation, Violations};
use tree::Tree;

/// The arguments of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// What the tool gets. Each key is there once.
    pub object: Object,
    /// What had to be repaired, so that it can be told. Nothing for what was right as it came.
    pub repaired: Vec<Repair>,
}

/// One thing that was repaired in a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// The text was no JSON.
    Text(repair::Repair),
    /// A key came more than once; the last one counts.
    RepeatedKey {
        /// Which, as `$.days`.
        path: String,
    },
    /// A value had another type than the schema asks for, and could be turned into that without loss.
    Coerced {
        /// Where.
        path: String,
        /// What it was.
        from: Json,
        /// What it is now.
        to: Json,
    },
    /// A value was `null` where the schema asks for something else, and was left out.
    NullLeftOut {
        /// Where.
        path: String,
    },
}

/// Why a call's arguments cannot be used. The model reads it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid arguments for `{tool}`: {mistake}")]
pub struct ArgumentError {
    /// The name of the tool.
    pub tool: String,
    /// What is wrong.
    pub mistake: Mistake,
}

/// What is wrong with a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// They are no JSON object.
    #[error("{0}: send one JSON object")]
    Unreadable(RepairError),
    /// The schema asks for something else.
    #[error("{0}")]
    Schema(Violations),
    /// The tool itself does not take them.
    #[error("{0}")]
    Refused(ToolError),
}

/// Reads the arguments that a model wrote for a tool.
///
/// Blank stands for no arguments. What is no JSON is repaired where it can be read in one way only, a value of the wrong
/// type is turned into the right one where nothing is lost by it, and what was done is told in [`Arguments::repaired`].
///
/// ```
/// use recount_agent::tool::{FunctionTool, Mounted, arguments};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Forecast {
///     city: String,
///     days: u8,
/// }
/// let tool = FunctionTool::new("forecast", "Says how the weather will be.", |forecast: Forecast| async move {
///     Ok(format!("{} days of sun in {}", forecast.days, forecast.city))
/// });
/// let tool = Mounted::new(tool)?;
///
/// let arguments = arguments::read(r#"{"city": "Paris", "days": "3"}"#, &tool)?;
/// assert_eq!(arguments.object.to_json(), r#"{"city":"Paris","days":3}"#);
/// assert_eq!(arguments.repaired[0].to_string(), r#"`"3"` became `3` (at $.days)"#);
///
/// let error = arguments::read(r#"{"city": "Paris"}"#, &tool).unwrap_err();
/// assert_eq!(error.to_string(), "invalid arguments for `forecast`: \"days\" is a required property (at $)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When the text is no object and cannot be made one, or is not what the schema or the tool asks for.
pub fn read(input: &str, tool: &Mounted) -> Result<Arguments, ArgumentError> {
    read_for(input, tool).map_err(|mistake| ArgumentError { tool: tool.spec().name.clone(), mistake })
}

fn read_for(input: &str, tool: &Mounted) -> Result<Arguments, Mistake> {
    let read = repair::parse_object(input).map_err(Mistake::Unreadable)?;
    let mut repaired: Vec<Repair> = read.repairs.into_iter().map(Repair::Text).collect();
    let mut tree = Tree::of_object(&read.object, &mut repaired);
    coerce::fit(&mut tree, tool.parameters(), &mut repaired).map_err(Mistake::Schema)?;
    let object = if repaired.is_empty() { read.object } else { tree.into_object() };
    tool.check(&object).map_err(Mistake::Refused)?;
    Ok(Arguments { object, repaired })
}

impl Arguments {
    /// Whether the model wrote something else.
    pub fn is_repaired(&self) -> bool {
        !self.repaired.is_empty()
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(repair) => repair.fmt(f),
            Self::RepeatedKey { path } => write!(f, "of a repeated key the last one counts (at {path})"),
            Self::Coerced { path, from, to } => write!(f, "`{}` became `{}` (at {path})", Short(from), Short(to)),
            Self::NullLeftOut { path } => write!(f, "`null` was left out (at {path})"),
        }
    }
}

/// JSON in a message, cut where it is long.
struct Short<'a>(&'a Json);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.as_str();
        match text.char_indices().nth(60) {
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
