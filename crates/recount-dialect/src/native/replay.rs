//! The events that rebuild a reply from its message.

use std::borrow::Cow;
use std::collections::HashMap;

use recount_message::wire::Fnv1a;
use recount_message::{
    AgentEvent, ContentBlock, CustomEvent, DataBlock, DataBlockDeltaEvent, DataBlockEndEvent, DataBlockStartEvent,
    Event, EventKind, FinishedReason, HintBlock, HintBlockEvent, MediaBlock, ModelCallEndEvent, ModelCallStartEvent,
    Msg, Object, Payload, ReplyEndEvent, ReplyFold, ReplyStartEvent, RequireExternalExecutionEvent,
    RequireUserConfirmEvent, Source, TextBlock, TextBlockDeltaEvent, TextBlockEndEvent, TextBlockStartEvent,
    ThinkingBlock, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent, ThinkingBlockStartEvent, ToolCallBlock,
    ToolCallDeltaEvent, ToolCallEndEvent, ToolCallStartEvent, ToolCallState, ToolResultBlock, ToolResultDataDeltaEvent,
    ToolResultEndEvent, ToolResultStartEvent, ToolResultTextDeltaEvent,
};

use crate::reply_view::{BlockKind, kind_of};

/// Returns the events that rebuild a reply. Folded, they give the same message, byte for byte, and the same call floor,
/// so that later events have the same effect.
///
/// A block is written as its start, deltas and end if they express all of it, because every dialect has these events, and
/// otherwise as one event with the block. The ids of the events are derived from their content. A reply that was built by
/// hand can hold values that no event can express, such as a result without its call or unknown fields of the message.
/// They are omitted.
pub(crate) fn replay_reply(reply: &ReplyFold) -> Vec<AgentEvent> {
    let message = reply.message();
    let Some(mut replay) = Replay::begin(message) else { return Vec::new() };
    let floor = reply.call_floor();
    for (index, block) in message.content().iter().enumerate() {
        if index > 0 && index == floor {
            replay.call_model();
        }
        replay.block(index, block);
    }
    if floor > 0 && floor == message.content().len() {
        replay.call_model();
    }
    replay.restore_call_states();
    replay.usage();
    replay.end();
    replay.events
}

#[derive(Debug)]
struct Replay<'m> {
    message: &'m Msg,
    events: Vec<AgentEvent>,
    /// The fold of the events so far.
    fold: ReplyFold,
    /// The index of the latest block of each kind and id.
    latest: HashMap<(BlockKind, Cow<'m, str>), usize>,
}

impl<'m> Replay<'m> {
    fn begin(message: &'m Msg) -> Option<Self> {
        let mut start = reply_start(message.id(), message.name(), message.created_at());
        if !message.metadata().is_empty() {
            start = start.with_extension("metadata", message.metadata().clone());
        }
        let fold = ReplyFold::start(&start)?;
        let mut replay = Self { message, events: Vec::new(), fold, latest: HashMap::new() };
        replay.push(start);
        Some(replay)
    }

    /// Adds an event that is already applied.
    fn push(&mut self, mut event: AgentEvent) {
        let number = self.events.len();
        let hash = Fnv1a::of(&event.to_json()).value();
        event.id = format!("{}:{number}:{hash:016x}", self.message.id()).into();
        self.events.push(event);
    }

    fn apply(&mut self, event: AgentEvent) {
        let _ = self.fold.apply(&event);
        self.push(event);
    }

    fn apply_kind(&mut self, kind: impl Into<EventKind<'static>>) {
        let event = Event::stamped("", self.message.created_at().to_owned(), kind);
        self.apply(event);
    }

    fn reply_id(&self) -> Cow<'static, str> {
        self.message.id().to_owned().into()
    }

    fn call_model(&mut self) {
        let reply_id = self.reply_id();
        self.apply_kind(ModelCallStartEvent::new(reply_id, ""));
    }

    fn block(&mut self, index: usize, block: &'m ContentBlock) {
        if let ContentBlock::ToolCall(call) = block
            && let Some(&earlier) = self.latest.get(&(BlockKind::ToolCall, Cow::Borrowed(call.id.as_str())))
        {
            // From here on, the id refers to the new call.
            self.restore_call_state(earlier);
        }
        match self.exact_events(block) {
            Some(events) => events.into_iter().for_each(|event| self.apply(event)),
            None => self.apply_kind(CustomEvent::block(self.message.id(), block)),
        }
        if let Some(kind) = kind_of(block) {
            self.latest.insert((kind, Cow::Borrowed(block.id())), index);
        }
    }

    /// Returns the start, deltas and end of a block if they rebuild exactly this block.
    fn exact_events(&self, block: &ContentBlock) -> Option<Vec<AgentEvent>> {
        if let Some(kind) = kind_of(block)
            && let Some(&earlier) = self.latest.get(&(kind, Cow::Borrowed(block.id())))
        {
            let is_over = self.fold.message().content().get(earlier)?.finished_at().is_some();
            if !is_over || earlier >= self.fold.call_floor() {
                // The start would refer to the earlier block.
                return None;
            }
        }
        exact_block_events(self.message.id(), block)
    }

    /// Restores the state of a call.
    fn restore_call_state(&mut self, index: usize) {
        let ContentBlock::ToolCall(call) = self.target(index) else { return };
        if self.is_restored(index) {
            return;
        }
        let event = match call.state {
            ToolCallState::Asking => EventKind::from(RequireUserConfirmEvent::new(self.reply_id(), [call.clone()])),
            state => CustomEvent::call(self.message.id(), &call.id, state).into(),
        };
        self.apply_kind(event);
    }

    fn target(&self, index: usize) -> &'m ContentBlock {
        &self.message.content()[index]
    }

    fn is_restored(&self, index: usize) -> bool {
        self.fold.message().content().get(index) == Some(self.target(index))
    }

    /// Restores the states of all calls. Calls that wait are listed in one event, as they were originally.
    fn restore_call_states(&mut self) {
        let mut indexes: Vec<usize> =
            self.latest.iter().filter(|((kind, _), _)| *kind == BlockKind::ToolCall).map(|(_, index)| *index).collect();
        indexes.sort_unstable();
        indexes.retain(|&index| !self.is_restored(index));
        let calls = |state: ToolCallState| -> Vec<ToolCallBlock> {
            let calls = indexes.iter().filter_map(|&index| match self.target(index) {
                ContentBlock::ToolCall(call) if call.state == state => Some(call.clone()),
                _ => None,
            });
            calls.collect()
        };
        let (asking, submitted) = (calls(ToolCallState::Asking), calls(ToolCallState::Submitted));
        let reply_id = self.reply_id();
        if !submitted.is_empty() {
            self.apply_kind(RequireExternalExecutionEvent::new(reply_id.clone(), submitted));
        }
        if !asking.is_empty() {
            self.apply_kind(RequireUserConfirmEvent::new(reply_id, asking));
        }
        for index in indexes {
            self.restore_call_state(index);
        }
    }

    fn usage(&mut self) {
        let Some(usage) = self.message.usage() else { return };
        let end = ModelCallEndEvent::new(self.reply_id(), usage.input_tokens, usage.output_tokens)
            .with_cache_input_tokens(usage.cache_input_tokens)
            .with_cache_creation_input_tokens(usage.cache_creation_input_tokens);
        self.apply_kind(end);
    }

    fn end(&mut self) {
        let Some(time) = self.message.finished_at() else { return };
        let mut end = ReplyEndEvent::new("", self.reply_id());
        end.finished_reason = self.message.finished_reason().unwrap_or(FinishedReason::Completed);
        end.error = self.message.error().cloned();
        let mut event = Event::stamped("", time.to_owned(), end);
        if let Some(output) = self.message.structured_output() {
            event = event.with_extension("structured_output", output.clone());
        }
        self.apply(event);
    }
}

/// Returns the start, deltas and end of a block if they rebuild exactly this block, apart from the state of a call.
pub(crate) fn exact_block_events(reply_id: &str, block: &ContentBlock) -> Option<Vec<AgentEvent>> {
    let events = block_events(reply_id, block)?;
    let mut trial = ReplyFold::start(&reply_start(reply_id, "", ""))?;
    if let ContentBlock::ToolResult(result) = block {
        let call = call_start(reply_id, &result.id, "", "");
        let _ = trial.apply(&call);
    }
    for event in &events {
        trial.apply(event).reason().is_none().then_some(())?;
    }
    let replayed = trial.message().content().last()?;
    is_same(replayed, block).then_some(events)
}

/// Returns whether two blocks are equal apart from the state of a call, which is restored later.
fn is_same(replayed: &ContentBlock, wanted: &ContentBlock) -> bool {
    let (ContentBlock::ToolCall(replayed), ContentBlock::ToolCall(wanted)) = (replayed, wanted) else {
        return replayed == wanted;
    };
    let mut before_restore = wanted.clone();
    before_restore.state = replayed.state;
    if wanted.state == ToolCallState::Asking {
        before_restore.suggested_rules.clear();
    }
    *replayed == before_restore
}

fn reply_start(reply_id: &str, name: &str, time: &str) -> AgentEvent {
    let start = ReplyStartEvent::new("", reply_id.to_owned(), name.to_owned());
    Event::stamped("", time.to_owned(), start)
}

fn call_start(reply_id: &str, id: &str, name: &str, time: &str) -> AgentEvent {
    let start = ToolCallStartEvent::new(reply_id.to_owned(), id.to_owned(), name.to_owned());
    Event::stamped("", time.to_owned(), start)
}

/// Collects the events of one block.
struct BlockEvents {
    reply_id: Cow<'static, str>,
    id: Cow<'static, str>,
    events: Vec<AgentEvent>,
}

impl BlockEvents {
    fn add(&mut self, time: &str, kind: impl Into<EventKind<'static>>) {
        self.events.push(Event::stamped("", time.to_owned(), kind));
    }

    /// Adds data that the fields of the last event cannot express.
    fn carry(&mut self, key: &str, value: &Object) {
        if !value.is_empty()
            && let Some(event) = self.events.pop()
        {
            self.events.push(event.with_extension(key, value.clone()));
        }
    }
}

/// Returns the start, deltas and end of a block, which may not express all of it. `None` for an unknown block.
pub(crate) fn block_events(reply_id: &str, block: &ContentBlock) -> Option<Vec<AgentEvent>> {
    let mut steps =
        BlockEvents { reply_id: reply_id.to_owned().into(), id: block.id().to_owned().into(), events: Vec::new() };
    match block {
        ContentBlock::Text(block) => text(&mut steps, block),
        ContentBlock::Thinking(block) => thinking(&mut steps, block),
        ContentBlock::Data(block) => data(&mut steps, block),
        ContentBlock::Hint(block) => hint(&mut steps, block),
        ContentBlock::ToolCall(block) => call(&mut steps, block),
        ContentBlock::ToolResult(block) => result(&mut steps, block),
        _ => return None,
    }
    Some(steps.events)
}

fn text(steps: &mut BlockEvents, block: &TextBlock) {
    let (reply_id, block_id) = (steps.reply_id.clone(), steps.id.clone());
    steps.add(&block.created_at, TextBlockStartEvent::new(reply_id.clone(), block_id.clone()));
    if !block.text.is_empty() {
        let delta = block.text.clone();
        steps.add(&block.created_at, TextBlockDeltaEvent::new(reply_id.clone(), block_id.clone(), delta));
    }
    if let Some(time) = &block.finished_at {
        steps.add(time, TextBlockEndEvent::new(reply_id, block_id));
        steps.carry("extra", &block.extra);
    }
}

fn thinking(steps: &mut BlockEvents, block: &ThinkingBlock) {
    let (reply_id, block_id) = (steps.reply_id.clone(), steps.id.clone());
    steps.add(&block.created_at, ThinkingBlockStartEvent::new(reply_id.clone(), block_id.clone()));
    if !block.thinking.is_empty() {
        let delta = block.thinking.clone();
        steps.add(&block.created_at, ThinkingBlockDeltaEvent::new(reply_id.clone(), block_id.clone(), delta));
    }
    if let Some(time) = &block.finished_at {
        steps.add(time, ThinkingBlockEndEvent::new(reply_id, block_id));
        steps.carry("extra", &block.extra);
    }
}

/// The content of a delta: bytes or a URL.
#[derive(Debug)]
struct SourceDelta {
    data: Option<Cow<'static, str>>,
    url: Option<Cow<'static, str>>,
}

impl SourceDelta {
    fn of(source: &Source) -> Option<Self> {
        match source {
            Source::Base64(source) => {
                (!source.data.is_empty()).then(|| Self { data: Some(source.data.clone().into()), url: None })
            }
            Source::Url(source) => Some(Self { data: None, url: Some(source.url().to_owned().into()) }),
            _ => None,
        }
    }
}

fn data(steps: &mut BlockEvents, block: &DataBlock) {
    let (reply_id, block_id) = (steps.reply_id.clone(), steps.id.clone());
    let media_type: Cow<'static, str> = block.media_type().to_owned().into();
    let mut start = DataBlockStartEvent::new(reply_id.clone(), block_id.clone(), media_type.clone());
    start.name = block.name.clone().map(Cow::Owned);
    steps.add(&block.created_at, start);
    if let Some(SourceDelta { data, url }) = SourceDelta::of(&block.source) {
        let mut delta = DataBlockDeltaEvent::new(reply_id.clone(), block_id.clone(), media_type);
        delta.data = data;
        delta.url = url;
        steps.add(&block.created_at, delta);
    }
    if let Some(time) = &block.finished_at {
        steps.add(time, DataBlockEndEvent::new(reply_id, block_id));
        steps.carry("extra", &block.extra);
    }
}

fn hint(steps: &mut BlockEvents, block: &HintBlock) {
    let mut event = HintBlockEvent::new(steps.reply_id.clone(), steps.id.clone(), block.hint.clone());
    event.source = block.source.clone().map(Cow::Owned);
    steps.add(&block.created_at, event);
    steps.carry("extra", &block.extra);
}

fn call(steps: &mut BlockEvents, block: &ToolCallBlock) {
    let (reply_id, tool_call_id) = (steps.reply_id.clone(), steps.id.clone());
    steps.events.push(call_start(&reply_id, &tool_call_id, &block.name, &block.created_at));
    if !block.input.is_empty() {
        let delta = block.input.clone();
        steps.add(&block.created_at, ToolCallDeltaEvent::new(reply_id.clone(), tool_call_id.clone(), delta));
    }
    if let Some(time) = &block.finished_at {
        steps.add(time, ToolCallEndEvent::new(reply_id, tool_call_id));
        steps.carry("extra", &block.extra);
    }
}

fn result(steps: &mut BlockEvents, block: &ToolResultBlock) {
    let (reply_id, tool_call_id) = (steps.reply_id.clone(), steps.id.clone());
    let start = ToolResultStartEvent::new(reply_id.clone(), tool_call_id.clone(), block.name.clone());
    steps.add(&block.created_at, start);
    steps.carry("extra", &block.extra);
    if let Payload::Blocks(items) = &block.output {
        items.iter().for_each(|item| result_item(steps, item));
    }
    if let Some(time) = &block.finished_at {
        steps.add(time, ToolResultEndEvent::new(reply_id, tool_call_id, block.state));
        if let Some(end) = steps.events.last_mut() {
            end.metadata = block.metadata.clone();
        }
    }
}

fn result_item(steps: &mut BlockEvents, item: &MediaBlock) {
    let (reply_id, tool_call_id) = (steps.reply_id.clone(), steps.id.clone());
    match item {
        MediaBlock::Text(text) => {
            let delta = text.text.clone();
            steps.add(&text.created_at, ToolResultTextDeltaEvent::new(reply_id, tool_call_id, delta));
        }
        MediaBlock::Data(block) => {
            let SourceDelta { data, url } =
                SourceDelta::of(&block.source).unwrap_or_else(|| SourceDelta { data: Some("".into()), url: None });
            let mut delta = ToolResultDataDeltaEvent::new(reply_id, tool_call_id, block.media_type().to_owned())
                .with_block_id(block.id.clone());
            delta.data = data;
            delta.url = url;
            steps.add(&block.created_at, delta);
            if let Some(name) = &block.name
                && let Some(event) = steps.events.pop()
            {
                steps.events.push(event.with_extension("name", name.as_str()));
            }
            steps.carry("extra", &block.extra);
        }
        _ => {}
    }
}
