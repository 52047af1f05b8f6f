//! Conversion between the wire formats of AgentScope's Java and TypeScript implementations and Recount's messages and
//! events.
//!
//! Recount has a single internal model, whose JSON is that of AgentScope Python. AgentScope Java and TypeScript use JSON
//! formats of their own, and none of them can parse the others'. A [`Dialect`] converts between one of these formats and
//! the model, in both directions, with pure functions:
//!
//! ```
//! use recount_dialect::Dialect;
//! use recount_message::Role;
//!
//! let java = r#"{"id":"m1","name":"Alice","role":"USER","content":[{"type":"text","text":"Hello"}],
//!     "metadata":{},"timestamp":"2026-08-22 10:30:00.123","usage":null}"#;
//! let message = Dialect::Java.read_message(java)?;
//! assert_eq!((message.role(), message.text_or_empty()), (Role::User, "Hello".into()));
//!
//! let written = Dialect::Java.write_message(&message);
//! assert_eq!(written, java.replace("\n    ", ""));
//! # Ok::<(), recount_message::DecodeError>(())
//! ```
//!
//! # Lossless round trips
//!
//! Each format has fields that another one cannot express. Such fields are stored under the key `recount`, by the name of
//! the dialect that needs them: in the metadata of a message or event, or in a block that is converted on its own. They
//! are restored when the value is converted back. A stored field is used only as long as it is consistent with the
//! converted value, so a later edit of that value takes precedence.
//!
//! # Front ends
//!
//! A [`FrontEnd`] is a library that displays a conversation while it is streamed. Its streams are write-only: they
//! describe a view of the messages, from which the library rebuilds its own. A [`Target`] is a dialect or a front end:
//! any format that a stream can be written in.

mod ag_ui;
mod ai_sdk;
mod data_url;
mod dialect;
mod event_ids;
mod frame;
mod front_end;
mod java;
mod java1;
mod json;
mod native;
mod patch;
mod preserved;
mod reply_queue;
mod reply_view;
mod state_document;
mod stream;
mod turns;
mod typescript;

pub use dialect::{Dialect, UnknownDialect};
pub use front_end::{FrontEnd, Target, UnknownTarget, is_idle};
pub use java::with_duplicate_type_key;
pub use stream::StreamReader;
pub use turns::{TurnMerger, split_turn};
