//! Calls over HTTP, against a local server that simulates a provider.

#![cfg(feature = "client")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "client/cancel.rs"]
mod cancel;
#[path = "client/failures.rs"]
mod failures;
#[path = "client/fallbacks.rs"]
mod fallbacks;
#[path = "client/media.rs"]
mod media;
#[path = "client/replay.rs"]
mod replay;
#[path = "client/requests.rs"]
mod requests;
#[path = "client/retries.rs"]
mod retries;
#[path = "client/server.rs"]
mod server;
#[path = "client/support.rs"]
mod support;
#[path = "client/timeouts.rs"]
mod timeouts;
