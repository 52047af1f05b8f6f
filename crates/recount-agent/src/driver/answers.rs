//! Answers to a reply: applied once they are known to fit.

use recount_message::{AgentEvent, CustomName, Json, Object, PermissionRule, ToolResultBlock, ToolResultState};

use super::work::Work;
use crate::agent::Delivery;
use crate::input::{Checked, Confirmation, Refusal, check, is_answer};
use crate::permission::written_rule;

/// What the model is told of a call that the user refused.
const REFUSED: &str = "<system-reminder>The user has refused this call. It was not run.</system-reminder>";

impl Work {
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

    fn checked(&self, event: &AgentEvent) -> Result<Checked, Refusal> {
        if !is_answer(event) {
            return Err(Refusal::NoInput { type_name: event.type_name().to_owned() });
        }
        let reply_id = event.reply_id().unwrap_or_default();
        if reply_id != self.message().id() {
            return Err(Refusal::ForeignReply { reply_id: reply_id.to_owned() });
        }
        let groups = self.shared.lock().state.groups.clone();
        check(event, self.message(), |result| self.shared.config.metadata_problem(&groups, result))
    }

    /// Applies an answer that was checked: it becomes a part of the stream, and what follows from it is written.
    pub(super) fn apply(&mut self, event: AgentEvent, checked: Checked, is_recorded: bool) {
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
        }
    }

    fn confirmed(&mut self, confirmation: Confirmation) {
        let Confirmation { call_id, is_allowed, rules } = confirmation;
        self.accept(&call_id, rules);
        if !is_allowed {
            self.change(|reply| reply.rejected = true);
            self.settle(&call_id, REFUSED, ToolResultState::Denied);
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
        told.insert("added", accepted.iter().map(|rule| written_rule(rule).into()).collect::<Vec<Json>>());
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
