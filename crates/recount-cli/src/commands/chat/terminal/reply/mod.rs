//! Renders replies, streamed or complete.

mod blocks;
mod data;
mod nested;
mod output;

use std::collections::{HashMap, HashSet};

use indicatif::HumanCount;
use recount_message::{ContentBlock, DataBlock, Event, EventKind, FinishedReason, HintBlock, Msg, Role, Usage};

use super::paint::{BOLD, DIMMED, ERROR, Paint, WARNING};
use super::prose::{MarkdownText, ThinkingText};
use super::wrap::{Margin, Span, truncate, wrap};
use crate::visible::{visible, visible_line};
use data::{DataInfo, decoded_length};
use nested::Nested;
use output::Output;

/// The minimum text width, even on a narrower terminal.
const MIN_WIDTH: usize = 10;

/// Turns events into lines: finished ones, and live ones that may still change.
#[derive(Debug)]
pub(in super::super) struct ReplyView {
    paint: Paint,
    width: usize,
    done: Vec<String>,
    /// The text block that is being streamed.
    current: CurrentBlock,
    /// The calls whose arguments are being streamed.
    calls: Vec<Call>,
    results: Vec<Output>,
    data: HashMap<String, DataInfo>,
    /// The replies of sub-agents that are in progress.
    nested: Vec<Nested>,
    /// The ids of the calls that sub-agents work on. Their results repeat the sub-agents' text, so they are not shown.
    delegated_calls: HashSet<String>,
    /// Whether a block was shown, so that the next one needs an empty line before it.
    has_shown: bool,
}

#[derive(Debug, Default)]
enum CurrentBlock {
    #[default]
    Nothing,
    Text(MarkdownText),
    Thinking(ThinkingText),
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    input: String,
}

impl ReplyView {
    /// Creates an empty view for a terminal with this number of columns.
    pub(in super::super) fn new(paint: Paint, columns: usize) -> Self {
        Self {
            paint,
            width: text_width(columns),
            done: Vec::new(),
            current: CurrentBlock::default(),
            calls: Vec::new(),
            results: Vec::new(),
            data: HashMap::new(),
            nested: Vec::new(),
            delegated_calls: HashSet::new(),
            has_shown: false,
        }
    }

    /// Returns the lines that were finished since the last call, and the live lines, for a terminal with this number of
    /// columns.
    pub(in super::super) fn lines(&mut self, columns: usize) -> (Vec<String>, Vec<String>) {
        let done = self.take_done(text_width(columns));
        (done, self.live())
    }

    /// Returns the lines that were finished since the last call, wrapped to `width`.
    fn take_done(&mut self, width: usize) -> Vec<String> {
        self.width = width.max(MIN_WIDTH);
        let done = match &mut self.current {
            CurrentBlock::Nothing => Vec::new(),
            CurrentBlock::Text(text) => text.take_done(self.width, self.paint),
            CurrentBlock::Thinking(text) => text.take_done(self.width, self.paint),
        };
        self.done.extend(done);
        std::mem::take(&mut self.done)
    }

    /// Returns the live lines.
    fn live(&mut self) -> Vec<String> {
        let (width, paint) = (self.width, self.paint);
        let mut live = match &mut self.current {
            CurrentBlock::Nothing => Vec::new(),
            CurrentBlock::Text(text) => text.live(width, paint),
            CurrentBlock::Thinking(text) => text.live(width, paint),
        };
        for call in &self.calls {
            if self.has_shown {
                live.push(String::new());
            }
            live.push(truncate(&format!("● {} {}", call.name, visible_line(&call.input)), width));
        }
        let line_format = self.line_format();
        live.extend(self.results.iter().flat_map(|output| output.live(line_format)));
        live.extend(self.nested_live());
        live
    }

    /// Handles an event.
    pub(in super::super) fn event(&mut self, event: &Event<'_>) {
        if self.nested_event(event) {
            return;
        }
        match &event.kind {
            EventKind::TextBlockDelta(text) => self.text(&text.delta),
            EventKind::ThinkingBlockDelta(text) => self.thinking(&text.delta),
            EventKind::TextBlockEnd(_) | EventKind::ThinkingBlockEnd(_) => {
                self.end_prose();
                let extra = event.extension("extra").and_then(|extra| extra.to_object());
                self.show_interruption(extra.as_ref());
            }
            EventKind::DataBlockStart(data) => {
                let name = data.name.as_deref().map(str::to_owned);
                let info = DataInfo { media_type: data.media_type.to_string(), name, length: 0, url: None };
                self.data.insert(data.block_id.to_string(), info);
            }
            EventKind::DataBlockDelta(delta) => {
                if let Some(data) = self.data.get_mut(delta.block_id.as_ref()) {
                    data.length += delta.data.as_deref().map_or(0, decoded_length);
                    data.url = delta.url.as_deref().map(str::to_owned).or(data.url.take());
                }
            }
            EventKind::DataBlockEnd(end) => {
                if let Some(data) = self.data.remove(end.block_id.as_ref()) {
                    self.data(&data);
                }
            }
            EventKind::ToolCallStart(call) => self.begin_call(&call.tool_call_id, &call.tool_call_name),
            EventKind::ToolCallDelta(call) => self.call_input(&call.tool_call_id, &call.delta),
            EventKind::ToolCallEnd(call) => self.end_call(&call.tool_call_id),
            EventKind::ToolResultStart(result) => self.begin_result(&result.tool_call_id, &result.tool_call_name),
            EventKind::ToolResultTextDelta(text) => self.result_text(&text.tool_call_id, &text.delta),
            EventKind::ToolResultDataDelta(data) => self.result_data(&data.tool_call_id, &data.media_type),
            EventKind::ToolResultEnd(end) => self.end_result(&end.tool_call_id, end.state),
            EventKind::HintBlock(hint) => {
                let mut block = HintBlock::new(hint.hint.clone());
                block.source = hint.source.as_deref().map(str::to_owned);
                self.hint(&block);
            }
            EventKind::Custom(signal) => self.signal(signal.recount_name(), &signal.value),
            EventKind::ReplyEnd(end) => {
                self.end_all();
                self.show_ending(
                    end.finished_reason,
                    end.error.as_ref().map(|error| (error.kind.to_string(), error.message.clone())),
                );
            }
            _ => {}
        }
    }

    /// Renders a complete message, or a partial reply. `parts` are the replies of sub-agents.
    pub(in super::super) fn message(&mut self, message: &Msg, parts: &[&Msg]) {
        if message.role() == Role::User {
            return self.user_message(message);
        }
        for block in message.content() {
            self.block(block);
            if let ContentBlock::ToolCall(call) = block {
                self.nested_messages(message.id(), &call.id, parts);
            }
        }
        if message.finished_at().is_some() {
            self.end_all();
            if let Some(reason) = message.finished_reason() {
                self.show_ending(reason, message.error().map(|error| (error.kind.to_string(), error.message.clone())));
            }
        }
    }

    fn block(&mut self, block: &ContentBlock) {
        let is_done = block.finished_at().is_some();
        match block {
            ContentBlock::Text(block) => {
                self.text(&block.text);
                if is_done {
                    self.end_prose();
                    self.show_interruption(Some(&block.extra));
                }
            }
            ContentBlock::Thinking(block) => {
                self.thinking(&block.thinking);
                if is_done {
                    self.end_prose();
                }
            }
            ContentBlock::ToolCall(call) => {
                self.begin_call(&call.id, &call.name);
                self.call_input(&call.id, &call.input);
                if is_done {
                    self.end_call(&call.id);
                }
            }
            ContentBlock::ToolResult(result) => {
                self.begin_result(&result.id, &result.name);
                self.result_payload(&result.id, &result.output);
                if is_done {
                    self.end_result(&result.id, result.state);
                }
            }
            ContentBlock::Data(block) => {
                let data = DataInfo::of(block);
                if is_done {
                    self.data(&data);
                } else {
                    self.data.insert(block.id.clone(), data);
                }
            }
            ContentBlock::Hint(hint) => self.hint(hint),
            ContentBlock::Unknown(block) => self.show(format!("[a block of the unknown type {}]", block.type_name())),
            _ => {}
        }
    }

    fn user_message(&mut self, message: &Msg) {
        self.add_gap();
        let text = message.text_or_empty();
        let spans = [Span::new(BOLD, visible(&text))];
        let lines = wrap(&spans, self.width, Margin { style: BOLD, ..Margin::new("> ", "  ") }, self.paint);
        self.done.extend(lines);
        for block in message.blocks::<DataBlock>() {
            self.done.push(format!("  [{}]", DataInfo::of(block).label()));
        }
    }

    /// Adds a notice of the program itself.
    pub(in super::super) fn note(&mut self, text: &str) {
        self.end_prose();
        self.show(self.paint.on(DIMMED, &visible_line(text)));
    }

    /// Starts a new section, because other text follows. Returns whether a block was shown before.
    pub(in super::super) fn start_section(&mut self) -> bool {
        std::mem::take(&mut self.has_shown)
    }

    fn end_all(&mut self) {
        self.end_prose();
        while let Some(id) = self.calls.first().map(|call| call.id.clone()) {
            self.end_call(&id);
        }
        self.results.clear();
        self.data.clear();
        self.nested.clear();
        self.delegated_calls.clear();
    }

    fn show_ending(&mut self, reason: FinishedReason, error: Option<(String, String)>) {
        let line = match (reason, error) {
            (_, Some((kind, message))) => self.paint.on(ERROR, &format!("error · {kind}: {}", visible_line(&message))),
            (FinishedReason::Completed, None) => return,
            (FinishedReason::Interrupted, None) => self.paint.on(WARNING, "— stopped"),
            (FinishedReason::ExceedMaxIters, None) => {
                self.paint.on(WARNING, "— stopped: the model was asked as often as it may be")
            }
            (reason, None) => self.paint.on(WARNING, &format!("— {reason}")),
        };
        self.show(line);
    }

    fn show(&mut self, line: String) {
        self.add_gap();
        self.done.push(line);
    }

    /// Adds an empty line if a block was shown before.
    fn add_gap(&mut self) {
        if std::mem::replace(&mut self.has_shown, true) {
            self.done.push(String::new());
        }
    }
}

/// Returns the text width. The last column stays free: terminals differ in where a full line puts the cursor.
fn text_width(columns: usize) -> usize {
    columns.saturating_sub(1).max(MIN_WIDTH)
}

/// Returns the label of an image, audio or a file.
pub(in super::super) fn data_label(data: &DataBlock) -> String {
    DataInfo::of(data).label()
}

/// Formats the token counts of a reply.
pub(in super::super) fn token_counts(usage: &Usage) -> String {
    format!("{} tokens in, {} out", HumanCount(usage.input_tokens), HumanCount(usage.output_tokens))
}
