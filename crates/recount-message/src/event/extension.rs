//! Extensions of events: values without a native field, stored under the key `recount` of the metadata.
//!
//! | event | keys | destination |
//! |---|---|---|
//! | REPLY_START | `metadata`, `parent` | the message's metadata |
//! | REPLY_END | `structured_output`, `metadata` | the message's structured output and metadata |
//! | TEXT_BLOCK_END, THINKING_BLOCK_END, DATA_BLOCK_END, TOOL_CALL_END, TOOL_RESULT_START, HINT_BLOCK | `extra` | the unknown fields of the block |
//! | TOOL_RESULT_DATA_DELTA | `name`, `extra` | the name and unknown fields of new data |
//! | MODEL_CALL_END | `usage`: `"unknown"` | the token counts are ignored |
//!
//! TOOL_RESULT_END has no extensions: its metadata belongs to the tool.

use super::{Event, EventKind};
use crate::extensions;
use crate::{Json, Object};

impl Event<'_> {
    /// Returns an extension of the event; `None` if it is not set.
    ///
    /// ```
    /// use recount_message::Event;
    ///
    /// let text = r#"{"type":"THINKING_BLOCK_END","reply_id":"r1","block_id":"b1",
    ///     "metadata":{"recount":{"extra":{"signature":"EqoB…"}}}}"#;
    /// let event = Event::from_json(text)?;
    /// assert_eq!(event.extension("extra").unwrap().as_raw(), r#"{"signature":"EqoB…"}"#);
    /// assert_eq!(event.extension("name"), None);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn extension(&self, key: &str) -> Option<Json> {
        if self.metadata.is_empty() || matches!(self.kind, EventKind::ToolResultEnd(_)) {
            return None;
        }
        extensions::get(&self.metadata, key)
    }

    /// Sets an extension. Consumes the event and returns the changed one.
    ///
    /// ```
    /// use recount_message::{Event, Object, ThinkingBlockEndEvent};
    ///
    /// let end = ThinkingBlockEndEvent::new("r1", "b1");
    /// let event = Event::new(end).with_extension("extra", Object::from([("signature", "EqoB…")]));
    /// assert_eq!(event.metadata.to_json(), r#"{"recount":{"extra":{"signature":"EqoB…"}}}"#);
    /// ```
    pub fn with_extension(mut self, key: &str, value: impl Into<Json>) -> Self {
        extensions::set(&mut self.metadata, key, value);
        self
    }

    pub(crate) fn extension_object(&self, key: &str) -> Option<Object> {
        self.extension(key)?.to_object()
    }

    pub(crate) fn extension_text(&self, key: &str) -> Option<String> {
        self.extension(key)?.as_str().map(str::to_owned)
    }
}
