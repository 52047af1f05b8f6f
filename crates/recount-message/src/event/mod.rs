//! Events: the steps of a reply.

mod codec;
mod constructors;
mod custom;
mod declare;
mod extension;
pub(crate) mod kinds;

pub use custom::CustomName;
pub(crate) use custom::Folded;
pub use kinds::*;

use std::borrow::Cow;

use crate::ids::random_id;
use crate::time::{now_text, parse_time};
use crate::{Json, Object};

/// One step of a reply: a block starts, grows or ends, a tool returns its result, the user is asked for permission.
///
/// Parsing borrows from the text. [`into_owned`](Self::into_owned) converts the event to an [`AgentEvent`] without borrows.
///
/// ```
/// use recount_message::{Event, EventKind};
///
/// let line = r#"{"id":"e4","created_at":"2026-01-01T00:00:00.000000+00:00","metadata":{},"type":"TEXT_BLOCK_DELTA",
///     "reply_id":"r1","block_id":"b1","delta":"Hello"}"#;
/// let event = Event::from_json(line)?;
/// let EventKind::TextBlockDelta(text) = &event.kind else { unreachable!() };
/// assert_eq!((event.reply_id(), &*text.delta), (Some("r1"), "Hello"));
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event<'a> {
    /// Id of the event; empty if it was parsed without one.
    pub id: Cow<'a, str>,
    /// The time of the event, as written; empty if it was parsed without one.
    pub created_at: Cow<'a, str>,
    /// Metadata. Recount stores its extensions under the key `recount`.
    pub metadata: Object,
    /// The type of the event, with its own fields.
    pub kind: EventKind<'a>,
    /// Undeclared fields, in the order in which they were read.
    pub extra: Object,
}

/// An event that owns its data.
///
/// ```
/// use recount_message::{AgentEvent, Event};
///
/// fn kept() -> AgentEvent {
///     let line = String::from(r#"{"type":"USER_INTERRUPT","reply_id":"r1"}"#);
///     Event::from_json(&line).unwrap().into_owned()
/// }
/// assert_eq!(kept().reply_id(), Some("r1"));
/// ```
pub type AgentEvent = Event<'static>;

impl<'a> Event<'a> {
    /// Creates an event with a random id and the current time.
    ///
    /// ```
    /// use recount_message::{Event, UserInterruptEvent};
    ///
    /// let event = Event::new(UserInterruptEvent::new("r1"));
    /// assert_eq!(event.type_name(), "USER_INTERRUPT");
    /// ```
    pub fn new(kind: impl Into<EventKind<'a>>) -> Self {
        Self::stamped(random_id(), now_text(), kind)
    }

    /// Creates an event with a given id and time.
    ///
    /// ```
    /// use recount_message::{Event, TextBlockStartEvent};
    ///
    /// let start = TextBlockStartEvent::new("r1", "b1");
    /// let event = Event::stamped("e2", "2026-01-01T00:00:00Z", start);
    /// assert_eq!((&*event.id, &*event.created_at), ("e2", "2026-01-01T00:00:00Z"));
    /// ```
    pub fn stamped(
        id: impl Into<Cow<'a, str>>,
        created_at: impl Into<Cow<'a, str>>,
        kind: impl Into<EventKind<'a>>,
    ) -> Self {
        Self {
            id: id.into(),
            created_at: created_at.into(),
            metadata: Object::new(),
            kind: kind.into(),
            extra: Object::new(),
        }
    }

    /// Replaces the metadata. Consumes the event and returns the changed one.
    ///
    /// ```
    /// use recount_message::{Event, UserInterruptEvent};
    ///
    /// let event = Event::new(UserInterruptEvent::new("r1")).with_metadata([("button", "stop")]);
    /// assert_eq!(event.metadata.to_json(), r#"{"button":"stop"}"#);
    /// ```
    pub fn with_metadata(mut self, metadata: impl Into<Object>) -> Self {
        self.metadata = metadata.into();
        self
    }

    /// Replaces the id. Consumes the event and returns the changed one.
    ///
    /// ```
    /// use recount_message::{Event, UserInterruptEvent};
    ///
    /// assert_eq!(Event::new(UserInterruptEvent::new("r1")).with_id("e1").id, "e1");
    /// ```
    pub fn with_id(mut self, id: impl Into<Cow<'a, str>>) -> Self {
        self.id = id.into();
        self
    }

    /// Replaces the kind and keeps id, time and metadata. Consumes the event and returns the changed one.
    ///
    /// ```
    /// use recount_message::{Event, ModelCallStartEvent, UserInterruptEvent};
    ///
    /// let event = Event::new(UserInterruptEvent::new("r1")).with_id("e1");
    /// let replaced = event.with_kind(ModelCallStartEvent::new("r1", "some-model"));
    /// assert_eq!((&*replaced.id, replaced.type_name()), ("e1", "MODEL_CALL_START"));
    /// ```
    pub fn with_kind(mut self, kind: impl Into<EventKind<'a>>) -> Self {
        self.kind = kind.into();
        self
    }

    /// Sets an undeclared field. Fields that this version declares cannot be set this way: they take precedence when the
    /// event is encoded. Consumes the event and returns the changed one.
    ///
    /// ```
    /// use recount_message::{Event, UserInterruptEvent};
    ///
    /// let event = Event::new(UserInterruptEvent::new("r1")).with_extra("colour", "blue");
    /// assert!(event.to_json().ends_with(r#""reply_id":"r1","colour":"blue"}"#));
    /// ```
    pub fn with_extra(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.extra.insert(key, value);
        self
    }

    /// Returns the type of the event; `None` if this version does not declare it.
    ///
    /// ```
    /// use recount_message::{Event, EventType, UserInterruptEvent};
    ///
    /// assert_eq!(Event::new(UserInterruptEvent::new("r1")).event_type(), Some(EventType::UserInterrupt));
    /// assert_eq!(Event::from_json(r#"{"type":"FROM_THE_FUTURE"}"#)?.event_type(), None);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn event_type(&self) -> Option<EventType> {
        self.kind.event_type()
    }

    /// Returns the value of `type` in JSON.
    ///
    /// ```
    /// use recount_message::Event;
    ///
    /// assert_eq!(Event::from_json(r#"{"type":"FROM_THE_FUTURE"}"#)?.type_name(), "FROM_THE_FUTURE");
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn type_name(&self) -> &str {
        self.kind.type_name()
    }

    /// Returns the id of the reply that the event belongs to; `None` for an event of the session.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, UserInterruptEvent};
    ///
    /// assert_eq!(Event::new(UserInterruptEvent::new("r1")).reply_id(), Some("r1"));
    /// assert_eq!(Event::new(CustomEvent::signal("progress", [("done", 3)])).reply_id(), None);
    /// ```
    pub fn reply_id(&self) -> Option<&str> {
        self.kind.reply_id()
    }

    /// Parses the time of the event; `None` if the text is not a time. A time without a zone is UTC.
    ///
    /// ```
    /// use recount_message::{Event, UserInterruptEvent};
    ///
    /// let event = Event::stamped("e1", "2026-01-01T08:00:00+08:00", UserInterruptEvent::new("r1"));
    /// assert_eq!(event.created().unwrap().to_string(), "2026-01-01T00:00:00Z");
    /// ```
    pub fn created(&self) -> Option<jiff::Timestamp> {
        parse_time(&self.created_at)
    }

    /// Converts the event to one that borrows nothing.
    ///
    /// ```
    /// use recount_message::Event;
    ///
    /// let mut kept = Vec::new();
    /// for line in ["1", "2"].map(|id| format!(r#"{{"type":"USER_INTERRUPT","reply_id":"r{id}"}}"#)) {
    ///     kept.push(Event::from_json(&line)?.into_owned());
    /// }
    /// assert_eq!(kept[1].reply_id(), Some("r2"));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn into_owned(self) -> AgentEvent {
        Event {
            id: Cow::Owned(self.id.into_owned()),
            created_at: Cow::Owned(self.created_at.into_owned()),
            metadata: self.metadata,
            kind: self.kind.into_owned(),
            extra: self.extra,
        }
    }
}
