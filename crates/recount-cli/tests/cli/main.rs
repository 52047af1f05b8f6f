//! Runs the real binary and looks at what a user would see.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod ask;
mod check;
mod configured;
mod convert;
mod crashes;
mod decode;
mod fold;
mod format;
mod help;
mod log;
mod models;
mod pieces;
mod pipes;
mod run;
mod sandbox;
mod serve;
mod show;
mod tail;
mod take_part;
mod tokens;
mod watched;
