//! How a host works, and what it is asked and answers.

use std::time::Duration;

use recount_agent::OnRestart;
use recount_log::Cursor;

/// The subject of the lease under which a host works on a session.
pub const LEASE: &str = "run";

/// How a host works.
///
/// ```
/// use recount_host::HostOptions;
///
/// let options = HostOptions { holder: "node-1".to_owned(), ..HostOptions::default() };
/// assert_eq!(options.lease_time.as_secs(), 30);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostOptions {
    /// What it calls itself in leases, for people and logs.
    pub holder: String,
    /// For so long nobody else takes a session from a host that is not heard of. It is renewed as long as it works.
    pub lease_time: Duration,
    /// What becomes of replies whose process died. What the agents themselves say, if nothing is said here.
    pub on_restart: Option<OnRestart>,
    /// So many events are committed at once at most.
    pub batch: usize,
}

impl Default for HostOptions {
    fn default() -> Self {
        let holder = format!("process {}", std::process::id());
        Self { holder, lease_time: Duration::from_secs(30), on_restart: None, batch: 256 }
    }
}

/// What to do with a message while a reply is under way or waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnBusy {
    /// It is refused, and nothing is written.
    #[default]
    Reject,
    /// It is answered when the replies before it have ended.
    Queue,
    /// The reply is stopped, and the message is answered next, before those that are queued.
    Interrupt,
}

/// What became of a message that was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The reply that answers it, now or when its turn comes.
    pub reply_id: String,
    /// Where the message stands. What comes after it is the reply, from its start.
    pub cursor: Cursor,
}
