//! The fold of one reply.

use super::apply::{Target, begin};
use super::index::{Index, Scan};
use super::outcome::{Outcome, Reason};
use crate::event::{Event, EventKind, Folded};
use crate::msg::{Msg, Role};

/// The fold of one reply: its message, and an index that makes the cost of an event constant.
///
/// ```
/// use recount_message::{Event, ReplyFold};
///
/// let events = [
///     r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#,
///     r#"{"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t"}"#,
///     r#"{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t","delta":"Hello"}"#,
/// ];
/// let mut reply = ReplyFold::start(&Event::from_json(events[0])?).unwrap();
/// for event in &events[1..] {
///     assert_eq!(reply.apply(&Event::from_json(event)?).reason(), None);
/// }
/// assert_eq!(reply.message().text().as_deref(), Some("Hello"));
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ReplyFold {
    message: Msg,
    index: Index,
}

impl ReplyFold {
    /// Starts a reply. Returns `None` if the event is not a REPLY_START.
    ///
    /// ```
    /// use recount_message::{Event, ReplyFold, UserInterruptEvent};
    ///
    /// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#)?;
    /// assert_eq!(ReplyFold::start(&start).unwrap().message().name(), "Friday");
    /// assert!(ReplyFold::start(&Event::new(UserInterruptEvent::new("r"))).is_none());
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn start(event: &Event<'_>) -> Option<Self> {
        let EventKind::ReplyStart(start) = &event.kind else { return None };
        Some(Self::from_message(begin(event, &start.reply_id, &start.name)))
    }

    /// Resumes from a message in any state.
    ///
    /// ```
    /// use recount_message::{Event, Msg, ReplyFold, TextBlock, TextBlockDeltaEvent};
    ///
    /// let draft = Msg::assistant("Friday", TextBlock::new("Hel").with_id("t")).with_id("r");
    /// let mut reply = ReplyFold::from_message(draft);
    /// let delta = TextBlockDeltaEvent::new("r", "t", "lo");
    /// reply.apply(&Event::new(delta));
    /// assert_eq!(reply.message().text().as_deref(), Some("Hello"));
    /// ```
    pub fn from_message(message: Msg) -> Self {
        let index = Index::of(&message.content);
        Self { message, index }
    }

    /// Returns the current message.
    ///
    /// ```
    /// use recount_message::{Msg, ReplyFold};
    ///
    /// let message = Msg::assistant("Friday", "Hello");
    /// assert_eq!(ReplyFold::from_message(message.clone()).message(), &message);
    /// ```
    pub fn message(&self) -> &Msg {
        &self.message
    }

    /// Converts the fold to its message.
    ///
    /// ```
    /// use recount_message::{Msg, ReplyFold};
    ///
    /// let reply = ReplyFold::from_message(Msg::assistant("Friday", "Hello"));
    /// let message: Msg = reply.into_message();
    /// assert_eq!(message.name(), "Friday");
    /// ```
    pub fn into_message(self) -> Msg {
        self.message
    }

    /// Returns the number of blocks at the last model call.
    ///
    /// ```
    /// use recount_message::{Event, ModelCallStartEvent, Msg, ReplyFold};
    ///
    /// let mut reply = ReplyFold::from_message(Msg::assistant("Friday", ("Hello", "world")).with_id("r"));
    /// reply.apply(&Event::new(ModelCallStartEvent::new("r", "some-model")));
    /// assert_eq!(reply.call_floor(), 2);
    /// ```
    pub fn call_floor(&self) -> usize {
        self.message.call_floor.0
    }

    pub(super) fn set_call_floor(&mut self, call_floor: usize) {
        self.message.call_floor.0 = call_floor;
    }

    /// Applies the next event.
    ///
    /// ```
    /// use recount_message::{Event, Msg, Outcome, Reason, ReplyFold, UserInterruptEvent};
    ///
    /// let mut reply = ReplyFold::from_message(Msg::assistant("Friday", []).with_id("r1"));
    /// assert_eq!(reply.apply(&Event::new(UserInterruptEvent::new("r1"))), Outcome::Applied);
    /// let other = reply.apply(&Event::new(UserInterruptEvent::new("r2")));
    /// assert_eq!(other, Outcome::Ignored(Reason::OtherReply("r2".to_owned())));
    /// ```
    #[inline]
    pub fn apply(&mut self, event: &Event<'_>) -> Outcome {
        apply_own(&mut Target { message: &mut self.message, lookup: &mut self.index }, event)
    }

    /// Applies an event without checking that it belongs to this reply.
    #[inline]
    pub(super) fn apply_unchecked(&mut self, event: &Event<'_>) -> Outcome {
        Target { message: &mut self.message, lookup: &mut self.index }.apply(event)
    }

    pub(super) fn apply_folded(&mut self, folded: Folded) -> Outcome {
        Target { message: &mut self.message, lookup: &mut self.index }.apply_folded(folded)
    }
}

impl Msg {
    /// Applies an event to this message, which is a reply.
    ///
    /// The result is the same as with [`ReplyFold`] and [`Fold`](crate::Fold). This method searches all blocks for every event;
    /// for long replies, the others are faster.
    ///
    /// ```
    /// use recount_message::{Event, EventKind, Msg};
    ///
    /// # let stream = [
    /// #     r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#,
    /// #     r#"{"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t"}"#,
    /// #     r#"{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t","delta":"Hello"}"#,
    /// # ].map(|line| Event::from_json(line).unwrap());
    /// let mut message: Option<Msg> = None;
    /// for event in stream {
    ///     if let EventKind::ReplyStart(start) = &event.kind {
    ///         message = Some(Msg::assistant(&*start.name, []).with_id(&*start.reply_id));
    ///     } else if let Some(message) = &mut message {
    ///         message.append_event(&event);
    ///     }
    /// }
    /// assert_eq!(message.unwrap().text().as_deref(), Some("Hello"));
    /// ```
    pub fn append_event(&mut self, event: &Event<'_>) -> Outcome {
        apply_own(&mut Target { message: self, lookup: &mut Scan }, event)
    }
}

/// Applies an event if it belongs to this reply.
#[inline]
fn apply_own<L: super::index::Lookup>(target: &mut Target<'_, L>, event: &Event<'_>) -> Outcome {
    if target.message.role() != Role::Assistant {
        return Outcome::Ignored(Reason::NotAReply(target.message.id.clone()));
    }
    if let EventKind::Custom(custom) = &event.kind {
        return match custom.folded() {
            Err(error) => Outcome::Ignored(Reason::BadValue(error.to_string())),
            Ok(None | Some(Folded::Message(_))) => Outcome::NotForMessage,
            Ok(Some(folded)) => match folded.reply_id() {
                Some(id) if id != target.message.id => Outcome::Ignored(Reason::OtherReply(id.to_owned())),
                _ => target.apply_folded(folded),
            },
        };
    }
    match event.reply_id() {
        Some(id) if id != target.message.id => Outcome::Ignored(Reason::OtherReply(id.to_owned())),
        _ => target.apply(event),
    }
}

impl Folded {
    /// Returns the id of the reply that the event belongs to.
    pub(super) fn reply_id(&self) -> Option<&str> {
        match self {
            Self::Message(_) => None,
            Self::Block { reply_id, .. } | Self::Call { reply_id, .. } => Some(reply_id),
        }
    }
}
