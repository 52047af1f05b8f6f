//! Inputs on their way from the log to the agent.

use std::collections::HashSet;

use recount_agent::{Agent, Input, InputRejection};
use recount_log::Frame;
use recount_message::{AgentEvent, Event, EventKind, Msg, Object, Payload, ToolResultState};
use tokio::task::JoinSet;

use super::{Run, StopReason, Work};
use crate::run_state::{PendingInput, is_input};
use crate::scan::{contains, may_be_input};

impl Run<'_> {
    /// Looks at what has come to the log.
    pub(super) async fn read(&mut self, frame: Frame) -> Result<(), StopReason> {
        // A reply that has not ended is neither compacted nor of another epoch.
        let Frame::Entry(entry) = frame else { return Err(StopReason::Failed) };
        if contains(&entry.event, b"\"recount.taken_over\"") {
            // Whose lease it was is known to the writer.
            self.session.renew(&self.lease, self.host.options.lease_time).await?;
        }
        if !may_be_input(&entry.event) {
            return Ok(());
        }
        let Ok(event) = Event::from_slice(&entry.event) else { return Ok(()) };
        if !is_input(&event) || !self.desk.lock().is_about_reply(&event) {
            return Ok(());
        }
        if self.work.is_none() {
            self.is_waiting = false;
            return Ok(());
        }
        let event = event.into_owned();
        self.desk.lock().untaken.push(PendingInput { seq: entry.cursor.seq, event, is_offered: false });
        self.offer();
        Ok(())
    }

    /// Sets an agent to work on its reply, with the first input that it has not taken.
    pub(super) fn set_to_work(&mut self, agent: Agent, reply_id: &str) -> Result<(), StopReason> {
        let mut mended = HashSet::new();
        let stream = loop {
            let first = {
                let mut desk = self.desk.lock();
                let first = desk.untaken.first_mut();
                first.map(|input| {
                    input.is_offered = true;
                    // A sub-agent has refused it before, and only the sub-agent knows why: its rules may be the reason.
                    if self.told.contains(&*input.event.id) {
                        leave_out_rules(&mut input.event);
                    }
                    input.event.clone()
                })
            };
            let asked = match first.clone() {
                Some(event) => agent.reply_stream(event),
                None => agent.reply_stream(()),
            };
            match (asked, first) {
                (Ok(stream), first) => {
                    if let Some(event) = first {
                        self.taken(&event.id, event.reply_id() == Some(reply_id));
                    }
                    break stream;
                }
                (Err(recount_agent::Error::Rejected(InputRejection::Waiting { .. })), None) => {
                    self.wait(agent.expires_at());
                    return Ok(());
                }
                (Err(recount_agent::Error::Rejected(refusal)), Some(event)) => {
                    let message = agent.open_reply();
                    self.refused(&event.id, &refusal, message.as_ref(), &mut mended);
                    if self.must_reload {
                        return Ok(());
                    }
                }
                // Nothing else is refused by an agent that was made for this reply.
                (Err(_), _) => return Err(StopReason::Failed),
            }
        };
        let reply_id = reply_id.to_owned();
        self.work = Some(Work { agent, stream, reply_id, answers: JoinSet::new(), mended });
        self.offer();
        Ok(())
    }

    /// An agent has taken an input. One for an agent that works for it is taken when that one says so; but if it does not
    /// the second time either, it never will.
    fn taken(&mut self, event_id: &str, is_own: bool) {
        let is_new = self.told.insert(event_id.to_owned());
        if is_own || !is_new {
            self.desk.lock().take_input(event_id);
        }
    }

    /// Tells the agent of the inputs that it was not told of.
    fn offer(&mut self) {
        let Some(work) = &mut self.work else { return };
        for input in self.desk.lock().untaken.iter_mut().filter(|input| !input.is_offered) {
            input.is_offered = true;
            let (agent, event) = (work.agent.clone(), input.event.clone());
            work.answers.spawn(async move {
                let id = event.id.to_string();
                (id, agent.answer(Input::from(event)).await)
            });
        }
    }

    /// The agent has taken an input, or not.
    pub(super) fn answered(&mut self, event_id: &str, outcome: Result<(), InputRejection>) {
        match outcome {
            Ok(()) => {
                let reply_id = self.work.as_ref().map(|work| work.reply_id.clone());
                let is_own =
                    self.desk.lock().untaken.iter().any(|input| {
                        input.event.id == event_id && input.event.reply_id().map(str::to_owned) == reply_id
                    });
                self.taken(event_id, is_own);
            }
            // The reply has come to its end, or to a point where it waits: the log is looked at again there.
            Err(InputRejection::NothingWaiting | InputRejection::ReplyEnded { .. }) => {}
            Err(refusal) => {
                let Some(mut work) = self.work.take() else { return };
                self.refused(event_id, &refusal, None, &mut work.mended);
                self.work = Some(work);
                self.offer();
            }
        }
    }

    /// The agent does not take an input that stands in the log. It is mended, once, so that what waits for it goes on: what
    /// does not fit is left out. If that does not help, the agent has to live with what the log says of it.
    fn refused(
        &mut self,
        event_id: &str,
        refusal: &InputRejection,
        message: Option<&Msg>,
        mended: &mut HashSet<String>,
    ) {
        let mut desk = self.desk.lock();
        if matches!(refusal, InputRejection::Expired { .. }) {
            // It came too late, and the agent goes on without it.
            desk.take_input(event_id);
            return;
        }
        // Arguments are the user's: nobody else can say what they should have been.
        let is_new = mended.insert(event_id.to_owned()) && !matches!(refusal, InputRejection::InvalidArguments { .. });
        let input = desk.untaken.iter_mut().find(|input| input.event.id == event_id);
        match input.filter(|_| is_new) {
            Some(input) => {
                mend(&mut input.event, refusal, message);
                input.is_offered = false;
            }
            None => {
                desk.take_input(event_id);
                drop(desk);
                self.must_reload = true;
            }
        }
    }
}

/// Removes the rules from a confirmation. The confirmation itself counts.
fn leave_out_rules(event: &mut AgentEvent) {
    if let EventKind::UserConfirmResult(kind) = &mut event.kind {
        kind.confirm_results.iter_mut().for_each(|answer| answer.rules = None);
    }
}

/// Leaves out what an agent does not take.
fn mend(event: &mut AgentEvent, refusal: &InputRejection, message: Option<&Msg>) {
    let called = |id: &str| message.and_then(|message| message.call(id)).map(|call| call.name.clone());
    let other_tool = match refusal {
        InputRejection::ToolMismatch { call_id, called, .. } => Some((call_id.clone(), called.clone())),
        _ => None,
    };
    let name_of = |id: &str| match &other_tool {
        Some((call_id, name)) if call_id == id => Some(name.clone()),
        _ => called(id),
    };
    leave_out_rules(event);
    match &mut event.kind {
        EventKind::UserConfirmResult(kind) => {
            for answer in &mut kind.confirm_results {
                if let Some(name) = name_of(&answer.tool_call.id) {
                    answer.tool_call.name = name;
                }
            }
        }
        EventKind::ExternalExecutionResult(kind) => {
            for result in &mut kind.execution_results {
                if let Some(name) = name_of(&result.id) {
                    result.name = name;
                }
                result.state = ToolResultState::Error;
                result.metadata = Object::new();
                result.output = Payload::from(format!("the result was not taken: {refusal}"));
            }
        }
        _ => {}
    }
}
