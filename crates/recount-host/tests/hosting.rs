//! Agents on a real log.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "hosting/answers.rs"]
mod answers;
#[path = "hosting/busy.rs"]
mod busy;
#[path = "hosting/common.rs"]
mod common;
#[path = "hosting/crashes.rs"]
mod crashes;
#[path = "hosting/dying.rs"]
mod dying;
#[path = "hosting/full.rs"]
mod full;
#[path = "hosting/hints.rs"]
mod hints;
#[path = "hosting/killed.rs"]
mod killed;
#[path = "hosting/meddling.rs"]
mod meddling;
#[path = "hosting/posting.rs"]
mod posting;
#[path = "hosting/several.rs"]
mod several;
#[path = "hosting/stopping.rs"]
mod stopping;
#[path = "hosting/uploads.rs"]
mod uploads;
