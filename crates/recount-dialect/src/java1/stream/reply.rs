//! One reply: its calls and their results, and how it ends.

use std::borrow::Cow;

use recount_message::{
    AgentEvent, ContentBlock, CustomEvent, ErrorInfo, FinishedReason, Json, MediaBlock, Msg, Object, Payload,
    ReplyEndEvent, ReplyFold, ReplyStartEvent, RequireExternalExecutionEvent, RequireUserConfirmEvent, TextBlock,
    ToolCallBlock, ToolCallEndEvent, ToolCallStartEvent, ToolCallState, ToolResultBlock, ToolResultState,
};

use super::super::frames::SYNTHETIC;
use super::model_call::ModelCall;
use super::out::{Out, mark_synthetic};
use super::{Given, unused};
use crate::java::Version;
use crate::java::message::GENERATE_REASON;
use crate::java::plain::SUSPENDED;
use crate::{native, residue};

/// A reply that has not ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) id: String,
    pub(super) name: String,
    /// How many blocks have got an id.
    pub(super) blocks: u64,
    pub(super) calls: Vec<Call>,
    pub(super) model_call: Option<ModelCall>,
    /// The message of the last model call that has ended.
    pub(super) last: Said,
    /// Whether it waits for somebody.
    pub(super) waits: bool,
    /// Whether it took too many rounds.
    pub(super) is_summary: bool,
}

/// A tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// The id that Java gave it.
    pub(super) given: String,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) has_ended: bool,
    pub(super) is_answered: bool,
    /// Whether somebody else is asked for its result.
    pub(super) is_submitted: bool,
    /// What pieces of its result have said.
    pub(super) so_far: String,
}

/// What a message has said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) message_id: String,
    pub(super) texts: Vec<String>,
}

impl Reply {
    pub(super) fn new(id: String, name: String) -> Self {
        Self { id, name, ..Self::default() }
    }

    pub(super) fn reply_id(&self) -> Cow<'static, str> {
        self.id.clone().into()
    }

    pub(super) fn next_block_id(&mut self) -> String {
        self.blocks += 1;
        format!("{}.{}", self.id, self.blocks)
    }

    /// Begins a call. The result is where it is.
    pub(super) fn begin_call(&mut self, given: &str, name: &str, out: &mut Out) -> usize {
        let id = unused(given, |id| self.calls.iter().any(|call| call.id == id));
        out.say(ToolCallStartEvent {
            reply_id: self.reply_id(),
            tool_call_id: id.clone().into(),
            tool_call_name: name.to_owned().into(),
        });
        self.calls.push(Call { given: given.to_owned(), id, name: name.to_owned(), ..Call::default() });
        self.calls.len() - 1
    }

    /// Ends a call that has not ended.
    pub(super) fn end_call(&mut self, index: usize, extra: &Object, out: &mut Out) {
        let reply_id = self.reply_id();
        let Some(call) = self.calls.get_mut(index).filter(|call| !call.has_ended) else { return };
        call.has_ended = true;
        let mut extra = extra.clone();
        if call.id != call.given {
            extra.insert("provider_id", call.given.as_str());
        }
        out.say_with(ToolCallEndEvent { reply_id, tool_call_id: call.id.clone().into() }, &extra);
    }

    /// The call that a result is for: the newest with its id that has none. Java makes up ids from the time, once for the
    /// call and once for the result.
    fn call_for(&self, result: &ToolResultBlock) -> Option<usize> {
        const MADE_UP: &str = "tool_call_";
        let newest =
            |is_meant: &dyn Fn(&Call) -> bool| self.calls.iter().rposition(|call| !call.is_answered && is_meant(call));
        newest(&|call| call.given == result.id).or_else(|| {
            let is_made_up = result.id.starts_with(MADE_UP);
            newest(&|call| is_made_up && call.given.starts_with(MADE_UP) && call.name == result.name)
        })
    }

    /// Remembers a piece of a result.
    pub(super) fn result_piece(&mut self, result: &ToolResultBlock) {
        if let Some(call) = self.call_for(result).and_then(|index| self.calls.get_mut(index)) {
            call.so_far.push_str(&result.output.text().unwrap_or_default());
        }
    }

    /// The result of a call. What comes without its call gets one.
    pub(super) fn result(&mut self, result: &ToolResultBlock, out: &mut Out) {
        let index = match self.call_for(result) {
            Some(index) => index,
            None if self.calls.iter().any(|call| call.given == result.id) => return,
            None => self.begin_call(&result.id, &result.name, out),
        };
        self.end_call(index, &Object::new(), out);
        self.answer(index, result.clone(), out);
    }

    fn answer(&mut self, index: usize, mut result: ToolResultBlock, out: &mut Out) {
        let reply_id = self.id.clone();
        let Some(call) = self.calls.get_mut(index).filter(|call| !call.is_answered) else { return };
        call.is_answered = true;
        let given = std::mem::replace(&mut result.id, call.id.clone());
        if result.name.is_empty() && !call.name.is_empty() {
            result.name.clone_from(&call.name);
            residue::unmark_absent(&mut result.extra, "name");
        }
        if result.state == ToolResultState::Running {
            result.state = ToolResultState::Interrupted;
        }
        result.created_at.clone_from(&out.time);
        result.finished_at = Some(out.time.clone());
        if let Payload::Blocks(items) = &mut result.output {
            for (index, item) in items.iter_mut().enumerate() {
                let (id, created_at) = match item {
                    MediaBlock::Text(item) => (&mut item.id, &mut item.created_at),
                    MediaBlock::Data(item) => (&mut item.id, &mut item.created_at),
                    _ => continue,
                };
                if *id == format!("{given}.{index}") {
                    *id = format!("{}.{index}", result.id);
                }
                created_at.clone_from(&out.time);
            }
        }
        let is_synthetic = residue::get(&result.extra, Version::One.name()).contains_key(SYNTHETIC);
        for (index, mut event) in tell(&reply_id, &result.into(), &out.time).into_iter().enumerate() {
            if is_synthetic && index == 0 {
                mark_synthetic(&mut event);
            }
            out.push(event);
        }
    }

    /// Gives every call a result that has none.
    pub(super) fn answer_all(&mut self, out: &mut Out) {
        for index in 0..self.calls.len() {
            let Some(call) = self.calls.get(index).filter(|call| !call.is_answered) else { continue };
            let text = match (call.so_far.as_str(), call.is_submitted) {
                ("", true) => "The result came from elsewhere and was not streamed.",
                ("", false) => "No result was streamed.",
                (so_far, _) => so_far,
            };
            let mut result = ToolResultBlock {
                id: call.id.clone(),
                name: call.name.clone(),
                output: Payload::Blocks(vec![MediaBlock::Text(TextBlock {
                    text: text.to_owned(),
                    id: format!("{}.0", call.id),
                    created_at: String::new(),
                    finished_at: None,
                    extra: Object::new(),
                })]),
                state: ToolResultState::Interrupted,
                metadata: Object::new(),
                created_at: String::new(),
                finished_at: None,
                extra: Object::new(),
            };
            residue::keep(&mut result.extra, Version::One.name(), Object::from([(SYNTHETIC, true)]));
            self.end_call(index, &Object::new(), out);
            self.answer(index, result, out);
        }
    }

    /// The result of the agent, which repeats the last message or says what was not streamed. The result is the reply's end,
    /// unless it waits.
    pub(super) fn agent_result(&mut self, message: &Msg, given: &[Given<'_>], out: &mut Out) -> Option<AgentEvent> {
        let mut was_open = self.model_call.is_some();
        if self.model_call.as_ref().is_some_and(|call| call.message_id == message.id()) {
            // The whole message of the model call was not streamed, but here it is.
            was_open = false;
            let _ = self.end_model_call(message, given, out);
        }
        self.break_off_model_call(out);
        self.add_unsaid(message, given, out);
        if self.wait(message, given, out) {
            return None;
        }
        let by_course = if was_open {
            FinishedReason::Interrupted
        } else if self.is_summary {
            FinishedReason::ExceedMaxIters
        } else {
            FinishedReason::Completed
        };
        let mut end = self.end(message.finished_reason().unwrap_or(by_course), None, out);
        if let Some(output) = message.structured_output() {
            end = end.carrying("structured_output", output.clone());
        }
        let mut metadata = message.metadata().clone();
        metadata.remove(residue::KEY);
        if !metadata.is_empty() {
            end = end.carrying("metadata", metadata);
        }
        Some(end)
    }

    /// Adds what no model call has said.
    fn add_unsaid(&mut self, message: &Msg, given: &[Given<'_>], out: &mut Out) {
        if message.id() == self.last.message_id {
            return;
        }
        let says_output = |text: &str| {
            let output = message.structured_output().map(|output| Json::from(output.clone()));
            output.zip(Json::parse(text).ok()).is_some_and(|(output, text)| residue::same_value(&output, &text))
        };
        for given in given {
            match given.block {
                ContentBlock::Text(text) if self.last.texts.contains(&text.text) || says_output(&text.text) => {}
                ContentBlock::ToolCall(call) => {
                    if !self.calls.iter().any(|known| known.given == call.id) {
                        let index = self.begin_call(&call.id, &call.name, out);
                        self.input(index, &call.input, out);
                        self.end_call(index, &Object::new(), out);
                    }
                }
                ContentBlock::ToolResult(result) if is_suspended(result) => {}
                ContentBlock::ToolResult(result) => self.result(result, out),
                block => self.add(block, out),
            }
        }
    }

    /// Adds a block that came whole.
    pub(super) fn add(&mut self, block: &ContentBlock, out: &mut Out) {
        let (id, time) = (self.next_block_id(), out.time.clone());
        let mut block = block.clone();
        let finished_at = Some(time.clone());
        match &mut block {
            ContentBlock::Text(block) => {
                (block.id, block.created_at, block.finished_at) = (id, time, finished_at);
            }
            ContentBlock::Thinking(block) => {
                (block.id, block.created_at, block.finished_at) = (id, time, finished_at);
            }
            ContentBlock::Data(block) => {
                (block.id, block.created_at, block.finished_at) = (id, time, finished_at);
            }
            ContentBlock::Hint(block) => {
                (block.id, block.created_at, block.finished_at) = (id, time, finished_at);
            }
            _ => {}
        }
        for event in tell(&self.id, &block, &out.time) {
            out.push(event);
        }
    }

    /// Whether the agent waits for somebody, of which the next events tell.
    fn wait(&mut self, message: &Msg, given: &[Given<'_>], out: &mut Out) -> bool {
        let reason = message.metadata().get(GENERATE_REASON).and_then(Json::to_text).unwrap_or_default();
        let suspended = given.iter().filter_map(|given| match given.block {
            ContentBlock::ToolResult(result) if is_suspended(result) => Some(result.id.as_str()),
            _ => None,
        });
        let suspended: Vec<&str> = suspended.collect();
        let is_asking = reason == "REASONING_STOP_REQUESTED";
        let mut waiting = Vec::new();
        for call in self.calls.iter_mut().filter(|call| !call.is_answered) {
            if is_asking || suspended.contains(&call.given.as_str()) {
                call.is_submitted = !is_asking;
                let state = if is_asking { ToolCallState::Asking } else { ToolCallState::Submitted };
                let input = given.iter().find_map(|given| match given.block {
                    ContentBlock::ToolCall(block) if block.id == call.given => Some(block.input.clone()),
                    _ => None,
                });
                waiting.push(ToolCallBlock {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    input: input.unwrap_or_default(),
                    state,
                    suggested_rules: Vec::new(),
                    created_at: out.time.clone(),
                    finished_at: None,
                    extra: Object::new(),
                });
            }
        }
        self.waits = !waiting.is_empty();
        if self.waits && is_asking {
            out.say(RequireUserConfirmEvent { reply_id: self.reply_id(), tool_calls: waiting });
        } else if self.waits {
            out.say(RequireExternalExecutionEvent { reply_id: self.reply_id(), tool_calls: waiting });
        }
        self.waits
    }

    /// Ends whatever is open. The result is the reply's end.
    pub(super) fn end(&mut self, reason: FinishedReason, error: Option<ErrorInfo>, out: &mut Out) -> AgentEvent {
        self.break_off_model_call(out);
        self.answer_all(out);
        let end = ReplyEndEvent { session_id: "".into(), reply_id: self.reply_id(), finished_reason: reason, error };
        out.event(end)
    }
}

fn is_suspended(result: &ToolResultBlock) -> bool {
    result.metadata.get(SUSPENDED).is_some_and(|mark| mark.as_str() == "true")
}

/// The events of a block that is complete: its steps where they say all of it, and else the whole block.
fn tell(reply_id: &str, block: &ContentBlock, time: &str) -> Vec<AgentEvent> {
    let event = |kind: recount_message::EventKind<'static>| AgentEvent::stamped("", time.to_owned(), kind);
    let trial = || {
        let start = ReplyStartEvent {
            session_id: "".into(),
            reply_id: reply_id.to_owned().into(),
            name: "".into(),
            role: "assistant".into(),
        };
        let mut trial = ReplyFold::start(&event(start.into()))?;
        if let ContentBlock::ToolResult(result) = block {
            let call = ToolCallStartEvent {
                reply_id: reply_id.to_owned().into(),
                tool_call_id: result.id.clone().into(),
                tool_call_name: "".into(),
            };
            let _ = trial.apply(&event(call.into()));
        }
        let steps = native::steps(reply_id, block)?;
        let are_applied = steps.iter().all(|step| trial.apply(step).reason().is_none());
        (are_applied && trial.message().content().last() == Some(block)).then_some(steps)
    };
    trial().unwrap_or_else(|| vec![event(CustomEvent::block(reply_id, block).into())])
}
