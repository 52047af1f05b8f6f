//! Running tool calls in batches.

use std::sync::Arc;

use recount_message::{CustomEvent, Event, ToolCallState, ToolResultState};

use super::active_reply::{ActiveReply, Failure};
use super::call::PreparedCall;
use super::jobs::{Job, JobEvent, Jobs, Started, ToolEnvironment};
use crate::machine::{Batch, batches};
use crate::state::StopAfter;
use crate::tool::{STRUCTURED_OUTPUT, ToolError, ToolEvent, ToolOutput, arguments};

impl ActiveReply {
    /// Runs calls batch by batch. A call that waits for an answer holds back the batches after its own.
    pub(super) async fn run_calls(&mut self, calls: Vec<String>) -> Result<(), Failure> {
        let split = batches(calls, |id| self.is_concurrent(id));
        for batch in split {
            let is_parked = match batch {
                Batch::Concurrent(calls) => self.run_batch(calls).await?,
                Batch::Sequential(calls) => self.run_sequentially(calls).await?,
            };
            if is_parked || self.cancel.is_cancelled() {
                break;
            }
        }
        Ok(())
    }

    /// Returns whether a call may run concurrently with others. `true` for an unknown tool, whose call only gets an
    /// error.
    fn is_concurrent(&self, id: &str) -> bool {
        let name = self.message().call(id).map(|call| call.name.as_str()).unwrap_or_default();
        self.tool(name).map_or(true, |tool| tool.spec().concurrency_safe)
    }

    async fn run_sequentially(&mut self, calls: Vec<String>) -> Result<bool, Failure> {
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

    /// Runs calls concurrently. Returns whether one of them waits for an answer.
    async fn run_batch(&mut self, calls: Vec<String>) -> Result<bool, Failure> {
        let mut is_parked = false;
        let mut suggested = Vec::new();
        let mut ready: Vec<Job> = Vec::new();
        for id in calls {
            match self.prepare(&id, &mut suggested).await {
                PreparedCall::Finished => {}
                PreparedCall::Waiting => is_parked = true,
                PreparedCall::Run(job) => ready.push(job),
                PreparedCall::Cancelled => break,
            }
        }
        is_parked |= self.run_jobs(ready).await?;
        Ok(is_parked)
    }

    /// Runs tools after the events that announce them are persisted. Returns whether one of them waits for an answer.
    pub(super) async fn run_jobs(&mut self, ready: Vec<Job>) -> Result<bool, Failure> {
        if ready.is_empty() || self.cancel.is_cancelled() {
            return Ok(false);
        }
        let committed = self.shared.commit().await;
        committed.map_err(|error| Failure::internal(format!("cannot persist the events: {error}")))?;
        let environment = self.tool_environment();
        let mut jobs = Jobs::new();
        for job in ready {
            if job.tool.spec().background {
                self.start_in_background(job);
            } else {
                jobs.start(job, &environment);
            }
        }
        Ok(self.drive_jobs(jobs).await)
    }

    /// Reruns calls whose tools were interrupted by a crash, or whose sub-agents have been answered. Their results have
    /// already been started in the message.
    pub(super) async fn rerun_calls(&mut self) -> Result<(), Failure> {
        // In a loop, because a waiting sub-agent may be answered while the other calls run.
        while !self.calls_to_rerun.is_empty() {
            let mut ready = Vec::new();
            for call_id in std::mem::take(&mut self.calls_to_rerun) {
                let Some(call) = self.message().call(&call_id).cloned() else { continue };
                let read = self.tool(&call.name).map_err(|error| error.to_string()).and_then(|tool| {
                    let arguments = arguments::parse(&call.input, &tool).map_err(|error| error.to_string())?;
                    Ok(Job { call_id: call_id.clone(), tool, arguments: arguments.object })
                });
                match read {
                    Ok(job) => ready.push(job),
                    Err(text) => self.write_result(&call_id, &text, ToolResultState::Error),
                }
            }
            self.run_jobs(ready).await?;
        }
        Ok(())
    }

    pub(super) fn tool_environment(&self) -> ToolEnvironment {
        let (session_id, permissions) = {
            let shared = self.shared.lock();
            (shared.state.session_id.clone(), Arc::new(shared.state.permissions.clone()))
        };
        ToolEnvironment {
            session_id,
            permissions,
            reply_id: self.message().id().to_owned(),
            agent: self.shared.config.name.clone(),
            cancel: self.cancel.child_token(),
            layers: Arc::clone(&self.shared.config.middleware),
            host: Arc::clone(&self.shared),
        }
    }

    /// Writes the output of tools until all have finished or the reply is interrupted. Returns whether one of them
    /// waits for an answer.
    async fn drive_jobs(&mut self, mut jobs: Jobs) -> bool {
        let cancel = self.cancel.clone();
        let mut is_parked = false;
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => break,
                Some(queued) = self.inbox.recv() => self.process_answer(queued),
                event = jobs.next() => match event {
                    Some(JobEvent::Output(call_id, event)) => self.write_output(&call_id, event),
                    Some(JobEvent::Finished(started, Ok(output))) if output.is_parked() => {
                        is_parked = true;
                        // The answer may have arrived while the tool was stopping. Then the call is rerun instead.
                        if !self.calls_to_rerun.contains(&started.call_id) {
                            self.mark_submitted(&started.call_id);
                        }
                    }
                    Some(JobEvent::Finished(started, outcome)) => self.finish_call(&started, outcome),
                    None => return is_parked,
                },
            }
        }
        while let Some(JobEvent::Output(call_id, event)) = jobs.try_next_output() {
            self.write_output(&call_id, event);
        }
        is_parked
    }

    /// Marks a call as waiting for a result.
    fn mark_submitted(&mut self, call_id: &str) {
        let submitted = CustomEvent::call(self.message().id(), call_id, ToolCallState::Submitted);
        let event = Event::stamped(self.shared.stamps.id(), self.shared.stamps.time_text(), submitted);
        let _ = self.reply.record(event);
    }

    fn write_output(&mut self, call_id: &str, event: ToolEvent) {
        match event {
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
                    self.reply.result_text(&result, format!("invalid data in the tool output: {error}"));
                }
            }
        }
    }

    /// Writes the final result of a call.
    fn finish_call(&mut self, started: &Started, outcome: Result<ToolOutput, ToolError>) {
        let Some(result) = self.reply.open_result(&started.call_id) else { return };
        let output = outcome.unwrap_or_else(|error| ToolOutput::failed(error.to_string()));
        let mut state = output.state();
        if let Err(error) = self.reply.result_payload(&result, output.content) {
            self.reply.result_text(&result, format!("invalid tool output: {error}"));
            state = ToolResultState::Error;
        }
        if state == ToolResultState::Success {
            self.apply_effects(started, output.active_groups);
        }
        if self.shared.lock().state.sub_agents.contains_key(&started.call_id) {
            self.shared.change(|state| state.sub_agents.remove(&started.call_id));
        }
        self.reply.end_result_with(result, state, output.metadata);
        self.tell_if_truncated(&started.call_id);
    }

    /// Applies the effects of the agent's own tools: active tool groups and structured output.
    fn apply_effects(&mut self, started: &Started, groups: Option<std::collections::BTreeSet<String>>) {
        if let Some(groups) = groups {
            self.shared.change(|state| state.groups = groups);
        }
        if started.tool.spec().name == STRUCTURED_OUTPUT
            && let Some(output_tool) = &self.output_tool
        {
            let answer = output_tool.answer(&started.arguments);
            self.change(|reply| reply.structured_output = Some(answer));
        }
    }
}
