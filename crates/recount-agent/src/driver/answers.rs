//! Answers to a reply: applied once they are known to fit.

use recount_message::jiff::Timestamp;
use recount_message::{
    AgentEvent, ConfirmResult, CustomEvent, CustomName, Event, HintBlock, Json, Object, PermissionRule, ToolCallBlock,
    ToolCallState, ToolResultBlock, ToolResultState, parse_time,
};

use super::active_reply::ActiveReply;
use crate::agent::{Delivery, Inner, Shared};
use crate::input::{Checked, Confirmation, Input, InputRejection, Problems, check, is_answer};
use crate::permission::rule_to_json;
use crate::state::AgentState;

/// What the model is told of a call that the user refused.
const REFUSED: &str = "<system-reminder>The user has refused this call. It was not run.</system-reminder>";

impl ActiveReply {
    /// Takes what has come while nobody could look at it.
    pub(super) fn take_deliveries(&mut self) {
        while let Ok(delivery) = self.inbox.try_recv() {
            self.deliver(delivery);
        }
    }

    /// Takes an answer that comes while the reply is under way.
    pub(super) fn deliver(&mut self, delivery: Delivery) {
        let Delivery { event, is_recorded, answer } = delivery;
        let checked = self.checked(&event);
        let outcome = checked.map(|checked| self.apply(event, checked, is_recorded));
        // Who asked may have gone.
        let _ = answer.send(outcome);
    }

    fn checked(&self, event: &AgentEvent) -> Result<Checked, InputRejection> {
        if !is_answer(event) {
            return Err(InputRejection::UnsupportedEvent { type_name: event.type_name().to_owned() });
        }
        let reply_id = event.reply_id().unwrap_or_default();
        let inner = self.shared.lock();
        if reply_id == self.message().id() {
            return check(event, self.message(), &Known::of(&self.shared, &inner.state));
        }
        check_for_sub_agent(&self.shared, &inner, event)
            .unwrap_or_else(|| Err(InputRejection::UnknownReply { reply_id: reply_id.to_owned() }))
    }

    /// Applies an answer that was checked: it becomes a part of the stream, and what follows from it is written.
    pub(super) fn apply(&mut self, event: AgentEvent, checked: Checked, is_recorded: bool) {
        if let Checked::ForSubAgent(call_id) = checked {
            return self.answer_sub_agent(call_id, event, is_recorded);
        }
        if is_recorded {
            let _ = self.reply.receive(&event);
        } else {
            let _ = self.reply.record(event);
        }
        match checked {
            Checked::Confirmations(confirmations) => {
                confirmations.into_iter().for_each(|confirmation| self.confirmed(confirmation));
            }
            Checked::Results(results) => results.into_iter().for_each(|result| self.result(result)),
            Checked::Interrupt => self.cancel.cancel(),
            // It has gone its way above.
            Checked::ForSubAgent(_) => {}
        }
    }

    /// Passes an answer on to the agent that works on a call, which runs again with it.
    fn answer_sub_agent(&mut self, call_id: String, event: AgentEvent, is_recorded: bool) {
        {
            let mut input = Input::from(event);
            input.is_recorded = is_recorded;
            self.shared.lock().sub_agent_answers.insert(call_id.clone(), input);
        }
        self.take_up(call_id);
    }

    /// Lets the agent that works on a call go on.
    pub(super) fn take_up(&mut self, call_id: String) {
        // It may be about to go on already, since its process died.
        if self.again.contains(&call_id) {
            return;
        }
        let allowed = CustomEvent::call(self.message().id(), &call_id, ToolCallState::Allowed);
        let event = Event::stamped(self.shared.stamps.id(), self.shared.stamps.time_text(), allowed);
        let _ = self.reply.record(event);
        self.again.push(call_id);
    }

    /// Refuses what nobody has confirmed in time, here or with those who work for this agent.
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
        for (call_id, time) in own.iter().filter(|(_, time)| is_over(time, now)) {
            self.change(|reply| drop(reply.expiries.remove(call_id)));
            let text = format!(
                "<system-reminder>Nobody has confirmed this call until {time}, so it was not run.</system-reminder>"
            );
            self.settle(call_id, &text, ToolResultState::Denied);
        }
        sub_agents.into_iter().for_each(|call_id| self.take_up(call_id));
    }

    fn confirmed(&mut self, confirmation: Confirmation) {
        let Confirmation { call_id, is_allowed, rules, reason } = confirmation;
        self.change(|reply| drop(reply.expiries.remove(&call_id)));
        self.accept(&call_id, rules);
        if !is_allowed {
            self.change(|reply| reply.rejected = true);
            // Whoever answers may have another reason than the user's will.
            let told = reason.map(|reason| HintBlock::reminder(format!("This call was not run: {reason}")));
            let told = told.and_then(|told| told.hint.text());
            self.settle(&call_id, told.as_deref().unwrap_or(REFUSED), ToolResultState::Denied);
        }
    }

    /// Takes the rules that came with a confirmation, and tells of those that are new.
    fn accept(&mut self, call_id: &str, rules: Vec<PermissionRule>) {
        let Some(tool) = self.message().call(call_id).map(|call| call.name.clone()) else { return };
        let accepted = self.shared.change(|state| state.permissions.accept(rules, &tool)).unwrap_or_default();
        if accepted.is_empty() {
            return;
        }
        let mut told = Object::from([("reply_id", self.message().id()), ("tool_call_id", call_id)]);
        told.insert("added", accepted.iter().map(|rule| rule_to_json(rule).into()).collect::<Vec<Json>>());
        self.reply.signal(CustomName::Permissions.as_str(), told);
    }

    /// Writes a result that came from elsewhere.
    fn result(&mut self, result: ToolResultBlock) {
        let ToolResultBlock { id, output, state, metadata, .. } = result;
        let Some(open) = self.reply.open_result(&id) else { return };
        let (state, metadata) = match self.reply.result_payload(&open, output) {
            Ok(()) => (state, metadata),
            Err(error) => {
                self.reply.result_text(&open, format!("the result cannot be read: {error}"));
                (ToolResultState::Error, metadata)
            }
        };
        self.reply.end_result_with(open, state, metadata);
        self.tell_if_truncated(&id);
    }

    /// Tells of a result that the model will not see whole.
    pub(super) fn tell_if_truncated(&mut self, call_id: &str) {
        // One that is kept aside is told of when it is.
        if self.shared.config.offload.is_some() {
            return;
        }
        let limit = self.shared.config.result_limit;
        let tokens = self.message().result_of(call_id).and_then(|result| limit.exceeded_by(result));
        if let Some(tokens) = tokens {
            let mut told = Object::from([("reply_id", self.message().id()), ("tool_call_id", call_id)]);
            told.insert("tokens", tokens as u64);
            told.insert("limit", limit.tokens as u64);
            self.reply.signal(CustomName::Truncated.as_str(), told);
        }
    }
}

fn is_over(time: &str, now: Timestamp) -> bool {
    parse_time(time).is_some_and(|time| time <= now)
}

/// Whether anything that the reply waits for can no longer be confirmed.
pub(super) fn has_expired(shared: &Shared, state: &AgentState) -> bool {
    state.expires_at().is_some_and(|time| time <= shared.stamps.time())
}

/// Holds an answer to the reply of an agent that works for this one, if it is for one.
pub(super) fn check_for_sub_agent(
    shared: &Shared,
    inner: &Inner,
    event: &AgentEvent,
) -> Option<Result<Checked, InputRejection>> {
    let reply_id = event.reply_id()?;
    let fold = inner.sub_agents.get(reply_id)?;
    let call_id = inner.sub_agent_call(reply_id)?;
    let state = sub_agent_state(&inner.state, reply_id)?;
    // Its tools are not known here: it looks at arguments and metadata itself.
    let known = Known { shared, state, knows_tools: false };
    Some(check(event, fold.message(), &known).map(|_| Checked::ForSubAgent(call_id)))
}

/// What the agent of a reply knows, wherever it is among those who work for this one.
fn sub_agent_state<'s>(state: &'s AgentState, reply_id: &str) -> Option<&'s AgentState> {
    state.sub_agents.values().find_map(|sub_agent| {
        if sub_agent.reply_id == reply_id {
            Some(&sub_agent.state)
        } else {
            sub_agent_state(&sub_agent.state, reply_id)
        }
    })
}

/// What an agent knows that an answer is held to.
pub(super) struct Known<'a> {
    shared: &'a Shared,
    state: &'a AgentState,
    knows_tools: bool,
}

impl<'a> Known<'a> {
    pub(super) fn of(shared: &'a Shared, state: &'a AgentState) -> Self {
        Self { shared, state, knows_tools: true }
    }
}

impl Problems for Known<'_> {
    fn with_metadata(&self, result: &ToolResultBlock) -> Option<String> {
        self.knows_tools.then(|| self.shared.config.metadata_problem(&self.state.groups, result))?
    }

    fn with_arguments(&self, edited: &ToolCallBlock) -> Option<String> {
        self.knows_tools.then(|| self.shared.config.argument_problem(&self.state.groups, edited))?
    }

    fn with_rules(&self, original: &ToolCallBlock, answer: &ConfirmResult) -> Option<usize> {
        self.knows_tools.then(|| self.shared.config.rule_problem(&self.state.groups, original, answer))?
    }

    fn expired(&self, call_id: &str) -> Option<String> {
        let time = self.state.reply.as_ref()?.expiries.get(call_id)?;
        is_over(time, self.shared.stamps.time()).then(|| time.clone())
    }

    fn has_sub_agent(&self, call_id: &str) -> bool {
        self.state.sub_agents.contains_key(call_id)
    }
}
