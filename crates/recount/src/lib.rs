//! The message and event system for AI agents.
//!
//! An agent streams its reply as [`Event`]s. A [`Fold`] applies them and rebuilds the message, byte for byte the same for
//! every reader.
//!
//! ```
//! use recount::{Event, Fold, ReplyEnd, ReplyWriter, Stamps};
//!
//! // The producer writes a reply as JSON lines.
//! let mut lines = Vec::new();
//! let mut reply = ReplyWriter::start(|event| lines.push(event.to_json()), Stamps::default(), "session-1", "Friday");
//! reply.text("Hello, ");
//! reply.text("world");
//! let written = reply.end(ReplyEnd::completed());
//!
//! // A reader folds the lines into the same message.
//! let mut fold = Fold::new();
//! for line in &lines {
//!     fold.apply(&Event::from_json(line)?);
//! }
//! assert_eq!(fold.messages().next(), Some(&written));
//! # Ok::<(), recount::DecodeError>(())
//! ```
//!
//! This crate re-exports the other crates of Recount. Messages, events and the fold are always available, at the top level.
//! Everything else is a module behind a feature:
//!
//! | feature | module | contents |
//! |---|---|---|
//! | `model` (default) | [`model`] | formatters and decoders for the APIs of model providers |
//! | `client` | `model::client` | HTTP clients for these providers |
//! | `dialect` | `dialect` | the wire formats of AgentScope Java and TypeScript, AG-UI and the AI SDK |
//! | `agent` | `agent` | the agent: models, tools, permissions, middleware |
//! | `builtin` | | built-in tools of the agent: files, search, shell and web |
//! | `mcp` | | tools of MCP servers |
//! | `json-schema` | | validation of every JSON Schema keyword in the schemas of tools |
//! | `log` | `log` | the durable session log |
//! | `host` | `host` | agents that run on a log |
//! | `agent-config` | `agent_config` | agents from a TOML configuration |
//! | `otel` | | OpenTelemetry spans of hosted agents |
//!
//! The features `client` and `agent` need a Tokio runtime, such as `#[tokio::main]` with Tokio's features `macros` and
//! `rt-multi-thread`.

pub use recount_message::*;

#[cfg(feature = "agent")]
#[doc(inline)]
pub use recount_agent as agent;
#[cfg(feature = "agent-config")]
#[doc(inline)]
pub use recount_agent_config as agent_config;
/// Conversion from and to the wire formats of AgentScope Java and TypeScript, AG-UI and the AI SDK.
///
/// ```
/// use recount::dialect::Dialect;
///
/// let message = Dialect::Java.read_message(r#"{"role":"USER","content":[{"type":"text","text":"Hello"}]}"#)?;
/// assert_eq!(message.text_or_empty(), "Hello");
/// # Ok::<(), recount::DecodeError>(())
/// ```
#[cfg(feature = "dialect")]
pub use recount_dialect as dialect;
#[cfg(feature = "host")]
#[doc(inline)]
pub use recount_host as host;
#[cfg(feature = "log")]
#[doc(inline)]
pub use recount_log as log;
#[cfg(feature = "model")]
#[doc(inline)]
pub use recount_model as model;

/// Runs the examples of the user guide as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/messages-and-events.md")]
pub struct MessagesAndEventsPage;

/// Runs the examples of the page about dialects as doc tests.
#[cfg(all(doctest, feature = "dialect"))]
#[doc = include_str!("../../../docs/dialects.md")]
pub struct DialectsPage;

/// Runs the examples of the page about providers as doc tests.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../../../docs/providers.md")]
pub struct ProvidersPage;

/// Runs the examples of the page about the agent as doc tests.
#[cfg(all(doctest, feature = "agent"))]
#[doc = include_str!("../../../docs/agent.md")]
pub struct AgentPage;

/// Runs the examples of the page about hosting as doc tests.
#[cfg(all(doctest, feature = "host"))]
#[doc = include_str!("../../../docs/hosting.md")]
pub struct HostingPage;

/// Runs the examples of the page about conversations as doc tests.
#[cfg(all(doctest, feature = "agent"))]
#[doc = include_str!("../../../docs/conversations.md")]
pub struct ConversationsPage;
