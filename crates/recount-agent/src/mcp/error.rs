//! Why a server cannot be used.

/// Why an MCP server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The name cannot be the beginning of its tools' names.
    #[error("`{name}` cannot be the name of an MCP server: it must be 1 to 32 letters, digits, `-` or single `_`")]
    Name {
        /// The name.
        name: String,
    },
    /// The configuration makes no sense.
    #[error("the MCP server is configured wrongly: {0}")]
    Config(String),
    /// It could not be started or reached.
    #[error("the MCP server `{server}` could not be started: {why}")]
    Start {
        /// The server.
        server: String,
        /// Why.
        why: String,
    },
}
