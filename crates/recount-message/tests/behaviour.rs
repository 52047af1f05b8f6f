//! The documented behaviour of AgentScope's messages and events, with one test per behaviour.
//!
//! The table in `docs/compatibility.md` lists these tests.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "behaviour/accessors.rs"]
mod accessors;
#[path = "behaviour/blocks.rs"]
mod blocks;
#[path = "behaviour/confirmation.rs"]
mod confirmation;
#[path = "behaviour/creating.rs"]
mod creating;
#[path = "behaviour/data.rs"]
mod data;
#[path = "behaviour/events.rs"]
mod events;
#[path = "behaviour/message.rs"]
mod message;
#[path = "behaviour/odd_states.rs"]
mod odd_states;
#[path = "behaviour/purpose.rs"]
mod purpose;
#[path = "behaviour/reconstruction.rs"]
mod reconstruction;
#[path = "behaviour/roles.rs"]
mod roles;
#[path = "behaviour/serialisation.rs"]
mod serialisation;
#[path = "behaviour/structured.rs"]
mod structured;
#[path = "behaviour/support.rs"]
mod support;
#[path = "behaviour/tools.rs"]
mod tools;
