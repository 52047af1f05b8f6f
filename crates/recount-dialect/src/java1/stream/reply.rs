//! The state of one reply: its calls, their results, and its end.

use std::borrow::Cow;

use recount_message::{
    AgentEvent, ContentBlock, CustomEvent, ErrorInfo, FinishedReason, Json, MediaBlock, Msg, Object, Payload,
    ReplyEndEvent, RequireExternalExecutionEvent, RequireUserConfirmEvent, TextBlock, ToolCallBlock, ToolCallEndEvent,
    ToolCallStartEvent, ToolCallState, ToolResultBlock, ToolResultState,
};

use super::super::frames::SYNTHETIC;
use super::model_call::ModelCall;
use super::output::{Output, mark_synthetic};
use super::{MessageBlock, unused_id};
use crate::java::Version;
use crate::java::codec::SUSPENDED;
use crate::java::message::GENERATE_REASON;
use crate::{native, patch, preserved};

/// An open reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) id: String,
    pub(super) name: String,
    /// The number of block ids.
    pub(super) block_count: u64,
    pub(super) calls: Vec<Call>,
    pub(super) model_call: Option<ModelCall>,
    /// The message of the last complete model call.
    pub(super) last: LastMessage,
    /// Whether the reply waits for approval or external execution.
    pub(super) waits: bool,
    /// Whether the maximum number of iterations was exceeded.
    pub(super) is_summary: bool,
}

/// A tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// The Java id.
    pub(super) java_id: String,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) has_ended: bool,
    pub(super) has_result: bool,
    /// Whether the call was submitted for external execution.
    pub(super) is_submitted: bool,
    /// The result so far.
    pub(super) partial_result: String,
}

/// The id and the texts of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LastMessage {
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
        self.block_count += 1;
        format!("{}.{}", self.id, self.block_count)
    }

    /// Starts a call and returns its index.
    pub(super) fn begin_call(&mut self, java_id: &str, name: &str, out: &mut Output) -> usize {
        let id = unused_id(java_id, |id| self.calls.iter().any(|call| call.id == id));
        out.emit(ToolCallStartEvent::new(self.reply_id(), id.clone(), name.to_owned()));
        self.calls.push(Call { java_id: java_id.to_owned(), id, name: name.to_owned(), ..Call::default() });
        self.calls.len() - 1
    }

    /// Ends a call if it is open.
    pub(super) fn end_call(&mut self, index: usize, extra: &Object, out: &mut Output) {
        let reply_id = self.reply_id();
        let Some(call) = self.calls.get_mut(index).filter(|call| !call.has_ended) else { return };
        call.has_ended = true;
        let mut extra = extra.clone();
        if call.id != call.java_id {
            extra.insert("provider_id", call.java_id.as_str());
        }
        out.emit_with_extra(ToolCallEndEvent::new(reply_id, call.id.clone()), &extra);
    }

    /// Returns the index of the call that a result belongs to: the latest without a result that has its id. If an id is
    /// missing, Java generates one from the time, which differs between the call and its result.
    fn call_for(&self, result: &ToolResultBlock) -> Option<usize> {
        const MADE_UP: &str = "tool_call_";
        let newest = |is_candidate: &dyn Fn(&Call) -> bool| {
            self.calls.iter().rposition(|call| !call.has_result && is_candidate(call))
        };
        newest(&|call| call.java_id == result.id).or_else(|| {
            let is_made_up = result.id.starts_with(MADE_UP);
            newest(&|call| is_made_up && call.java_id.starts_with(MADE_UP) && call.name == result.name)
        })
    }

    /// Adds a chunk of a result.
    pub(super) fn add_result_chunk(&mut self, result: &ToolResultBlock) {
        if let Some(call) = self.call_for(result).and_then(|index| self.calls.get_mut(index)) {
            call.partial_result.push_str(&result.output.text().unwrap_or_default());
        }
    }

    /// Adds the result of a call. Starts the call if it was not streamed.
    pub(super) fn result(&mut self, result: &ToolResultBlock, out: &mut Output) {
        let index = match self.call_for(result) {
            Some(index) => index,
            None if self.calls.iter().any(|call| call.java_id == result.id) => return,
            None => self.begin_call(&result.id, &result.name, out),
        };
        self.end_call(index, &Object::new(), out);
        self.add_result(index, result.clone(), out);
    }

    fn add_result(&mut self, index: usize, mut result: ToolResultBlock, out: &mut Output) {
        let reply_id = self.id.clone();
        let Some(call) = self.calls.get_mut(index).filter(|call| !call.has_result) else { return };
        call.has_result = true;
        let given = std::mem::replace(&mut result.id, call.id.clone());
        if result.name.is_empty() && !call.name.is_empty() {
            result.name.clone_from(&call.name);
            preserved::unmark_absent(&mut result.extra, "name");
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
        let is_synthetic = preserved::get(&result.extra, Version::One.name()).contains_key(SYNTHETIC);
        for (index, mut event) in complete_block_events(&reply_id, &result.into(), &out.time).into_iter().enumerate() {
            if is_synthetic && index == 0 {
                mark_synthetic(&mut event);
            }
            out.push(event);
        }
    }

    /// Inserts a result for every call without one.
    pub(super) fn add_missing_results(&mut self, out: &mut Output) {
        for index in 0..self.calls.len() {
            let Some(call) = self.calls.get(index).filter(|call| !call.has_result) else { continue };
            let text = match (call.partial_result.as_str(), call.is_submitted) {
                ("", true) => "The result came from elsewhere and was not streamed.",
                ("", false) => "No result was streamed.",
                (partial_result, _) => partial_result,
            };
            let output = TextBlock::stamped(format!("{}.0", call.id), "", text);
            let mut result =
                ToolResultBlock::stamped(call.id.clone(), "", call.name.clone(), output, ToolResultState::Interrupted);
            preserved::store(&mut result.extra, Version::One.name(), Object::from([(SYNTHETIC, true)]));
            self.end_call(index, &Object::new(), out);
            self.add_result(index, result, out);
        }
    }

    /// Processes the agent's result, which repeats the last message or holds blocks that were not streamed. Returns the
    /// end of the reply, or `None` if the reply waits.
    pub(super) fn agent_result(
        &mut self,
        message: &Msg,
        given: &[MessageBlock<'_>],
        out: &mut Output,
    ) -> Option<AgentEvent> {
        let mut was_open = self.model_call.is_some();
        if self.model_call.as_ref().is_some_and(|call| call.message_id == message.id()) {
            // The complete message of the model call arrives with the result.
            was_open = false;
            let _ = self.end_model_call(message, given, out);
        }
        self.abort_model_call(out);
        self.add_missing_blocks(message, given, out);
        if self.emit_wait_request(message, given, out) {
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
            end = end.with_extension("structured_output", output.clone());
        }
        let mut metadata = message.metadata().clone();
        metadata.remove(preserved::KEY);
        if !metadata.is_empty() {
            end = end.with_extension("metadata", metadata);
        }
        Some(end)
    }

    /// Adds the blocks that were not streamed.
    fn add_missing_blocks(&mut self, message: &Msg, given: &[MessageBlock<'_>], out: &mut Output) {
        if message.id() == self.last.message_id {
            return;
        }
        let says_output = |text: &str| {
            let output = message.structured_output().map(|output| Json::from(output.clone()));
            output.zip(Json::parse(text).ok()).is_some_and(|(output, text)| patch::same_value(&output, &text))
        };
        for given in given {
            match given.block {
                ContentBlock::Text(text) if self.last.texts.contains(&text.text) || says_output(&text.text) => {}
                ContentBlock::ToolCall(call) => {
                    if !self.calls.iter().any(|known| known.java_id == call.id) {
                        let index = self.begin_call(&call.id, &call.name, out);
                        self.emit_arguments(index, &call.input, out);
                        self.end_call(index, &Object::new(), out);
                    }
                }
                ContentBlock::ToolResult(result) if is_suspended(result) => {}
                ContentBlock::ToolResult(result) => self.result(result, out),
                block => self.add(block, out),
            }
        }
    }

    /// Adds a complete block.
    pub(super) fn add(&mut self, block: &ContentBlock, out: &mut Output) {
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
        for event in complete_block_events(&self.id, &block, &out.time) {
            out.push(event);
        }
    }

    /// Emits a request for approval or external execution if the agent waits. Returns whether it waits.
    fn emit_wait_request(&mut self, message: &Msg, given: &[MessageBlock<'_>], out: &mut Output) -> bool {
        let reason =
            message.metadata().get(GENERATE_REASON).and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
        let suspended = given.iter().filter_map(|given| match given.block {
            ContentBlock::ToolResult(result) if is_suspended(result) => Some(result.id.as_str()),
            _ => None,
        });
        let suspended: Vec<&str> = suspended.collect();
        let is_asking = reason == "REASONING_STOP_REQUESTED";
        let mut waiting = Vec::new();
        for call in self.calls.iter_mut().filter(|call| !call.has_result) {
            if is_asking || suspended.contains(&call.java_id.as_str()) {
                call.is_submitted = !is_asking;
                let state = if is_asking { ToolCallState::Asking } else { ToolCallState::Submitted };
                let input = given.iter().find_map(|given| match given.block {
                    ContentBlock::ToolCall(block) if block.id == call.java_id => Some(block.input.clone()),
                    _ => None,
                });
                let input = input.unwrap_or_default();
                let block = ToolCallBlock::stamped(call.id.clone(), out.time.clone(), call.name.clone(), input);
                waiting.push(block.with_state(state));
            }
        }
        self.waits = !waiting.is_empty();
        if self.waits && is_asking {
            out.emit(RequireUserConfirmEvent::new(self.reply_id(), waiting));
        } else if self.waits {
            out.emit(RequireExternalExecutionEvent::new(self.reply_id(), waiting));
        }
        self.waits
    }

    /// Ends all open blocks and calls. Returns the end of the reply.
    pub(super) fn end(&mut self, reason: FinishedReason, error: Option<ErrorInfo>, out: &mut Output) -> AgentEvent {
        self.abort_model_call(out);
        self.add_missing_results(out);
        let mut end = ReplyEndEvent::new("", self.reply_id()).with_finished_reason(reason);
        end.error = error;
        out.event(end)
    }
}

fn is_suspended(result: &ToolResultBlock) -> bool {
    result.metadata.get(SUSPENDED).is_some_and(|mark| mark.as_bool() == Some(true))
}

/// Returns the events of a complete block: its start, deltas and end if they rebuild it, or else one event with the block.
fn complete_block_events(reply_id: &str, block: &ContentBlock, time: &str) -> Vec<AgentEvent> {
    native::exact_block_events(reply_id, block)
        .unwrap_or_else(|| vec![AgentEvent::stamped("", time.to_owned(), CustomEvent::block(reply_id, block))])
}
