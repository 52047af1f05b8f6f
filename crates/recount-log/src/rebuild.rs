//! Rebuilds open replies from stored checkpoints and entries.

use std::borrow::Cow;

use hashbrown::HashMap;
use recount_message::{CustomName, Event, EventKind, ReplyFold};

use crate::input_reader::InputEntry;
use crate::inputs::{InputKind, is_input};
use crate::replies::TrackedReply;
use crate::storage::{OpenReplyInfo, OpenReplyRow, PageLimit, View};
use crate::{Cursor, Error, SessionKey, StorageError};

/// An event and the position after its entry.
type PositionedEvent = (u64, Event<'static>);

/// How much is read from the storage at once.
const PAGE: PageLimit = PageLimit { count: 4_096, bytes: 4 << 20 };

/// Open replies of a session, rebuilt without the inputs after some entry.
///
/// An agent that resumes a reply applies those inputs itself, in the order of the log.
#[derive(Debug)]
pub struct RebuiltReplies {
    /// The head of the session.
    pub cursor: Cursor,
    /// The replies, ordered by their first entry.
    pub replies: Vec<RebuiltReply>,
    /// The inputs of these replies that were left out, in the order of the log.
    pub pending_inputs: Vec<InputEntry>,
}

/// An open reply and its fold.
#[derive(Debug, Clone)]
pub struct RebuiltReply {
    /// The stored facts about the reply.
    pub info: OpenReplyInfo,
    /// The fold of its entries.
    pub fold: ReplyFold,
}

/// Rebuilds the selected open replies at the head, leaving out the inputs after the entry `inputs_until`.
pub(crate) fn rebuild_without_late_inputs(
    view: &dyn View,
    key: &SessionKey,
    select: impl Fn(&OpenReplyInfo) -> bool,
    inputs_until: u64,
) -> Result<RebuiltReplies, Error> {
    let session = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
    let cursor = Cursor { epoch: session.epoch, seq: session.head };
    let mut rows = view.open_replies(key)?;
    rows.retain(|row| select(&row.info));
    // A later checkpoint may contain inputs that must be left out.
    let mut rebuild = Rebuild::from_rows(rows, inputs_until.min(session.head))?;
    rebuild.late_inputs = Some(LateInputs { until: inputs_until, left_out: Vec::new() });
    let (replies, late) = rebuild.run_with_inputs(view, key, session.head)?;
    let pending_inputs = late.into_iter().filter_map(|(seq, event)| {
        let cursor = Cursor { seq, ..cursor };
        Some(InputEntry { cursor, kind: InputKind::of(&event)?, event })
    });
    let pending_inputs = pending_inputs.collect();
    let replies = replies.into_iter().map(|reply| RebuiltReply { info: reply.info, fold: reply.fold }).collect();
    Ok(RebuiltReplies { cursor, replies, pending_inputs })
}

/// Rebuilds replies up to and including the entry `until`, each from its last usable checkpoint or from its start. They are
/// returned in the order of their first entries.
pub(crate) fn rebuild_replies(
    view: &dyn View,
    key: &SessionKey,
    rows: Vec<OpenReplyRow>,
    until: u64,
) -> Result<Vec<TrackedReply>, Error> {
    Rebuild::from_rows(rows, until)?.run(view, key, until)
}

/// Replies that are being rebuilt.
pub(crate) struct Rebuild {
    replies: HashMap<String, PartialReply>,
    /// Entries up to this number are not needed.
    from: u64,
    late_inputs: Option<LateInputs>,
}

struct PartialReply {
    info: OpenReplyInfo,
    /// `None` before the first entry of the reply was read.
    reply: Option<TrackedReply>,
    /// The last entry that is applied.
    applied_to: u64,
}

/// Inputs after the entry `until`, which are collected and not applied.
struct LateInputs {
    until: u64,
    left_out: Vec<PositionedEvent>,
}

impl Rebuild {
    /// Creates an empty rebuild that needs no entries up to `from`.
    pub(crate) fn after(from: u64) -> Self {
        Self { replies: HashMap::new(), from, late_inputs: None }
    }

    /// Starts from the checkpoints at or before the entry `until`.
    fn from_rows(rows: Vec<OpenReplyRow>, until: u64) -> Result<Self, Error> {
        let mut rebuild = Self::after(u64::MAX);
        for row in rows {
            let checkpoint = row.checkpoint.as_ref().filter(|checkpoint| checkpoint.seq <= until);
            match checkpoint {
                Some(checkpoint) => {
                    let reply = TrackedReply::resume(&row.info, checkpoint).map_err(StorageError::Damaged)?;
                    rebuild.resume(reply, checkpoint.seq);
                }
                None => rebuild.start(row.info),
            }
        }
        Ok(rebuild)
    }

    /// Adds a reply to which the entries up to `applied_to` are applied already.
    pub(crate) fn resume(&mut self, reply: TrackedReply, applied_to: u64) {
        self.from = self.from.min(applied_to);
        let info = reply.info.clone();
        self.replies.insert(info.id.clone(), PartialReply { info, reply: Some(reply), applied_to });
    }

    /// Adds a reply that is rebuilt from its first entry.
    pub(crate) fn start(&mut self, info: OpenReplyInfo) {
        self.from = self.from.min(info.start_seq.saturating_sub(1));
        self.replies.insert(info.id.clone(), PartialReply { info, reply: None, applied_to: 0 });
    }

    /// Applies the entries up to and including `until`. Returns the replies in the order of their first entries.
    pub(crate) fn run(self, view: &dyn View, key: &SessionKey, until: u64) -> Result<Vec<TrackedReply>, Error> {
        Ok(self.run_with_inputs(view, key, until)?.0)
    }

    fn run_with_inputs(
        mut self,
        view: &dyn View,
        key: &SessionKey,
        until: u64,
    ) -> Result<(Vec<TrackedReply>, Vec<PositionedEvent>), Error> {
        while self.from < until && !self.replies.is_empty() {
            let entries = view.entries(key, self.from, PAGE)?;
            let Some(last) = entries.last() else { break };
            self.from = last.last;
            for entry in entries.iter().take_while(|entry| entry.first <= until) {
                let event = decode(key, entry.last, &entry.body)?;
                self.apply(event, entry.last, entry.body.len());
            }
        }
        let mut replies: Vec<TrackedReply> = self.replies.into_values().filter_map(|partial| partial.reply).collect();
        replies.sort_unstable_by_key(|reply| reply.info.start_seq);
        Ok((replies, self.late_inputs.map(|late| late.left_out).unwrap_or_default()))
    }

    fn apply(&mut self, event: Event<'_>, seq: u64, bytes: usize) {
        let Some(id) = affected_reply(&event) else { return };
        let Some(PartialReply { info, reply, applied_to }) = self.replies.get_mut(&*id) else { return };
        if seq <= *applied_to {
            return;
        }
        match (reply, &mut self.late_inputs) {
            (Some(_), Some(late)) if seq > late.until && is_input(&event) => {
                drop(id);
                late.left_out.push((seq, event.into_owned()));
            }
            (Some(reply), _) => {
                let _ = reply.apply(&event, bytes);
            }
            (reply, _) => *reply = ReplyFold::start(&event).map(|fold| TrackedReply::start(info.clone(), fold)),
        }
    }
}

/// The id of the reply that an event changes.
fn affected_reply<'e>(event: &'e Event<'_>) -> Option<Cow<'e, str>> {
    match &event.kind {
        EventKind::Custom(custom) => match custom.recount_name() {
            Some(CustomName::Block | CustomName::Call) => {
                Some(custom.value.get("reply_id")?.as_str()?.to_owned().into())
            }
            _ => None,
        },
        kind => kind.reply_id().map(Into::into),
    }
}

/// Decodes a stored entry.
pub(crate) fn decode<'b>(key: &SessionKey, seq: u64, body: &'b [u8]) -> Result<Event<'b>, Error> {
    Event::from_slice(body).map_err(|error| Error::BadEntry { session: key.clone(), seq, problem: error.to_string() })
}
