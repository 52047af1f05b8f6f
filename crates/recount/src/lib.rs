//! The message and event system for AI agents.
//!
//! This crate is the front door: it re-exports the others, so that `use recount::Msg` is all that a user needs.
//!
//! - The messages, the events and the fold stand at the top.
//! - [`model`] has the providers: formatters and decoders, and with the feature `client` models that can be called.
//! - `agent` has the agent, with the feature `agent`.
//! - `log` has the durable log of sessions, and `host` agents on it, with the features of these names.

/// What AgentScope's other sides speak.
///
/// ```
/// use recount::dialect::Dialect;
///
/// let message = Dialect::Java.read_message(r#"{"role":"USER","content":[{"type":"text","text":"Hello"}]}"#)?;
/// assert_eq!(message.text_or_empty(), "Hello");
/// # Ok::<(), recount::DecodeError>(())
/// ```
pub use recount_dialect as dialect;
pub use recount_message::*;

#[cfg(feature = "agent")]
#[doc(inline)]
pub use recount_agent as agent;
#[cfg(feature = "agent-config")]
#[doc(inline)]
pub use recount_agent_config as agent_config;
#[cfg(feature = "host")]
#[doc(inline)]
pub use recount_host as host;
#[cfg(feature = "log")]
#[doc(inline)]
pub use recount_log as log;
#[cfg(feature = "model")]
#[doc(inline)]
pub use recount_model as model;

/// The user guide, whose examples are doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/messages-and-events.md")]
pub struct Guide;

/// The page about dialects, likewise.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/dialects.md")]
pub struct Dialects;

/// The page about providers, likewise.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../../../docs/providers.md")]
pub struct Providers;

/// The page about the agent, likewise.
#[cfg(all(doctest, feature = "agent"))]
#[doc = include_str!("../../../docs/agent.md")]
pub struct TheAgent;

/// The page about agents on a log, likewise.
#[cfg(all(doctest, feature = "host"))]
#[doc = include_str!("../../../docs/hosting.md")]
pub struct Hosting;

/// The page about long conversations and several agents, likewise.
#[cfg(all(doctest, feature = "agent"))]
#[doc = include_str!("../../../docs/conversations.md")]
pub struct Conversations;
