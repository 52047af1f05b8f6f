//! Constructors and setters of events.
//!
//! Events are `#[non_exhaustive]`: `new` takes the required fields, optional fields have their defaults, and `with_…`
//! replaces an optional field. Every field can also be assigned.

use std::borrow::Cow;

use super::kinds::*;
use crate::Object;
use crate::block::{Payload, ToolCallBlock, ToolResultState};
use crate::msg::{ErrorInfo, FinishedReason};

/// The type of an argument: `text` and `optional_text` are strings that may be borrowed.
macro_rules! argument {
    (text) => { impl Into<Cow<'a, str>> };
    (optional_text) => { impl Into<Cow<'a, str>> };
    (count) => { u64 };
    (object) => { impl Into<Object> };
    (payload) => { impl Into<Payload> };
    (list $item:ty) => { impl IntoIterator<Item = $item> };
    (value $type:ty) => { $type };
    (optional $type:ty) => { $type };
}

macro_rules! convert {
    ($argument:ident, text) => {
        $argument.into()
    };
    ($argument:ident, optional_text) => {
        Some($argument.into())
    };
    ($argument:ident, count) => {
        $argument
    };
    ($argument:ident, object) => {
        $argument.into()
    };
    ($argument:ident, payload) => {
        $argument.into()
    };
    ($argument:ident, list $item:ty) => {
        $argument.into_iter().collect()
    };
    ($argument:ident, value $type:ty) => {
        $argument
    };
    ($argument:ident, optional $type:ty) => {
        Some($argument)
    };
}

macro_rules! constructors {
    ($(
        $event:ident($($required:ident: [$($kind:tt)+]),+) example[$($import:literal)?]($($example:expr),+)
        $( $(#[doc = $doc:literal])+ $setter:ident $optional:ident: [$($optional_kind:tt)+] = $default:expr; )*
    )+) => {$(
        impl<'a> $event<'a> {
            /// Creates the event from its required fields. Optional fields have their defaults.
            ///
            /// ```
            #[doc = concat!("use recount_message::{Event, ", stringify!($event) $(, ", ", $import)?, "};")]
            ///
            #[doc = concat!("let event = Event::new(", stringify!($event), "::new(", stringify!($($example),+), "));")]
            /// assert_eq!(Event::from_json(&event.to_json())?, event);
            /// # Ok::<(), recount_message::DecodeError>(())
            /// ```
            pub fn new($($required: argument!($($kind)+)),+) -> Self {
                Self {
                    $( $required: convert!($required, $($kind)+), )+
                    $( $optional: $default, )*
                }
            }

            $(
                $(#[doc = $doc])+
                ///
                /// Consumes the event and returns the changed one.
                pub fn $setter(mut self, $optional: argument!($($optional_kind)+)) -> Self {
                    self.$optional = convert!($optional, $($optional_kind)+);
                    self
                }
            )*
        }
    )+};
}

constructors! {
    ReplyStartEvent(session_id: [text], reply_id: [text], name: [text])
        example[]("s1", "r1", "Friday")
        /// Sets `role`. The message is an assistant's regardless of this value.
        with_role role: [text] = Cow::Borrowed("assistant");

    ReplyEndEvent(session_id: [text], reply_id: [text])
        example[]("s1", "r1")
        /// Sets why the reply ended; [`FinishedReason::Completed`] by default.
        with_finished_reason finished_reason: [value FinishedReason] = FinishedReason::Completed;
        /// Sets the error that ended the reply.
        with_error error: [optional ErrorInfo] = None;

    ModelCallStartEvent(reply_id: [text], model_name: [text])
        example[]("r1", "some-model")

    ModelCallEndEvent(reply_id: [text], input_tokens: [count], output_tokens: [count])
        example[]("r1", 120, 18)
        /// Sets the number of tokens read from the prompt cache.
        with_cache_input_tokens cache_input_tokens: [count] = 0;
        /// Sets the number of tokens written to the prompt cache.
        with_cache_creation_input_tokens cache_creation_input_tokens: [count] = 0;
        /// Sets why the call ended; [`ModelFinishedReason::Completed`] by default.
        with_finished_reason finished_reason: [value ModelFinishedReason] = ModelFinishedReason::Completed;

    TextBlockStartEvent(reply_id: [text], block_id: [text])
        example[]("r1", "b1")

    TextBlockDeltaEvent(reply_id: [text], block_id: [text], delta: [text])
        example[]("r1", "b1", "Hello")

    TextBlockEndEvent(reply_id: [text], block_id: [text])
        example[]("r1", "b1")
        /// Sets the full text, which replaces the concatenated deltas.
        with_text text: [optional_text] = None;

    ThinkingBlockStartEvent(reply_id: [text], block_id: [text])
        example[]("r1", "b1")

    ThinkingBlockDeltaEvent(reply_id: [text], block_id: [text], delta: [text])
        example[]("r1", "b1", "First, ")

    ThinkingBlockEndEvent(reply_id: [text], block_id: [text])
        example[]("r1", "b1")

    DataBlockStartEvent(reply_id: [text], block_id: [text], media_type: [text])
        example[]("r1", "b1", "image/png")
        /// Sets the name of the data, such as a file name.
        with_name name: [optional_text] = None;

    DataBlockEndEvent(reply_id: [text], block_id: [text])
        example[]("r1", "b1")

    HintBlockEvent(reply_id: [text], block_id: [text], hint: [payload])
        example[]("r1", "h1", "It is noon.")
        /// Sets the sender of the hint.
        with_source source: [optional_text] = None;

    ToolCallStartEvent(reply_id: [text], tool_call_id: [text], tool_call_name: [text])
        example[]("r1", "c1", "get_weather")

    ToolCallDeltaEvent(reply_id: [text], tool_call_id: [text], delta: [text])
        example[]("r1", "c1", "{}")

    ToolCallEndEvent(reply_id: [text], tool_call_id: [text])
        example[]("r1", "c1")

    ToolResultStartEvent(reply_id: [text], tool_call_id: [text], tool_call_name: [text])
        example[]("r1", "c1", "get_weather")

    ToolResultTextDeltaEvent(reply_id: [text], tool_call_id: [text], delta: [text])
        example[]("r1", "c1", "Sunny")

    ToolResultEndEvent(reply_id: [text], tool_call_id: [text], state: [value ToolResultState])
        example["ToolResultState"]("r1", "c1", ToolResultState::Success)

    ExceedMaxItersEvent(reply_id: [text], name: [text])
        example[]("r1", "Friday")

    RequireUserConfirmEvent(reply_id: [text], tool_calls: [list ToolCallBlock])
        example["ToolCallBlock"]("r1", [ToolCallBlock::new("c1", "shell", "{}")])

    RequireExternalExecutionEvent(reply_id: [text], tool_calls: [list ToolCallBlock])
        example["ToolCallBlock"]("r1", [ToolCallBlock::new("c1", "open_door", "{}")])

    CustomEvent(name: [text])
        example[]("progress")
        /// Sets the reply that the event belongs to.
        with_reply_id reply_id: [optional_text] = None;
        /// Sets the value.
        with_value value: [object] = Object::new();
}

macro_rules! data_deltas {
    ($($event:ident($id:ident, $kind:literal $(, $optional:ident)*))+) => {$(
        impl<'a> $event<'a> {
            /// Creates the event without data. Exactly one of `data` and `url` must be set before it is encoded.
            ///
            /// ```
            #[doc = concat!("use recount_message::", stringify!($event), ";")]
            ///
            #[doc = concat!("let mut delta = ", stringify!($event), "::new(\"r1\", \"", $kind, "\", \"image/png\");")]
            /// delta.data = Some("iVBORw0K".into());
            #[doc = concat!("assert_eq!(delta, ", stringify!($event), "::from_base64(\"r1\", \"", $kind, "\", \"image/png\", \"iVBORw0K\"));")]
            /// ```
            pub fn new(
                reply_id: impl Into<Cow<'a, str>>,
                $id: impl Into<Cow<'a, str>>,
                media_type: impl Into<Cow<'a, str>>,
            ) -> Self {
                Self {
                    reply_id: reply_id.into(),
                    $id: $id.into(),
                    media_type: media_type.into(),
                    $($optional: None,)*
                    data: None,
                    url: None,
                }
            }

            /// Creates the event for a piece of base64, which may be cut at any character.
            ///
            /// ```
            #[doc = concat!("use recount_message::{Event, ", stringify!($event), "};")]
            ///
            #[doc = concat!("let event = Event::new(", stringify!($event), "::from_base64(\"r1\", \"", $kind, "\", \"image/png\", \"iVBORw0K\"));")]
            /// assert_eq!(Event::from_json(&event.to_json())?, event);
            /// # Ok::<(), recount_message::DecodeError>(())
            /// ```
            pub fn from_base64(
                reply_id: impl Into<Cow<'a, str>>,
                $id: impl Into<Cow<'a, str>>,
                media_type: impl Into<Cow<'a, str>>,
                data: impl Into<Cow<'a, str>>,
            ) -> Self {
                Self { data: Some(data.into()), ..Self::new(reply_id, $id, media_type) }
            }

            /// Creates the event for data at a URL.
            ///
            /// ```
            #[doc = concat!("use recount_message::{Event, ", stringify!($event), "};")]
            ///
            #[doc = concat!("let delta = ", stringify!($event), "::from_url(\"r1\", \"", $kind, "\", \"image/png\", \"https://example.com/a.png\");")]
            /// let event = Event::new(delta);
            /// assert_eq!(Event::from_json(&event.to_json())?, event);
            /// # Ok::<(), recount_message::DecodeError>(())
            /// ```
            pub fn from_url(
                reply_id: impl Into<Cow<'a, str>>,
                $id: impl Into<Cow<'a, str>>,
                media_type: impl Into<Cow<'a, str>>,
                url: impl Into<Cow<'a, str>>,
            ) -> Self {
                Self { url: Some(url.into()), ..Self::new(reply_id, $id, media_type) }
            }
        }
    )+};
}

data_deltas! {
    DataBlockDeltaEvent(block_id, "b1")
    ToolResultDataDeltaEvent(tool_call_id, "c1", block_id)
}

impl<'a> ToolResultDataDeltaEvent<'a> {
    /// Sets the id of the data. A known id continues that data, a new one starts another item.
    ///
    /// Consumes the event and returns the changed one.
    pub fn with_block_id(mut self, block_id: impl Into<Cow<'a, str>>) -> Self {
        self.block_id = Some(block_id.into());
        self
    }
}

impl<'a> UnknownEvent<'a> {
    /// Creates the kind of an event whose `type` this version does not declare.
    ///
    /// ```
    /// use recount_message::{Event, EventKind, UnknownEvent};
    ///
    /// let event = Event::new(EventKind::Unknown(UnknownEvent::new("FROM_THE_FUTURE")));
    /// assert_eq!(event.type_name(), "FROM_THE_FUTURE");
    /// ```
    pub fn new(type_name: impl Into<Cow<'a, str>>) -> Self {
        Self { type_name: type_name.into() }
    }
}
