//! Renders the blocks of a reply as they are streamed.

use recount_message::{CustomName, HintBlock, Json, MediaBlock, Object, Payload, ToolResultState};

use super::super::paint::{CALL, DIMMED, PLAIN, WARNING};
use super::super::prose::{MarkdownText, ThinkingText};
use super::super::wrap::{Margin, Span, truncate, wrap};
use super::data::{DataInfo, text_of};
use super::output::{LineFormat, Output};
use super::{Call, CurrentBlock, ReplyView};
use crate::permission::request_line;
use crate::view::broken_off;
use crate::visible::{visible, visible_line};

/// The maximum number of lines that are shown of the arguments of a call.
const MAX_ARGUMENT_LINES: usize = 12;

impl ReplyView {
    pub(super) fn text(&mut self, delta: &str) {
        if !matches!(self.current, CurrentBlock::Text(_)) {
            if delta.is_empty() {
                return;
            }
            self.end_prose();
            self.add_gap();
            self.current = CurrentBlock::Text(MarkdownText::default());
        }
        if let CurrentBlock::Text(text) = &mut self.current {
            text.push(delta);
        }
    }

    pub(super) fn thinking(&mut self, delta: &str) {
        if !matches!(self.current, CurrentBlock::Thinking(_)) {
            if delta.is_empty() {
                return;
            }
            self.end_prose();
            self.add_gap();
            self.current = CurrentBlock::Thinking(ThinkingText::default());
        }
        if let CurrentBlock::Thinking(text) = &mut self.current {
            text.push(delta);
        }
    }

    pub(super) fn end_prose(&mut self) {
        let (width, paint) = (self.width, self.paint);
        let rest = match std::mem::take(&mut self.current) {
            CurrentBlock::Nothing => return,
            CurrentBlock::Text(mut text) => [text.take_done(width, paint), text.take_rest(width, paint)].concat(),
            CurrentBlock::Thinking(mut text) => [text.take_done(width, paint), text.take_rest(width, paint)].concat(),
        };
        self.done.extend(rest);
    }

    /// Marks the place where a model call was interrupted.
    pub(super) fn show_interruption(&mut self, extra: Option<&Object>) {
        self.done.extend(extra.and_then(broken_off).map(|notice| self.paint.on(WARNING, notice)));
    }

    pub(super) fn begin_call(&mut self, id: &str, name: &str) {
        self.end_prose();
        let name = visible_line(name).into_owned();
        self.calls.push(Call { id: id.to_owned(), name, input: String::new() });
    }

    pub(super) fn call_input(&mut self, id: &str, delta: &str) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == id) {
            call.input.push_str(delta);
        }
    }

    /// Shows a call with its complete arguments.
    pub(super) fn end_call(&mut self, id: &str) {
        let Some(at) = self.calls.iter().position(|call| call.id == id) else { return };
        let Call { name, input, .. } = self.calls.remove(at);
        let arguments = arguments(&name, &input);
        self.add_gap();
        let head = format!("{} {}", self.paint.on(CALL, "●"), self.paint.on(CALL, &name));
        self.done.push(head);
        let lines: Vec<&str> = arguments.lines().collect();
        for line in lines.iter().take(MAX_ARGUMENT_LINES) {
            self.done.extend(wrap(&[Span::new(PLAIN, *line)], self.width, Margin::new("  ", "    "), self.paint));
        }
        if let Some(more) = lines.len().checked_sub(MAX_ARGUMENT_LINES).filter(|more| *more > 0) {
            self.done.push(self.paint.on(DIMMED, &format!("  … {more} more lines")));
        }
    }

    pub(super) fn begin_result(&mut self, id: &str, name: &str) {
        self.end_prose();
        self.end_call(id);
        self.results.push(Output::new(id, name));
    }

    pub(super) fn result_text(&mut self, id: &str, delta: &str) {
        let line_format = self.line_format();
        let lines = self.shown_result(id).map(|output| output.push(delta, line_format));
        self.done.extend(lines.into_iter().flatten());
    }

    pub(super) fn result_data(&mut self, id: &str, label: &str) {
        let line_format = self.line_format();
        let lines = self.shown_result(id).map(|output| output.push_line(&format!("[{label}]"), line_format));
        self.done.extend(lines.into_iter().flatten());
    }

    pub(super) fn result_payload(&mut self, id: &str, payload: &Payload) {
        let Payload::Blocks(blocks) = payload else { return self.result_text(id, &text_of(payload)) };
        for block in blocks {
            match block {
                MediaBlock::Text(block) => self.result_text(id, &block.text),
                MediaBlock::Data(block) => self.result_data(id, &DataInfo::of(block).label()),
                _ => {}
            }
        }
    }

    /// Returns the output of a call. `None` if a sub-agent has already shown it.
    fn shown_result(&mut self, id: &str) -> Option<&mut Output> {
        self.results.iter_mut().find(|output| output.call_id == id && !self.delegated_calls.contains(id))
    }

    pub(super) fn end_result(&mut self, id: &str, state: ToolResultState) {
        let line_format = self.line_format();
        let Some(at) = self.results.iter().position(|output| output.call_id == id) else { return };
        self.done.extend(self.results.remove(at).end(state, line_format));
        self.has_shown = true;
    }

    pub(super) fn line_format(&self) -> LineFormat {
        LineFormat { has_others: self.results.len() > 1, width: self.width, paint: self.paint }
    }

    pub(super) fn data(&mut self, data: &DataInfo) {
        self.end_prose();
        let line = format!("[{}]", data.label());
        self.show(line);
    }

    pub(super) fn hint(&mut self, hint: &HintBlock) {
        let label = hint.label();
        // System hints, such as the current time, are for the model only.
        if label.as_ref().is_some_and(|label| label.label == "System") {
            return;
        }
        self.end_prose();
        let who = label.map_or_else(|| "hint".to_owned(), |label| format!("hint from {}", label.label));
        let line = format!("┊ {who}: {}", visible_line(&text_of(&hint.hint)));
        self.show(self.paint.on(DIMMED, &truncate(&line, self.width)));
    }

    pub(super) fn signal(&mut self, name: Option<CustomName>, value: &Object) {
        let field = |key: &str| value.get(key).and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
        let note = match name {
            Some(CustomName::Retry) => format!("{}: {}, trying again", field("model"), field("class")),
            Some(CustomName::Fallback) => format!("{} failed, asking {}", field("from"), field("to")),
            Some(CustomName::Compressed) => match field("how").as_str() {
                "nothing" => format!("the conversation could not be summed up: {}", field("error")),
                "truncation" => "the model is not shown the beginning of the conversation any more".to_owned(),
                _ => "the beginning of the conversation was summed up for the model".to_owned(),
            },
            Some(CustomName::TakenOver) => "another process has taken the session over".to_owned(),
            _ => return,
        };
        self.note(&note);
    }
}

/// Returns the text for a call's arguments: a command after the access that it requests, everything else as JSON.
fn arguments(tool: &str, input: &str) -> String {
    let Ok(object) = Object::parse(input) else { return visible(input).into_owned() };
    let command = object.get("command").and_then(Json::as_str).map(str::to_owned);
    let request = request_line(tool, input);
    let is_known = |key: &str| key == "command" || (request.is_some() && matches!(key, "access" | "reason"));
    if let Some(command) = command.filter(|_| object.iter().all(|(key, _)| is_known(key))) {
        let request = request.map(|request| format!("{request}\n")).unwrap_or_default();
        return format!("{request}$ {}", visible(&command));
    }
    if object.is_empty() {
        return String::new();
    }
    visible(&object.to_json()).into_owned()
}
