//! Agents from a TOML configuration, as an [`AgentSource`](recount_host::AgentSource) for a host.
//!
//! ```toml
//! [agents.coder]
//! model = "anthropic/claude-opus-4-5"
//! description = "Works on this repository."
//! prompt = "You are a careful programmer."
//! tools = ["read", "glob", "grep", "edit", "shell"]
//! workspace = "."
//! fallback = ["openai/gpt-5"]
//!
//! [agents.coder.permissions]
//! mode = "accept_edits"
//! allow = [{ rule = "shell(cargo fetch:*)", access = ["network"] }]
//! deny = ["shell(git push:*)"]
//!
//! [agents.coder.mcp.everything]
//! command = "npx"
//! args = ["-y", "@modelcontextprotocol/server-everything"]
//! access = ["network", "write:~/.npm"]
//!
//! [agents.coder.external.ask_colleague]
//! description = "Asks the person at the keyboard."
//!
//! [agents.lead]
//! helpers = ["coder"]
//! ```

mod agents;
mod build;
mod config;
mod default_model;
mod environment;
mod mcp_servers;
mod model;
mod names;
mod parse;
mod sandbox_config;
mod sub_agents;

pub use agents::Agents;
pub use config::{AgentConfig, AgentsConfig, ExternalTool, PermissionsConfig, ThinkingConfig};
pub use default_model::DefaultModel;
pub use environment::Environment;
pub use names::{ModelName, NameError, Rule, ToolName};
pub use parse::ConfigError;
pub use recount_sandbox as sandbox;
pub use sandbox_config::SandboxConfig;
