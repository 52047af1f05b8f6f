//! Tools: functions, toolkits, arguments, structured output and background tools.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "tools/arguments.rs"]
mod arguments;
#[path = "tools/background.rs"]
mod background;
#[path = "tools/function.rs"]
mod function;
#[path = "tools/laws.rs"]
mod laws;
#[path = "tools/structured.rs"]
mod structured;
#[path = "tools/support.rs"]
mod support;
#[path = "tools/toolkit.rs"]
mod toolkit;
