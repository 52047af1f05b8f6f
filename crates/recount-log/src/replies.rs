//! The open replies of a session, folded entry by entry.
//!
//! A [`Fold`] does the same for a whole stream and has to remember the id of every message for it. Here complete messages
//! are in the storage, and it is asked when an event is for a reply that is not open.

use hashbrown::HashMap;
use recount_message::wire::ObjectWriter;
use recount_message::{Checkpoint, CustomName, Event, EventKind, Fold, Json, Object, Outcome, Reason, ReplyFold};

use crate::storage::{Append, MessageRow, MessageStatus, OpenReplyInfo, OpenReplyRow, ReplyCheckpoint, StorageResult};

/// When the writer ends, replies get a checkpoint that have this share of the entries after which one is due.
const FAREWELL_SHARE: u64 = 64;

/// Looks up what a message id stands for.
pub(crate) type Lookup<'l> = &'l dyn Fn(&str) -> StorageResult<Option<MessageStatus>>;

/// An entry that is about to be written.
pub(crate) struct NewEntry<'l> {
    /// Its number.
    pub(crate) seq: u64,
    /// How long its text is.
    pub(crate) bytes: usize,
    /// Whether it comes under a lease.
    pub(crate) hosted: bool,
    /// What is stored.
    pub(crate) stored: Lookup<'l>,
    /// The plan that writes it.
    pub(crate) turn: u64,
    /// After how many entries a checkpoint of a reply is due at the earliest.
    pub(crate) checkpoint_after: u64,
}

/// The open replies of a session.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    open: HashMap<String, TrackedReply>,
    /// Messages that are complete and may not be stored yet, each with the plan that writes it.
    unstored: HashMap<String, (MessageStatus, u64)>,
}

/// A reply that has not ended.
#[derive(Debug)]
pub(crate) struct TrackedReply {
    pub(crate) opened: OpenReplyInfo,
    pub(crate) fold: ReplyFold,
    pub(crate) inputs: Inputs,
    /// How much has come since the last checkpoint, and how much that one weighs.
    entries_since: u64,
    bytes_since: u64,
    checkpoint_bytes: u64,
}

/// The inputs of an open reply that its message does not tell of.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Inputs {
    /// Somebody has stopped the reply.
    pub(crate) is_interrupted: bool,
    /// The calls whose result came from outside while it was open, each as `index of its block.id`.
    pub(crate) answered: Vec<String>,
}

impl Inputs {
    fn to_json(&self) -> String {
        let answered = self.answered.iter().map(|call| Json::from(call.as_str())).collect::<Vec<Json>>();
        let mut object = Object::new();
        object.insert("interrupted", self.is_interrupted);
        object.insert("answered", Json::from_serialize(&answered).unwrap_or_else(|_| Json::null()));
        object.to_json()
    }

    fn from_json(text: &str) -> Self {
        let object = Object::parse(text).unwrap_or_default();
        let answered = object.get("answered").and_then(Json::to_array).unwrap_or_default();
        Self {
            is_interrupted: object.get("interrupted").is_some_and(|value| value.as_bool() == Some(true)),
            answered: answered.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        }
    }
}

/// Whether an event repeats what is over: to write it would only double an entry.
pub(crate) fn is_repetition(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Ignored(Reason::ReplyEnded(_) | Reason::MessageExists(_)))
}

impl TrackedReply {
    pub(crate) fn begin(opened: OpenReplyInfo, fold: ReplyFold) -> Self {
        Self { opened, fold, inputs: Inputs::default(), entries_since: 0, bytes_since: 0, checkpoint_bytes: 0 }
    }

    /// Goes on from what is stored, if that is a checkpoint.
    pub(crate) fn resume(row: &OpenReplyRow) -> Result<Option<Self>, String> {
        let Some(checkpoint) = &row.checkpoint else { return Ok(None) };
        let text = ObjectWriter::new()
            .raw("version", 1)
            .string("cursor", &checkpoint.seq.to_string())
            .array("replies", [&checkpoint.fold])
            .finish();
        let problem = |what: String| format!("the checkpoint of the reply {:?}: {what}", row.opened.id);
        let parsed = Checkpoint::from_json(&text).map_err(|error| problem(error.to_string()))?;
        let fold = Fold::resume(parsed);
        let reply = fold.reply(&row.opened.id).ok_or_else(|| problem("it is of another reply".to_owned()))?;
        let mut open = Self::begin(row.opened.clone(), reply.clone());
        open.inputs = Inputs::from_json(&checkpoint.inputs);
        open.checkpoint_bytes = checkpoint.fold.len() as u64;
        Ok(Some(open))
    }

    /// The reply as an item of a checkpoint's `replies`.
    pub(crate) fn to_json(&self) -> String {
        ObjectWriter::new()
            .raw_with("message", |text| self.fold.message().write_json(text))
            .raw("call_floor", self.fold.call_floor())
            .finish()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.fold.message().finished_at().is_some()
    }

    pub(crate) fn apply(&mut self, event: &Event<'_>, bytes: usize) -> Outcome {
        let outcome = self.fold.apply(event);
        self.inputs.note(&self.fold, event);
        self.entries_since += 1;
        self.bytes_since += bytes as u64;
        outcome
    }

    /// Whether a checkpoint is due: enough entries have come, and they weigh as much as the last one did. So all
    /// checkpoints together weigh no more than the entries do.
    fn is_checkpoint_due(&self, after: u64) -> bool {
        self.entries_since >= after && self.bytes_since >= self.checkpoint_bytes
    }

    fn checkpoint(&mut self, seq: u64) -> ReplyCheckpoint {
        let fold = self.to_json();
        self.entries_since = 0;
        self.bytes_since = 0;
        self.checkpoint_bytes = fold.len() as u64;
        ReplyCheckpoint { id: self.opened.id.clone(), seq, fold, inputs: self.inputs.to_json() }
    }

    fn finish(self, seq: u64) -> MessageRow {
        let OpenReplyInfo { id, start_seq, nested, .. } = self.opened;
        MessageRow { id, start_seq, end_seq: seq, is_reply: true, nested, body: self.fold.message().to_json() }
    }
}

impl Replies {
    pub(crate) fn get(&self, id: &str) -> Option<&TrackedReply> {
        self.open.get(id)
    }

    pub(crate) fn insert(&mut self, reply: TrackedReply) {
        self.open.insert(reply.opened.id.clone(), reply);
    }

    /// What a message id stands for, if it is that of a complete message.
    pub(crate) fn known(&self, id: &str, stored: Lookup<'_>) -> StorageResult<Option<MessageStatus>> {
        match self.unstored.get(id) {
            Some(&(known, _)) => Ok(Some(known)),
            None => stored(id),
        }
    }

    /// What was complete in a plan has been stored.
    pub(crate) fn settle(&mut self, turn: u64) {
        if !self.unstored.is_empty() {
            self.unstored.retain(|_, (_, written)| *written > turn);
        }
    }

    /// FoldCache an entry. What follows from it is added to what is to be written.
    pub(crate) fn apply(
        &mut self,
        event: &Event<'_>,
        entry: &NewEntry<'_>,
        append: &mut Append,
    ) -> StorageResult<Outcome> {
        match &event.kind {
            EventKind::ReplyStart(start) if !self.open.contains_key(&*start.reply_id) => {
                if let Some(known) = self.known(&start.reply_id, entry.stored)? {
                    return Ok(over(known, &start.reply_id));
                }
                let Some(fold) = ReplyFold::start(event) else { return Ok(Outcome::NotForMessage) };
                let (id, nested) = (start.reply_id.to_string(), event.carried("parent").is_some());
                let opened = OpenReplyInfo { id, start_seq: entry.seq, hosted: entry.hosted, nested };
                self.insert(TrackedReply::begin(opened.clone(), fold));
                append.opened.push(opened);
                Ok(Outcome::Applied)
            }
            EventKind::Custom(custom) => match custom.own_name() {
                Some(CustomName::Message) => self.message(event, entry, append),
                Some(CustomName::Block | CustomName::Call) => {
                    // The fold of nothing tells whether the event can be read at all.
                    match Fold::new().apply(event) {
                        Outcome::Ignored(Reason::UnknownReply(id)) => self.route(&id, event, entry, append),
                        outcome => Ok(outcome),
                    }
                }
                _ => Ok(Outcome::NotForMessage),
            },
            kind => match kind.reply_id() {
                Some(id) => self.route(id, event, entry, append),
                None => Ok(Fold::new().apply(event)),
            },
        }
    }

    fn route(
        &mut self,
        id: &str,
        event: &Event<'_>,
        entry: &NewEntry<'_>,
        append: &mut Append,
    ) -> StorageResult<Outcome> {
        let Some(reply) = self.open.get_mut(id) else {
            return Ok(match self.known(id, entry.stored)? {
                Some(known) => over(known, id),
                None => Outcome::Ignored(Reason::UnknownReply(id.to_owned())),
            });
        };
        let outcome = reply.apply(event, entry.bytes);
        if !reply.has_ended() {
            if reply.is_checkpoint_due(entry.checkpoint_after) {
                append.checkpoints.push(reply.checkpoint(entry.seq));
            }
            return Ok(outcome);
        }
        self.unstored.insert(id.to_owned(), (MessageStatus::EndedReply, entry.turn));
        append.finished.extend(self.open.remove(id).map(|reply| reply.finish(entry.seq)));
        Ok(outcome)
    }

    fn message(&mut self, event: &Event<'_>, entry: &NewEntry<'_>, append: &mut Append) -> StorageResult<Outcome> {
        let mut alone = Fold::new();
        let outcome = alone.apply(event);
        let Some(message) = alone.into_messages().next() else { return Ok(outcome) };
        let id = message.id();
        if self.open.contains_key(id) || self.known(id, entry.stored)?.is_some() {
            return Ok(Outcome::Ignored(Reason::MessageExists(id.to_owned())));
        }
        self.unstored.insert(id.to_owned(), (MessageStatus::Message, entry.turn));
        let (id, start_seq, body) = (id.to_owned(), entry.seq, message.to_json());
        append.finished.push(MessageRow { id, start_seq, end_seq: start_seq, is_reply: false, nested: false, body });
        Ok(Outcome::Applied)
    }

    /// Checkpoints of all replies that have come so far since their last one that folding them anew would take a while.
    pub(crate) fn checkpoints(&mut self, seq: u64, checkpoint_after: u64) -> Vec<ReplyCheckpoint> {
        let least = (checkpoint_after / FAREWELL_SHARE).max(1);
        let worth_it = self.open.values_mut().filter(|reply| reply.entries_since >= least);
        worth_it.map(|reply| reply.checkpoint(seq)).collect()
    }
}

/// What becomes of an event for a message that is complete.
fn over(known: MessageStatus, id: &str) -> Outcome {
    Outcome::Ignored(match known {
        MessageStatus::EndedReply => Reason::ReplyEnded(id.to_owned()),
        MessageStatus::Message => Reason::NotAReply(id.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_survive_being_written_down() {
        let inputs = Inputs { is_interrupted: true, answered: vec!["3.c\"1".to_owned()] };
        assert_eq!(Inputs::from_json(&inputs.to_json()), inputs);
        assert_eq!(Inputs::from_json(&Inputs::default().to_json()), Inputs::default());
    }
}
