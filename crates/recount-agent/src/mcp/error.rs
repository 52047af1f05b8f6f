//! Why a server cannot be used.

use std::error::Error;

use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

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

/// Why a server could not be greeted, in words for people.
pub(super) fn of_greeting(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => of_transport(error),
        other => other.to_string(),
    }
}

/// Why a server could not be reached, in words for people: the last cause, and neither types nor addresses.
pub(super) fn of_transport(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => match error.status() {
            Some(status) => format!("it answered with {status}"),
            None => last_cause(error),
        },
        Some(StreamableHttpError::AuthRequired(_)) => {
            "it wants to know who asks: `headers` can have an `Authorization`".to_owned()
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
