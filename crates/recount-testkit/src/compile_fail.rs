//! Messages that break their role's rules do not compile.
//!
//! These are documentation tests because what the compiler says about them changes with every version, and only that it
//! refuses counts. Each has a twin that differs in the one point and compiles, so that it is refused for that point.
//!
//! A user does not call tools:
//!
//! ```
//! use recount_message::{Msg, ToolCallBlock};
//!
//! Msg::assistant("Alice", ToolCallBlock::new("call_1", "get_weather", "{}"));
//! ```
//!
//! ```compile_fail
//! use recount_message::{Msg, ToolCallBlock};
//!
//! Msg::user("Alice", ToolCallBlock::new("call_1", "get_weather", "{}"));
//! ```
//!
//! nor in the company of a text:
//!
//! ```
//! use recount_message::{Msg, ToolCallBlock};
//!
//! Msg::assistant("Alice", ("Hello", ToolCallBlock::new("call_1", "get_weather", "{}")));
//! ```
//!
//! ```compile_fail
//! use recount_message::{Msg, ToolCallBlock};
//!
//! Msg::user("Alice", ("Hello", ToolCallBlock::new("call_1", "get_weather", "{}")));
//! ```
//!
//! A system prompt has no pictures:
//!
//! ```
//! use recount_message::{DataBlock, Msg};
//!
//! Msg::user("system", DataBlock::from_bytes(b"GIF89a"));
//! ```
//!
//! ```compile_fail
//! use recount_message::{DataBlock, Msg};
//!
//! Msg::system("system", DataBlock::from_bytes(b"GIF89a"));
//! ```
//!
//! A tool does not chat:
//!
//! ```
//! use recount_message::{Msg, ToolResultBlock};
//!
//! Msg::tool("system", ToolResultBlock::success("call_1", "get_weather", "Sunny, 25°C"));
//! ```
//!
//! ```compile_fail
//! use recount_message::{Msg, ToolResultBlock};
//!
//! Msg::tool("system", "Sunny, 25°C");
//! ```
