//! Messages with blocks that their role does not allow do not compile.
//!
//! These are documentation tests because the error messages of the compiler change with every version. Each is paired with a
//! test that differs in one point and compiles, which shows the reason for the error.
//!
//! A user message cannot contain a tool call:
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
//! not even together with text:
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
//! A system prompt cannot contain an image:
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
//! A tool message cannot contain text:
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
