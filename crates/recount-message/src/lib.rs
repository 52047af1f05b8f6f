//! Messages and events of AI agents, and the fold that rebuilds messages from events.
//!
//! A [`Msg`] is one turn of a conversation. An agent streams its reply as [`Event`]s, and a [`Fold`] rebuilds the message from
//! them. Every reader gets the same message, byte for byte, wherever it joins and however often it reconnects. The types and
//! their JSON are those of AgentScope Python 2.0.10.
//!
//! ```
//! use recount_message::{Event, Fold};
//!
//! let stream = r#"
//! {"type":"REPLY_START","session_id":"s1","reply_id":"r1","name":"Friday"}
//! {"type":"TEXT_BLOCK_START","reply_id":"r1","block_id":"b1"}
//! {"type":"TEXT_BLOCK_DELTA","reply_id":"r1","block_id":"b1","delta":"Hello, "}
//! {"type":"TEXT_BLOCK_DELTA","reply_id":"r1","block_id":"b1","delta":"world"}
//! {"type":"TEXT_BLOCK_END","reply_id":"r1","block_id":"b1"}
//! {"type":"REPLY_END","session_id":"s1","reply_id":"r1","finished_reason":"completed"}
//! "#;
//!
//! let mut fold = Fold::new();
//! for line in stream.trim().lines() {
//!     let outcome = fold.apply(&Event::from_json(line)?);
//!     assert_eq!(outcome.reason(), None);
//! }
//! let message = fold.into_messages().next().unwrap();
//! assert_eq!(message.text().as_deref(), Some("Hello, world"));
//! # Ok::<(), recount_message::DecodeError>(())
//! ```

mod base64_text;
mod block;
pub mod check;
mod event;
mod extensions;
mod fold;
mod ids;
mod json;
mod msg;
pub mod schema;
mod time;
pub mod wire;
mod writer;

pub use block::{
    Base64Source, Block, ContentBlock, DataBlock, HintBlock, HintLabel, LegacyMedia, MediaBlock, Payload,
    PermissionBehavior, PermissionRule, Source, SourceError, TextBlock, ThinkingBlock, ToolCallBlock, ToolCallState,
    ToolResultBlock, ToolResultState, UnknownBlock, UrlSource,
};
pub use event::*;
pub use fold::{Checkpoint, CheckpointReply, Fold, Outcome, Reason, ReplyFold, Skipped};
pub use ids::{CountingIds, IdSource, RandomIds};
#[doc(no_inline)]
pub use jiff;
pub use json::scan::MAX_DEPTH;
pub use json::{DecodeError, DecodeErrorKind, Field, Json, Object, Record, Shape};
pub use msg::{
    Content, ErrorInfo, ErrorType, FinishedReason, GenerateReason, Msg, MsgBuilder, MsgParts, Role, RoleError,
    StructuredError, Usage,
};
pub use time::{Clock, SteppingClock, SystemClock, format_time, parse_time, parse_time_in};
pub use writer::{OpenData, OpenResult, ReplyEnd, ReplyStart, ReplyWriter, Stamps, ToolCall};
