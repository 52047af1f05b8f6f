//! A log that survives the process that writes it.

use std::sync::{Arc, Mutex};

use recount_agent::{AgentState, BoxFuture, SavedAgent, Sink, SinkError};
use recount_message::{AgentEvent, EventKind, Fold};

use crate::random::Random;

/// The entries, and the number of committed ones. Clones share the log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    entries: Vec<(AgentEvent, Option<AgentState>)>,
    committed: usize,
    /// The process that may write. Earlier ones are dead.
    process: u32,
}

impl Log {
    /// Returns the sink of a new process. Events of older ones are discarded.
    pub(crate) fn sink(&self) -> impl Sink {
        let mut inner = self.0.lock().unwrap();
        inner.process += 1;
        Writer { log: self.clone(), process: inner.process }
    }

    /// Simulates a crash: committed entries stay, and a random part of the others.
    pub(crate) fn crash(&self, random: &mut Random) {
        let mut inner = self.0.lock().unwrap();
        inner.process += 1;
        let unsafe_entries = inner.entries.len() - inner.committed;
        let kept = inner.committed + random.below(unsafe_entries + 1);
        inner.entries.truncate(kept);
        inner.committed = kept;
    }

    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        self.0.lock().unwrap().entries.iter().map(|(event, _)| event.clone()).collect()
    }

    pub(crate) fn fold(&self) -> Fold {
        let mut fold = Fold::new();
        for (event, _) in &self.0.lock().unwrap().entries {
            let outcome = fold.apply(event);
            assert_eq!(outcome.reason(), None, "events of an agent can be applied: {}", event.to_json());
        }
        fold
    }

    /// Returns what another process loads. `None` if the log is empty.
    pub(crate) fn saved(&self) -> Option<SavedAgent> {
        let state = self.0.lock().unwrap().entries.iter().rev().find_map(|(_, state)| state.clone())?;
        let saved = SavedAgent::new(state, self.fold().checkpoint());
        // Encode and decode, as with a file.
        Some(SavedAgent::from_json(&saved.to_json()).unwrap())
    }

    /// Returns whether the start of a call is committed.
    pub(crate) fn has_begun(&self, reply_id: &str, call_id: &str) -> bool {
        let inner = self.0.lock().unwrap();
        inner.entries[..inner.committed]
            .iter()
            .any(|(event, _)| matches!(&event.kind, EventKind::ToolResultStart(start) if start.tool_call_id == call_id && start.reply_id == reply_id))
    }
}

struct Writer {
    log: Log,
    process: u32,
}

impl Sink for Writer {
    fn append(&mut self, event: &AgentEvent, state: Option<&AgentState>) -> Result<(), SinkError> {
        let mut inner = self.log.0.lock().unwrap();
        if inner.process == self.process {
            inner.entries.push((event.clone(), state.cloned()));
        }
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        let (log, process) = (self.log.clone(), self.process);
        Box::pin(async move {
            // Let other tasks run while the disk is written.
            tokio::task::yield_now().await;
            let mut inner = log.0.lock().unwrap();
            if inner.process == process {
                inner.committed = inner.entries.len();
            }
            Ok(())
        })
    }
}
