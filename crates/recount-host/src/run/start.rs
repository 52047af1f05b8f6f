//! How a run begins: with the lease, and with what is known of the session.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use recount_log::storage::OpenReplyInfo;
use recount_log::{Error, Lease, LeaseRequest, Session, SessionKey};
use recount_message::Object;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use super::{Command, Run, StopReason};
use crate::append_queue::AppendQueue;
use crate::options::LEASE;
use crate::run_counts::CountedRun;
use crate::run_metadata::{METADATA_DOCUMENT, OpenReply, RunMetadata};
use crate::run_state::SharedRunState;
use crate::shared::Shared;
use crate::telemetry::RunTraces;

/// So long a run waits after the log has failed, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Works on a session until there is nothing left to do.
pub(crate) async fn go(
    host: Arc<Shared>,
    key: SessionKey,
    mut commands: mpsc::Receiver<Command>,
    own: mpsc::WeakSender<Command>,
) {
    let _ended = Ended(Arc::clone(&host));
    let left = host.left.clone();
    let mut wait = FIRST_WAIT;
    loop {
        let begun = tokio::select! {
            biased;
            () = left.cancelled() => Err(StopReason::Left),
            begun = begin(&host, &key, &mut commands, &own) => begun,
        };
        let stop = match begun {
            Ok(mut run) => {
                // Whatever it waits for: to be left is to be left at once.
                let stop = tokio::select! {
                    biased;
                    () = left.cancelled() => StopReason::Left,
                    stop = run.work() => stop,
                };
                run.end(&stop).await;
                stop
            }
            Err(stop) => stop,
        };
        match stop {
            StopReason::Idle if host.leave(&key, &commands) => return,
            // Somebody has sent something; or the other one may die, and then this one goes on.
            StopReason::Idle | StopReason::Taken => wait = FIRST_WAIT,
            StopReason::Left | StopReason::Gone => return host.remove(&key),
            StopReason::Failed => {
                let waited = tokio::time::timeout(wait, left.cancelled()).await;
                wait = (wait * 2).min(LONGEST_WAIT);
                if waited.is_ok() {
                    return host.remove(&key);
                }
            }
        }
    }
}

/// A run that has ended is not waited for, however it did.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.ended();
    }
}

async fn begin<'c>(
    host: &Arc<Shared>,
    key: &SessionKey,
    commands: &'c mut mpsc::Receiver<Command>,
    own: &mpsc::WeakSender<Command>,
) -> Result<Run<'c>, StopReason> {
    let session = host.log.session(key.clone());
    let lease = lease(host, &session, commands).await?;
    let notes = match notes(host, &session).await {
        Ok(notes) => notes,
        Err(error) => {
            let _ = session.release(lease).await;
            return Err(error.into());
        }
    };
    let traces = RunTraces::default();
    let outbox = AppendQueue::open(session.clone(), lease.clone(), host.options.batch, traces.clone());
    let period = host.options.lease_time.max(Duration::from_millis(30)) / 3;
    let mut renewal = tokio::time::interval_at(Instant::now() + period, period);
    renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut run = Run {
        host: Arc::clone(host),
        session,
        lease,
        desk: Arc::new(SharedRunState::new(notes)),
        outbox,
        commands,
        own: own.clone(),
        draining: host.draining.subscribe(),
        reader: None,
        work: None,
        is_waiting: false,
        expiry: None,
        has_expired: false,
        must_reload: false,
        told: HashSet::new(),
        prepared: None,
        watchers: JoinSet::new(),
        watched: Vec::new(),
        renewal,
        traces,
        counted: CountedRun::new(Arc::clone(&host.tally)),
    };
    if let Err(error) = run.close_orphans().await {
        let stop = error.into();
        run.end(&stop).await;
        return Err(stop);
    }
    Ok(run)
}

/// Gets the lease. As long as another host has it, messages and hints are refused; a reply that has not ended is waited for,
/// since the other one may die.
async fn lease(host: &Shared, session: &Session, commands: &mut mpsc::Receiver<Command>) -> Result<Lease, StopReason> {
    // The other one may be about to give it back.
    let mut wait = Duration::from_millis(5);
    loop {
        let request = LeaseRequest::new(LEASE, &host.options.holder).with_ttl(host.options.lease_time);
        let holder = match session.lease(request).await {
            Ok(lease) => return Ok(lease),
            Err(Error::LeaseHeld { holder, .. }) => holder,
            Err(error) => {
                while let Ok(command) = commands.try_recv() {
                    refuse(command, &error.clone().into());
                }
                return Err(error.into());
            }
        };
        while let Ok(command) = commands.try_recv() {
            refuse(command, &crate::Error::LeaseHeld { holder: holder.clone() });
        }
        let is_hosting = opened(host, session).await?.iter().any(|open| open.hosted);
        if !is_hosting || *host.draining.borrow() {
            return Err(StopReason::Idle);
        }
        let mut draining = host.draining.subscribe();
        tokio::select! {
            () = tokio::time::sleep(wait) => wait = (wait * 2).min(host.options.lease_time / 3),
            _ = draining.changed() => {}
            Some(command) = commands.recv() => refuse(command, &crate::Error::LeaseHeld { holder }),
        }
    }
}

fn refuse(command: Command, error: &crate::Error) {
    // Who asked may have gone.
    match command {
        Command::Wake => {}
        Command::Post { answer, .. } => {
            let _ = answer.send(Err(error.clone().into()));
        }
        Command::Hint { answer, .. } => {
            let _ = answer.map(|answer| answer.send(Err(error.clone())));
        }
        Command::Compress { answer } => {
            let _ = answer.send(Err(error.clone()));
        }
    }
}

/// What is known of the session. The reply that has not ended is one that the log has open.
async fn notes(host: &Shared, session: &Session) -> Result<RunMetadata, Error> {
    let mut notes = match session.state(METADATA_DOCUMENT).await? {
        // What cannot be read was written by another version; what the log itself says is enough to go on.
        Some(text) => RunMetadata::from_json(&text).unwrap_or_default(),
        None => RunMetadata::default(),
    };
    let open = opened(host, session).await?;
    let is_open = |reply: &OpenReply| open.iter().any(|opened| opened.id == reply.id);
    if notes.reply.as_ref().is_some_and(is_open) {
        return Ok(notes);
    }
    // Messages are queued behind a reply. Without one they are those of a session that this one was copied from.
    notes.queue.clear();
    notes.reply = match open.into_iter().find(|opened| opened.hosted && !opened.nested) {
        Some(opened) => {
            let agent = agent_of(host, session).await?;
            Some(OpenReply { id: opened.id, name: agent.clone(), agent })
        }
        None => None,
    };
    Ok(notes)
}

/// The replies of a session that have not ended.
pub(super) async fn opened(host: &Shared, session: &Session) -> Result<Vec<OpenReplyInfo>, Error> {
    let key = session.key().clone();
    host.log.read(move |view| Ok(view.open_reply_infos(&key)?)).await
}

/// The agent that a session names, or the default one.
pub(super) async fn agent_of(host: &Shared, session: &Session) -> Result<String, Error> {
    let about = Object::parse(&session.info().await?.properties).unwrap_or_default();
    let named = about.get("agent").and_then(recount_message::Json::to_text);
    Ok(named.unwrap_or_else(|| host.agents.default_agent().to_owned()))
}
