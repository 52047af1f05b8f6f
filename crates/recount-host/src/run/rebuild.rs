//! Rebuilding of open replies from their entries, without the inputs that the agent has not accepted yet.

use std::collections::HashMap;

use recount_log::storage::{OpenReplyInfo, PageLimit};
use recount_log::{Cursor, Error, Log, Session};
use recount_message::{CustomName, Event, EventKind, ReplyFold};

use crate::run_state::{PendingInput, is_input};

/// The limit of one read.
const PAGE: PageLimit = PageLimit { count: 4_096, bytes: 4 << 20 };

/// Open replies as their agents have them: without the inputs that the agents have not accepted yet.
pub(super) struct RebuiltReplies {
    /// The needed replies that are open, by id.
    pub(super) folds: HashMap<String, ReplyFold>,
    pub(super) pending_inputs: Vec<PendingInput>,
    /// The head of the session.
    pub(super) cursor: Cursor,
}

/// Folds the needed open replies from their entries. Inputs after `last_input_seq` are returned as pending inputs.
pub(super) async fn rebuild_replies(
    log: &Log,
    session: &Session,
    is_needed: impl Fn(&OpenReplyInfo) -> bool + Send + 'static,
    last_input_seq: u64,
) -> Result<RebuiltReplies, Error> {
    let key = session.key().clone();
    log.read(move |view| {
        let row = view.session(&key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
        let open: Vec<OpenReplyInfo> = view.open_reply_infos(&key)?.into_iter().filter(is_needed).collect();
        let mut folds: HashMap<String, ReplyFold> = HashMap::new();
        let mut pending_inputs = Vec::new();
        let mut after = open.iter().map(|info| info.start_seq - 1).min().unwrap_or(row.head);
        while after < row.head {
            let entries = view.entries(&key, after, PAGE)?;
            for entry in &entries {
                let event = Event::from_slice(&entry.body).map_err(|error| Error::BadEntry {
                    session: key.clone(),
                    seq: entry.last,
                    problem: error.to_string(),
                })?;
                if let EventKind::ReplyStart(start) = &event.kind
                    && !folds.contains_key(&*start.reply_id)
                    && open.iter().any(|info| info.id == start.reply_id)
                {
                    folds.extend(ReplyFold::start(&event).map(|fold| (start.reply_id.to_string(), fold)));
                } else if has_reply_id_in_value(&event) {
                    // Each fold ignores events of other replies.
                    folds.values_mut().for_each(|fold| drop(fold.apply(&event)));
                } else if let Some(fold) = event.reply_id().and_then(|id| folds.get_mut(id)) {
                    if is_input(&event) && entry.last > last_input_seq {
                        let event = event.into_owned();
                        pending_inputs.push(PendingInput { seq: entry.last, event, is_offered: false });
                    } else {
                        let _ = fold.apply(&event);
                    }
                }
            }
            after = entries.last().map_or(row.head, |entry| entry.last);
        }
        Ok(RebuiltReplies { folds, pending_inputs, cursor: Cursor { epoch: row.epoch, seq: row.head } })
    })
    .await
}

/// Whether an event is a custom event that names its reply in its value.
fn has_reply_id_in_value(event: &Event<'_>) -> bool {
    match &event.kind {
        EventKind::Custom(custom) => matches!(custom.recount_name(), Some(CustomName::Block | CustomName::Call)),
        _ => false,
    }
}
