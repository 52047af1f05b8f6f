//! Heartbeats of idle readers, and the check for revoked tokens.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::app::App;

/// The interval in which idle readers receive a heartbeat.
const INTERVAL: Duration = Duration::from_secs(15);
/// The interval in which the token file is checked for changes.
const TOKEN_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Sends a heartbeat to all readers at each interval, and as soon as the token file has changed. Each reader checks at a
/// heartbeat whether its token is still valid.
pub(crate) async fn run(app: App) {
    let mut beat = interval(INTERVAL);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat.tick().await;
    let mut token_check = interval(TOKEN_CHECK_INTERVAL);
    token_check.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut version = app.tokens().file_version();
    loop {
        tokio::select! {
            _ = beat.tick() => app.heartbeat().send_replace(()),
            _ = token_check.tick() => {
                let current = app.tokens().file_version();
                if current != version {
                    version = current;
                    app.heartbeat().send_replace(());
                }
            }
        }
    }
}
