//! Inputs on their way from the log to the agent.

use std::collections::HashSet;

use recount_agent::{Agent, Input, InputRejection};
use recount_log::{InputEntry, InputKind};
use recount_message::{AgentEvent, EventKind, Msg, Object, Payload, ToolResultState};
use tokio::task::JoinSet;

use super::{ActiveAgent, Run, StopReason};

impl Run<'_> {
    /// Handles a new input in the log. Inputs for the open reply are passed to the agent, or end the wait.
    pub(super) async fn handle_input(&mut self, input: InputEntry) -> Result<(), StopReason> {
        if input.kind == InputKind::TakeOver {
            // The renewal fails if the lease was taken over from this run.
            self.session.renew(&self.lease, self.host.options.lease_time).await?;
            return Ok(());
        }
        if !self.state.lock().is_for_reply(&input.event) {
            return Ok(());
        }
        if self.active.is_none() {
            self.is_waiting = false;
            return Ok(());
        }
        self.state.lock().pending_inputs.push(input.into());
        self.offer_inputs();
        Ok(())
    }

    /// Starts an agent on its reply, with the first pending input. Inputs that the agent rejects are repaired or dropped.
    pub(super) fn start_agent(&mut self, agent: Agent, reply_id: &str) -> Result<(), StopReason> {
        let mut repaired_inputs = HashSet::new();
        let stream = loop {
            let first = {
                let mut state = self.state.lock();
                let first = state.pending_inputs.first_mut();
                first.map(|input| {
                    input.is_offered = true;
                    // A sub-agent has rejected this input before. Its reason is unknown here; the rules are the likely one.
                    if self.offered_inputs.contains(&*input.event.id) {
                        remove_rules(&mut input.event);
                    }
                    input.event.clone()
                })
            };
            let started = match first.clone() {
                Some(event) => agent.reply_stream(event),
                None => agent.reply_stream(()),
            };
            match (started, first) {
                (Ok(stream), first) => {
                    if let Some(event) = first {
                        self.input_accepted(&event.id, event.reply_id() == Some(reply_id));
                    }
                    break stream;
                }
                (Err(recount_agent::Error::Rejected(InputRejection::Waiting { .. })), None) => {
                    self.start_waiting(agent.expires_at());
                    return Ok(());
                }
                (Err(recount_agent::Error::Rejected(rejection)), Some(event)) => {
                    let message = agent.open_reply();
                    self.input_rejected(&event.id, &rejection, message.as_ref(), &mut repaired_inputs);
                    if self.must_reload {
                        return Ok(());
                    }
                }
                // An agent that was built for this reply returns no other error.
                (Err(_), _) => return Err(StopReason::Failed),
            }
        };
        let reply_id = reply_id.to_owned();
        self.active = Some(ActiveAgent { agent, stream, reply_id, inputs: JoinSet::new(), repaired_inputs });
        self.offer_inputs();
        Ok(())
    }

    /// Handles an accepted input. An input of the agent itself is consumed. An input for a sub-agent is consumed when the
    /// sub-agent emits it, or when it was passed on for the second time, because then the sub-agent never accepts it.
    fn input_accepted(&mut self, event_id: &str, is_own: bool) {
        let is_first_offer = self.offered_inputs.insert(event_id.to_owned());
        if is_own || !is_first_offer {
            self.state.lock().consume_input(event_id);
        }
    }

    /// Passes the pending inputs to the agent that were not passed to it yet.
    fn offer_inputs(&mut self) {
        let Some(active) = &mut self.active else { return };
        for input in self.state.lock().pending_inputs.iter_mut().filter(|input| !input.is_offered) {
            input.is_offered = true;
            let (agent, event) = (active.agent.clone(), input.event.clone());
            active.inputs.spawn(async move {
                let id = event.id.to_string();
                (id, agent.answer(Input::from(event)).await)
            });
        }
    }

    /// Handles an input that the agent has accepted or rejected.
    pub(super) fn input_handled(&mut self, event_id: &str, result: Result<(), InputRejection>) {
        match result {
            Ok(()) => {
                let reply_id = self.active.as_ref().map(|active| active.reply_id.clone());
                let is_own =
                    self.state.lock().pending_inputs.iter().any(|input| {
                        input.event.id == event_id && input.event.reply_id().map(str::to_owned) == reply_id
                    });
                self.input_accepted(event_id, is_own);
            }
            // The reply has ended or waits. When it is resumed, its inputs are read from the log again.
            Err(InputRejection::NothingWaiting | InputRejection::ReplyEnded { .. }) => {}
            Err(rejection) => {
                let Some(mut active) = self.active.take() else { return };
                self.input_rejected(event_id, &rejection, None, &mut active.repaired_inputs);
                self.active = Some(active);
                self.offer_inputs();
            }
        }
    }

    /// Handles an input that is in the log but that the agent rejects. It is repaired once, so that the calls that wait for it
    /// can continue. If the agent rejects the repaired input too, it is dropped, and the agent is loaded again from the log.
    fn input_rejected(
        &mut self,
        event_id: &str,
        rejection: &InputRejection,
        message: Option<&Msg>,
        repaired_inputs: &mut HashSet<String>,
    ) {
        let mut state = self.state.lock();
        if matches!(rejection, InputRejection::Expired { .. }) {
            // The input came too late. The agent continues without it.
            state.consume_input(event_id);
            return;
        }
        // Edited arguments cannot be repaired: only the user knows the intended ones.
        let is_repairable = repaired_inputs.insert(event_id.to_owned())
            && !matches!(rejection, InputRejection::InvalidArguments { .. });
        let input = state.pending_inputs.iter_mut().find(|input| input.event.id == event_id);
        match input.filter(|_| is_repairable) {
            Some(input) => {
                repair(&mut input.event, rejection, message);
                input.is_offered = false;
            }
            None => {
                state.consume_input(event_id);
                drop(state);
                self.must_reload = true;
            }
        }
    }
}

/// Removes the permission rules from a confirmation, and keeps its decisions.
fn remove_rules(event: &mut AgentEvent) {
    if let EventKind::UserConfirmResult(kind) = &mut event.kind {
        kind.confirm_results.iter_mut().for_each(|decision| decision.rules = None);
    }
}

/// Changes an input so that the agent can accept it: removes permission rules, corrects tool names, and replaces external
/// results with an error.
fn repair(event: &mut AgentEvent, rejection: &InputRejection, message: Option<&Msg>) {
    let name_in_message = |id: &str| message.and_then(|message| message.call(id)).map(|call| call.name.clone());
    let other_tool = match rejection {
        InputRejection::ToolMismatch { call_id, called, .. } => Some((call_id.clone(), called.clone())),
        _ => None,
    };
    let tool_name = |id: &str| match &other_tool {
        Some((call_id, name)) if call_id == id => Some(name.clone()),
        _ => name_in_message(id),
    };
    remove_rules(event);
    match &mut event.kind {
        EventKind::UserConfirmResult(kind) => {
            for decision in &mut kind.confirm_results {
                if let Some(name) = tool_name(&decision.tool_call.id) {
                    decision.tool_call.name = name;
                }
            }
        }
        EventKind::ExternalExecutionResult(kind) => {
            for result in &mut kind.execution_results {
                if let Some(name) = tool_name(&result.id) {
                    result.name = name;
                }
                result.state = ToolResultState::Error;
                result.metadata = Object::new();
                result.output = Payload::from(format!("the result was rejected: {rejection}"));
            }
        }
        _ => {}
    }
}
