//! Runs the real binary and looks at what a user would see.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod check;
mod convert;
mod fold;
mod help;
mod pieces;
mod pipes;
mod run;
mod show;
