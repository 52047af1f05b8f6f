//! A stream for a reader that folds it with the package's own `appendEvent`.
//!
//! That fold differs from the native one: it finds the first block of an id and not the newest, pushes a block at every
//! start, closes nothing at the end of a reply, takes each piece of data for whole base64, and knows neither data at a URL
//! nor a text that is replaced. What it would get wrong is told to it in other words. A frame is then of one of three
//! sorts: one that means the same to both sides; one *for TypeScript* alone, which natively says nothing; and one that
//! *stands for* the event, which the package's fold passes over because it is a CUSTOM event.

mod calls;
mod data;
mod results;
mod whole;

use std::borrow::Cow;

use recount_message::{ContentBlock, CustomName, Event, EventKind, Fold, TextBlockDeltaEvent};

use super::{kept, plain, write_clean_event, write_event};
use crate::native;
use crate::view::{Begins, Kind, View, kind_of};

/// What a reader gets for an event that comes at a state.
pub(crate) fn frames(before: &Fold, event: &Event<'_>) -> Vec<String> {
    let mut frames = Frames { event, frames: Vec::new() };
    match (&event.kind, event.reply_id()) {
        (EventKind::Custom(custom), _) => match custom.own_name() {
            Some(CustomName::Block) => whole::block(&mut frames, before, custom),
            Some(CustomName::Call) => calls::step(&mut frames, before, custom),
            _ => frames.same(),
        },
        (EventKind::ReplyStart(start), _) => {
            // A reply that has ended does not begin again, and the package would take it for going on.
            if before.reply(&start.reply_id).is_none() || before.open_reply(&start.reply_id).is_some() {
                frames.same();
            }
        }
        (_, Some(reply_id)) => {
            if let Some(reply) = before.open_reply(reply_id) {
                of_reply(&mut frames, &View::of(reply));
            }
        }
        (_, None) => frames.same(),
    }
    frames.frames
}

/// What a reader gets who joins at a state.
pub(crate) fn prelude(at: &Fold) -> Vec<String> {
    let mut told = Fold::new();
    let mut all = Vec::new();
    for event in native::rebuilt(at) {
        all.extend(frames(&told, &event));
        let _ = told.apply(&event);
    }
    all
}

/// An event of a reply that is open.
fn of_reply(frames: &mut Frames<'_>, view: &View<'_>) {
    let event = frames.event;
    match &event.kind {
        EventKind::TextBlockStart(kind) => start(frames, view, Kind::Text, &kind.block_id),
        EventKind::ThinkingBlockStart(kind) => start(frames, view, Kind::Thinking, &kind.block_id),
        EventKind::ToolCallStart(kind) => start(frames, view, Kind::ToolCall, &kind.tool_call_id),
        EventKind::DataBlockStart(kind) => data::start(frames, view, kind),
        EventKind::ToolResultStart(kind) => results::start(frames, view, kind),
        EventKind::TextBlockDelta(kind) => to_open(frames, view, Kind::Text, &kind.block_id),
        EventKind::ThinkingBlockDelta(kind) => to_open(frames, view, Kind::Thinking, &kind.block_id),
        EventKind::ThinkingBlockEnd(kind) => to_open(frames, view, Kind::Thinking, &kind.block_id),
        EventKind::ToolCallDelta(kind) => to_open(frames, view, Kind::ToolCall, &kind.tool_call_id),
        EventKind::ToolCallEnd(kind) => to_open(frames, view, Kind::ToolCall, &kind.tool_call_id),
        EventKind::TextBlockEnd(kind) => text_end(frames, view, &kind.block_id, kind.text.as_deref()),
        EventKind::DataBlockDelta(kind) => data::delta(frames, view, kind),
        EventKind::DataBlockEnd(kind) => data::end(frames, view, &kind.block_id),
        EventKind::ToolResultTextDelta(kind) => results::text(frames, view, &kind.tool_call_id),
        EventKind::ToolResultDataDelta(kind) => results::data(frames, view, kind),
        EventKind::ToolResultEnd(kind) => results::end(frames, view, &kind.tool_call_id),
        EventKind::HintBlock(_) => {
            data::release(frames, view);
            frames.same();
        }
        EventKind::RequireUserConfirm(kind) => calls::named(frames, view, &kind.tool_calls),
        EventKind::RequireExternalExecution(kind) => calls::named(frames, view, &kind.tool_calls),
        EventKind::UserConfirmResult(kind) => calls::answered(frames, view, &kind.confirm_results),
        EventKind::ExternalExecutionResult(kind) => results::external(frames, view, &kind.execution_results),
        // The package would add zeros that mean nothing.
        EventKind::ModelCallEnd(_)
            if event.carried("usage").and_then(|usage| usage.to_text()).as_deref() == Some("unknown") =>
        {
            frames.standing();
        }
        EventKind::ReplyEnd(_) => {
            end_all(frames, view);
            frames.same();
        }
        _ => frames.same(),
    }
}

/// A block begins, is opened again, or is open already.
fn start(frames: &mut Frames<'_>, view: &View<'_>, kind: Kind, id: &str) {
    match view.begins(kind, id) {
        Begins::Nothing => {}
        Begins::Again(_) => frames.standing(),
        Begins::New => {
            data::release(frames, view);
            frames.under(id, &view.next_id(kind, id));
        }
    }
}

/// Something for an open block that means the same to both sides.
fn to_open(frames: &mut Frames<'_>, view: &View<'_>, kind: Kind, id: &str) {
    if let Some(index) = view.open(kind, id) {
        frames.under(id, &view.id_of(index));
    }
}

/// The end of a text. The package cannot replace a text, but it can go on with one.
fn text_end(frames: &mut Frames<'_>, view: &View<'_>, id: &str, text: Option<&str>) {
    let Some(index) = view.open(Kind::Text, id) else { return };
    let Some(ContentBlock::Text(block)) = view.content.get(index) else { return };
    let id_there = view.id_of(index);
    let Some(rest) = text.and_then(|text| text.strip_prefix(block.text.as_str())) else {
        return frames.under(id, &id_there);
    };
    if id != id_there {
        if !rest.is_empty() {
            frames.for_typescript(&frames.event.created_at, delta(view, &id_there, rest));
        }
        return frames.under(id, &id_there);
    }
    let mut end = frames.event.clone();
    if let EventKind::TextBlockEnd(kind) = &mut end.kind {
        kind.text = None;
    }
    if !rest.is_empty() {
        let event = Event::stamped(format!("{}.0", frames.event.id), &*frames.event.created_at, delta(view, id, rest));
        frames.write(&event);
    }
    frames.write(&end);
}

fn delta(view: &View<'_>, id: &str, text: &str) -> TextBlockDeltaEvent<'static> {
    TextBlockDeltaEvent { reply_id: view.reply_id(), block_id: id.to_owned().into(), delta: text.to_owned().into() }
}

/// Ends what is open, because the package does not do so at the end of a reply.
fn end_all(frames: &mut Frames<'_>, view: &View<'_>) {
    data::release(frames, view);
    for (index, block) in view.content.iter().enumerate() {
        if block.finished_at().is_some() {
            continue;
        }
        let id = view.id_of(index);
        match block {
            ContentBlock::Text(_) | ContentBlock::Thinking(_) | ContentBlock::ToolCall(_) => {}
            ContentBlock::Data(block) => data::last_piece(frames, view, block, &id),
            ContentBlock::ToolResult(result) => {
                results::release(frames, view, index);
                // The end of a result would finish its call too.
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
            frames.event_for_typescript(event);
        }
    }
}

/// The frames of one event.
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

    /// The event as it is: it means the same to both sides.
    fn same(&mut self) {
        self.write(self.event);
    }

    /// A frame that stands for the event and that the package's fold does not look at.
    fn standing(&mut self) {
        let mut frame = String::new();
        kept::write_standing_for(self.event, &mut frame);
        self.frames.push(frame);
    }

    /// The event for a block that may have another id in TypeScript.
    fn under(&mut self, id: &str, id_there: &str) {
        if id == id_there {
            return self.same();
        }
        let mut event = self.event.clone();
        if let Some(id) = block_id_mut(&mut event.kind) {
            *id = id_there.to_owned().into();
        }
        self.event_for_typescript(event);
        self.standing();
    }

    /// Something that only the package's fold is told.
    fn for_typescript(&mut self, time: &str, kind: impl Into<EventKind<'static>>) {
        self.event_for_typescript(Event::stamped("", time.to_owned(), kind));
    }

    fn event_for_typescript(&mut self, mut event: Event<'_>) {
        event.id = format!("{}.{}", self.event.id, self.frames.len()).into();
        kept::mark_for_typescript(&mut event);
        let mut frame = String::new();
        write_clean_event(&event, &mut frame);
        self.frames.push(frame);
    }

    /// A block that the package's fold appends as it is. Where it has no end yet it gets one.
    fn push_for_typescript(&mut self, view: &View<'_>, block: &ContentBlock) {
        let nothing = recount_message::UserInterruptEvent::new("");
        let mut event =
            Event::stamped(format!("{}.{}", self.event.id, self.frames.len()), &*self.event.created_at, nothing);
        kept::mark_for_typescript(&mut event);
        let mut frame = String::new();
        plain::pushed(&mut frame, &event, &view.reply_id(), block);
        self.frames.push(frame);
    }
}

/// The id of the block or call that an event is about.
fn block_id_mut<'k, 'a>(kind: &'k mut EventKind<'a>) -> Option<&'k mut Cow<'a, str>> {
    Some(match kind {
        EventKind::TextBlockStart(kind) => &mut kind.block_id,
        EventKind::TextBlockDelta(kind) => &mut kind.block_id,
        EventKind::TextBlockEnd(kind) => &mut kind.block_id,
        EventKind::ThinkingBlockStart(kind) => &mut kind.block_id,
        EventKind::ThinkingBlockDelta(kind) => &mut kind.block_id,
        EventKind::ThinkingBlockEnd(kind) => &mut kind.block_id,
        EventKind::DataBlockStart(kind) => &mut kind.block_id,
        EventKind::DataBlockDelta(kind) => &mut kind.block_id,
        EventKind::DataBlockEnd(kind) => &mut kind.block_id,
        EventKind::ToolCallStart(kind) => &mut kind.tool_call_id,
        EventKind::ToolCallDelta(kind) => &mut kind.tool_call_id,
        EventKind::ToolCallEnd(kind) => &mut kind.tool_call_id,
        EventKind::ToolResultStart(kind) => &mut kind.tool_call_id,
        EventKind::ToolResultTextDelta(kind) => &mut kind.tool_call_id,
        EventKind::ToolResultDataDelta(kind) => &mut kind.tool_call_id,
        EventKind::ToolResultEnd(kind) => &mut kind.tool_call_id,
        _ => return None,
    })
}

/// What a TypeScript reader has of the blocks of a reply.
impl<'f> View<'f> {
    fn reply_id(&self) -> Cow<'static, str> {
        self.reply.message().id().to_owned().into()
    }

    /// The id of a block in TypeScript, where each block of a kind has its own. A result has that of its call.
    fn id_of(&self, index: usize) -> Cow<'f, str> {
        let Some(block) = self.content.get(index) else { return Cow::Borrowed("") };
        let id = block.id();
        let Some(kind) = kind_of(block) else { return id };
        if kind == Kind::ToolResult {
            let calls = self.places(Kind::ToolCall, &id).take_while(|&call| call < index).count();
            return numbered(id, calls);
        }
        let place = self.places(kind, &id).take_while(|&place| place < index).count();
        if kind == Kind::Data && self.has_result_before(index, &id) {
            return numbered(format!("{id}~data").into(), place + 1);
        }
        numbered(id, place + 1)
    }

    /// Whether a result has the id of a later block, which the package would pass over then if it came whole.
    fn has_result_before(&self, index: usize, id: &str) -> bool {
        self.places(Kind::ToolResult, id).next().is_some_and(|result| result < index)
    }

    /// The id that the next block of a kind has in TypeScript.
    fn next_id<'i>(&self, kind: Kind, id: &'i str) -> Cow<'i, str> {
        let place = match kind {
            Kind::ToolResult => self.places(Kind::ToolCall, id).count(),
            _ => self.places(kind, id).count() + 1,
        };
        if kind == Kind::Data && self.has_result_before(self.content.len(), id) {
            return numbered(format!("{id}~data").into(), place);
        }
        numbered(Cow::Borrowed(id), place)
    }

    /// The id that the newest call with an id has in TypeScript.
    fn call_id<'i>(&self, id: &'i str) -> Cow<'i, str> {
        numbered(Cow::Borrowed(id), self.places(Kind::ToolCall, id).count())
    }

    fn is_finished_call(&self, id: &str) -> bool {
        let call = self.newest(Kind::ToolCall, id).and_then(|index| self.content.get(index));
        matches!(call, Some(ContentBlock::ToolCall(call)) if call.state == recount_message::ToolCallState::Finished)
    }
}

/// The id of the nth block with it.
fn numbered(id: Cow<'_, str>, number: usize) -> Cow<'_, str> {
    if number <= 1 { id } else { format!("{id}~{number}").into() }
}
