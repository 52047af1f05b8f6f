//! What the handles of a host and its runs share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recount_log::{Log, SessionKey};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::options::HostOptions;
use crate::run::{self, Command};
use crate::run_counts::RunCounts;
use crate::source::AgentSource;

/// So many commands may wait for a session's run.
const COMMANDS: usize = 64;

/// What the handles of a host and its runs share.
pub(crate) struct Shared {
    pub(crate) log: Log,
    pub(crate) agents: Arc<dyn AgentSource>,
    pub(crate) options: HostOptions,
    /// Nothing new is begun.
    pub(crate) draining: watch::Sender<bool>,
    /// Everything is left as it stands.
    pub(crate) left: CancellationToken,
    runs: Mutex<HashMap<SessionKey, mpsc::Sender<Command>>>,
    /// How many runs there are.
    count: watch::Sender<usize>,
    /// What they are doing.
    pub(crate) tally: Arc<RunCounts>,
}

impl Shared {
    pub(crate) fn new(log: Log, agents: Arc<dyn AgentSource>, options: HostOptions, left: CancellationToken) -> Self {
        Self {
            log,
            agents,
            options,
            draining: watch::Sender::new(false),
            left,
            runs: Mutex::default(),
            count: watch::Sender::new(0),
            tally: Arc::default(),
        }
    }

    /// Sends a command to a session's run, which is begun if there is none.
    pub(crate) async fn send(self: &Arc<Self>, key: &SessionKey, command: Command) {
        let sender = {
            let mut runs = self.lock();
            match runs.get(key) {
                Some(sender) if !sender.is_closed() => sender.clone(),
                Some(_) | None => {
                    let (sender, commands) = mpsc::channel(COMMANDS);
                    runs.insert(key.clone(), sender.clone());
                    self.count.send_modify(|count| *count += 1);
                    tokio::spawn(run::go(Arc::clone(self), key.clone(), commands, sender.downgrade()));
                    sender
                }
            }
        };
        // A run that ends without taking it drops it, and whoever waits for an answer is told.
        let _ = sender.send(command).await;
    }

    pub(crate) fn has_run(&self, key: &SessionKey) -> bool {
        self.lock().contains_key(key)
    }

    /// A run wants to end. It may not if somebody has sent it something.
    pub(crate) fn leave(&self, key: &SessionKey, commands: &mpsc::Receiver<Command>) -> bool {
        let mut runs = self.lock();
        let is_last = commands.is_empty() && runs.get(key).is_none_or(|sender| sender.strong_count() == 1);
        if is_last {
            runs.remove(key);
        }
        is_last
    }

    /// A run ends, whatever was sent to it.
    pub(crate) fn remove(&self, key: &SessionKey) {
        self.lock().remove(key);
    }

    /// A run has ended.
    pub(crate) fn ended(&self) {
        self.count.send_modify(|count| *count = count.saturating_sub(1));
    }

    /// Comes to its end when there is no run.
    pub(crate) async fn all_ended(&self) {
        // Who counts them is here.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, mpsc::Sender<Command>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
