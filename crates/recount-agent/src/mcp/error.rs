//! Errors of a server.

use std::error::Error;

use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// An MCP server that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The name cannot be a prefix of tool names.
    #[error("invalid name of an MCP server `{name}`: expected 1 to 32 letters, digits, `-` or single `_`")]
    Name {
        /// The name.
        name: String,
    },
    /// The configuration is invalid.
    #[error("invalid configuration of an MCP server: {0}")]
    Config(String),
    /// The server could not be started, or the connection failed.
    #[error("cannot start the MCP server `{server}`: {reason}")]
    Start {
        /// The server.
        server: String,
        /// The reason.
        reason: String,
    },
}

/// Describes a failed initialization.
pub(super) fn describe_initialization(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => describe_transport(error),
        other => other.to_string(),
    }
}

/// Describes a transport error by its last cause, without types and addresses.
pub(super) fn describe_transport(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => match error.status() {
            Some(status) => format!("it returned {status}"),
            None => last_cause(error),
        },
        Some(StreamableHttpError::AuthRequired(_)) => {
            "it requires authorization: set `Authorization` in `headers`".to_owned()
        }
        Some(_) | None => error.error.to_string(),
    }
}

fn last_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
