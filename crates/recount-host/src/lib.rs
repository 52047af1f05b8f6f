//! Agents that live on a log.
//!
//! A run belongs to its session and not to whoever asked: what an agent says goes to the session's log, and what people
//! answer comes from there.
//!
//! - An [`AgentSource`] knows which agents there are, and makes one for a session.

mod source;

pub use source::{AgentInfo, AgentSource, SourceError};
