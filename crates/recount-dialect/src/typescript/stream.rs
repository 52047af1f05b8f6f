//! A stream for readers that fold it with the package's own `appendEvent`.
//!
//! That fold differs from the native one. It finds the first block with an id instead of the latest, appends a block at
//! every start, leaves blocks open at the end of a reply, and treats each piece of data as complete base64. It does not
//! support data at a URL or replaced text. Events that it would fold incorrectly are therefore rewritten. A frame is one
//! of three kinds: an event with the same meaning on both sides, a *TypeScript-only* event that the native fold ignores,
//! or a *carrier*, a CUSTOM event that the package's fold ignores.

mod calls;
mod data;
mod results;
mod whole;

use std::borrow::Cow;

use recount_message::{ContentBlock, CustomName, Event, EventKind, Fold, TextBlockDeltaEvent};

use super::{native_only, write, write_event, write_event_without_spelling};
use crate::event_ids::block_or_call_id_mut;
use crate::native;
use crate::reply_view::{BlockKind, ReplyView, StartEffect, kind_of};

/// Returns the frames for an event. `before` is the fold of all preceding events.
pub(crate) fn frames(before: &Fold, event: &Event<'_>) -> Vec<String> {
    let mut frames = Frames { event, frames: Vec::new() };
    match (&event.kind, event.reply_id()) {
        (EventKind::Custom(custom), _) => match custom.recount_name() {
            Some(CustomName::Block) => whole::block(&mut frames, before, custom),
            Some(CustomName::Call) => calls::change_state(&mut frames, before, custom),
            _ => frames.forward(),
        },
        (EventKind::ReplyStart(start), _) => {
            // The native fold ignores a second start of an ended reply, but the package would continue the reply.
            if before.reply(&start.reply_id).is_none() || before.open_reply(&start.reply_id).is_some() {
                frames.forward();
            }
        }
        (_, Some(reply_id)) => {
            if let Some(reply) = before.open_reply(reply_id) {
                in_reply(&mut frames, &ReplyView::of(reply));
            }
        }
        (_, None) => frames.forward(),
    }
    frames.frames
}

/// Returns the first frames for a reader who joins.
pub(crate) fn prelude(at: &Fold) -> Vec<String> {
    native::replay_as(at, frames)
}

/// Writes the frames for an event of an open reply.
fn in_reply(frames: &mut Frames<'_>, view: &ReplyView<'_>) {
    let event = frames.event;
    match &event.kind {
        EventKind::TextBlockStart(kind) => start(frames, view, BlockKind::Text, &kind.block_id),
        EventKind::ThinkingBlockStart(kind) => start(frames, view, BlockKind::Thinking, &kind.block_id),
        EventKind::ToolCallStart(kind) => start(frames, view, BlockKind::ToolCall, &kind.tool_call_id),
        EventKind::DataBlockStart(kind) => data::start(frames, view, kind),
        EventKind::ToolResultStart(kind) => results::start(frames, view, kind),
        EventKind::TextBlockDelta(kind) => forward_if_open(frames, view, BlockKind::Text, &kind.block_id),
        EventKind::ThinkingBlockDelta(kind) => forward_if_open(frames, view, BlockKind::Thinking, &kind.block_id),
        EventKind::ThinkingBlockEnd(kind) => forward_if_open(frames, view, BlockKind::Thinking, &kind.block_id),
        EventKind::ToolCallDelta(kind) => forward_if_open(frames, view, BlockKind::ToolCall, &kind.tool_call_id),
        EventKind::ToolCallEnd(kind) => forward_if_open(frames, view, BlockKind::ToolCall, &kind.tool_call_id),
        EventKind::TextBlockEnd(kind) => text_end(frames, view, &kind.block_id, kind.text.as_deref()),
        EventKind::DataBlockDelta(kind) => data::delta(frames, view, kind),
        EventKind::DataBlockEnd(kind) => data::end(frames, view, &kind.block_id),
        EventKind::ToolResultTextDelta(kind) => results::text(frames, view, &kind.tool_call_id),
        EventKind::ToolResultDataDelta(kind) => results::data(frames, view, kind),
        EventKind::ToolResultEnd(kind) => results::end(frames, view, &kind.tool_call_id),
        EventKind::HintBlock(_) => {
            data::flush_held(frames, view);
            frames.forward();
        }
        EventKind::RequireUserConfirm(kind) => calls::listed_calls(frames, view, &kind.tool_calls),
        EventKind::RequireExternalExecution(kind) => calls::listed_calls(frames, view, &kind.tool_calls),
        EventKind::UserConfirmResult(kind) => calls::confirmed(frames, view, &kind.confirm_results),
        EventKind::ExternalExecutionResult(kind) => results::external(frames, view, &kind.execution_results),
        // The package would add zeros.
        EventKind::ModelCallEnd(_)
            if event.extension("usage").and_then(|usage| usage.as_str().map(str::to_owned)).as_deref()
                == Some("unknown") =>
        {
            frames.carrier();
        }
        EventKind::ReplyEnd(_) => {
            end_open_blocks(frames, view);
            frames.forward();
        }
        _ => frames.forward(),
    }
}

/// Writes the start of a block, which can also reopen a block or be ignored.
fn start(frames: &mut Frames<'_>, view: &ReplyView<'_>, kind: BlockKind, id: &str) {
    match view.start_effect(kind, id) {
        StartEffect::Ignored => {}
        StartEffect::Reopen(_) => frames.carrier(),
        StartEffect::Append => {
            data::flush_held(frames, view);
            frames.forward_as(id, &view.next_typescript_id(kind, id));
        }
    }
}

/// Forwards an event that has the same meaning on both sides if its block is open.
fn forward_if_open(frames: &mut Frames<'_>, view: &ReplyView<'_>, kind: BlockKind, id: &str) {
    if let Some(index) = view.open(kind, id) {
        frames.forward_as(id, &view.typescript_id_of(index));
    }
}

/// Writes the end of a text. The package cannot replace a text, but it can append to one.
fn text_end(frames: &mut Frames<'_>, view: &ReplyView<'_>, id: &str, text: Option<&str>) {
    let Some(index) = view.open(BlockKind::Text, id) else { return };
    let Some(ContentBlock::Text(block)) = view.content.get(index) else { return };
    let typescript_id = view.typescript_id_of(index);
    let Some(suffix) = text.and_then(|text| text.strip_prefix(block.text.as_str())) else {
        return frames.forward_as(id, &typescript_id);
    };
    if id != typescript_id {
        if !suffix.is_empty() {
            frames.typescript_only(&frames.event.created_at, delta(view, &typescript_id, suffix));
        }
        return frames.forward_as(id, &typescript_id);
    }
    let mut end = frames.event.clone();
    if let EventKind::TextBlockEnd(kind) = &mut end.kind {
        kind.text = None;
    }
    if !suffix.is_empty() {
        let event =
            Event::stamped(format!("{}.0", frames.event.id), &*frames.event.created_at, delta(view, id, suffix));
        frames.write(&event);
    }
    frames.write(&end);
}

fn delta(view: &ReplyView<'_>, id: &str, text: &str) -> TextBlockDeltaEvent<'static> {
    TextBlockDeltaEvent::new(view.reply_id(), id.to_owned(), text.to_owned())
}

/// Ends all open blocks, because the package does not do so at the end of a reply.
fn end_open_blocks(frames: &mut Frames<'_>, view: &ReplyView<'_>) {
    data::flush_held(frames, view);
    for (index, block) in view.content.iter().enumerate() {
        if block.finished_at().is_some() {
            continue;
        }
        let id = view.typescript_id_of(index);
        match block {
            ContentBlock::Text(_) | ContentBlock::Thinking(_) | ContentBlock::ToolCall(_) => {}
            ContentBlock::Data(block) => data::last_piece(frames, view, block, &id),
            ContentBlock::ToolResult(result) => {
                results::flush_held(frames, view, index);
                // The end of a result would also finish its call.
                if !view.is_finished_call(&result.id) {
                    continue;
                }
            }
            _ => continue,
        }
        if let Some(end) = whole::end_of(view, block, &id) {
            let mut event = Event::stamped("", &*frames.event.created_at, end);
            if let ContentBlock::ToolResult(result) = block {
                event.metadata = result.metadata.clone();
            }
            frames.typescript_only_event(event);
        }
    }
}

/// The frames for one event.
struct Frames<'e> {
    event: &'e Event<'e>,
    frames: Vec<String>,
}

impl Frames<'_> {
    fn write(&mut self, event: &Event<'_>) {
        let mut frame = String::with_capacity(192);
        write_event(event, &mut frame);
        self.frames.push(frame);
    }

    /// Writes the event unchanged.
    fn forward(&mut self) {
        self.write(self.event);
    }

    /// Writes a carrier of the event.
    fn carrier(&mut self) {
        let mut frame = String::new();
        native_only::write_carrier(self.event, &mut frame);
        self.frames.push(frame);
    }

    /// Writes the event with the id that its block has in TypeScript.
    fn forward_as(&mut self, id: &str, typescript_id: &str) {
        if id == typescript_id {
            return self.forward();
        }
        let mut event = self.event.clone();
        if let Some(id) = block_or_call_id_mut(&mut event.kind) {
            *id = typescript_id.to_owned().into();
        }
        self.typescript_only_event(event);
        self.carrier();
    }

    /// Writes a TypeScript-only event.
    fn typescript_only(&mut self, time: &str, kind: impl Into<EventKind<'static>>) {
        self.typescript_only_event(Event::stamped("", time.to_owned(), kind));
    }

    fn typescript_only_event(&mut self, mut event: Event<'_>) {
        event.id = format!("{}.{}", self.event.id, self.frames.len()).into();
        native_only::mark_typescript_only(&mut event);
        let mut frame = String::new();
        write_event_without_spelling(&event, &mut frame);
        self.frames.push(frame);
    }

    /// Writes a block that the package's fold appends complete. The fold ends the block if it is open.
    fn append_typescript_only(&mut self, view: &ReplyView<'_>, block: &ContentBlock) {
        let nothing = recount_message::UserInterruptEvent::new("");
        let mut event =
            Event::stamped(format!("{}.{}", self.event.id, self.frames.len()), &*self.event.created_at, nothing);
        native_only::mark_typescript_only(&mut event);
        let mut frame = String::new();
        write::pushed_block(&mut frame, &event, &view.reply_id(), block);
        self.frames.push(frame);
    }
}

/// The ids of blocks in TypeScript.
impl<'f> ReplyView<'f> {
    fn reply_id(&self) -> Cow<'static, str> {
        self.reply.message().id().to_owned().into()
    }

    /// Returns the id of a block in TypeScript, where each block of a kind has an id of its own. A result has the id of
    /// its call.
    fn typescript_id_of(&self, index: usize) -> Cow<'f, str> {
        let Some(block) = self.content.get(index) else { return Cow::Borrowed("") };
        let id = Cow::Borrowed(block.id());
        let Some(kind) = kind_of(block) else { return id };
        if kind == BlockKind::ToolResult {
            let calls = self.indexes(BlockKind::ToolCall, &id).take_while(|&call| call < index).count();
            return numbered(id, calls);
        }
        let position = self.indexes(kind, &id).take_while(|&other| other < index).count();
        if kind == BlockKind::Data && self.has_earlier_result(index, &id) {
            return numbered(format!("{id}~data").into(), position + 1);
        }
        numbered(id, position + 1)
    }

    /// Returns whether a result before `index` has this id. The package would then ignore a complete block with the same
    /// id.
    fn has_earlier_result(&self, index: usize, id: &str) -> bool {
        self.indexes(BlockKind::ToolResult, id).next().is_some_and(|result| result < index)
    }

    /// Returns the TypeScript id of the next block of a kind.
    fn next_typescript_id<'i>(&self, kind: BlockKind, id: &'i str) -> Cow<'i, str> {
        let position = match kind {
            BlockKind::ToolResult => self.indexes(BlockKind::ToolCall, id).count(),
            _ => self.indexes(kind, id).count() + 1,
        };
        if kind == BlockKind::Data && self.has_earlier_result(self.content.len(), id) {
            return numbered(format!("{id}~data").into(), position);
        }
        numbered(Cow::Borrowed(id), position)
    }

    /// Returns the TypeScript id of the latest call with this id.
    fn typescript_call_id<'i>(&self, id: &'i str) -> Cow<'i, str> {
        numbered(Cow::Borrowed(id), self.indexes(BlockKind::ToolCall, id).count())
    }

    fn is_finished_call(&self, id: &str) -> bool {
        let call = self.latest(BlockKind::ToolCall, id).and_then(|index| self.content.get(index));
        matches!(call, Some(ContentBlock::ToolCall(call)) if call.state == recount_message::ToolCallState::Finished)
    }
}

/// Returns the id of the nth block that shares an id.
fn numbered(id: Cow<'_, str>, number: usize) -> Cow<'_, str> {
    if number <= 1 { id } else { format!("{id}~{number}").into() }
}
