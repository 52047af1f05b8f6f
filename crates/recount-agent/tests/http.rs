//! The agent over HTTP, against a local server that plays recorded responses of the providers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "http/breaking.rs"]
mod breaking;
#[path = "http/providers.rs"]
mod providers;
#[path = "../../recount-model/tests/rules/mod.rs"]
mod rules;
#[allow(dead_code, reason = "not all that the server can do is needed here")]
#[path = "../../recount-model/tests/client/server.rs"]
mod server;
#[path = "http/support.rs"]
mod support;
