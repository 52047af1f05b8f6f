//! Tests of a host on a real log.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "hosting/backpressure.rs"]
mod backpressure;
#[path = "hosting/common.rs"]
mod common;
#[path = "hosting/crashes.rs"]
mod crashes;
#[path = "hosting/failing_storage.rs"]
mod failing_storage;
#[path = "hosting/hints.rs"]
mod hints;
#[path = "hosting/inputs.rs"]
mod inputs;
#[path = "hosting/killed_process.rs"]
mod killed_process;
#[path = "hosting/on_busy.rs"]
mod on_busy;
#[path = "hosting/posting.rs"]
mod posting;
#[path = "hosting/rejected_events.rs"]
mod rejected_events;
#[path = "hosting/shutdown.rs"]
mod shutdown;
#[path = "hosting/sub_agents.rs"]
mod sub_agents;
#[path = "hosting/uploads.rs"]
mod uploads;
