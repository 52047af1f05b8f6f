//! The state that the handles and runs of a host share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recount_log::{Log, SessionKey};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::options::HostOptions;
use crate::run::{self, Command};
use crate::run_counts::RunCounts;
use crate::source::AgentSource;

/// The capacity of a run's command channel.
const COMMAND_CAPACITY: usize = 64;

/// The state that the handles and runs of a host share.
pub(crate) struct Shared {
    pub(crate) log: Log,
    pub(crate) agents: Arc<dyn AgentSource>,
    pub(crate) options: HostOptions,
    /// Whether the host is draining. No new replies are started then.
    pub(crate) draining: watch::Sender<bool>,
    /// Stops all runs at once. Open replies stay open for the next host.
    pub(crate) shutdown: CancellationToken,
    runs: Mutex<HashMap<SessionKey, mpsc::Sender<Command>>>,
    /// The number of run tasks.
    run_tasks: watch::Sender<usize>,
    /// The numbers of running and waiting replies.
    pub(crate) counts: Arc<RunCounts>,
}

impl Shared {
    pub(crate) fn new(
        log: Log,
        agents: Arc<dyn AgentSource>,
        options: HostOptions,
        shutdown: CancellationToken,
    ) -> Self {
        Self {
            log,
            agents,
            options,
            draining: watch::Sender::new(false),
            shutdown,
            runs: Mutex::default(),
            run_tasks: watch::Sender::new(0),
            counts: Arc::default(),
        }
    }

    /// Sends a command to the run of a session, and spawns the run if there is none.
    pub(crate) async fn send(self: &Arc<Self>, key: &SessionKey, command: Command) {
        let sender = {
            let mut runs = self.lock();
            match runs.get(key) {
                Some(sender) if !sender.is_closed() => sender.clone(),
                Some(_) | None => {
                    let (sender, commands) = mpsc::channel(COMMAND_CAPACITY);
                    runs.insert(key.clone(), sender.clone());
                    self.run_tasks.send_modify(|count| *count += 1);
                    tokio::spawn(run::run_session(Arc::clone(self), key.clone(), commands, sender.downgrade()));
                    sender
                }
            }
        };
        // If the run has ended, the command is dropped, which closes its response channel.
        let _ = sender.send(command).await;
    }

    pub(crate) fn has_run(&self, key: &SessionKey) -> bool {
        self.lock().contains_key(key)
    }

    /// Removes an idle run. Returns `false` if it must continue because a command was sent to it.
    pub(crate) fn remove_if_idle(&self, key: &SessionKey, commands: &mpsc::Receiver<Command>) -> bool {
        let mut runs = self.lock();
        let is_idle = commands.is_empty() && runs.get(key).is_none_or(|sender| sender.strong_count() == 1);
        if is_idle {
            runs.remove(key);
        }
        is_idle
    }

    /// Removes a run. Commands in its channel are dropped.
    pub(crate) fn remove(&self, key: &SessionKey) {
        self.lock().remove(key);
    }

    /// Records that a run task has ended.
    pub(crate) fn run_task_ended(&self) {
        self.run_tasks.send_modify(|count| *count = count.saturating_sub(1));
    }

    /// Waits until all run tasks have ended.
    pub(crate) async fn wait_for_runs(&self) {
        // The sender lives as long as `self`, so this cannot fail.
        let _ = self.run_tasks.subscribe().wait_for(|count| *count == 0).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, mpsc::Sender<Command>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
