//! Tests of the agent through its public API.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "shared/looker.rs"]
mod looker;
#[path = "agent/support.rs"]
mod support;

#[path = "agent/asking.rs"]
mod asking;

#[path = "agent/defects.rs"]
mod defects;

#[path = "agent/restart.rs"]
mod restart;

#[path = "agent/interrupts.rs"]
mod interrupts;

#[path = "agent/around.rs"]
mod around;

#[path = "agent/keeping.rs"]
mod keeping;

#[path = "agent/long.rs"]
mod long;

#[path = "agent/offload.rs"]
mod offload;

#[path = "agent/sub_agents.rs"]
mod sub_agents;

#[path = "agent/expiry.rs"]
mod expiry;

#[path = "agent/protocol.rs"]
mod protocol;
