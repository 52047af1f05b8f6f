//! The blocks of a reply, piece by piece.

use recount_message::{CustomName, HintBlock, Json, MediaBlock, Object, Payload, ToolResultState};

use super::super::paint::{CALL, CAREFUL, DIMMED, PLAIN};
use super::super::prose::{MarkdownText, Thought};
use super::super::wrap::{Margin, Span, cut, wrap};
use super::data::{Data, text_of};
use super::output::{Form, Output};
use super::{Call, Now, ReplyView};
use crate::permission::request_line;
use crate::view::broken_off;
use crate::visible::{visible, visible_line};

/// So many lines of a call's arguments are shown.
const SHOWN_ARGUMENTS: usize = 12;

impl ReplyView {
    pub(super) fn text(&mut self, delta: &str) {
        if !matches!(self.now, Now::Text(_)) {
            if delta.is_empty() {
                return;
            }
            self.end_prose();
            self.set_apart();
            self.now = Now::Text(MarkdownText::default());
        }
        if let Now::Text(text) = &mut self.now {
            text.push(delta);
        }
    }

    pub(super) fn thinking(&mut self, delta: &str) {
        if !matches!(self.now, Now::Thinking(_)) {
            if delta.is_empty() {
                return;
            }
            self.end_prose();
            self.set_apart();
            self.now = Now::Thinking(Thought::default());
        }
        if let Now::Thinking(text) = &mut self.now {
            text.push(delta);
        }
    }

    pub(super) fn end_prose(&mut self) {
        let (width, paint) = (self.width, self.paint);
        let rest = match std::mem::take(&mut self.now) {
            Now::Nothing => return,
            Now::Text(mut text) => [text.take_done(width, paint), text.take_rest(width, paint)].concat(),
            Now::Thinking(mut text) => [text.take_done(width, paint), text.take_rest(width, paint)].concat(),
        };
        self.done.extend(rest);
    }

    /// Says where a model call broke off.
    pub(super) fn tell_cut(&mut self, extra: Option<&Object>) {
        self.done.extend(extra.and_then(broken_off).map(|told| self.paint.on(CAREFUL, told)));
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

    /// Shows a call whose arguments are complete.
    pub(super) fn end_call(&mut self, id: &str) {
        let Some(at) = self.calls.iter().position(|call| call.id == id) else { return };
        let Call { name, input, .. } = self.calls.remove(at);
        let arguments = arguments(&name, &input);
        self.set_apart();
        let head = format!("{} {}", self.paint.on(CALL, "●"), self.paint.on(CALL, &name));
        self.done.push(head);
        let lines: Vec<&str> = arguments.lines().collect();
        for line in lines.iter().take(SHOWN_ARGUMENTS) {
            self.done.extend(wrap(&[Span::new(PLAIN, *line)], self.width, Margin::new("  ", "    "), self.paint));
        }
        if let Some(more) = lines.len().checked_sub(SHOWN_ARGUMENTS).filter(|more| *more > 0) {
            self.done.push(self.paint.on(DIMMED, &format!("  … {more} more lines")));
        }
    }

    pub(super) fn begin_result(&mut self, id: &str, name: &str) {
        self.end_prose();
        self.end_call(id);
        self.results.push(Output::new(id, name));
    }

    pub(super) fn result_text(&mut self, id: &str, delta: &str) {
        let form = self.form();
        let lines = self.shown_result(id).map(|output| output.push(delta, form));
        self.done.extend(lines.into_iter().flatten());
    }

    pub(super) fn result_data(&mut self, id: &str, described: &str) {
        let form = self.form();
        let lines = self.shown_result(id).map(|output| output.push_line(&format!("[{described}]"), form));
        self.done.extend(lines.into_iter().flatten());
    }

    pub(super) fn result_payload(&mut self, id: &str, payload: &Payload) {
        let Payload::Blocks(blocks) = payload else { return self.result_text(id, &text_of(payload)) };
        for block in blocks {
            match block {
                MediaBlock::Text(block) => self.result_text(id, &block.text),
                MediaBlock::Data(block) => self.result_data(id, &Data::of(block).described()),
                _ => {}
            }
        }
    }

    /// The result of a call, unless what it says was shown by the agent that has worked on it.
    fn shown_result(&mut self, id: &str) -> Option<&mut Output> {
        self.results.iter_mut().find(|output| output.call_id == id && !self.helped.contains(id))
    }

    pub(super) fn end_result(&mut self, id: &str, state: ToolResultState) {
        let form = self.form();
        let Some(at) = self.results.iter().position(|output| output.call_id == id) else { return };
        self.done.extend(self.results.remove(at).end(state, form));
        self.has_shown = true;
    }

    pub(super) fn form(&self) -> Form {
        Form { has_others: self.results.len() > 1, width: self.width, paint: self.paint }
    }

    pub(super) fn data(&mut self, data: &Data) {
        self.end_prose();
        let line = format!("[{}]", data.described());
        self.show(line);
    }

    pub(super) fn hint(&mut self, hint: &HintBlock) {
        let label = hint.label();
        // What the agent tells its model of the time is not for the user.
        if label.as_ref().is_some_and(|label| label.label == "System") {
            return;
        }
        self.end_prose();
        let who = label.map_or_else(|| "hint".to_owned(), |label| format!("hint from {}", label.label));
        let line = format!("┊ {who}: {}", visible_line(&text_of(&hint.hint)));
        self.show(self.paint.on(DIMMED, &cut(&line, self.width)));
    }

    pub(super) fn signal(&mut self, name: Option<CustomName>, value: &Object) {
        let said = |key: &str| value.get(key).and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
        let note = match name {
            Some(CustomName::Retry) => format!("{}: {}, trying again", said("model"), said("class")),
            Some(CustomName::Fallback) => format!("{} failed, asking {}", said("from"), said("to")),
            Some(CustomName::Compressed) => match said("how").as_str() {
                "nothing" => format!("the conversation could not be summed up: {}", said("error")),
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
