//! Why a tool cannot be added, and why one cannot be called.

use crate::tool::schema::SchemaError;

/// Why a tool cannot be a part of a toolkit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolkitError {
    /// Two tools have the same name.
    #[error("two tools are called `{name}`: {first:?} and {second:?}")]
    DuplicateTool {
        /// The name.
        name: String,
        /// What the first one says of itself.
        first: String,
        /// What the second one says of itself.
        second: String,
    },
    /// The name is that of a tool which the agent brings.
    #[error("the agent has a tool of its own that is called `{name}`")]
    ReservedName {
        /// The name.
        name: String,
    },
    /// Some provider would not take the name.
    #[error("`{name}` cannot be a tool's name: it must be 1 to 64 letters, digits, `_` or `-`")]
    InvalidName {
        /// The name.
        name: String,
    },
    /// The schema of its arguments or of its metadata cannot be used.
    #[error("the tool `{tool}` has a schema that cannot be used: {error}")]
    InvalidSchema {
        /// The tool.
        tool: String,
        /// Why.
        error: SchemaError,
    },
    /// The tool's group is not there.
    #[error("the tool `{tool}` is in the group `{group}`, which the toolkit does not have: add the group first")]
    UnknownGroup {
        /// The tool.
        tool: String,
        /// The group.
        group: String,
    },
    /// Two groups have the same name.
    #[error("two groups of tools are called `{name}`")]
    DuplicateGroup {
        /// The name.
        name: String,
    },
    /// Two sources have names that their tools could not be told apart by.
    #[error("two sources of tools could both have tools that begin with `{name}__`")]
    ConflictingSource {
        /// The name.
        name: String,
    },
    /// A tool has a name that a source might give to one of its own.
    #[error("the tool `{tool}` has a name that belongs to the source `{source_name}`")]
    NameOfSource {
        /// The tool.
        tool: String,
        /// The source.
        source_name: String,
    },
}

/// Why a tool that a model called cannot be. The model reads it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolLookupError {
    /// There is no such tool.
    #[error("there is no tool `{name}`{}", listed(known))]
    Unknown {
        /// The name that the model gave.
        name: String,
        /// The names that it could have given.
        known: Vec<String>,
    },
    /// Its group is not active.
    #[error("the tool `{name}` is in the group `{group}`, which is not active: activate it with `reset_tools` first")]
    Inactive {
        /// The tool.
        name: String,
        /// The group.
        group: String,
    },
}

/// So many names are told to a model that gave a wrong one.
const MOST_LISTED: usize = 40;

fn listed(known: &[String]) -> String {
    if known.is_empty() {
        return String::new();
    }
    let names: Vec<String> = known.iter().take(MOST_LISTED).map(|name| format!("`{name}`")).collect();
    let more = if known.len() > MOST_LISTED { " and others" } else { "" };
    format!(", only {}{more}", names.join(", "))
}
