//! Open replies folded again from what is stored.

use hashbrown::HashMap;
use recount_message::{CustomName, Event, EventKind};

use crate::replies::TrackedReply;
use crate::storage::{Limit, OpenReplyInfo, OpenReplyRow, View};
use crate::{Error, SessionKey, StorageError};

/// How much is read at once.
const PAGE: Limit = Limit { count: 4_096, bytes: 4 << 20 };

/// Replies folded from their last checkpoint or from their start up to an entry, in the order in which they began.
pub(crate) fn fold_replies(
    view: &dyn View,
    key: &SessionKey,
    rows: Vec<OpenReplyRow>,
    until: u64,
) -> Result<Vec<TrackedReply>, Error> {
    let mut rebuild = Rebuild::after(u64::MAX);
    for row in rows {
        let seq = row.checkpoint.as_ref().filter(|checkpoint| checkpoint.seq <= until).map(|checkpoint| checkpoint.seq);
        let resumed = if seq.is_some() { TrackedReply::resume(&row) } else { Ok(None) };
        match resumed.map_err(StorageError::Damaged)? {
            Some(reply) => rebuild.go_on(reply, seq.unwrap_or_default()),
            None => rebuild.begin(row.opened),
        }
    }
    rebuild.run(view, key, until)
}

/// Replies in the folding.
pub(crate) struct Rebuild {
    replies: HashMap<String, Folding>,
    /// The number of the last entry before those that are needed.
    from: u64,
}

struct Folding {
    opened: OpenReplyInfo,
    /// Nothing before its first entry.
    reply: Option<TrackedReply>,
    /// The number of the last entry that is in it.
    folded_to: u64,
}

impl Rebuild {
    /// No replies, and nothing that is needed before an entry.
    pub(crate) fn after(from: u64) -> Self {
        Self { replies: HashMap::new(), from }
    }

    /// A reply that is folded up to an entry.
    pub(crate) fn go_on(&mut self, reply: TrackedReply, folded_to: u64) {
        self.from = self.from.min(folded_to);
        let opened = reply.opened.clone();
        self.replies.insert(opened.id.clone(), Folding { opened, reply: Some(reply), folded_to });
    }

    /// A reply from its start.
    pub(crate) fn begin(&mut self, opened: OpenReplyInfo) {
        self.from = self.from.min(opened.start_seq.saturating_sub(1));
        self.replies.insert(opened.id.clone(), Folding { opened, reply: None, folded_to: 0 });
    }

    /// FoldCache all of them up to an entry, and gives them in the order in which they began.
    pub(crate) fn run(mut self, view: &dyn View, key: &SessionKey, until: u64) -> Result<Vec<TrackedReply>, Error> {
        while self.from < until && !self.replies.is_empty() {
            let entries = view.entries(key, self.from, PAGE)?;
            let Some(last) = entries.last() else { break };
            self.from = last.last;
            for entry in entries.iter().take_while(|entry| entry.first <= until) {
                let event = decode(key, entry.last, &entry.body)?;
                let Some(id) = folded_reply(&event) else { continue };
                let Some(Folding { opened, reply, folded_to }) = self.replies.get_mut(&*id) else { continue };
                if entry.last <= *folded_to {
                    continue;
                }
                match reply {
                    Some(reply) => {
                        let _ = reply.apply(&event, entry.body.len());
                    }
                    None => {
                        if let Some(fold) = recount_message::ReplyFold::start(&event) {
                            *reply = Some(TrackedReply::begin(opened.clone(), fold));
                        }
                    }
                }
            }
        }
        let mut replies: Vec<TrackedReply> = self.replies.into_values().filter_map(|folding| folding.reply).collect();
        replies.sort_unstable_by_key(|reply| reply.opened.start_seq);
        Ok(replies)
    }
}

/// The reply that an event changes.
fn folded_reply<'e>(event: &'e Event<'_>) -> Option<std::borrow::Cow<'e, str>> {
    match &event.kind {
        EventKind::Custom(custom) => match custom.own_name() {
            Some(CustomName::Block | CustomName::Call) => {
                Some(custom.value.get("reply_id")?.as_str()?.to_owned().into())
            }
            _ => None,
        },
        kind => kind.reply_id().map(Into::into),
    }
}

pub(crate) fn decode<'b>(key: &SessionKey, seq: u64, body: &'b [u8]) -> Result<Event<'b>, Error> {
    let bad = |problem: String| Error::BadEntry { session: key.clone(), seq, problem };
    Event::from_slice(body).map_err(|error| bad(error.to_string()))
}
