//! Answers to a reply: validated as a whole, then applied.

use recount_message::jiff::Timestamp;
use recount_message::{
    AgentEvent, ConfirmResult, CustomEvent, CustomName, Event, HintBlock, Json, Object, PermissionRule, ToolCallBlock,
    ToolCallState, ToolResultBlock, ToolResultState, parse_time,
};

use super::active_reply::ActiveReply;
use crate::agent::{Inner, QueuedAnswer, Shared};
use crate::input::{AnswerValidator, Confirmation, Input, InputRejection, ValidatedAnswer, is_answer, validate_answer};
use crate::permission::rule_to_json;
use crate::state::AgentState;

/// The result of a call that the user has denied.
const DENIED_RESULT: &str = "<system-reminder>The user has refused this call. It was not run.</system-reminder>";

impl ActiveReply {
    /// Processes all answers in the queue.
    pub(super) fn process_queued_answers(&mut self) {
        while let Ok(queued) = self.inbox.try_recv() {
            self.process_answer(queued);
        }
    }

    /// Processes an answer that arrived while the reply is in progress.
    pub(super) fn process_answer(&mut self, queued: QueuedAnswer) {
        let QueuedAnswer { event, is_recorded, answer } = queued;
        let checked = self.validate(&event);
        let outcome = checked.map(|checked| self.apply(event, checked, is_recorded));
        // The sender may have stopped waiting.
        let _ = answer.send(outcome);
    }

    fn validate(&self, event: &AgentEvent) -> Result<ValidatedAnswer, InputRejection> {
        if !is_answer(event) {
            return Err(InputRejection::UnsupportedEvent { type_name: event.type_name().to_owned() });
        }
        let reply_id = event.reply_id().unwrap_or_default();
        let inner = self.shared.lock();
        if reply_id == self.message().id() {
            return validate_answer(event, self.message(), &AnswerContext::of(&self.shared, &inner.state));
        }
        check_for_sub_agent(&self.shared, &inner, event)
            .unwrap_or_else(|| Err(InputRejection::UnknownReply { reply_id: reply_id.to_owned() }))
    }

    /// Applies a validated answer: writes it to the event stream, together with its effects.
    pub(super) fn apply(&mut self, event: AgentEvent, checked: ValidatedAnswer, is_recorded: bool) {
        if let ValidatedAnswer::ForSubAgent(call_id) = checked {
            return self.answer_sub_agent(call_id, event, is_recorded);
        }
        if is_recorded {
            let _ = self.reply.receive(&event);
        } else {
            let _ = self.reply.record(event);
        }
        match checked {
            ValidatedAnswer::Confirmations(confirmations) => {
                confirmations.into_iter().for_each(|confirmation| self.apply_confirmation(confirmation));
            }
            ValidatedAnswer::Results(results) => results.into_iter().for_each(|result| self.apply_result(result)),
            ValidatedAnswer::Interrupt => self.cancel.cancel(),
            // Handled above.
            ValidatedAnswer::ForSubAgent(_) => {}
        }
    }

    /// Queues an answer for the sub-agent of a call, and reruns the call.
    fn answer_sub_agent(&mut self, call_id: String, event: AgentEvent, is_recorded: bool) {
        {
            let mut input = Input::from(event);
            input.is_recorded = is_recorded;
            self.shared.lock().sub_agent_answers.insert(call_id.clone(), input);
        }
        self.resume_call(call_id);
    }

    /// Reruns the call of a waiting sub-agent.
    pub(super) fn resume_call(&mut self, call_id: String) {
        // It may already be scheduled, after a crash.
        if self.calls_to_rerun.contains(&call_id) {
            return;
        }
        let allowed = CustomEvent::call(self.message().id(), &call_id, ToolCallState::Allowed);
        let event = Event::stamped(self.shared.stamps.id(), self.shared.stamps.time_text(), allowed);
        let _ = self.reply.record(event);
        self.calls_to_rerun.push(call_id);
    }

    /// Denies the calls that were not confirmed in time, including those of sub-agents.
    pub(super) fn expire(&mut self) {
        let now = self.shared.stamps.time();
        let (own, sub_agents) = {
            let inner = self.shared.lock();
            let expiries = inner.state.reply.as_ref().map(|reply| reply.expiries.clone()).unwrap_or_default();
            let sub_agents = inner.state.sub_agents.iter();
            let sub_agents =
                sub_agents.filter(|(_, sub_agent)| sub_agent.state.expires_at().is_some_and(|time| time <= now));
            (expiries, sub_agents.map(|(call_id, _)| call_id.clone()).collect::<Vec<_>>())
        };
        for (call_id, time) in own.iter().filter(|(_, time)| has_passed(time, now)) {
            self.change(|reply| drop(reply.expiries.remove(call_id)));
            let text = format!(
                "<system-reminder>This call was not confirmed before {time}, so it was not run.</system-reminder>"
            );
            self.write_result(call_id, &text, ToolResultState::Denied);
        }
        sub_agents.into_iter().for_each(|call_id| self.resume_call(call_id));
    }

    fn apply_confirmation(&mut self, confirmation: Confirmation) {
        let Confirmation { call_id, is_allowed, rules, reason } = confirmation;
        self.change(|reply| drop(reply.expiries.remove(&call_id)));
        self.accept_rules(&call_id, rules);
        if !is_allowed {
            self.change(|reply| reply.rejected = true);
            // A client can state another reason, for example that no user is present.
            let text = reason.map(|reason| HintBlock::reminder(format!("This call was not run: {reason}")));
            let text = text.and_then(|text| text.hint.text());
            self.write_result(&call_id, text.as_deref().unwrap_or(DENIED_RESULT), ToolResultState::Denied);
        }
    }

    /// Accepts the rules that came with a confirmation, and writes a signal about new ones.
    fn accept_rules(&mut self, call_id: &str, rules: Vec<PermissionRule>) {
        let Some(tool) = self.message().call(call_id).map(|call| call.name.clone()) else { return };
        let accepted = self.shared.change(|state| state.permissions.accept(rules, &tool)).unwrap_or_default();
        if accepted.is_empty() {
            return;
        }
        let mut fields = Object::from([("reply_id", self.message().id()), ("tool_call_id", call_id)]);
        fields.insert("added", accepted.iter().map(|rule| rule_to_json(rule).into()).collect::<Vec<Json>>());
        self.reply.signal(CustomName::Permissions.as_str(), fields);
    }

    /// Writes an external result.
    fn apply_result(&mut self, result: ToolResultBlock) {
        let ToolResultBlock { id, output, state, metadata, .. } = result;
        let Some(open) = self.reply.open_result(&id) else { return };
        let (state, metadata) = match self.reply.result_payload(&open, output) {
            Ok(()) => (state, metadata),
            Err(error) => {
                self.reply.result_text(&open, format!("invalid result: {error}"));
                (ToolResultState::Error, metadata)
            }
        };
        self.reply.end_result_with(open, state, metadata);
        self.tell_if_truncated(&id);
    }

    /// Writes a signal about a result that is too long for the model.
    pub(super) fn tell_if_truncated(&mut self, call_id: &str) {
        // With an offload directory, the signal is written when the result is offloaded.
        if self.shared.config.offload.is_some() {
            return;
        }
        let limit = self.shared.config.result_limit;
        let tokens = self.message().result_of(call_id).and_then(|result| limit.exceeded_by(result));
        if let Some(tokens) = tokens {
            let mut fields = Object::from([("reply_id", self.message().id()), ("tool_call_id", call_id)]);
            fields.insert("tokens", tokens as u64);
            fields.insert("limit", limit.tokens as u64);
            self.reply.signal(CustomName::Truncated.as_str(), fields);
        }
    }
}

fn has_passed(time: &str, now: Timestamp) -> bool {
    parse_time(time).is_some_and(|time| time <= now)
}

/// Returns whether a call that the reply waits for has expired.
pub(super) fn has_expired(shared: &Shared, state: &AgentState) -> bool {
    state.expires_at().is_some_and(|time| time <= shared.stamps.time())
}

/// Validates an answer to the reply of a sub-agent. `None` if it is not for a sub-agent.
pub(super) fn check_for_sub_agent(
    shared: &Shared,
    inner: &Inner,
    event: &AgentEvent,
) -> Option<Result<ValidatedAnswer, InputRejection>> {
    let reply_id = event.reply_id()?;
    let fold = inner.sub_agents.get(reply_id)?;
    let call_id = inner.sub_agent_call(reply_id)?;
    let state = sub_agent_state(&inner.state, reply_id)?;
    // The sub-agent validates arguments and metadata, because its tools are not known here.
    let known = AnswerContext { shared, state, knows_tools: false };
    Some(validate_answer(event, fold.message(), &known).map(|_| ValidatedAnswer::ForSubAgent(call_id)))
}

/// Returns the state of the sub-agent that writes a reply, at any depth.
fn sub_agent_state<'s>(state: &'s AgentState, reply_id: &str) -> Option<&'s AgentState> {
    state.sub_agents.values().find_map(|sub_agent| {
        if sub_agent.reply_id == reply_id {
            Some(&sub_agent.state)
        } else {
            sub_agent_state(&sub_agent.state, reply_id)
        }
    })
}

/// The agent's state that an answer is validated against.
pub(super) struct AnswerContext<'a> {
    shared: &'a Shared,
    state: &'a AgentState,
    knows_tools: bool,
}

impl<'a> AnswerContext<'a> {
    pub(super) fn of(shared: &'a Shared, state: &'a AgentState) -> Self {
        Self { shared, state, knows_tools: true }
    }
}

impl AnswerValidator for AnswerContext<'_> {
    fn metadata_error(&self, result: &ToolResultBlock) -> Option<String> {
        self.knows_tools.then(|| self.shared.config.metadata_problem(&self.state.groups, result))?
    }

    fn argument_error(&self, edited: &ToolCallBlock) -> Option<String> {
        self.knows_tools.then(|| self.shared.config.argument_problem(&self.state.groups, edited))?
    }

    fn uncovered_rule(&self, original: &ToolCallBlock, answer: &ConfirmResult) -> Option<usize> {
        self.knows_tools.then(|| self.shared.config.rule_problem(&self.state.groups, original, answer))?
    }

    fn expiry(&self, call_id: &str) -> Option<String> {
        let time = self.state.reply.as_ref()?.expiries.get(call_id)?;
        has_passed(time, self.shared.stamps.time()).then(|| time.clone())
    }

    fn has_sub_agent(&self, call_id: &str) -> bool {
        self.state.sub_agents.contains_key(call_id)
    }
}
