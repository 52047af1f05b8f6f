//! `recount chat`, driven in a pseudo-terminal and from scripts.

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
mod helpers;
mod permission;
mod provider;
mod script;
#[allow(dead_code, reason = "not all that the server can do is needed here")]
#[path = "../../../recount-model/tests/client/server.rs"]
mod server;
mod several;
mod terminal;
