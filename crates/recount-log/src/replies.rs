//! The open replies of a session, updated entry by entry.
//!
//! A [`Fold`] of the whole stream would have to keep the id of every message. Here, complete messages are looked up in the
//! storage when an event refers to a reply that is not open.

use hashbrown::HashMap;
use recount_message::wire::ObjectWriter;
use recount_message::{CustomName, Event, EventKind, Fold, Json, Object, Outcome, Reason, ReplyFold};

use crate::storage::{Append, MessageRow, MessageStatus, OpenReplyInfo, ReplyCheckpoint, StorageResult};
use crate::{EncodedMessage, EncodedReply};

/// At shutdown, a reply gets a checkpoint once it has this fraction (1/64) of the entries that normally trigger one.
const FINAL_CHECKPOINT_FRACTION: u64 = 64;

/// Looks up the status of a stored message by its id.
pub(crate) type StatusLookup<'l> = &'l dyn Fn(&str) -> StorageResult<Option<MessageStatus>>;

/// An entry that is about to be written.
pub(crate) struct NewEntry<'l> {
    /// The number of the entry.
    pub(crate) seq: u64,
    /// The length of its JSON.
    pub(crate) bytes: usize,
    /// Whether it is appended under a lease.
    pub(crate) hosted: bool,
    pub(crate) stored: StatusLookup<'l>,
    /// The id of the plan that writes it.
    pub(crate) plan: u64,
    /// The minimum number of entries between two checkpoints of a reply.
    pub(crate) checkpoint_after: u64,
}

/// The open replies of a session.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    open: HashMap<String, TrackedReply>,
    /// Complete messages that may not be stored yet, each with the id of the plan that writes it.
    unstored: HashMap<String, (MessageStatus, u64)>,
}

/// An open reply: its fold, its inputs, and the progress since its last checkpoint.
#[derive(Debug)]
pub(crate) struct TrackedReply {
    pub(crate) info: OpenReplyInfo,
    pub(crate) fold: ReplyFold,
    pub(crate) inputs: AcceptedInputs,
    /// The number and size of the entries since the last checkpoint, and the size of that checkpoint.
    entries_since: u64,
    bytes_since: u64,
    checkpoint_bytes: u64,
}

/// The inputs of an open reply that its message does not record.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct AcceptedInputs {
    /// Whether the reply was interrupted.
    pub(crate) is_interrupted: bool,
    /// The calls that received an external result, each as `index of its block.id`.
    pub(crate) answered: Vec<String>,
}

impl AcceptedInputs {
    fn to_json(&self) -> String {
        let answered: Vec<Json> = self.answered.iter().map(|call| Json::from(call.as_str())).collect();
        ObjectWriter::new()
            .raw("interrupted", self.is_interrupted)
            .array("answered", answered.iter().map(Json::as_raw))
            .finish()
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

/// Whether an event only repeats something that is complete. Such events are not written.
pub(crate) fn is_repetition(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Ignored(Reason::ReplyEnded(_) | Reason::MessageExists(_)))
}

impl TrackedReply {
    pub(crate) fn start(info: OpenReplyInfo, fold: ReplyFold) -> Self {
        let inputs = AcceptedInputs::default();
        Self { info, fold, inputs, entries_since: 0, bytes_since: 0, checkpoint_bytes: 0 }
    }

    /// Restores a reply from a checkpoint. The error describes what is wrong with the checkpoint.
    pub(crate) fn resume(info: &OpenReplyInfo, checkpoint: &ReplyCheckpoint) -> Result<Self, String> {
        let problem = |text: String| format!("the checkpoint of the reply {:?}: {text}", info.id);
        let fold = checkpoint.fold.decode().map_err(|error| problem(error.to_string()))?;
        if fold.message().id() != info.id {
            return Err(problem(format!("it belongs to the reply {:?}", fold.message().id())));
        }
        let mut reply = Self::start(info.clone(), fold);
        reply.inputs = AcceptedInputs::from_json(&checkpoint.inputs);
        reply.checkpoint_bytes = checkpoint.fold.as_str().len() as u64;
        Ok(reply)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.fold.message().finished_at().is_some()
    }

    pub(crate) fn apply(&mut self, event: &Event<'_>, bytes: usize) -> Outcome {
        let outcome = self.fold.apply(event);
        self.inputs.record(&self.fold, event);
        self.entries_since += 1;
        self.bytes_since += bytes as u64;
        outcome
    }

    /// A checkpoint is due after enough entries, if they are as large as the last checkpoint. So all checkpoints together
    /// are no larger than the entries.
    fn is_checkpoint_due(&self, after: u64) -> bool {
        self.entries_since >= after && self.bytes_since >= self.checkpoint_bytes
    }

    fn checkpoint(&mut self, seq: u64) -> ReplyCheckpoint {
        let fold = EncodedReply::from(&self.fold);
        self.entries_since = 0;
        self.bytes_since = 0;
        self.checkpoint_bytes = fold.as_str().len() as u64;
        ReplyCheckpoint { id: self.info.id.clone(), seq, fold, inputs: self.inputs.to_json() }
    }

    fn finish(self, seq: u64) -> MessageRow {
        let OpenReplyInfo { id, start_seq, nested, .. } = self.info;
        let body = EncodedMessage::from(self.fold.message());
        MessageRow { id, start_seq, end_seq: seq, is_reply: true, nested, body }
    }
}

impl Replies {
    pub(crate) fn get(&self, id: &str) -> Option<&TrackedReply> {
        self.open.get(id)
    }

    pub(crate) fn insert(&mut self, reply: TrackedReply) {
        self.open.insert(reply.info.id.clone(), reply);
    }

    /// Looks up the status of a complete message, stored or not.
    pub(crate) fn status(&self, id: &str, stored: StatusLookup<'_>) -> StorageResult<Option<MessageStatus>> {
        match self.unstored.get(id) {
            Some(&(status, _)) => Ok(Some(status)),
            None => stored(id),
        }
    }

    /// Forgets the complete messages of committed plans, which are stored now.
    pub(crate) fn commit(&mut self, plan: u64) {
        if !self.unstored.is_empty() {
            self.unstored.retain(|_, (_, written_by)| *written_by > plan);
        }
    }

    /// Applies an entry and adds the resulting rows to the append.
    pub(crate) fn apply(
        &mut self,
        event: &Event<'_>,
        entry: &NewEntry<'_>,
        append: &mut Append,
    ) -> StorageResult<Outcome> {
        match &event.kind {
            EventKind::ReplyStart(start) if !self.open.contains_key(&*start.reply_id) => {
                if let Some(status) = self.status(&start.reply_id, entry.stored)? {
                    return Ok(already_complete(status, &start.reply_id));
                }
                let Some(fold) = ReplyFold::start(event) else { return Ok(Outcome::NotForMessage) };
                let (id, nested) = (start.reply_id.to_string(), event.extension("parent").is_some());
                let info = OpenReplyInfo { id, start_seq: entry.seq, hosted: entry.hosted, nested };
                self.insert(TrackedReply::start(info.clone(), fold));
                append.opened.push(info);
                Ok(Outcome::Applied)
            }
            EventKind::Custom(custom) => match custom.recount_name() {
                Some(CustomName::Message) => self.apply_message(event, entry, append),
                Some(CustomName::Block | CustomName::Call) => {
                    // An empty fold rejects malformed events, and otherwise reports the reply that they name.
                    match Fold::new().apply(event) {
                        Outcome::Ignored(Reason::UnknownReply(id)) => self.apply_to_reply(&id, event, entry, append),
                        outcome => Ok(outcome),
                    }
                }
                _ => Ok(Outcome::NotForMessage),
            },
            kind => match kind.reply_id() {
                Some(id) => self.apply_to_reply(id, event, entry, append),
                None => Ok(Fold::new().apply(event)),
            },
        }
    }

    fn apply_to_reply(
        &mut self,
        id: &str,
        event: &Event<'_>,
        entry: &NewEntry<'_>,
        append: &mut Append,
    ) -> StorageResult<Outcome> {
        let Some(reply) = self.open.get_mut(id) else {
            return Ok(match self.status(id, entry.stored)? {
                Some(status) => already_complete(status, id),
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
        self.unstored.insert(id.to_owned(), (MessageStatus::EndedReply, entry.plan));
        append.finished.extend(self.open.remove(id).map(|reply| reply.finish(entry.seq)));
        Ok(outcome)
    }

    fn apply_message(
        &mut self,
        event: &Event<'_>,
        entry: &NewEntry<'_>,
        append: &mut Append,
    ) -> StorageResult<Outcome> {
        let mut fold = Fold::new();
        let outcome = fold.apply(event);
        let Some(message) = fold.into_messages().next() else { return Ok(outcome) };
        let id = message.id();
        if self.open.contains_key(id) || self.status(id, entry.stored)?.is_some() {
            return Ok(Outcome::Ignored(Reason::MessageExists(id.to_owned())));
        }
        self.unstored.insert(id.to_owned(), (MessageStatus::Message, entry.plan));
        append.finished.push(MessageRow {
            id: id.to_owned(),
            start_seq: entry.seq,
            end_seq: entry.seq,
            is_reply: false,
            nested: false,
            body: EncodedMessage::from(&message),
        });
        Ok(Outcome::Applied)
    }

    /// Returns checkpoints of the replies that would otherwise take long to rebuild.
    pub(crate) fn final_checkpoints(&mut self, seq: u64, checkpoint_after: u64) -> Vec<ReplyCheckpoint> {
        let least = (checkpoint_after / FINAL_CHECKPOINT_FRACTION).max(1);
        let replies = self.open.values_mut().filter(|reply| reply.entries_since >= least);
        replies.map(|reply| reply.checkpoint(seq)).collect()
    }
}

/// The outcome of an event that names a complete message as its reply.
fn already_complete(status: MessageStatus, id: &str) -> Outcome {
    Outcome::Ignored(match status {
        MessageStatus::EndedReply => Reason::ReplyEnded(id.to_owned()),
        MessageStatus::Message => Reason::NotAReply(id.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_inputs_round_trip_through_json() {
        let inputs = AcceptedInputs { is_interrupted: true, answered: vec!["3.c\"1".to_owned()] };
        assert_eq!(AcceptedInputs::from_json(&inputs.to_json()), inputs);
        assert_eq!(AcceptedInputs::from_json(&AcceptedInputs::default().to_json()), AcceptedInputs::default());
    }
}
