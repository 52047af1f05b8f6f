//! Decoding of responses: blocks, extra fields, stop reasons and errors.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "decode/support.rs"]
mod support;

#[path = "decode/blocks.rs"]
mod blocks;
#[path = "decode/calls.rs"]
mod calls;
#[path = "decode/ends.rs"]
mod ends;
#[path = "decode/failures.rs"]
mod failures;
#[path = "decode/round_trip.rs"]
mod round_trip;
#[path = "decode/tags.rs"]
mod tags;
#[path = "decode/tokens.rs"]
mod tokens;
