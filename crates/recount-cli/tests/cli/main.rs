//! Runs the binary and checks its output and exit status.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ask;
mod check;
mod checkpoints;
mod config_errors;
mod convert;
mod crashes;
mod decode;
mod fold;
mod format;
mod help;
mod log;
mod models;
mod pipes;
mod remote;
mod run;
mod sandbox;
mod serve;
mod show;
mod tail;
mod telemetry;
mod tokens;
