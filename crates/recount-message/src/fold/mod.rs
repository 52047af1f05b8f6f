//! The fold: rebuilds messages from events.
//!
//! Its laws, each verified by a property test:
//!
//! 1. *Determined.* The result depends only on the events: not on a clock or random ids.
//! 2. *Lossless.* The final message of a writer equals the fold of its events.
//! 3. *Checkpointed.* For every split, folding all equals resuming from the prefix's checkpoint with the suffix.
//! 4. *Idempotent.* An event at or before the cursor has no effect.
//! 5. *Compactable.* Merging adjacent deltas of a block does not change the result.
//! 6. *Total.* No input panics. An event that cannot be applied has no effect and is reported.
//! 7. *Constant.* The cost of an event does not depend on the size of the message.

mod apply;
mod checkpoint;
mod index;
mod outcome;
mod reply;

pub use checkpoint::{Checkpoint, CheckpointReply};
pub use outcome::{Outcome, Reason, Skipped};
pub use reply::ReplyFold;

use std::collections::{HashMap, HashSet, VecDeque};

use crate::event::{Event, EventKind, Folded, ReplyStartEvent};
use crate::msg::{Msg, Role};

/// Rebuilds the messages of a stream: any number of replies, interleaved in any way, and complete messages between them.
///
/// ```
/// use recount_message::{Event, Fold};
///
/// let stream = [
///     r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#,
///     r#"{"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t"}"#,
///     r#"{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t","delta":"Hel"}"#,
///     r#"{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t","delta":"lo"}"#,
/// ];
///
/// let mut whole = Fold::new();
/// for line in stream {
///     assert_eq!(whole.apply(&Event::from_json(line)?).reason(), None);
/// }
///
/// // A checkpoint can be taken after any event. Resuming from it gives the same result.
/// let mut first = Fold::new();
/// for line in &stream[..3] {
///     first.apply(&Event::from_json(line)?);
/// }
/// let checkpoint = first.checkpoint().to_json();
/// let mut second = Fold::resume(recount_message::Checkpoint::from_json(&checkpoint)?);
/// second.apply(&Event::from_json(stream[3])?);
/// assert!(second.messages().eq(whole.messages()));
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Fold {
    cursor: u64,
    entries: VecDeque<Entry>,
    /// Position of each message by id, counted from the first message of the stream.
    positions: HashMap<String, u64>,
    /// Number of messages that have been taken.
    taken: u64,
    taken_ids: HashSet<String>,
    /// Index of the message that the last event changed.
    recent: usize,
}

/// A message of the stream.
#[derive(Debug, Clone)]
struct Entry {
    reply: ReplyFold,
    /// Whether the message is a streamed reply. Events do not apply to complete messages.
    is_reply: bool,
}

impl Entry {
    fn has_ended(&self) -> bool {
        !self.is_reply || self.reply.message().finished_at().is_some()
    }
}

impl Fold {
    /// Creates a fold without messages, at cursor 0.
    ///
    /// ```
    /// use recount_message::Fold;
    ///
    /// let fold = Fold::new();
    /// assert_eq!((fold.cursor(), fold.messages().count()), (0, 0));
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Resumes from a checkpoint.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Fold, Msg};
    ///
    /// let mut before = Fold::new();
    /// before.apply(&Event::new(CustomEvent::message(&Msg::user("Alice", "Hello"))));
    ///
    /// let mut after = Fold::resume(before.checkpoint());
    /// after.apply(&Event::new(CustomEvent::message(&Msg::user("Alice", "Are you there?"))));
    /// assert_eq!((after.cursor(), after.messages().count()), (2, 2));
    /// ```
    pub fn resume(checkpoint: Checkpoint) -> Self {
        let mut fold = Self { cursor: checkpoint.cursor, ..Self::default() };
        fold.taken_ids.extend(checkpoint.taken);
        for CheckpointReply { message, call_floor } in checkpoint.replies {
            let mut reply = ReplyFold::from_message(message);
            reply.set_call_floor(call_floor.unwrap_or_default());
            let is_reply = call_floor.is_some() && reply.message().role() == Role::Assistant;
            fold.push(Entry { reply, is_reply });
        }
        fold
    }

    /// Creates a checkpoint of the current state.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Fold, Msg};
    ///
    /// let message = Msg::user("Alice", "Hello");
    /// let mut fold = Fold::new();
    /// fold.apply_at(12, &Event::new(CustomEvent::message(&message)));
    /// let checkpoint = fold.checkpoint();
    /// assert_eq!((checkpoint.cursor, &checkpoint.replies[0].message), (12, &message));
    /// ```
    pub fn checkpoint(&self) -> Checkpoint {
        let mut taken: Vec<String> = self.taken_ids.iter().cloned().collect();
        taken.sort_unstable();
        Checkpoint {
            cursor: self.cursor,
            replies: self
                .entries
                .iter()
                .map(|entry| CheckpointReply {
                    message: entry.reply.message().clone(),
                    call_floor: entry.is_reply.then(|| entry.reply.call_floor()),
                })
                .collect(),
            taken,
        }
    }

    /// Returns the cursor of the last event. [`apply`](Self::apply) increments it by one.
    ///
    /// ```
    /// use recount_message::{Event, Fold, UserInterruptEvent};
    ///
    /// let event = Event::new(UserInterruptEvent::new("r1"));
    /// let mut fold = Fold::new();
    /// fold.apply_at(7, &event);
    /// fold.apply(&event);
    /// assert_eq!(fold.cursor(), 8);
    /// ```
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Applies the event at a cursor. An event at or before the current cursor has no effect, so events can be delivered twice.
    ///
    /// ```
    /// use recount_message::{Event, Fold, Outcome};
    ///
    /// let event = Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#)?;
    /// let mut fold = Fold::new();
    /// assert_eq!(fold.apply_at(7, &event), Outcome::Applied);
    /// assert_eq!(fold.apply_at(7, &event), Outcome::Seen);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn apply_at(&mut self, cursor: u64, event: &Event<'_>) -> Outcome {
        if cursor <= self.cursor {
            return Outcome::Seen;
        }
        self.cursor = cursor;
        self.apply_next(event)
    }

    /// Applies the next event.
    ///
    /// ```
    /// use recount_message::{Event, Fold, Outcome, Reason};
    ///
    /// let mut fold = Fold::new();
    /// let start = r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#;
    /// assert_eq!(fold.apply(&Event::from_json(start)?), Outcome::Applied);
    ///
    /// let late = r#"{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t","delta":"lo"}"#;
    /// assert_eq!(fold.apply(&Event::from_json(late)?), Outcome::Ignored(Reason::UnknownBlock("t".to_owned())));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    #[inline]
    pub fn apply(&mut self, event: &Event<'_>) -> Outcome {
        self.cursor += 1;
        self.apply_next(event)
    }

    #[inline]
    fn apply_next(&mut self, event: &Event<'_>) -> Outcome {
        match &event.kind {
            EventKind::ReplyStart(start) => self.start(event, start),
            EventKind::Custom(custom) => match custom.folded() {
                Err(error) => Outcome::Ignored(Reason::BadValue(error.to_string())),
                Ok(None) => Outcome::NotForMessage,
                Ok(Some(Folded::Message(message))) => self.add_message(*message),
                Ok(Some(folded)) => match self.entry(folded.reply_id().unwrap_or_default()) {
                    Ok(entry) => entry.reply.apply_folded(folded),
                    Err(reason) => Outcome::Ignored(reason),
                },
            },
            kind => match kind.reply_id() {
                Some(reply_id) => match self.entry(reply_id) {
                    Ok(entry) => entry.reply.apply_unchecked(event),
                    Err(reason) => Outcome::Ignored(reason),
                },
                None => apply::unknown(event),
            },
        }
    }

    fn start(&mut self, event: &Event<'_>, start: &ReplyStartEvent<'_>) -> Outcome {
        match self.entry(&start.reply_id) {
            Ok(entry) => entry.reply.apply_unchecked(event),
            Err(Reason::UnknownReply(_)) => {
                if let Some(reply) = ReplyFold::start(event) {
                    self.push(Entry { reply, is_reply: true });
                }
                Outcome::Applied
            }
            Err(reason) => Outcome::Ignored(reason),
        }
    }

    fn add_message(&mut self, message: Msg) -> Outcome {
        if self.taken_ids.contains(message.id()) || self.positions.contains_key(message.id()) {
            return Outcome::Ignored(Reason::MessageExists(message.id().to_owned()));
        }
        self.push(Entry { reply: ReplyFold::from_message(message), is_reply: false });
        Outcome::Applied
    }

    fn push(&mut self, entry: Entry) {
        let position = self.taken + self.entries.len() as u64;
        self.positions.insert(entry.reply.message().id().to_owned(), position);
        self.recent = self.entries.len();
        self.entries.push_back(entry);
    }

    /// Returns the reply with an id.
    #[inline]
    fn entry(&mut self, reply_id: &str) -> Result<&mut Entry, Reason> {
        if self.entries.get(self.recent).is_none_or(|entry| entry.reply.message().id() != reply_id) {
            self.recent = self.position(reply_id)?;
        }
        match self.entries.get_mut(self.recent) {
            Some(entry) if entry.is_reply => Ok(entry),
            Some(_) => Err(Reason::NotAReply(reply_id.to_owned())),
            None => Err(Reason::UnknownReply(reply_id.to_owned())),
        }
    }

    fn position(&self, reply_id: &str) -> Result<usize, Reason> {
        match self.positions.get(reply_id) {
            Some(&position) => Ok(usize::try_from(position - self.taken).unwrap_or(usize::MAX)),
            None if self.taken_ids.contains(reply_id) => Err(Reason::ReplyEnded(reply_id.to_owned())),
            None => Err(Reason::UnknownReply(reply_id.to_owned())),
        }
    }

    /// Returns the messages in the order in which they started, including open ones.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Fold, Msg};
    ///
    /// let events = ["Alice", "Bob"].map(|name| Event::new(CustomEvent::message(&Msg::user(name, "Hello"))));
    /// let fold: Fold = events.iter().collect();
    /// let names: Vec<&str> = fold.messages().map(Msg::name).collect();
    /// assert_eq!(names, ["Alice", "Bob"]);
    /// ```
    pub fn messages(&self) -> impl Iterator<Item = &Msg> {
        self.entries.iter().map(|entry| entry.reply.message())
    }

    /// Returns the message with an id.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Fold, Msg};
    ///
    /// let hello = Msg::user("Alice", "Hello").with_id("m1");
    /// let fold: Fold = [Event::new(CustomEvent::message(&hello))].iter().collect();
    /// assert_eq!(fold.message("m1"), Some(&hello));
    /// assert_eq!(fold.message("m2"), None);
    /// ```
    pub fn message(&self, id: &str) -> Option<&Msg> {
        self.reply(id).map(ReplyFold::message)
    }

    /// Returns the fold of the reply with an id.
    ///
    /// ```
    /// use recount_message::{Fold, ReplyWriter, Stamps};
    ///
    /// // Another process resumes the reply after a crash.
    /// let mut events = Vec::new();
    /// let mut first = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s1", "Friday");
    /// first.text("Hel");
    /// std::mem::forget(first);
    ///
    /// let fold: Fold = events.iter().collect();
    /// let reply = fold.reply("id-1").unwrap().clone();
    /// let mut second = ReplyWriter::resume(|_event| {}, Stamps::default(), "s1", reply);
    /// second.text("lo");
    /// assert_eq!(second.message().text().as_deref(), Some("Hello"));
    /// ```
    pub fn reply(&self, id: &str) -> Option<&ReplyFold> {
        self.position(id).ok().and_then(|position| self.entries.get(position)).map(|entry| &entry.reply)
    }

    /// Returns the fold of the reply with an id; `None` if it has ended or is not a reply.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Fold, Msg};
    ///
    /// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#)?;
    /// let whole = Event::new(CustomEvent::message(&Msg::assistant("Friday", "Hello").with_id("m")));
    /// let fold: Fold = [start, whole].iter().collect();
    /// assert!(fold.open_reply("r").is_some());
    /// assert!(fold.reply("m").is_some() && fold.open_reply("m").is_none());
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn open_reply(&self, id: &str) -> Option<&ReplyFold> {
        let entry = self.position(id).ok().and_then(|position| self.entries.get(position))?;
        (!entry.has_ended()).then_some(&entry.reply)
    }

    /// Returns the replies that have not ended.
    ///
    /// ```
    /// use recount_message::{Event, Fold};
    ///
    /// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#)?;
    /// let mut fold = Fold::new();
    /// fold.apply(&start);
    /// let open: Vec<&str> = fold.open_replies().map(|reply| reply.message().id()).collect();
    /// assert_eq!(open, ["r"]);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn open_replies(&self) -> impl Iterator<Item = &ReplyFold> {
        self.entries.iter().filter(|entry| !entry.has_ended()).map(|entry| &entry.reply)
    }

    /// Removes and returns the ended messages at the front, up to the first open one.
    ///
    /// Use it to fold long streams in bounded memory. Only the ids of taken messages are kept, to detect late events.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Fold, Msg, Outcome, Reason};
    ///
    /// let event = Event::new(CustomEvent::message(&Msg::user("Alice", "Hello").with_id("m1")));
    /// let mut fold = Fold::new();
    /// fold.apply(&event);
    /// assert_eq!(fold.take_ended().len(), 1);
    /// assert_eq!(fold.messages().count(), 0);
    /// assert_eq!(fold.apply(&event), Outcome::Ignored(Reason::MessageExists("m1".to_owned())));
    /// ```
    pub fn take_ended(&mut self) -> Vec<Msg> {
        let mut ended = Vec::new();
        while self.entries.front().is_some_and(Entry::has_ended) {
            let Some(entry) = self.entries.pop_front() else { break };
            let message = entry.reply.into_message();
            self.taken += 1;
            self.positions.remove(message.id());
            self.taken_ids.insert(message.id().to_owned());
            ended.push(message);
        }
        self.recent = self.recent.saturating_sub(ended.len());
        ended
    }

    /// Converts the fold to its messages, without those that have been taken.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Fold, Msg};
    ///
    /// let fold: Fold = [Event::new(CustomEvent::message(&Msg::user("Alice", "Hello")))].iter().collect();
    /// let history: Vec<Msg> = fold.into_messages().collect();
    /// assert_eq!(history[0].name(), "Alice");
    /// ```
    pub fn into_messages(self) -> impl Iterator<Item = Msg> {
        self.entries.into_iter().map(|entry| entry.reply.into_message())
    }
}

impl<'e, 'a: 'e> FromIterator<&'e Event<'a>> for Fold {
    /// Folds events and ignores their outcomes.
    fn from_iter<I: IntoIterator<Item = &'e Event<'a>>>(events: I) -> Self {
        let mut fold = Self::new();
        fold.extend(events);
        fold
    }
}

impl<'e, 'a: 'e> Extend<&'e Event<'a>> for Fold {
    /// Applies events and ignores their outcomes.
    fn extend<I: IntoIterator<Item = &'e Event<'a>>>(&mut self, events: I) {
        for event in events {
            self.apply(event);
        }
    }
}
