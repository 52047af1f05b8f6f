//! Merging adjacent deltas of a block does not change the result.

use recount_message::{AgentEvent, DataBlock, Event, EventKind, Fold, MediaBlock, Outcome, Source, ToolResultBlock};

use super::base64_merge::merged;
use super::{Verdict, ensure_same, folded, texts};
use crate::random::Random;

/// A stream in which some adjacent deltas are merged folds to the same messages.
///
/// # Errors
///
/// If the law is violated.
pub fn merging_deltas_preserves_messages(events: &[AgentEvent], seed: u64) -> Verdict {
    let mut random = Random::new(seed);
    let mut kept: Vec<MergedEvent> = Vec::new();
    let mut fold = Fold::new();
    for event in events {
        let text_before = data_text(&fold, event);
        let is_applied = fold.apply(event) == Outcome::Applied;
        let joined = (is_applied && random.chance(80)).then(|| join(&kept, event)).flatten();
        match joined {
            Some((index, delta)) => kept[index].event = delta,
            None => kept.push(MergedEvent { event: event.clone(), text_before, is_applied }),
        }
    }
    let compacted: Vec<AgentEvent> = kept.into_iter().map(|kept| kept.event).collect();
    let (short, _) = folded(&compacted);
    ensure_same!(texts(fold.messages()), texts(short.messages()), "the stream with deltas joined");
    Ok(())
}

/// An event of the merged stream.
struct MergedEvent {
    event: AgentEvent,
    /// For data deltas, the base64 before the delta.
    text_before: String,
    is_applied: bool,
}

/// Returns the index of the delta that an event can be merged into, and the merged delta.
fn join(kept: &[MergedEvent], event: &AgentEvent) -> Option<(usize, AgentEvent)> {
    let target = target(event)?;
    for (index, earlier) in kept.iter().enumerate().rev() {
        let other = self::target(&earlier.event);
        if other == Some(target) {
            return joined(earlier, event).map(|delta| (index, delta));
        }
        // Deltas of other blocks and events of other replies may be in between, but no other event.
        let is_elsewhere = earlier.event.reply_id().is_some_and(|reply| reply != target.reply);
        let is_other_block = other.is_some_and(|other| other.block != target.block);
        if !is_elsewhere && !is_other_block {
            return None;
        }
    }
    None
}

/// The content that a delta appends to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Target<'e> {
    reply: &'e str,
    kind: &'static str,
    block: &'e str,
    item: Option<&'e str>,
}

fn target<'e>(event: &'e Event<'_>) -> Option<Target<'e>> {
    let (kind, block, item): (_, &str, Option<&str>) = match &event.kind {
        EventKind::TextBlockDelta(kind) => ("text", &kind.block_id, None),
        EventKind::ThinkingBlockDelta(kind) => ("thinking", &kind.block_id, None),
        EventKind::ToolCallDelta(kind) => ("call", &kind.tool_call_id, None),
        EventKind::ToolResultTextDelta(kind) => ("result", &kind.tool_call_id, None),
        EventKind::DataBlockDelta(kind) => ("data", &kind.block_id, None),
        EventKind::ToolResultDataDelta(kind) => ("item", &kind.tool_call_id, Some(kind.block_id.as_deref()?)),
        _ => return None,
    };
    Some(Target { reply: event.reply_id()?, kind, block, item })
}

/// Merges two deltas of the same block, with the id, time and position of the first.
fn joined(first: &MergedEvent, second: &AgentEvent) -> Option<AgentEvent> {
    if !first.is_applied {
        return None;
    }
    let mut joined = first.event.clone();
    match (&mut joined.kind, &second.kind) {
        (EventKind::TextBlockDelta(kind), EventKind::TextBlockDelta(more)) => kind.delta.to_mut().push_str(&more.delta),
        (EventKind::ThinkingBlockDelta(kind), EventKind::ThinkingBlockDelta(more)) => {
            kind.delta.to_mut().push_str(&more.delta);
        }
        (EventKind::ToolCallDelta(kind), EventKind::ToolCallDelta(more)) => kind.delta.to_mut().push_str(&more.delta),
        (EventKind::ToolResultTextDelta(kind), EventKind::ToolResultTextDelta(more)) => {
            kind.delta.to_mut().push_str(&more.delta);
        }
        (EventKind::DataBlockDelta(kind), EventKind::DataBlockDelta(more)) => {
            kind.data = Some(merged(&first.text_before, kind.data.as_deref()?, more.data.as_deref()?)?.into());
        }
        (EventKind::ToolResultDataDelta(kind), EventKind::ToolResultDataDelta(more)) => {
            kind.data = Some(merged(&first.text_before, kind.data.as_deref()?, more.data.as_deref()?)?.into());
        }
        _ => return None,
    }
    Some(joined)
}

/// Returns the base64 that a data delta is appended to.
fn data_text(fold: &Fold, event: &AgentEvent) -> String {
    let message = event.reply_id().and_then(|id| fold.message(id));
    let newest = |id: &str| message?.blocks::<DataBlock>().filter(|block| block.id == id).last();
    let block = match &event.kind {
        EventKind::DataBlockDelta(kind) => newest(&kind.block_id),
        EventKind::ToolResultDataDelta(kind) => message
            .and_then(|message| {
                message.blocks::<ToolResultBlock>().filter(|result| result.id == kind.tool_call_id).last()
            })
            .and_then(|result| newest_item(result, kind.block_id.as_deref()?)),
        _ => None,
    };
    match block.map(|block| &block.source) {
        Some(Source::Base64(source)) => source.data.clone(),
        _ => String::new(),
    }
}

fn newest_item<'m>(result: &'m ToolResultBlock, id: &str) -> Option<&'m DataBlock> {
    result.output.blocks().iter().rev().find_map(|item| match item {
        MediaBlock::Data(data) if data.id == id => Some(data),
        _ => None,
    })
}
