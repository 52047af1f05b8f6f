//! MCP servers: a published one over both transports, and a misbehaving one.
//!
//! They require Node. `make conformance/mcp/node_modules/installed` installs the published server.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "mcp/everything.rs"]
mod everything;
#[path = "mcp/hostile.rs"]
mod hostile;
#[path = "mcp/over_http.rs"]
mod over_http;
#[path = "mcp/support.rs"]
mod support;
#[path = "mcp/through_agent.rs"]
mod through_agent;
