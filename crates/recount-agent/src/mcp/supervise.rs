//! Supervision of a server: start, restart and stop.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, PingRequest};
use rmcp::service::Peer;
use tokio::time::{Instant, sleep, timeout};

use super::connect::{self, Connection};
use super::handler::Handler;
use super::listing;
use super::server::{Shared, State};

/// The first and the maximum delay before a restart. Each delay is twice the one before.
const FIRST_DELAY: Duration = Duration::from_millis(250);
const MAX_DELAY: Duration = Duration::from_secs(60);
/// The uptime after which the delay is reset.
const STABLE_UPTIME: Duration = Duration::from_secs(30);
/// The timeout of a ping.
const PING_TIMEOUT: Duration = Duration::from_secs(5);
/// The timeout of a graceful stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs a server and restarts it until it is shut down.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut delay = FIRST_DELAY;
    while !shared.shutdown.is_cancelled() {
        shared.state.send_replace(State::Starting);
        let started_at = Instant::now();
        let Some(reason) = run_once(&shared).await else { break };
        tracing::warn!(server = &*shared.name, "{reason}");
        if started_at.elapsed() >= STABLE_UPTIME {
            delay = FIRST_DELAY;
        }
        shared.state.send_replace(State::Down(reason.into()));
        tokio::select! {
            () = sleep(delay) => {}
            () = shared.shutdown.cancelled() => {}
        }
        delay = (delay * 2).min(MAX_DELAY);
    }
    shared.state.send_replace(State::Closed);
}

/// Runs a server once. Returns the reason why it ended, or `None` if it was shut down.
async fn run_once(shared: &Arc<Shared>) -> Option<String> {
    let connection = tokio::select! {
        started = timeout(shared.config.start_timeout, start(shared)) => match started {
            Ok(Ok(connection)) => connection,
            Ok(Err(reason)) => return Some(with_stderr(shared, reason).await),
            Err(_) => {
                let reason = format!("it did not start within {:?}", shared.config.start_timeout);
                return Some(with_stderr(shared, reason).await);
            }
        },
        () = shared.shutdown.cancelled() => return None,
    };
    let peer = connection.service.peer().clone();
    shared.state.send_replace(State::Ready(peer.clone()));
    supervise(shared, connection, &peer).await
}

/// Starts a server and lists its tools.
async fn start(shared: &Arc<Shared>) -> Result<Connection, String> {
    let handler = Handler {
        server: Arc::clone(&shared.name),
        progress: Arc::clone(&shared.progress),
        changed: Arc::clone(&shared.changed),
    };
    let connection = connect::open(shared, handler).await?;
    let tools = listing::tools(shared, connection.service.peer()).await?;
    shared.set_tools(tools);
    Ok(connection)
}

/// Handles changes of the tool list and failed requests until the server ends. Returns as [`run_once`].
async fn supervise(shared: &Arc<Shared>, connection: Connection, peer: &Peer<RoleClient>) -> Option<String> {
    let Connection { service, process: _process } = connection;
    let stop = service.cancellation_token();
    let ended = service.waiting();
    tokio::pin!(ended);
    loop {
        tokio::select! {
            _ = &mut ended => return Some(with_stderr(shared, "it exited".to_owned()).await),
            () = shared.shutdown.cancelled() => {
                stop.cancel();
                let _ = timeout(STOP_TIMEOUT, ended).await;
                return None;
            }
            () = shared.changed.notified() => {
                match timeout(shared.config.start_timeout, listing::tools(shared, peer)).await {
                    Ok(Ok(tools)) => shared.set_tools(tools),
                    Ok(Err(reason)) => tracing::warn!(server = &*shared.name, "cannot refresh the tool list: {reason}"),
                    Err(_) => tracing::warn!(server = &*shared.name, "cannot refresh the tool list: timed out"),
                }
            }
            () = shared.suspect.notified() => {
                let ping = peer.send_request(ClientRequest::PingRequest(PingRequest::default()));
                let ping_timeout = PING_TIMEOUT.min(shared.config.timeout);
                if !matches!(timeout(ping_timeout, ping).await, Ok(Ok(_))) {
                    stop.cancel();
                    let _ = timeout(STOP_TIMEOUT, ended).await;
                    return Some("it stopped responding and was killed".to_owned());
                }
            }
        }
    }
}

/// Appends the last lines of standard error to a reason.
async fn with_stderr(shared: &Shared, reason: String) -> String {
    let lines = shared.stderr_tail.last_lines().await;
    if lines.is_empty() { reason } else { format!("{reason}; stderr: {lines}") }
}
