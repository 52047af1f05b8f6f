//! The CUSTOM events that Recount defines.

use std::borrow::Cow;

use super::{CustomEvent, EventKind};
use crate::block::ContentBlock;
use crate::json::wire::{DecodeContext, Wire, string_enum};
use crate::{DecodeError, Json, Msg, Object, ToolCallState};

string_enum! {
    /// The names of Recount's own CUSTOM events. The first three change a message, the others are signals.
    ///
    /// ```
    /// use recount_message::{CustomEvent, CustomName};
    ///
    /// let event = CustomEvent::signal(CustomName::Retry.as_str(), [("attempt", 2)]);
    /// assert_eq!(event.name, "recount.retry");
    /// assert_eq!(event.recount_name(), Some(CustomName::Retry));
    /// ```
    pub enum CustomName as "signal" {
        /// A complete message that was not streamed, such as a user's or an imported one. The value is the message.
        Message = "recount.message",
        /// A complete block without start, delta and end events: `{reply_id, block}`.
        Block = "recount.block",
        /// A state change of a tool call without its own event, such as a call that a rule allows: `{reply_id, tool_call_id, state}`.
        Call = "recount.call",
        /// A reply waits for input: `{reply_id, calls, expires_at}`.
        Waiting = "recount.waiting",
        /// A model call is retried: `{attempt, model, class}`.
        Retry = "recount.retry",
        /// A fallback model is used: `{from, to}`.
        Fallback = "recount.fallback",
        /// A tool result was truncated for the model.
        Truncated = "recount.truncated",
        /// Content was offloaded to reduce the context of the model.
        Offloaded = "recount.offloaded",
        /// The conversation was compressed for the model.
        Compressed = "recount.compressed",
        /// The permission rules have changed.
        Permissions = "recount.permissions",
        /// An agent joined or left the session: `{name, joined}`.
        Agent = "recount.agent",
        /// A request to stop the reply.
        RequestStop = "recount.request_stop",
        /// Another process has taken over the session.
        TakenOver = "recount.taken_over",
    }
}

/// The parsed value of a CUSTOM event that changes a message.
#[derive(Debug)]
pub(crate) enum Folded {
    Message(Box<Msg>),
    Block { reply_id: String, block: ContentBlock },
    Call { reply_id: String, tool_call_id: String, state: ToolCallState },
}

impl CustomEvent<'static> {
    fn named(name: CustomName, value: Object) -> Self {
        Self { reply_id: None, name: Cow::Borrowed(name.as_str()), value }
    }

    /// Creates the event for a complete message that was not streamed.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Fold, Msg};
    ///
    /// let message = Msg::user("Alice", "Hello");
    /// let mut fold = Fold::new();
    /// fold.apply(&Event::new(CustomEvent::message(&message)));
    /// assert_eq!(fold.messages().next(), Some(&message));
    /// ```
    pub fn message(message: &Msg) -> Self {
        let text = Json::from_canonical(message.to_json());
        Self::named(CustomName::Message, text.to_object().unwrap_or_default())
    }

    /// Creates the event for a complete block of a reply.
    ///
    /// ```
    /// use recount_message::{ContentBlock, CustomEvent, Event, Msg, UnknownBlock};
    ///
    /// let poll = ContentBlock::from(UnknownBlock::new([("type", "poll"), ("id", "p1")]));
    /// let mut reply = Msg::assistant("Friday", []).with_id("r1");
    /// reply.append_event(&Event::new(CustomEvent::block("r1", &poll)));
    /// assert_eq!(reply.content(), [poll]);
    /// ```
    pub fn block(reply_id: impl Into<String>, block: &ContentBlock) -> Self {
        let mut text = String::new();
        block.encode(&mut text);
        let mut value = Object::from([("reply_id", reply_id.into())]);
        value.insert("block", Json::from_canonical(text));
        Self::named(CustomName::Block, value)
    }

    /// Creates the event for a state change of a tool call.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Msg, ToolCallBlock, ToolCallState};
    ///
    /// let mut reply = Msg::assistant("Friday", ToolCallBlock::new("c1", "shell", "{}")).with_id("r1");
    /// reply.append_event(&Event::new(CustomEvent::call("r1", "c1", ToolCallState::Allowed)));
    /// assert_eq!(reply.call("c1").unwrap().state, ToolCallState::Allowed);
    /// ```
    pub fn call(reply_id: impl Into<String>, tool_call_id: impl Into<String>, state: ToolCallState) -> Self {
        let value = Object::from([
            ("reply_id", reply_id.into()),
            ("tool_call_id", tool_call_id.into()),
            ("state", state.as_str().to_owned()),
        ]);
        Self::named(CustomName::Call, value)
    }

    /// Creates a signal. It changes no message.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Fold, Outcome};
    ///
    /// let progress = Event::new(CustomEvent::signal("progress", [("done", 3), ("of", 7)]));
    /// assert_eq!(Fold::new().apply(&progress), Outcome::NotForMessage);
    /// ```
    pub fn signal(name: impl Into<Cow<'static, str>>, value: impl Into<Object>) -> Self {
        Self { reply_id: None, name: name.into(), value: value.into() }
    }
}

impl CustomEvent<'_> {
    /// Returns the name if this is one of Recount's own events.
    ///
    /// ```
    /// use recount_message::{CustomEvent, CustomName, Msg};
    ///
    /// assert_eq!(CustomEvent::message(&Msg::user("Alice", "Hello")).recount_name(), Some(CustomName::Message));
    /// assert_eq!(CustomEvent::signal("progress", [("done", 3)]).recount_name(), None);
    /// ```
    pub fn recount_name(&self) -> Option<CustomName> {
        CustomName::from_name(&self.name)
    }

    /// Parses the change to a message; `None` if the event is a signal.
    pub(crate) fn folded(&self) -> Result<Option<Folded>, DecodeError> {
        let folded = match self.recount_name() {
            Some(CustomName::Message) => Msg::from_json(&self.value.to_json()).map(Box::new).map(Folded::Message),
            Some(CustomName::Block) => self.text("reply_id").and_then(|reply_id| {
                let raw = self.part("block")?.raw();
                let context = DecodeContext { owner: &reply_id, ..DecodeContext::default() };
                let block = ContentBlock::decode(raw, context).map_err(|error| error.within("block"))?;
                Ok(Folded::Block { reply_id, block })
            }),
            Some(CustomName::Call) => self.text("reply_id").and_then(|reply_id| {
                let tool_call_id = self.text("tool_call_id")?;
                let raw = self.part("state")?.raw();
                let state =
                    ToolCallState::decode(raw, DecodeContext::default()).map_err(|error| error.within("state"))?;
                Ok(Folded::Call { reply_id, tool_call_id, state })
            }),
            Some(
                CustomName::Waiting
                | CustomName::Retry
                | CustomName::Fallback
                | CustomName::Truncated
                | CustomName::Offloaded
                | CustomName::Compressed
                | CustomName::Permissions
                | CustomName::Agent
                | CustomName::RequestStop
                | CustomName::TakenOver,
            )
            | None => return Ok(None),
        };
        folded.map(Some).map_err(|error| error.within("value"))
    }

    fn part(&self, key: &str) -> Result<&Json, DecodeError> {
        self.value.get(key).ok_or_else(|| DecodeError::missing(key))
    }

    fn text(&self, key: &str) -> Result<String, DecodeError> {
        String::decode(self.part(key)?.raw(), DecodeContext::default()).map_err(|error| error.within(key))
    }
}

impl EventKind<'_> {
    /// Returns the name if this is one of Recount's own CUSTOM events.
    ///
    /// ```
    /// use recount_message::{CustomEvent, CustomName, Event, Object, UserInterruptEvent};
    ///
    /// let takeover = Event::new(CustomEvent::signal("recount.taken_over", Object::new()));
    /// assert_eq!(takeover.kind.recount_name(), Some(CustomName::TakenOver));
    /// assert_eq!(Event::new(UserInterruptEvent::new("r1")).kind.recount_name(), None);
    /// ```
    pub fn recount_name(&self) -> Option<CustomName> {
        match self {
            Self::Custom(custom) => custom.recount_name(),
            _ => None,
        }
    }
}
