//! Plans compactions.

use hashbrown::HashMap;

use super::plan::Plan;
use super::planning::existing;
use crate::compaction::merge_deltas;
use crate::request::Compacted;
use crate::storage::{PageLimit, View, Write};
use crate::{Error, SessionKey};

/// The size of one compaction, small enough that appends are not delayed noticeably.
const PAGE: PageLimit = PageLimit { count: 512, bytes: 512 * 1024 };

/// Merges the deltas of one page of a session's entries.
pub(super) fn compact(
    view: &dyn View,
    key: &SessionKey,
    after: u64,
    before: i64,
    plan: &mut Plan,
) -> Result<Compacted, Error> {
    let epoch = existing(view, key)?.epoch;
    let until = view.last_settled(key, before)?;
    let mut entries = view.entries(key, after, PAGE)?;
    entries.retain(|entry| entry.last <= until);
    // The ids of merged deltas are lost for deduplication. An ended reply ignores late deltas anyway.
    let mut ended: HashMap<String, bool> = HashMap::new();
    let merged = merge_deltas(&entries, |reply| match ended.get(reply) {
        Some(&has_ended) => has_ended,
        None => {
            let has_ended = matches!(view.reply_end_seq(key, reply), Ok(Some(end)) if end <= until);
            ended.insert(reply.to_owned(), has_ended);
            has_ended
        }
    });
    let next = entries.last().map(|entry| entry.last).filter(|&last| last < until);
    let counts = Compacted {
        entries: entries.len() as u64,
        rows: merged.len() as u64,
        last: entries.last().map_or(after, |entry| entry.last),
        next,
        has_left: ended.values().any(|has_ended| !has_ended),
    };
    let rows: Vec<_> = merged.into_iter().filter(|merged| merged.of > 1).map(|merged| merged.row).collect();
    if !rows.is_empty() {
        plan.writes.push(Write::Compact { key: key.clone(), epoch, rows });
    }
    Ok(counts)
}
