//! What AgentScope's other sides speak, to and from Recount's messages and events.
//!
//! Inside Recount there is one model, and its JSON is AgentScope Python's. AgentScope Java and TypeScript write other
//! JSON, and none of them reads another's. A [`Dialect`] translates between its JSON and the model, in both directions,
//! with pure functions:
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
//! # Nothing is lost
//!
//! Each side can say things that another cannot. What has no place on the other side is kept under the key `recount`
//! (of a message's or event's metadata, or of a block that stands alone), by the name of the dialect that it belongs to,
//! and comes back. It holds only what the target cannot say. Where somebody has changed the target in between, the change
//! counts: what was kept is used only as long as it still means what the target says.
//!
//! # Front ends
//!
//! A [`FrontEnd`] is a library that shows a conversation while it goes on. What it reads is written and never read back: a
//! view of the messages, from which the library rebuilds its own. [`Target`] is whatever a stream can be written as.

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
