//! The message and event system for AI agents.
//!
//! This crate is the front door: it re-exports the others, so that `use recount::Msg` is all that a user needs.

pub use recount_message::*;

/// The user guide, whose examples are doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/messages-and-events.md")]
pub struct Guide;
