//! Keeping a server running.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, PingRequest};
use rmcp::service::Peer;
use tokio::time::{Instant, sleep, timeout};

use super::connect::{self, Running};
use super::handler::Handler;
use super::listing;
use super::server::{Shared, State};

/// The wait before a server is started again that died right away, and the longest one.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// A server that ran so long was all right, and the waits begin anew.
const WAS_FINE: Duration = Duration::from_secs(30);
/// So long a server may take to answer when it is asked whether it is still there.
const PING: Duration = Duration::from_secs(5);
/// So long a server may take to end by itself.
const END: Duration = Duration::from_secs(5);

/// Runs a server, again and again, until nobody needs it any more.
pub(super) async fn run(shared: Arc<Shared>) {
    let mut wait = FIRST_WAIT;
    while !shared.shutdown.is_cancelled() {
        shared.state.send_replace(State::Starting);
        let begun = Instant::now();
        let Some(why) = once(&shared).await else { break };
        tracing::warn!(server = &*shared.name, "{why}");
        if begun.elapsed() >= WAS_FINE {
            wait = FIRST_WAIT;
        }
        shared.state.send_replace(State::Down(why.into()));
        tokio::select! {
            () = sleep(wait) => {}
            () = shared.shutdown.cancelled() => {}
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
    shared.state.send_replace(State::Closed);
}

/// Runs a server once and says why it ended. Nothing when it was closed.
async fn once(shared: &Arc<Shared>) -> Option<String> {
    let running = tokio::select! {
        opened = timeout(shared.config.start_timeout, opened(shared)) => match opened {
            Ok(Ok(running)) => running,
            Ok(Err(why)) => return Some(with_last_words(shared, why).await),
            Err(_) => {
                let why = format!("it took longer than {:?} to start", shared.config.start_timeout);
                return Some(with_last_words(shared, why).await);
            }
        },
        () = shared.shutdown.cancelled() => return None,
    };
    let peer = running.service.peer().clone();
    shared.state.send_replace(State::Ready(peer.clone()));
    watched(shared, running, &peer).await
}

/// Starts a server and learns its tools.
async fn opened(shared: &Arc<Shared>) -> Result<Running, String> {
    let handler = Handler {
        server: Arc::clone(&shared.name),
        progress: Arc::clone(&shared.progress),
        changed: Arc::clone(&shared.changed),
    };
    let running = connect::open(shared, handler).await?;
    let tools = listing::tools(shared, running.service.peer()).await?;
    shared.set_tools(tools);
    Ok(running)
}

/// Stays with a server until it ends, and sees to what it says in the meantime.
async fn watched(shared: &Arc<Shared>, running: Running, peer: &Peer<RoleClient>) -> Option<String> {
    let Running { service, process: _process } = running;
    let stop = service.cancellation_token();
    let ended = service.waiting();
    tokio::pin!(ended);
    loop {
        tokio::select! {
            _ = &mut ended => return Some(with_last_words(shared, "it ended".to_owned()).await),
            () = shared.shutdown.cancelled() => {
                stop.cancel();
                let _ = timeout(END, ended).await;
                return None;
            }
            () = shared.changed.notified() => {
                match timeout(shared.config.start_timeout, listing::tools(shared, peer)).await {
                    Ok(Ok(tools)) => shared.set_tools(tools),
                    Ok(Err(why)) => tracing::warn!(server = &*shared.name, "its new tools are not known: {why}"),
                    Err(_) => tracing::warn!(server = &*shared.name, "its new tools are not known: it does not answer"),
                }
            }
            () = shared.suspect.notified() => {
                let ping = peer.send_request(ClientRequest::PingRequest(PingRequest::default()));
                let patience = PING.min(shared.config.timeout);
                if !matches!(timeout(patience, ping).await, Ok(Ok(_))) {
                    stop.cancel();
                    let _ = timeout(END, ended).await;
                    return Some("it did not answer any more, and was ended".to_owned());
                }
            }
        }
    }
}

async fn with_last_words(shared: &Shared, why: String) -> String {
    let words = shared.last_words.told().await;
    if words.is_empty() { why } else { format!("{why}; it said: {words}") }
}
