//! The options of a host, and the options and results of posting a message.

use std::time::Duration;

use recount_agent::OnRestart;
use recount_log::Cursor;

/// The subject of the lease that a host holds while it runs a session.
pub const LEASE: &str = "run";

/// The options of a host.
///
/// ```
/// use recount_host::HostOptions;
///
/// let options = HostOptions { holder: "node-1".to_owned(), ..HostOptions::default() };
/// assert_eq!(options.lease_time.as_secs(), 30);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostOptions {
    /// The name of this host in leases, for users and logs.
    pub holder: String,
    /// The time after which another host may acquire the lease of a host that no longer renews it. Default: 30 seconds.
    pub lease_time: Duration,
    /// How to handle replies that were interrupted by a crash. `None` uses the setting of each agent.
    pub on_restart: Option<OnRestart>,
    /// The maximum number of events in one commit. Default: 256.
    pub batch: usize,
}

impl Default for HostOptions {
    fn default() -> Self {
        let holder = format!("process {}", std::process::id());
        Self { holder, lease_time: Duration::from_secs(30), on_restart: None, batch: 256 }
    }
}

/// How to handle a message that arrives while a reply is running or waiting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnBusy {
    /// Reject the message. Nothing is appended.
    #[default]
    Reject,
    /// Append the message, and answer it after the replies before it.
    Queue,
    /// Append the message, interrupt the reply, and answer the message before those that are queued.
    Interrupt,
}

/// The result of posting a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The id of the reply to the message. The reply may be queued.
    pub reply_id: String,
    /// The cursor of the message. The reply starts after it.
    pub cursor: Cursor,
}
