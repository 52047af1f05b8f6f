//! Tool results. Every call gets exactly one.
//!
//! For an external tool, Java sends a placeholder result that ends as `running`. Natively such a call must not have a
//! result. The start of every result is therefore held back until it ends or has more content than a placeholder.

use std::borrow::Cow;

use recount_message::{
    AgentEvent, EventKind, ToolResultEndEvent, ToolResultStartEvent, ToolResultState, ToolResultTextDeltaEvent,
};

use super::calls::{Call, tool_name};
use super::output::{self, Output};
use super::reply::Reply;

/// The text of the result that Java stores for a call denied by the user.
const DENIED_BY_USER: &str = "Permission denied by user";

/// The text of the result that Java stores for a call denied by a rule.
const DENIED_BY_RULES: &str = "Permission denied by rules";

/// The text of the result for a call whose result was not streamed.
const NOT_STREAMED: &str = "The result of this call was not streamed.";

/// The progress of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ResultStage {
    /// Not started.
    #[default]
    None,
    /// Started in Java and held back.
    Held,
    /// Open.
    Open,
}

/// The reason why results are missing when a round of calls ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unresolved {
    /// The agent continued, so it received the results.
    AgentContinued,
    /// The reply was aborted.
    ReplyAborted,
}

impl Call {
    fn result_start(&self, reply_id: &str) -> ToolResultStartEvent<'static> {
        let (tool_call_id, tool_call_name) = (owned(&self.id), owned(&self.name));
        ToolResultStartEvent::new(owned(reply_id), tool_call_id, tool_call_name)
    }

    /// Clears the suspension, because the call has a real result.
    fn unsuspend(&mut self) {
        (self.is_suspended, self.is_submitted, self.running_end) = (false, false, None);
    }

    /// Forwards the events that are held back.
    fn release(&mut self, reply_id: &str, out: &mut Output) {
        self.stage = ResultStage::Open;
        for event in std::mem::take(&mut self.held) {
            out.forward(output::for_call(event, reply_id, &self.id, &self.name));
        }
    }

    /// Inserts a missing result, or ends an incomplete one.
    fn finish_result(&mut self, text: &str, state: ToolResultState, reply_id: &str, out: &mut Output) {
        match self.stage {
            ResultStage::None => {
                out.insert(self.result_start(reply_id));
                let (reply_id, tool_call_id) = (owned(reply_id), owned(&self.id));
                out.insert(ToolResultTextDeltaEvent::new(reply_id, tool_call_id, owned(text)));
            }
            ResultStage::Held | ResultStage::Open => self.release(reply_id, out),
        }
        out.insert(ToolResultEndEvent::new(owned(reply_id), owned(&self.id), state));
    }
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_owned())
}

impl Reply {
    pub(super) fn result_start(&mut self, event: AgentEvent, out: &mut Output) {
        let EventKind::ToolResultStart(start) = &event.kind else { return };
        let Some(index) = self.call_for_result(&start.tool_call_id, &start.tool_call_name, out) else { return };
        self.begin_result(index, event, out);
    }

    pub(super) fn result_delta(&mut self, event: AgentEvent, out: &mut Output) {
        let (java_id, is_data) = match &event.kind {
            EventKind::ToolResultTextDelta(delta) => (&delta.tool_call_id, false),
            EventKind::ToolResultDataDelta(delta) => (&delta.tool_call_id, true),
            _ => return,
        };
        let Some(index) = self.call_for_result(java_id, &tool_name(&event), out) else { return };
        self.start_implied_result(index, out);
        let call = &mut self.calls[index];
        if call.stage == ResultStage::Held && !is_data && call.held.len() == 1 {
            call.held.push(event);
            return;
        }
        // Content after the placeholder shows that the call was not suspended.
        call.unsuspend();
        call.release(&self.id, out);
        out.forward(output::for_call(event, &self.id, &call.id, &call.name));
    }

    pub(super) fn result_end(&mut self, event: AgentEvent, out: &mut Output) {
        let EventKind::ToolResultEnd(end) = &event.kind else { return };
        let is_running = end.state == ToolResultState::Running;
        let Some(index) = self.call_for_result(&end.tool_call_id, &tool_name(&event), out) else { return };
        self.start_implied_result(index, out);
        let call = &mut self.calls[index];
        if is_running {
            (call.is_suspended, call.running_end) = (true, Some(event));
            return;
        }
        call.release(&self.id, out);
        out.forward(output::for_call(event, &self.id, &call.id, &call.name));
        self.resolve(index);
    }

    /// Forwards the results of external executions for calls that have no result.
    pub(super) fn external_results(&mut self, mut event: AgentEvent, out: &mut Output) {
        let EventKind::ExternalExecutionResult(external) = &mut event.kind else { return };
        let mut accepted = Vec::new();
        for mut result in std::mem::take(&mut external.execution_results) {
            let Some(index) = self.call_for_result(&result.id, &result.name, out) else { continue };
            let call = &mut self.calls[index];
            if call.stage == ResultStage::Open {
                // The deltas deliver the rest of this result.
                continue;
            }
            result.id.clone_from(&call.id);
            accepted.push(result);
            self.resolve(index);
        }
        if !accepted.is_empty() {
            external.execution_results = accepted;
            out.forward(output::for_reply(event, &self.id));
        }
    }

    /// Resolves all calls: inserts missing results and ends open ones.
    pub(super) fn resolve_calls(&mut self, unresolved: Unresolved, out: &mut Output) {
        for call in &mut self.calls {
            call.end_arguments(None, &self.id, out);
            let is_waiting = call.is_submitted || (call.is_suspended && unresolved == Unresolved::ReplyAborted);
            if !is_waiting && let Some(end) = call.running_end.take() {
                // The call did not wait, so the placeholder is its actual result.
                call.release(&self.id, out);
                out.forward(output::for_call(end, &self.id, &call.id, &call.name));
                continue;
            }
            let is_denied =
                call.is_denied || (self.is_confirmed && !call.is_suspended && call.stage == ResultStage::None);
            let (text, state) = match unresolved {
                Unresolved::AgentContinued if is_denied && (call.is_asked || call.is_denied) => {
                    (DENIED_BY_USER, ToolResultState::Denied)
                }
                Unresolved::AgentContinued if is_denied => (DENIED_BY_RULES, ToolResultState::Denied),
                Unresolved::AgentContinued | Unresolved::ReplyAborted => (NOT_STREAMED, ToolResultState::Interrupted),
            };
            call.finish_result(text, state, &self.id, out);
        }
        self.resolved.extend(self.calls.drain(..).map(|call| call.id));
        (self.has_asked, self.is_confirmed) = (false, false);
    }

    /// Returns whether a result is open in Java.
    pub(super) fn has_open_result(&self) -> bool {
        self.calls.iter().any(|call| call.stage != ResultStage::None && !call.is_suspended)
    }

    /// Returns the index of the call that a result belongs to, inserting the call if necessary. `None` if the call has
    /// its result.
    fn call_for_result(&mut self, java_id: &str, name: &str, out: &mut Output) -> Option<usize> {
        let index = match self.find_call(java_id) {
            Some(index) => index,
            None if self.is_resolved(java_id) => return None,
            None => self.insert_call(java_id, name, out),
        };
        self.calls[index].end_arguments(None, &self.id, out);
        Some(index)
    }

    fn begin_result(&mut self, index: usize, start: AgentEvent, out: &mut Output) {
        self.insert_allowed(index, out);
        let call = &mut self.calls[index];
        if call.stage == ResultStage::None {
            call.stage = ResultStage::Held;
            call.held.push(start);
        }
        call.unsuspend();
    }

    /// Starts a result for which Java sent no start.
    fn start_implied_result(&mut self, index: usize, out: &mut Output) {
        if self.calls[index].stage == ResultStage::None {
            let start = out.synthetic(self.calls[index].result_start(&self.id));
            self.begin_result(index, start, out);
        }
    }

    fn resolve(&mut self, index: usize) {
        let call = self.calls.remove(index);
        self.resolved.push(call.id);
    }
}
