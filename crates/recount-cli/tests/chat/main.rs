//! Tests of `recount chat` in a pseudo-terminal and in scripts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

mod agents;
mod crash;
mod dialogue;
mod parallel_calls;
mod permission;
mod provider;
mod script;
#[allow(dead_code, reason = "these tests use only a part of the scripted server")]
#[path = "../../../recount-model/tests/client/server.rs"]
mod server;
mod sub_agents;
mod terminal;
