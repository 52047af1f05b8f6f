//! Round trips through every dialect.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod documents;
mod front_ends;
mod java;
mod round_trip;
mod support;
