//! What a run waits for.

use recount_agent::{InputRejection, ReplyStream};
use recount_log::{Error, Frame, Reader};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Command, Run};
use crate::append_queue::AppendQueue;

/// What has happened.
pub(super) enum RunEvent {
    Draining,
    Told(Command),
    Read(Result<Frame, Error>),
    Answered(String, Result<(), InputRejection>),
    /// The agent has said something, or has come to the end of what it can do now.
    Said(bool),
    Unwatched,
    Due,
    Expired,
    Failed(Error),
}

impl Run<'_> {
    /// Waits for the next thing to happen.
    pub(super) async fn next(&mut self) -> RunEvent {
        let (draining, outbox) = (&mut self.draining, &self.outbox);
        let (reader, watchers) = (&mut self.reader, &mut self.watchers);
        let has_watchers = !watchers.is_empty();
        let is_working = self.work.is_some();
        let (stream, answers) = match &mut self.work {
            Some(work) => (Some(&mut work.stream), Some(&mut work.answers)),
            None => (None, None),
        };
        let has_answers = answers.as_ref().is_some_and(|answers| !answers.is_empty());
        tokio::select! {
            biased;
            error = outbox.failed() => RunEvent::Failed(error),
            Ok(()) = draining.changed() => RunEvent::Draining,
            Some(command) = self.commands.recv() => RunEvent::Told(command),
            frame = read(reader) => RunEvent::Read(frame),
            Some((id, outcome)) = answered(answers), if has_answers => RunEvent::Answered(id, outcome),
            // Before what the agent says, of which there may always be more.
            _ = self.renewal.tick() => RunEvent::Due,
            is_on = said(stream, outbox), if is_working => RunEvent::Said(is_on),
            Some(_) = watchers.join_next(), if has_watchers => RunEvent::Unwatched,
            () = until(self.expiry), if self.is_waiting => RunEvent::Expired,
        }
    }
}

async fn read(reader: &mut Option<Reader>) -> Result<Frame, Error> {
    match reader {
        Some(reader) => reader.next().await,
        None => std::future::pending().await,
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

async fn answered(
    answers: Option<&mut JoinSet<(String, Result<(), InputRejection>)>>,
) -> Option<(String, Result<(), InputRejection>)> {
    // One that was not brought to its end is of a reply that has come to its own.
    answers?.join_next().await?.ok()
}

/// Drives the agent on by one event, as soon as there is room for more.
async fn said(stream: Option<&mut ReplyStream>, outbox: &AppendQueue) -> bool {
    outbox.room().await;
    match stream {
        Some(stream) => stream.next().await.is_some(),
        None => false,
    }
}
