//! One round of acting: the calls at hand, batch by batch.

use std::sync::Arc;

use recount_message::{CustomEvent, Event, ToolCallState, ToolResultState};

use super::active_reply::{ActiveReply, Failure};
use super::call::Prepared;
use super::jobs::{Heard, Job, Jobs, Place, Started};
use crate::machine::{Batch, batches};
use crate::state::StopAfter;
use crate::tool::{STRUCTURED_OUTPUT, ToolError, ToolEvent, ToolOutput, arguments};

impl ActiveReply {
    /// Works on calls. Those of a batch that somebody has to answer for first keep the later batches waiting.
    pub(super) async fn act(&mut self, calls: Vec<String>) -> Result<(), Failure> {
        let split = batches(calls, |id| self.is_concurrent(id));
        for batch in split {
            let is_parked = match batch {
                Batch::Concurrent(calls) => self.run_batch(calls).await?,
                Batch::Sequential(calls) => self.run_in_turn(calls).await?,
            };
            if is_parked || self.cancel.is_cancelled() {
                break;
            }
        }
        Ok(())
    }

    /// Whether a call may run beside others. One of a tool that is not there does nothing, so it may.
    fn is_concurrent(&self, id: &str) -> bool {
        let name = self.message().call(id).map(|call| call.name.as_str()).unwrap_or_default();
        self.tool(name).map_or(true, |tool| tool.spec().concurrency_safe)
    }

    async fn run_in_turn(&mut self, calls: Vec<String>) -> Result<bool, Failure> {
        for call in calls {
            if self.run_batch(vec![call]).await? {
                return Ok(true);
            }
            if self.cancel.is_cancelled() {
                break;
            }
        }
        Ok(false)
    }

    /// Works on calls at the same time. Says whether somebody has to answer for one of them.
    async fn run_batch(&mut self, calls: Vec<String>) -> Result<bool, Failure> {
        let mut is_parked = false;
        let mut suggested = Vec::new();
        let mut ready: Vec<Job> = Vec::new();
        for id in calls {
            match self.prepare(&id, &mut suggested).await {
                Prepared::Settled => {}
                Prepared::Parked => is_parked = true,
                Prepared::Run(job) => ready.push(job),
                Prepared::Cancelled => break,
            }
        }
        is_parked |= self.run_jobs(ready).await?;
        Ok(is_parked)
    }

    /// Runs tools, once it is kept that they will. Says whether one of them has to wait for somebody.
    pub(super) async fn run_jobs(&mut self, ready: Vec<Job>) -> Result<bool, Failure> {
        if ready.is_empty() || self.cancel.is_cancelled() {
            return Ok(false);
        }
        let committed = self.shared.commit().await;
        committed.map_err(|error| Failure::internal(format!("the events cannot be kept: {error}")))?;
        let place = self.place_of_tools();
        let mut jobs = Jobs::new();
        for job in ready {
            if job.tool.spec().background {
                self.start_in_background(job);
            } else {
                jobs.start(job, &place);
            }
        }
        Ok(self.listen(jobs).await)
    }

    /// Runs the tools again that had begun to when their process died, or that somebody was waited for. Their results have
    /// begun as well.
    pub(super) async fn run_again(&mut self) -> Result<(), Failure> {
        // One that has come to wait may be answered before the others are done.
        while !self.again.is_empty() {
            let mut ready = Vec::new();
            for call_id in std::mem::take(&mut self.again) {
                let Some(call) = self.message().call(&call_id).cloned() else { continue };
                let read = self.tool(&call.name).map_err(|error| error.to_string()).and_then(|tool| {
                    let arguments = arguments::parse(&call.input, &tool).map_err(|error| error.to_string())?;
                    Ok(Job { call_id: call_id.clone(), tool, arguments: arguments.object })
                });
                match read {
                    Ok(job) => ready.push(job),
                    Err(text) => self.settle(&call_id, &text, ToolResultState::Error),
                }
            }
            self.run_jobs(ready).await?;
        }
        Ok(())
    }

    pub(super) fn place_of_tools(&self) -> Place {
        let (session_id, permissions) = {
            let shared = self.shared.lock();
            (shared.state.session_id.clone(), Arc::new(shared.state.permissions.clone()))
        };
        Place {
            session_id,
            permissions,
            reply_id: self.message().id().to_owned(),
            agent: self.shared.config.name.clone(),
            cancel: self.cancel.child_token(),
            layers: Arc::clone(&self.shared.config.middleware),
            host: Arc::clone(&self.shared),
        }
    }

    /// Writes what tools say until all have come to their end, or the reply is interrupted. Says whether one of them has to
    /// wait for somebody.
    async fn listen(&mut self, mut jobs: Jobs) -> bool {
        let cancel = self.cancel.clone();
        let mut is_parked = false;
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => break,
                Some(delivery) = self.inbox.recv() => self.deliver(delivery),
                tool_event = jobs.next() => match tool_event {
                    Some(Heard::Said(call_id, says)) => self.said(&call_id, says),
                    Some(Heard::Done(started, Ok(output))) if output.is_parked() => {
                        is_parked = true;
                        // What it waits for may have come while it came to wait: then it is about to go on.
                        if !self.again.contains(&started.call_id) {
                            self.park(&started.call_id);
                        }
                    }
                    Some(Heard::Done(started, outcome)) => self.done(&started, outcome),
                    None => return is_parked,
                },
            }
        }
        while let Some(Heard::Said(call_id, says)) = jobs.said_already() {
            self.said(&call_id, says);
        }
        is_parked
    }

    /// A call waits for whoever works on it.
    fn park(&mut self, call_id: &str) {
        let submitted = CustomEvent::call(self.message().id(), call_id, ToolCallState::Submitted);
        let event = Event::stamped(self.shared.stamps.id(), self.shared.stamps.time_text(), submitted);
        let _ = self.reply.record(event);
    }

    fn said(&mut self, call_id: &str, says: ToolEvent) {
        match says {
            ToolEvent::Signal { name, value } => self.reply.signal(name, value),
            ToolEvent::Stop { reason } => self.stop(reason, StopAfter::Acting),
            ToolEvent::Text(text) => {
                if let Some(result) = self.reply.open_result(call_id) {
                    self.reply.result_text(&result, text);
                }
            }
            ToolEvent::Data(data) => {
                if let Some(result) = self.reply.open_result(call_id)
                    && let Err(error) = self.reply.result_data(&result, *data)
                {
                    self.reply.result_text(&result, format!("the data cannot be read: {error}"));
                }
            }
        }
    }

    /// Writes the end of a tool's result.
    fn done(&mut self, started: &Started, outcome: Result<ToolOutput, ToolError>) {
        let Some(result) = self.reply.open_result(&started.call_id) else { return };
        let output = outcome.unwrap_or_else(|error| ToolOutput::failed(error.to_string()));
        let mut state = output.state();
        if let Err(error) = self.reply.result_payload(&result, output.content) {
            self.reply.result_text(&result, format!("the output cannot be read: {error}"));
            state = ToolResultState::Error;
        }
        if state == ToolResultState::Success {
            self.took_effect(started, output.active_groups);
        }
        if self.shared.lock().state.sub_agents.contains_key(&started.call_id) {
            self.shared.change(|state| state.sub_agents.remove(&started.call_id));
        }
        self.reply.end_result_with(result, state, output.metadata);
        self.tell_if_truncated(&started.call_id);
    }

    /// What a tool of the agent itself changes by having run.
    fn took_effect(&mut self, started: &Started, groups: Option<std::collections::BTreeSet<String>>) {
        if let Some(groups) = groups {
            self.shared.change(|state| state.groups = groups);
        }
        if started.tool.spec().name == STRUCTURED_OUTPUT
            && let Some(form) = &self.form
        {
            let answer = form.answer(&started.arguments);
            self.change(|reply| reply.structured_output = Some(answer));
        }
    }
}
