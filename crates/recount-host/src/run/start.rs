//! The start of a run: acquires the lease and loads the metadata.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use recount_log::storage::OpenReplyInfo;
use recount_log::{Error, Lease, LeaseRequest, Session, SessionKey};
use recount_message::{Json, Object};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use super::{Command, Run, StopReason};
use crate::append_queue::AppendQueue;
use crate::options::LEASE;
use crate::run_counts::CountedRun;
use crate::run_metadata::{CurrentReply, METADATA_DOCUMENT, RunMetadata};
use crate::run_state::SharedRunState;
use crate::shared::Shared;
use crate::telemetry::RunTraces;

/// The first delay before a run is restarted after the log failed. It doubles with each failure.
const MIN_RETRY_DELAY: Duration = Duration::from_millis(200);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);

/// Runs a session until there is nothing left to do.
pub(crate) async fn run_session(
    host: Arc<Shared>,
    key: SessionKey,
    mut commands: mpsc::Receiver<Command>,
    own_sender: mpsc::WeakSender<Command>,
) {
    let _guard = RunTaskGuard(Arc::clone(&host));
    let shutdown = host.shutdown.clone();
    let mut delay = MIN_RETRY_DELAY;
    loop {
        let started = tokio::select! {
            biased;
            () = shutdown.cancelled() => Err(StopReason::Shutdown),
            started = start(&host, &key, &mut commands, &own_sender) => started,
        };
        let reason = match started {
            Ok(mut run) => {
                // A shutdown takes effect at any await point of the run.
                let reason = tokio::select! {
                    biased;
                    () = shutdown.cancelled() => StopReason::Shutdown,
                    reason = run.run() => reason,
                };
                run.stop(&reason).await;
                reason
            }
            Err(reason) => reason,
        };
        match reason {
            StopReason::Idle if host.remove_if_idle(&key, &commands) => return,
            // A command has arrived; or the new holder of the lease may crash, and this host takes over again.
            StopReason::Idle | StopReason::LeaseLost => delay = MIN_RETRY_DELAY,
            StopReason::Shutdown | StopReason::Closed => return host.remove(&key),
            StopReason::Failed => {
                let shut_down = tokio::time::timeout(delay, shutdown.cancelled()).await;
                delay = (delay * 2).min(MAX_RETRY_DELAY);
                if shut_down.is_ok() {
                    return host.remove(&key);
                }
            }
        }
    }
}

/// Records the end of a run task, also if it panics.
struct RunTaskGuard(Arc<Shared>);

impl Drop for RunTaskGuard {
    fn drop(&mut self) {
        self.0.run_task_ended();
    }
}

/// Acquires the lease, loads the metadata, and ends orphaned replies.
async fn start<'c>(
    host: &Arc<Shared>,
    key: &SessionKey,
    commands: &'c mut mpsc::Receiver<Command>,
    own_sender: &mpsc::WeakSender<Command>,
) -> Result<Run<'c>, StopReason> {
    let session = host.log.session(key.clone());
    let lease = acquire_lease(host, &session, commands).await?;
    let metadata = match load_metadata(host, &session).await {
        Ok(metadata) => metadata,
        Err(error) => {
            let _ = session.release(lease).await;
            return Err(error.into());
        }
    };
    let traces = RunTraces::default();
    let queue = AppendQueue::spawn(session.clone(), lease.clone(), host.options.batch, traces.clone());
    let period = host.options.lease_time.max(Duration::from_millis(30)) / 3;
    let mut renewal = tokio::time::interval_at(Instant::now() + period, period);
    renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut run = Run {
        host: Arc::clone(host),
        session,
        lease,
        state: Arc::new(SharedRunState::new(metadata)),
        queue,
        commands,
        own_sender: own_sender.clone(),
        draining: host.draining.subscribe(),
        reader: None,
        active: None,
        is_waiting: false,
        wait_deadline: None,
        has_expired: false,
        must_reload: false,
        offered_inputs: HashSet::new(),
        prepared: None,
        watchers: JoinSet::new(),
        watched_calls: Vec::new(),
        renewal,
        traces,
        counted: CountedRun::new(Arc::clone(&host.counts)),
    };
    if let Err(error) = run.end_orphaned_replies().await {
        let reason = error.into();
        run.stop(&reason).await;
        return Err(reason);
    }
    Ok(run)
}

/// Acquires the lease. While another host holds it, commands are rejected. If the session has an open hosted reply, this
/// waits for the lease, because the other host may crash.
async fn acquire_lease(
    host: &Shared,
    session: &Session,
    commands: &mut mpsc::Receiver<Command>,
) -> Result<Lease, StopReason> {
    // Start with a short delay, because the other host may be about to release the lease.
    let mut delay = Duration::from_millis(5);
    loop {
        let request = LeaseRequest::new(LEASE, &host.options.holder).with_ttl(host.options.lease_time);
        let holder = match session.lease(request).await {
            Ok(lease) => return Ok(lease),
            Err(Error::LeaseHeld { holder, .. }) => holder,
            Err(error) => {
                while let Ok(command) = commands.try_recv() {
                    reject(command, &error.clone().into());
                }
                return Err(error.into());
            }
        };
        while let Ok(command) = commands.try_recv() {
            reject(command, &crate::Error::LeaseHeld { holder: holder.clone() });
        }
        let has_hosted_reply = open_replies(host, session).await?.iter().any(|open| open.hosted);
        if !has_hosted_reply || *host.draining.borrow() {
            return Err(StopReason::Idle);
        }
        let mut draining = host.draining.subscribe();
        tokio::select! {
            () = tokio::time::sleep(delay) => delay = (delay * 2).min(host.options.lease_time / 3),
            _ = draining.changed() => {}
            Some(command) = commands.recv() => reject(command, &crate::Error::LeaseHeld { holder }),
        }
    }
}

/// Sends an error as the result of a command.
fn reject(command: Command, error: &crate::Error) {
    // The caller may have been cancelled.
    match command {
        Command::Wake => {}
        Command::Post { response, .. } => {
            let _ = response.send(Err(error.clone().into()));
        }
        Command::Hint { response, .. } => {
            let _ = response.map(|response| response.send(Err(error.clone())));
        }
        Command::Compress { response } => {
            let _ = response.send(Err(error.clone()));
        }
    }
}

/// Loads the metadata of a session, and corrects it if its open reply is not open in the log.
async fn load_metadata(host: &Shared, session: &Session) -> Result<RunMetadata, Error> {
    let mut metadata = match session.state(METADATA_DOCUMENT).await? {
        // A document of another version may be unreadable. The entries are sufficient to continue.
        Some(text) => RunMetadata::from_json(&text).unwrap_or_default(),
        None => RunMetadata::default(),
    };
    let open = open_replies(host, session).await?;
    let is_open = |reply: &CurrentReply| open.iter().any(|info| info.id == reply.id);
    if metadata.reply.as_ref().is_some_and(is_open) {
        return Ok(metadata);
    }
    // A queue requires an open reply. Otherwise it was copied with the metadata when the session was forked.
    metadata.queue.clear();
    metadata.reply = match open.into_iter().find(|info| info.hosted && !info.nested) {
        Some(info) => {
            let agent = agent_name(host, session).await?;
            Some(CurrentReply { id: info.id, name: agent.clone(), agent })
        }
        None => None,
    };
    Ok(metadata)
}

/// Returns the open replies of a session.
pub(super) async fn open_replies(host: &Shared, session: &Session) -> Result<Vec<OpenReplyInfo>, Error> {
    let key = session.key().clone();
    host.log.read(move |view| Ok(view.open_reply_infos(&key)?)).await
}

/// Returns the name of the agent in the session's property `agent`, or of the default agent.
pub(super) async fn agent_name(host: &Shared, session: &Session) -> Result<String, Error> {
    let properties = Object::parse(&session.info().await?.properties).unwrap_or_default();
    let agent = properties.get("agent").and_then(Json::as_str).map(str::to_owned);
    Ok(agent.unwrap_or_else(|| host.agents.default_agent().to_owned()))
}
