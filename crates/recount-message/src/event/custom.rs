//! The CUSTOM events that are Recount's own.

use std::borrow::Cow;

use super::{CustomEvent, EventKind};
use crate::block::ContentBlock;
use crate::json::wire::{Place, Wire, words};
use crate::{DecodeError, Json, Msg, Object, ToolCallState};

words! {
    /// The names of Recount's own CUSTOM events. Three of them say something about a message, the others are only told.
    ///
    /// ```
    /// use recount_message::{CustomEvent, CustomName};
    ///
    /// let event = CustomEvent::signal(CustomName::Retry.as_str(), [("attempt", 2)]);
    /// assert_eq!(event.name, "recount.retry");
    /// assert_eq!(event.own_name(), Some(CustomName::Retry));
    /// ```
    pub enum CustomName as "signal" {
        /// A message that nobody streamed: a user's, a system's, an imported one. The value is the message.
        Message = "recount.message",
        /// A whole block that no start, delta and end can carry: `{reply_id, block}`.
        Block = "recount.block",
        /// A step of a tool call that no other event says, such as allowed by a rule: `{reply_id, tool_call_id, state}`.
        Call = "recount.call",
        /// A reply waits: `{reply_id, calls, expires_at}`.
        Waiting = "recount.waiting",
        /// A model call is made again: `{attempt, model, class}`.
        Retry = "recount.retry",
        /// Another model takes over: `{from, to}`.
        Fallback = "recount.fallback",
        /// A tool result was shortened for the model.
        Truncated = "recount.truncated",
        /// Something was put aside for the model.
        Offloaded = "recount.offloaded",
        /// The conversation was summarised for the model.
        Compressed = "recount.compressed",
        /// The permission rules have changed.
        Permissions = "recount.permissions",
        /// An agent has joined or left: `{name, joined}`.
        Agent = "recount.agent",
        /// Somebody asks the reply to stop.
        RequestStop = "recount.request_stop",
        /// Another process has taken the session over.
        TakenOver = "recount.taken_over",
    }
}

/// What a folded CUSTOM event says.
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

    /// A message that nobody streamed.
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

    /// A whole block of a reply.
    ///
    /// ```
    /// use recount_message::{ContentBlock, CustomEvent, Event, Msg, UnknownBlock};
    ///
    /// let poll = ContentBlock::from(UnknownBlock::new([("type", "poll"), ("id", "p1")]));
    /// let mut reply = Msg::assistant("Friday", []).with_id("r1");
    /// let _ = reply.append_event(&Event::new(CustomEvent::block("r1", &poll)));
    /// assert_eq!(reply.content(), [poll]);
    /// ```
    pub fn block(reply_id: impl Into<String>, block: &ContentBlock) -> Self {
        let mut text = String::new();
        block.encode(&mut text);
        let mut value = Object::from([("reply_id", reply_id.into())]);
        value.insert("block", Json::from_canonical(text));
        Self::named(CustomName::Block, value)
    }

    /// A step of a tool call.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Msg, ToolCallBlock, ToolCallState};
    ///
    /// let mut reply = Msg::assistant("Friday", ToolCallBlock::new("c1", "shell", "{}")).with_id("r1");
    /// let _ = reply.append_event(&Event::new(CustomEvent::call("r1", "c1", ToolCallState::Allowed)));
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

    /// A signal that is told and not folded.
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
    /// Which of Recount's own events this is.
    ///
    /// ```
    /// use recount_message::{CustomEvent, CustomName, Msg};
    ///
    /// assert_eq!(CustomEvent::message(&Msg::user("Alice", "Hello")).own_name(), Some(CustomName::Message));
    /// assert_eq!(CustomEvent::signal("progress", [("done", 3)]).own_name(), None);
    /// ```
    pub fn own_name(&self) -> Option<CustomName> {
        CustomName::from_word(&self.name)
    }

    /// What the event says about a message, if it says anything about one.
    pub(crate) fn folded(&self) -> Result<Option<Folded>, DecodeError> {
        let folded = match self.own_name() {
            Some(CustomName::Message) => Msg::from_json(&self.value.to_json()).map(Box::new).map(Folded::Message),
            Some(CustomName::Block) => self.text("reply_id").and_then(|reply_id| {
                let raw = self.part("block")?.raw();
                let place = Place { owner: &reply_id, ..Place::default() };
                let block = ContentBlock::decode(raw, place).map_err(|error| error.within("block"))?;
                Ok(Folded::Block { reply_id, block })
            }),
            Some(CustomName::Call) => self.text("reply_id").and_then(|reply_id| {
                let tool_call_id = self.text("tool_call_id")?;
                let raw = self.part("state")?.raw();
                let state = ToolCallState::decode(raw, Place::default()).map_err(|error| error.within("state"))?;
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
        String::decode(self.part(key)?.raw(), Place::default()).map_err(|error| error.within(key))
    }
}

impl EventKind<'_> {
    /// Which of Recount's own CUSTOM events this is.
    ///
    /// ```
    /// use recount_message::{CustomEvent, CustomName, Event, Object, UserInterruptEvent};
    ///
    /// let takeover = Event::new(CustomEvent::signal("recount.taken_over", Object::new()));
    /// assert_eq!(takeover.kind.own_name(), Some(CustomName::TakenOver));
    /// assert_eq!(Event::new(UserInterruptEvent::new("r1")).kind.own_name(), None);
    /// ```
    pub fn own_name(&self) -> Option<CustomName> {
        match self {
            Self::Custom(custom) => custom.own_name(),
            _ => None,
        }
    }
}
