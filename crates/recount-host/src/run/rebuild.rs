//! Replies that have not ended, as their agent has them.

use std::collections::HashMap;

use recount_log::storage::{Limit, OpenReplyInfo};
use recount_log::{Cursor, Error, Log, Session};
use recount_message::{CustomName, Event, EventKind, ReplyFold};

use crate::run_state::{PendingInput, is_input};

/// How much is read at once.
const PAGE: Limit = Limit { count: 4_096, bytes: 4 << 20 };

/// Replies that have not ended, as their agent has them: without the inputs that it has not taken yet.
pub(super) struct RebuiltReplies {
    /// Those that were asked for and are open, by their ids.
    pub(super) folds: HashMap<String, ReplyFold>,
    pub(super) untaken: Vec<PendingInput>,
    /// Where the log was.
    pub(super) cursor: Cursor,
}

/// Folds replies again from their entries. The agent has taken the inputs up to `read`.
pub(super) async fn rebuild_replies(
    log: &Log,
    session: &Session,
    wanted: impl Fn(&OpenReplyInfo) -> bool + Send + 'static,
    read: u64,
) -> Result<RebuiltReplies, Error> {
    let key = session.key().clone();
    log.read(move |view| {
        let row = view.session(&key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
        let opened: Vec<OpenReplyInfo> = view.open_reply_infos(&key)?.into_iter().filter(wanted).collect();
        let mut folds: HashMap<String, ReplyFold> = HashMap::new();
        let mut untaken = Vec::new();
        let mut after = opened.iter().map(|opened| opened.start_seq - 1).min().unwrap_or(row.head);
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
                    && opened.iter().any(|opened| opened.id == start.reply_id)
                {
                    folds.extend(ReplyFold::start(&event).map(|fold| (start.reply_id.to_string(), fold)));
                } else if is_in_value(&event) {
                    // Each fold looks whether it is meant.
                    folds.values_mut().for_each(|fold| drop(fold.apply(&event)));
                } else if let Some(fold) = event.reply_id().and_then(|id| folds.get_mut(id)) {
                    if is_input(&event) && entry.last > read {
                        untaken.push(PendingInput { seq: entry.last, event: event.into_owned(), is_offered: false });
                    } else {
                        let _ = fold.apply(&event);
                    }
                }
            }
            after = entries.last().map_or(row.head, |entry| entry.last);
        }
        Ok(RebuiltReplies { folds, untaken, cursor: Cursor { epoch: row.epoch, seq: row.head } })
    })
    .await
}

/// Whether an event says in its value which reply it is about.
fn is_in_value(event: &Event<'_>) -> bool {
    match &event.kind {
        EventKind::Custom(custom) => matches!(custom.own_name(), Some(CustomName::Block | CustomName::Call)),
        _ => false,
    }
}
