//! What the native fields of an event cannot say: it travels under the key `recount` of the event's metadata.
//!
//! | event | keys | where it goes |
//! |---|---|---|
//! | REPLY_START | `metadata`, `parent` | the message's metadata |
//! | REPLY_END | `structured_output`, `metadata` | the message's structured output and metadata |
//! | TEXT_BLOCK_END, THINKING_BLOCK_END, DATA_BLOCK_END, TOOL_CALL_END, TOOL_RESULT_START, HINT_BLOCK | `extra` | the block's unknown fields |
//! | TOOL_RESULT_DATA_DELTA | `name`, `extra` | the data's name and unknown fields, when it begins |
//! | MODEL_CALL_END | `usage`: `"unknown"` | the zeros are not added |
//!
//! TOOL_RESULT_END carries nothing: its metadata is the tool's own.

use super::{Event, EventKind};
use crate::marks;
use crate::{Json, Object};

impl Event<'_> {
    /// Something that the native fields cannot say.
    ///
    /// ```
    /// use recount_message::Event;
    ///
    /// let text = r#"{"type":"THINKING_BLOCK_END","reply_id":"r1","block_id":"b1",
    ///     "metadata":{"recount":{"extra":{"signature":"EqoB…"}}}}"#;
    /// let event = Event::from_json(text)?;
    /// assert_eq!(event.carried("extra").unwrap().as_raw(), r#"{"signature":"EqoB…"}"#);
    /// assert_eq!(event.carried("name"), None);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn carried(&self, key: &str) -> Option<Json> {
        if self.metadata.is_empty() || matches!(self.kind, EventKind::ToolResultEnd(_)) {
            return None;
        }
        marks::get(&self.metadata, key)
    }

    /// The same event with something that the native fields cannot say.
    ///
    /// ```
    /// use recount_message::{Event, Object, ThinkingBlockEndEvent};
    ///
    /// let end = ThinkingBlockEndEvent::new("r1", "b1");
    /// let event = Event::new(end).carrying("extra", Object::from([("signature", "EqoB…")]));
    /// assert_eq!(event.metadata.to_json(), r#"{"recount":{"extra":{"signature":"EqoB…"}}}"#);
    /// ```
    pub fn carrying(mut self, key: &str, value: impl Into<Json>) -> Self {
        marks::set(&mut self.metadata, key, value);
        self
    }

    pub(crate) fn carried_object(&self, key: &str) -> Option<Object> {
        self.carried(key)?.to_object()
    }

    pub(crate) fn carried_text(&self, key: &str) -> Option<String> {
        self.carried(key)?.as_str().map(str::to_owned)
    }
}
