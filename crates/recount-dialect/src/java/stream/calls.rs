//! Tool calls: their arguments, and the requests to approve or execute them.

use std::borrow::Cow;

use recount_message::{
    AgentEvent, ConfirmResult, CustomEvent, EventKind, Json, Object, RequireExternalExecutionEvent, ToolCallBlock,
    ToolCallDeltaEvent, ToolCallEndEvent, ToolCallStartEvent, ToolCallState,
};

use super::output::{self, Output};
use super::reply::Reply;
use super::results::ResultStage;

/// The tool name that Java uses in events that do not repeat the name.
const FRAGMENT: &str = "__fragment__";

/// The field for the provider's id of a call, if another call has the same id.
const PROVIDER_ID: &str = "provider_id";

/// A call of the current round without a result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// The native id.
    pub(super) id: String,
    /// The Java id.
    pub(super) java_id: String,
    pub(super) name: String,
    /// The end of the arguments, held back because more can follow.
    pub(super) held_end: Option<AgentEvent>,
    /// Whether the arguments have ended natively.
    pub(super) is_ended: bool,
    /// Whether any arguments were streamed.
    pub(super) has_input: bool,
    /// Whether the arguments are final.
    pub(super) is_complete: bool,
    /// Whether the user was asked to approve the call.
    pub(super) is_asked: bool,
    /// Whether the call is known to be denied.
    pub(super) is_denied: bool,
    /// Whether the call is executed externally, and its result is only a placeholder.
    pub(super) is_suspended: bool,
    /// Whether external execution was requested natively.
    pub(super) is_submitted: bool,
    /// The progress of the result.
    pub(super) stage: ResultStage,
    /// The events of the result that are held back.
    pub(super) held: Vec<AgentEvent>,
    /// The end of a placeholder result.
    pub(super) running_end: Option<AgentEvent>,
}

impl Call {
    /// Ends the arguments. If none were streamed, inserts `input`, or an empty object.
    pub(super) fn end_arguments(&mut self, input: Option<&str>, reply_id: &str, out: &mut Output) {
        if self.is_ended {
            return;
        }
        if !self.has_input {
            let delta = Cow::Owned(input.unwrap_or("{}").to_owned());
            out.insert(ToolCallDeltaEvent::new(owned(reply_id), owned(&self.id), delta));
            (self.has_input, self.is_complete) = (true, true);
        }
        let event = self
            .held_end
            .take()
            .unwrap_or_else(|| out.synthetic(ToolCallEndEvent::new(owned(reply_id), owned(&self.id))));
        let mut event = output::for_call(event, reply_id, &self.id, &self.name);
        if self.id != self.java_id && !self.java_id.is_empty() {
            let mut extra = event.extension("extra").and_then(|extra| extra.to_object()).unwrap_or_default();
            extra.insert(PROVIDER_ID, self.java_id.as_str());
            event = event.with_extension("extra", extra);
        }
        out.forward(event);
        self.is_ended = true;
    }

    fn start(&self, reply_id: &str) -> EventKind<'static> {
        let (tool_call_id, tool_call_name) = (owned(&self.id), owned(&self.name));
        ToolCallStartEvent::new(owned(reply_id), tool_call_id, tool_call_name).into()
    }
}

/// Returns the name of the tool if the event has it in Java but not natively. Empty if unknown.
pub(super) fn tool_name(event: &AgentEvent) -> String {
    let name = output::marks(event).get("toolCallName").and_then(Json::as_str).map(str::to_owned);
    name.filter(|name| name != FRAGMENT).unwrap_or_default()
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_owned())
}

impl Reply {
    pub(super) fn call_start(&mut self, event: AgentEvent, out: &mut Output) {
        let EventKind::ToolCallStart(start) = &event.kind else { return };
        let (java_id, name) = (start.tool_call_id.to_string(), start.tool_call_name.to_string());
        if let Some(index) = self.find_call(&java_id) {
            // More arguments and another end follow.
            let call = &mut self.calls[index];
            if call.is_ended && !call.is_complete && call.stage == ResultStage::None {
                call.is_ended = false;
                out.forward(output::for_call(event, &self.id, &call.id, &call.name));
            }
            call.held_end = None;
            return;
        }
        let index = self.new_call(&java_id, &name);
        let call = &self.calls[index];
        out.forward(output::for_call(event, &self.id, &call.id, &call.name));
    }

    pub(super) fn call_delta(&mut self, event: AgentEvent, out: &mut Output) {
        let EventKind::ToolCallDelta(delta) = &event.kind else { return };
        let (java_id, has_input) = (delta.tool_call_id.to_string(), !delta.delta.is_empty());
        let index = match self.find_call(&java_id) {
            Some(index) => index,
            None if self.is_resolved(&java_id) => return,
            None => self.insert_call(&java_id, &tool_name(&event), out),
        };
        let call = &mut self.calls[index];
        if call.is_ended {
            if call.is_complete || call.stage != ResultStage::None {
                return;
            }
            call.is_ended = false;
            out.insert(call.start(&self.id));
        }
        call.has_input |= has_input;
        out.forward(output::for_call(event, &self.id, &call.id, &call.name));
    }

    pub(super) fn call_end(&mut self, event: AgentEvent) {
        let EventKind::ToolCallEnd(end) = &event.kind else { return };
        if let Some(index) = self.find_call(&end.tool_call_id)
            && !self.calls[index].is_ended
        {
            self.calls[index].held_end = Some(event);
        }
    }

    /// Ends the arguments of calls with streamed arguments. A call without any may get them from a later request.
    pub(super) fn end_streamed_arguments(&mut self, out: &mut Output) {
        for call in self.calls.iter_mut().filter(|call| call.has_input) {
            call.end_arguments(None, &self.id, out);
        }
    }

    /// Returns the calls of a request under their native ids. Inserts unknown calls and omits calls with a result.
    fn requested_calls(&mut self, blocks: Vec<ToolCallBlock>, out: &mut Output) -> Vec<(usize, ToolCallBlock)> {
        let mut asked = Vec::new();
        for mut block in blocks {
            let Some(index) = self.call_of_block(&block, out) else { continue };
            let call = &mut self.calls[index];
            call.end_arguments(Some(&block.input), &self.id, out);
            block.id.clone_from(&call.id);
            asked.push((index, block));
        }
        asked
    }

    /// Returns the index of the call that a block refers to. `None` if the call has its result.
    pub(super) fn call_of_block(&mut self, block: &ToolCallBlock, out: &mut Output) -> Option<usize> {
        match self.find_call(&block.id) {
            Some(index) => Some(index),
            None if self.is_resolved(&block.id) => None,
            None => Some(self.insert_call(&block.id, &block.name, out)),
        }
    }

    pub(super) fn require_confirm(&mut self, mut event: AgentEvent, out: &mut Output) {
        let EventKind::RequireUserConfirm(require) = &mut event.kind else { return };
        let asked = self.requested_calls(std::mem::take(&mut require.tool_calls), out);
        for (index, block) in asked {
            let call = &mut self.calls[index];
            (call.is_asked, call.is_suspended, call.is_submitted) = (true, false, false);
            require.tool_calls.push(block);
        }
        (self.waits, self.has_asked) = (true, true);
        out.forward(output::for_reply(event, &self.id));
    }

    pub(super) fn require_external(&mut self, mut event: AgentEvent, out: &mut Output) {
        let EventKind::RequireExternalExecution(require) = &mut event.kind else { return };
        let asked = self.requested_calls(std::mem::take(&mut require.tool_calls), out);
        for (index, block) in asked {
            self.calls[index].submit();
            require.tool_calls.push(block);
        }
        self.waits = true;
        out.forward(output::for_reply(event, &self.id));
    }

    /// Inserts a request to execute the suspended calls, instead of their placeholder results.
    pub(super) fn submit_suspended(&mut self, blocks: &[ToolCallBlock], out: &mut Output) {
        let mut tool_calls = Vec::new();
        for call in self.calls.iter_mut().filter(|call| call.is_suspended && !call.is_submitted) {
            let given = blocks.iter().find(|block| block.id == call.java_id);
            call.end_arguments(given.map(|block| block.input.as_str()), &self.id, out);
            let mut block = given.cloned().unwrap_or_else(|| ToolCallBlock::new(&call.id, &call.name, "{}"));
            block.id.clone_from(&call.id);
            block.state = ToolCallState::Submitted;
            call.submit();
            tool_calls.push(block);
        }
        if !tool_calls.is_empty() {
            let reply_id = owned(&self.id);
            let event = out.insert(RequireExternalExecutionEvent::new(reply_id, tool_calls));
            let time = event.created_at.to_string();
            if let EventKind::RequireExternalExecution(require) = &mut event.kind {
                require.tool_calls.iter_mut().for_each(|call| call.created_at.clone_from(&time));
            }
        }
    }

    /// Forwards the user's decisions about calls that wait for one.
    pub(super) fn confirmed(&mut self, mut event: AgentEvent, out: &mut Output) {
        let EventKind::UserConfirmResult(decisions) = &mut event.kind else { return };
        let calls = &mut self.calls;
        decisions.confirm_results.retain_mut(|decision: &mut ConfirmResult| {
            let waiting = calls.iter_mut().find(|call| call.java_id == decision.tool_call.id && call.is_asked);
            let Some(call) = waiting.filter(|call| call.stage == ResultStage::None && !call.is_denied) else {
                return false;
            };
            decision.tool_call.id.clone_from(&call.id);
            // Later state changes follow from the result.
            call.is_asked = false;
            call.is_denied = !decision.confirmed;
            true
        });
        if !decisions.confirm_results.is_empty() {
            self.is_confirmed = true;
            out.forward(output::for_reply(event, &self.id));
        }
    }

    /// Marks the calls that Java reports as denied.
    pub(super) fn mark_denied(&mut self, value: &Object) {
        let calls = value.get("deniedToolCalls").and_then(Json::to_array).unwrap_or_default();
        for id in calls.iter().filter_map(|call| call.to_object()?.get("id")?.as_str().map(str::to_owned)) {
            if let Some(index) = self.find_call(&id) {
                self.calls[index].is_denied = true;
            }
        }
    }

    /// Inserts the approval of a call that the user was asked about and that now runs.
    pub(super) fn insert_allowed(&mut self, index: usize, out: &mut Output) {
        let call = &mut self.calls[index];
        if std::mem::take(&mut call.is_asked) {
            out.insert(CustomEvent::call(self.id.clone(), call.id.clone(), ToolCallState::Allowed));
        }
    }

    pub(super) fn find_call(&self, java_id: &str) -> Option<usize> {
        self.calls.iter().rposition(|call| call.java_id == java_id)
    }

    /// Returns whether a call with this id already has its result.
    pub(super) fn is_resolved(&self, java_id: &str) -> bool {
        self.resolved.iter().any(|id| id == java_id)
    }

    /// Inserts a call that was not streamed and returns its index.
    pub(super) fn insert_call(&mut self, java_id: &str, name: &str, out: &mut Output) -> usize {
        let index = self.new_call(java_id, name);
        out.insert(self.calls[index].start(&self.id));
        index
    }

    fn new_call(&mut self, java_id: &str, name: &str) -> usize {
        let mut id = java_id.to_owned();
        if id.is_empty() {
            self.id_count += 1;
            id = format!("{}.call.{}", self.id, self.id_count);
        }
        let mut number = 1;
        while self.is_resolved(&id) || self.calls.iter().any(|call| call.id == id) {
            number += 1;
            id = format!("{java_id}_{number}");
        }
        self.calls.push(Call { id, java_id: java_id.to_owned(), name: name.to_owned(), ..Call::default() });
        self.calls.len() - 1
    }
}

impl Call {
    /// Marks the call as submitted and discards its placeholder result.
    fn submit(&mut self) {
        (self.is_asked, self.is_suspended, self.is_submitted) = (false, true, true);
        self.running_end = None;
        if self.stage == ResultStage::Held {
            self.stage = ResultStage::None;
            self.held.clear();
        }
    }
}
