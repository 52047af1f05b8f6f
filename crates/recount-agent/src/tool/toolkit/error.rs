//! Errors of a toolkit.

use crate::tool::schema::SchemaError;

/// A tool, group or source that cannot be added to a toolkit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolkitError {
    /// Two tools have the same name.
    #[error("duplicate tool `{name}`: {first:?} and {second:?}")]
    DuplicateTool {
        /// The name.
        name: String,
        /// The description of the first tool.
        first: String,
        /// The description of the second tool.
        second: String,
    },
    /// The name is that of a tool of the agent itself.
    #[error("the tool name `{name}` is reserved")]
    ReservedName {
        /// The name.
        name: String,
    },
    /// Some providers reject the name.
    #[error("invalid tool name `{name}`: expected 1 to 64 letters, digits, `_` or `-`")]
    InvalidName {
        /// The name.
        name: String,
    },
    /// The schema of the arguments or of the metadata is invalid.
    #[error("invalid schema of tool `{tool}`: {error}")]
    InvalidSchema {
        /// The tool.
        tool: String,
        /// The error.
        error: SchemaError,
    },
    /// The group of the tool does not exist.
    #[error("unknown group `{group}` of tool `{tool}`: add the group first")]
    UnknownGroup {
        /// The tool.
        tool: String,
        /// The group.
        group: String,
    },
    /// Two groups have the same name.
    #[error("duplicate tool group `{name}`")]
    DuplicateGroup {
        /// The name.
        name: String,
    },
    /// The names of the tools of two sources could be equal.
    #[error("conflicting tool sources: another source can also have tools that begin with `{name}__`")]
    ConflictingSource {
        /// The name.
        name: String,
    },
    /// The name of a tool is reserved for the tools of a source.
    #[error("the tool name `{tool}` is reserved for the source `{source_name}`")]
    NameOfSource {
        /// The tool.
        tool: String,
        /// The source.
        source_name: String,
    },
}

/// A tool that a model called but cannot use. The message is sent to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolLookupError {
    /// The tool does not exist.
    #[error("unknown tool `{name}`{}", listed(known))]
    Unknown {
        /// The name in the call.
        name: String,
        /// The names of the available tools.
        known: Vec<String>,
    },
    /// The group of the tool is not active.
    #[error("the tool `{name}` is in the group `{group}`, which is not active: activate it with `reset_tools` first")]
    Inactive {
        /// The tool.
        name: String,
        /// The group.
        group: String,
    },
}

/// The maximum number of available tools that the message lists.
const MAX_LISTED: usize = 40;

fn listed(known: &[String]) -> String {
    if known.is_empty() {
        return String::new();
    }
    let names: Vec<String> = known.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    let more = if known.len() > MAX_LISTED { " and others" } else { "" };
    format!("; available tools: {}{more}", names.join(", "))
}
