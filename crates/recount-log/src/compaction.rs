//! Merges adjacent deltas of a block into one event.
//!
//! The merged event has the id and time of the first delta and the content of all of them, so every fold stays the same.
//! Only adjacent entries are merged, so a reader receives whole entries, and cursors between them keep their meaning.

use std::borrow::Cow;

use bytes::Bytes;
use recount_message::{AgentEvent, Event, EventKind};

use crate::storage::EntryRow;

/// The maximum size of the content of a merged event in bytes.
const LARGEST: usize = 32 * 1024;

/// An entry that replaces adjacent entries, and their number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MergedRow {
    pub(crate) row: EntryRow,
    pub(crate) of: u64,
}

/// Merges adjacent deltas of the replies for which `may_merge` returns `true`. Entries that cannot be decoded stay unchanged.
pub(crate) fn merge_deltas(rows: &[EntryRow], mut may_merge: impl FnMut(&str) -> bool) -> Vec<MergedRow> {
    let mut merged = Vec::new();
    let mut run: Option<Run> = None;
    for row in rows {
        if let Some(run) = &mut run
            && run.merge(row, &mut may_merge)
        {
            continue;
        }
        merged.extend(run.replace(Run::start(row)).map(Run::finish));
    }
    merged.extend(run.map(Run::finish));
    merged
}

/// Adjacent deltas that are being merged.
struct Run {
    row: EntryRow,
    of: u64,
    /// The merged delta. `None` if the entry is not a delta that can be merged.
    event: Option<AgentEvent>,
}

impl Run {
    fn start(row: &EntryRow) -> Self {
        let event = Event::from_slice(&row.body).ok().filter(|event| delta(&event.kind).is_some());
        Self { row: row.clone(), of: 1, event: event.map(Event::into_owned) }
    }

    /// Merges a row into the run. Returns `false` if it does not continue the run.
    fn merge(&mut self, row: &EntryRow, may_merge: &mut impl FnMut(&str) -> bool) -> bool {
        let Some(event) = &mut self.event else { return false };
        let Ok(more) = Event::from_slice(&row.body) else { return false };
        if row.first != self.row.last + 1 || !continues(event, &more) || !more.reply_id().is_some_and(may_merge) {
            return false;
        }
        let (Some(text), Some(Delta { text: more, .. })) = (delta_mut(&mut event.kind), delta(&more.kind)) else {
            return false;
        };
        if text.len() + more.len() > LARGEST {
            return false;
        }
        text.to_mut().push_str(more);
        self.row.last = row.last;
        self.of += 1;
        true
    }

    fn finish(mut self) -> MergedRow {
        if self.of > 1
            && let Some(event) = &self.event
        {
            self.row.body = Bytes::from(event.to_json());
        }
        MergedRow { row: self.row, of: self.of }
    }
}

/// The content of a delta, and its target.
#[derive(PartialEq, Eq)]
struct Delta<'e> {
    reply_id: &'e str,
    kind: u8,
    block_id: &'e str,
    item_id: Option<&'e str>,
    media_type: &'e str,
    text: &'e str,
}

fn delta<'e>(kind: &'e EventKind<'_>) -> Option<Delta<'e>> {
    let plain = |number, reply_id, block_id, text| {
        Some(Delta { reply_id, kind: number, block_id, item_id: None, media_type: "", text })
    };
    match kind {
        EventKind::TextBlockDelta(kind) => plain(0, &kind.reply_id, &kind.block_id, &kind.delta),
        EventKind::ThinkingBlockDelta(kind) => plain(1, &kind.reply_id, &kind.block_id, &kind.delta),
        EventKind::ToolCallDelta(kind) => plain(2, &kind.reply_id, &kind.tool_call_id, &kind.delta),
        EventKind::ToolResultTextDelta(kind) => plain(3, &kind.reply_id, &kind.tool_call_id, &kind.delta),
        EventKind::DataBlockDelta(kind) => {
            let text = kind.data.as_deref().filter(|data| is_plain_base64(data))?;
            let delta = plain(4, &kind.reply_id, &kind.block_id, text)?;
            Some(Delta { media_type: &kind.media_type, ..delta })
        }
        EventKind::ToolResultDataDelta(kind) => {
            let text = kind.data.as_deref().filter(|data| is_plain_base64(data))?;
            let delta = plain(5, &kind.reply_id, &kind.tool_call_id, text)?;
            // Without an id every delta starts a new item.
            Some(Delta { item_id: Some(kind.block_id.as_deref()?), media_type: &kind.media_type, ..delta })
        }
        _ => None,
    }
}

fn delta_mut<'e, 'a>(kind: &'e mut EventKind<'a>) -> Option<&'e mut Cow<'a, str>> {
    match kind {
        EventKind::TextBlockDelta(kind) => Some(&mut kind.delta),
        EventKind::ThinkingBlockDelta(kind) => Some(&mut kind.delta),
        EventKind::ToolCallDelta(kind) => Some(&mut kind.delta),
        EventKind::ToolResultTextDelta(kind) => Some(&mut kind.delta),
        EventKind::DataBlockDelta(kind) => kind.data.as_mut(),
        EventKind::ToolResultDataDelta(kind) => kind.data.as_mut(),
        _ => None,
    }
}

/// Whether the text consists of whole base64 groups without padding. Two such texts can be concatenated. With padding or a
/// partial group, the result would depend on the text before them.
fn is_plain_base64(data: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    data.len().is_multiple_of(4) && data.bytes().all(is_digit)
}

/// Whether a delta has the same target as another one, and no other content of its own.
fn continues(event: &Event<'_>, more: &Event<'_>) -> bool {
    let (Some(first), Some(second)) = (delta(&event.kind), delta(&more.kind)) else { return false };
    let is_same_target = Delta { text: "", ..first } == Delta { text: "", ..second };
    is_same_target && event.metadata == more.metadata && event.extra == more.extra
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pretty_assertions::assert_eq;
    use recount_message::Fold;

    use super::*;

    fn rows(events: &[AgentEvent]) -> Vec<EntryRow> {
        let texts = events.iter().map(|event| Bytes::from(event.to_json()));
        texts.zip(1..).map(|(body, seq)| EntryRow { first: seq, last: seq, body }).collect()
    }

    fn folded(rows: &[EntryRow]) -> Vec<String> {
        let mut fold = Fold::new();
        for row in rows {
            let _ = fold.apply(&Event::from_slice(&row.body).unwrap());
        }
        fold.messages().map(recount_message::Msg::to_json).collect()
    }

    #[test]
    fn merging_keeps_messages_and_numbers() {
        let mut spared = 0;
        for seed in 0..400 {
            let events = if seed % 2 == 0 { recount_testkit::legal(seed) } else { recount_testkit::illegal(seed) };
            let rows = rows(&events);
            let joined: Vec<MergedRow> = merge_deltas(&rows, |_| true);
            let short: Vec<EntryRow> = joined.iter().map(|joined| joined.row.clone()).collect();
            assert_eq!(folded(&short), folded(&rows), "seed {seed}");
            assert_eq!(joined.iter().map(|joined| joined.of).sum::<u64>(), rows.len() as u64);
            let mut next = 1;
            for row in &short {
                assert_eq!(row.first, next);
                next = row.last + 1;
            }
            assert_eq!(next, rows.len() as u64 + 1);
            spared += rows.len() - short.len();
        }
        assert!(spared > 100, "too few entries were merged: {spared}");
    }

    #[test]
    fn merged_delta_has_id_and_time_of_the_first() {
        let delta = |id: &str, text: &str| {
            let body = format!(
                r#"{{"id":"{id}","created_at":"t{id}","metadata":{{}},"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"{text}"}}"#
            );
            Event::from_json(&body).unwrap().into_owned()
        };
        let joined = merge_deltas(&rows(&[delta("e1", "Hel"), delta("e2", "lo"), delta("e3", "!")]), |_| true);
        assert_eq!(joined.len(), 1);
        assert_eq!((joined[0].row.first, joined[0].row.last, joined[0].of), (1, 3, 3));
        assert_eq!(joined[0].row.body, Bytes::from(delta("e1", "Hello!").to_json()));
    }
}
