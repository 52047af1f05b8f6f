//! A reply as it comes, and messages that are there already.

mod blocks;
mod data;
mod nested;
mod output;

use std::collections::{HashMap, HashSet};

use indicatif::HumanCount;
use recount_message::{ContentBlock, DataBlock, Event, EventKind, FinishedReason, HintBlock, Msg, Role, Usage};

use super::paint::{BAD, BOLD, CAREFUL, DIMMED, Paint};
use super::prose::{MarkdownText, Thought};
use super::wrap::{Margin, Span, cut, wrap};
use crate::visible::{visible, visible_line};
use data::{Data, decoded_length};
use nested::Nested;
use output::Output;

/// Text is not made narrower than this, however narrow the terminal.
const NARROWEST: usize = 10;

/// Turns what happens into lines: those that are done, and those that may still change.
#[derive(Debug)]
pub(in super::super) struct ReplyView {
    paint: Paint,
    width: usize,
    done: Vec<String>,
    /// The block that is being written.
    now: Now,
    /// The calls whose arguments are still coming.
    calls: Vec<Call>,
    results: Vec<Output>,
    data: HashMap<String, Data>,
    /// The replies that are a part of this one and under way.
    nested: Vec<Nested>,
    /// The calls that other agents work on. Their results are what those have said.
    helped: HashSet<String>,
    /// Whether something was shown, so that the next block stands apart.
    has_shown: bool,
}

#[derive(Debug, Default)]
enum Now {
    #[default]
    Nothing,
    Text(MarkdownText),
    Thinking(Thought),
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    input: String,
}

impl ReplyView {
    /// For a terminal of so many columns.
    pub(in super::super) fn new(paint: Paint, columns: usize) -> Self {
        Self {
            paint,
            width: width_in(columns),
            done: Vec::new(),
            now: Now::default(),
            calls: Vec::new(),
            results: Vec::new(),
            data: HashMap::new(),
            nested: Vec::new(),
            helped: HashSet::new(),
            has_shown: false,
        }
    }

    /// The lines that are done since the last time, and those that may still change, on a terminal of a width.
    pub(in super::super) fn lines(&mut self, columns: usize) -> (Vec<String>, Vec<String>) {
        let done = self.take_done(width_in(columns));
        (done, self.live())
    }

    /// The lines that are done since the last time, in lines of a width.
    fn take_done(&mut self, width: usize) -> Vec<String> {
        self.width = width.max(NARROWEST);
        let done = match &mut self.now {
            Now::Nothing => Vec::new(),
            Now::Text(text) => text.take_done(self.width, self.paint),
            Now::Thinking(text) => text.take_done(self.width, self.paint),
        };
        self.done.extend(done);
        std::mem::take(&mut self.done)
    }

    /// The lines that may still change.
    fn live(&mut self) -> Vec<String> {
        let (width, paint) = (self.width, self.paint);
        let mut live = match &mut self.now {
            Now::Nothing => Vec::new(),
            Now::Text(text) => text.live(width, paint),
            Now::Thinking(text) => text.live(width, paint),
        };
        for call in &self.calls {
            if self.has_shown {
                live.push(String::new());
            }
            live.push(cut(&format!("● {} {}", call.name, visible_line(&call.input)), width));
        }
        let form = self.form();
        live.extend(self.results.iter().flat_map(|output| output.live(form)));
        live.extend(self.nested_live());
        live
    }

    /// Takes what has happened.
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
                self.tell_cut(extra.as_ref());
            }
            EventKind::DataBlockStart(data) => {
                let name = data.name.as_deref().map(str::to_owned);
                let data_now = Data { media_type: data.media_type.to_string(), name, length: 0, url: None };
                self.data.insert(data.block_id.to_string(), data_now);
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
                self.ending(
                    end.finished_reason,
                    end.error.as_ref().map(|error| (error.kind.to_string(), error.message.clone())),
                );
            }
            _ => {}
        }
    }

    /// Shows a message that is complete, or a reply as far as it has come. `parts` are the replies of agents that have
    /// worked for others.
    pub(in super::super) fn message(&mut self, message: &Msg, parts: &[&Msg]) {
        if message.role() == Role::User {
            return self.question(message);
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
                self.ending(reason, message.error().map(|error| (error.kind.to_string(), error.message.clone())));
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
                    self.tell_cut(Some(&block.extra));
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
                let data = Data::of(block);
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

    fn question(&mut self, message: &Msg) {
        self.set_apart();
        let text = message.text_or_empty();
        let spans = [Span::new(BOLD, visible(&text))];
        let lines = wrap(&spans, self.width, Margin { style: BOLD, ..Margin::new("> ", "  ") }, self.paint);
        self.done.extend(lines);
        for block in message.blocks::<DataBlock>() {
            self.done.push(format!("  [{}]", Data::of(block).described()));
        }
    }

    /// A line of our own.
    pub(in super::super) fn note(&mut self, text: &str) {
        self.end_prose();
        self.show(self.paint.on(DIMMED, &visible_line(text)));
    }

    /// Begins anew, because something else is written next. Tells whether something was shown before.
    pub(in super::super) fn begin(&mut self) -> bool {
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
        self.helped.clear();
    }

    fn ending(&mut self, reason: FinishedReason, error: Option<(String, String)>) {
        let line = match (reason, error) {
            (_, Some((kind, message))) => self.paint.on(BAD, &format!("error · {kind}: {}", visible_line(&message))),
            (FinishedReason::Completed, None) => return,
            (FinishedReason::Interrupted, None) => self.paint.on(CAREFUL, "— stopped"),
            (FinishedReason::ExceedMaxIters, None) => {
                self.paint.on(CAREFUL, "— stopped: the model was asked as often as it may be")
            }
            (reason, None) => self.paint.on(CAREFUL, &format!("— {reason}")),
        };
        self.show(line);
    }

    fn show(&mut self, line: String) {
        self.set_apart();
        self.done.push(line);
    }

    /// An empty line before the next block.
    fn set_apart(&mut self) {
        if std::mem::replace(&mut self.has_shown, true) {
            self.done.push(String::new());
        }
    }
}

/// How wide text may be: a full line would put the cursor where terminals differ.
fn width_in(columns: usize) -> usize {
    columns.saturating_sub(1).max(NARROWEST)
}

/// What stands for an image, a sound or a file.
pub(in super::super) fn described(data: &DataBlock) -> String {
    Data::of(data).described()
}

/// How many tokens it took.
pub(in super::super) fn tokens(usage: &Usage) -> String {
    format!("{} tokens in, {} out", HumanCount(usage.input_tokens), HumanCount(usage.output_tokens))
}
