//! The events that a run waits for.

use recount_agent::{InputRejection, ReplyStream};
use recount_log::{Error, InputEntry, InputReader};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Command, Run};
use crate::append_queue::AppendQueue;

/// An event that a run waits for.
pub(super) enum RunEvent {
    /// The host started to drain.
    Draining,
    Command(Command),
    /// The log has a new input.
    Input(Result<InputEntry, Error>),
    /// The agent has accepted or rejected an input. The id is that of the input's event.
    InputHandled(String, Result<(), InputRejection>),
    /// The agent has emitted an event.
    AgentProgressed,
    /// The agent has ended the reply, or waits for input.
    AgentStopped,
    /// A watcher of background tools has ended.
    WatcherEnded,
    /// The lease must be renewed.
    RenewalDue,
    /// The reply has waited for as long as its agent allows.
    WaitExpired,
    /// Appending to the log failed.
    AppendFailed(Error),
}

impl Run<'_> {
    /// Waits for the next event.
    pub(super) async fn next_event(&mut self) -> RunEvent {
        let (draining, queue) = (&mut self.draining, &self.queue);
        let (reader, watchers) = (&mut self.reader, &mut self.watchers);
        let has_watchers = !watchers.is_empty();
        let is_active = self.active.is_some();
        let (stream, inputs) = match &mut self.active {
            Some(active) => (Some(&mut active.stream), Some(&mut active.inputs)),
            None => (None, None),
        };
        let has_inputs = inputs.as_ref().is_some_and(|inputs| !inputs.is_empty());
        tokio::select! {
            biased;
            error = queue.wait_for_failure() => RunEvent::AppendFailed(error),
            Ok(()) = draining.changed() => RunEvent::Draining,
            Some(command) = self.commands.recv() => RunEvent::Command(command),
            input = next_input(reader) => RunEvent::Input(input),
            Some((id, result)) = next_handled(inputs), if has_inputs => RunEvent::InputHandled(id, result),
            // Before the agent, which may always have another event.
            _ = self.renewal.tick() => RunEvent::RenewalDue,
            has_event = poll_agent(stream, queue), if is_active => match has_event {
                true => RunEvent::AgentProgressed,
                false => RunEvent::AgentStopped,
            },
            Some(_) = watchers.join_next(), if has_watchers => RunEvent::WatcherEnded,
            () = sleep_until(self.wait_deadline), if self.is_waiting => RunEvent::WaitExpired,
        }
    }
}

async fn next_input(reader: &mut Option<InputReader>) -> Result<InputEntry, Error> {
    match reader {
        Some(reader) => reader.next().await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

async fn next_handled(
    inputs: Option<&mut JoinSet<(String, Result<(), InputRejection>)>>,
) -> Option<(String, Result<(), InputRejection>)> {
    // A task that did not complete belongs to a reply that has ended.
    inputs?.join_next().await?.ok()
}

/// Drives the agent by one event, as soon as the queue has capacity. Returns `false` if the agent has stopped.
async fn poll_agent(stream: Option<&mut ReplyStream>, queue: &AppendQueue) -> bool {
    queue.wait_for_capacity().await;
    match stream {
        Some(stream) => stream.next().await.is_some(),
        None => false,
    }
}
