//! The parts of an agent's result that were not streamed.

use recount_message::{ContentBlock, Json, Msg, Object, ToolCallBlock, ToolResultBlock, ToolResultState};

use super::blocks::TextFingerprint;
use super::output::Output;
use super::reply::{Reply, is_waiting_reason};
use super::results::Unresolved;
use crate::{patch, preserved};

/// The metadata key for the reason why an agent stopped.
const GENERATE_REASON: &str = "agentscope_generate_reason";

/// The metadata key for a copy of the token usage.
const CHAT_USAGE: &str = "_chat_usage";

impl Reply {
    /// Processes the result of the invocation.
    pub(super) fn process_agent_result(&mut self, result: &Msg, out: &mut Output) {
        self.has_result = true;
        let stated = result.metadata().get(GENERATE_REASON).and_then(Json::as_str).map(str::to_owned);
        let is_waiting = stated.as_deref().is_some_and(is_waiting_reason);
        if !is_waiting && (self.is_calling_model || self.has_open_block() || self.has_open_call()) {
            self.is_interrupted = true;
        }
        let calls = self.take_calls(result, out);
        let is_usage_known = self.is_usage_known && !self.is_calling_model;
        let usage = result.usage().filter(|_| !is_usage_known);
        self.end_blocks(out);
        self.end_model_call(usage, out);
        // A final reason takes precedence over an earlier request to stop.
        self.waits = is_waiting || (self.waits && stated.is_none() && result.finished_reason().is_none());
        if !self.waits {
            self.resolve_calls(Unresolved::AgentContinued, out);
        }
        self.add_text(result, out);
        if let Some(usage) = usage.filter(|_| !self.is_usage_known) {
            self.insert_usage(usage, out);
        }
        if is_waiting {
            self.mark_suspended(result);
            self.submit_suspended(&calls, out);
            return;
        }
        self.reason = result.finished_reason();
        self.structured_output = result.structured_output().cloned();
        self.metadata = metadata_of(result);
    }

    fn has_open_call(&self) -> bool {
        self.has_open_result() || self.calls.iter().any(|call| !call.is_ended && call.held_end.is_none())
    }

    /// Completes the calls of the result: adds arguments that were not streamed, and inserts calls that were not
    /// streamed.
    fn take_calls(&mut self, result: &Msg, out: &mut Output) -> Vec<ToolCallBlock> {
        let calls: Vec<ToolCallBlock> = result.blocks::<ToolCallBlock>().cloned().collect();
        for block in &calls {
            if let Some(index) = self.call_of_block(block, out) {
                let call = &mut self.calls[index];
                call.end_arguments(Some(&block.input), &self.id, out);
            }
        }
        calls
    }

    /// Marks the calls whose results only announce external execution.
    fn mark_suspended(&mut self, result: &Msg) {
        for block in result.blocks::<ToolResultBlock>().filter(|block| block.state == ToolResultState::Running) {
            if let Some(index) = self.find_call(&block.id) {
                self.calls[index].is_suspended = true;
            }
        }
    }

    fn add_text(&mut self, result: &Msg, out: &mut Output) {
        let text: String = result.content().iter().filter_map(text_of).collect();
        let print = TextFingerprint::of(&text);
        if text.is_empty() || print == self.text || is_structured_output(&text, result) {
            return;
        }
        self.insert_text(&text, out);
        self.text = print;
    }
}

fn text_of(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(block) => Some(&block.text),
        _ => None,
    }
}

/// Returns whether a text repeats the structured output, which is sent separately.
fn is_structured_output(text: &str, result: &Msg) -> bool {
    let Some(output) = result.structured_output() else { return false };
    Object::parse(text).is_ok_and(|parsed| patch::same_object(&parsed, output))
}

/// Returns the remaining metadata of a result: a reason without a native equivalent, and structured output that is not an
/// object.
fn metadata_of(result: &Msg) -> Object {
    let mut metadata = result.metadata().clone();
    metadata.remove(CHAT_USAGE);
    metadata.remove(preserved::KEY);
    metadata
}
