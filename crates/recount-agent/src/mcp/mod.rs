//! Tools of MCP servers.
//!
//! An [`McpServer`] runs a server as a child process, or connects to one over HTTP. It is a
//! [source of tools](crate::tool::ToolSource) for a toolkit. Failures of a server affect only its own tools: a server that
//! exits or hangs is restarted, calls have timeouts, and long results are truncated.
//!
//! ```no_run
//! use recount_agent::mcp::{McpConfig, McpServer};
//! use recount_agent::tool::Toolkit;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config = McpConfig::command("npx", ["-y", "@modelcontextprotocol/server-everything"]);
//! let server = McpServer::connect("everything", config).await?;
//! // Its tools are called `everything__echo` and so on.
//! let toolkit = Toolkit::new().with_source(server)?;
//! # Ok(())
//! # }
//! ```

mod config;
mod connect;
mod content;
mod error;
mod handler;
mod listing;
mod names;
mod server;
mod stderr;
mod supervise;
mod tool;

pub use config::{McpConfig, McpTransport};
pub use error::McpError;
pub use server::McpServer;
