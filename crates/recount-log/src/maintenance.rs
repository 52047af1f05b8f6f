//! Periodic maintenance: compacts sessions, deletes unused uploads, and returns unused space.

use std::sync::Arc;
use std::time::Duration;

use hashbrown::HashMap;

use crate::log::{Log, before};
use crate::request::{Request, Response};
use crate::storage::{SessionRow, View};
use crate::{Epoch, Error, SessionKey};

/// The number of sessions that one step examines.
const SESSIONS: usize = 64;
/// The minimum age at which unreferenced uploads are deleted. A client references its upload some time after uploading it.
const UPLOADS: Duration = Duration::from_secs(24 * 60 * 60);

/// Maintains a log in small steps.
///
/// A step changes at most a few hundred entries, which takes one or two milliseconds; appends are handled between steps. A
/// service runs a round about once an hour, in a separate task. A round skips the entries that earlier rounds have finished.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
///
/// use recount_log::{Maintenance, Log};
/// use recount_message::{ReplyEnd, ReplyWriter, Stamps};
///
/// let log = Log::in_memory();
/// let session = log.create("chat".parse()?).await?;
/// let mut events = Vec::new();
/// let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "chat", "Friday");
/// for word in ["It ", "rains", "."] {
///     reply.text(word);
/// }
/// reply.end(ReplyEnd::completed());
/// session.append(&events).await?;
///
/// // A service would use an age of about thirty days.
/// let mut maintenance = Maintenance::new(log, Duration::ZERO);
/// assert_eq!(maintenance.round().await?.merged, 2);
/// assert_eq!(maintenance.round().await?.merged, 0);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Maintenance {
    log: Log,
    compact_after: Duration,
    /// The progress of compaction per session.
    done: Arc<HashMap<SessionKey, Done>>,
    /// The last finished session of this round.
    at: Option<SessionKey>,
    /// The next page of the session after that one.
    next: Option<Page>,
    stage: Stage,
    totals: MaintenanceReport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Sessions,
    Uploads,
    Room,
}

/// The result of one step of [`Maintenance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaintenanceStep {
    /// The round is not finished.
    More,
    /// The round is finished.
    Done(MaintenanceReport),
}

/// The changes of one round of [`Maintenance`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MaintenanceReport {
    /// The number of entries that were merged into others.
    pub merged: u64,
}

/// The progress of compaction in a session.
#[derive(Debug, Clone, Copy)]
struct Done {
    epoch: Epoch,
    /// The last entry that was old enough for compaction in the last round.
    settled: u64,
    /// Everything up to this entry is compacted.
    until: u64,
}

/// A page of a session that may have deltas to merge.
#[derive(Debug)]
struct Page {
    key: SessionKey,
    epoch: Epoch,
    settled: u64,
    after: u64,
    /// The start of the first page with deltas that can only be merged later.
    left: Option<u64>,
}

impl Maintenance {
    /// Creates the maintenance of a log. The deltas of replies that ended at least this long ago are merged.
    pub fn new(log: Log, compact_after: Duration) -> Self {
        let (stage, totals) = (Stage::Sessions, MaintenanceReport::default());
        Self { log, compact_after, done: Arc::default(), at: None, next: None, stage, totals }
    }

    /// Runs the remaining steps of a round.
    ///
    /// # Errors
    ///
    /// If the storage fails, or the log is closed. The next round continues where this one stopped.
    pub async fn round(&mut self) -> Result<MaintenanceReport, Error> {
        loop {
            if let MaintenanceStep::Done(kept) = self.step().await? {
                return Ok(kept);
            }
        }
    }

    /// Runs one step.
    ///
    /// # Errors
    ///
    /// As [`round`](Self::round).
    pub async fn step(&mut self) -> Result<MaintenanceStep, Error> {
        match self.stage {
            Stage::Sessions => match self.next_page().await? {
                Some(page) => self.compact(page).await?,
                None => self.stage = Stage::Uploads,
            },
            Stage::Uploads => {
                self.remove_deleted_sessions().await?;
                self.log.sweep(UPLOADS).await?;
                self.stage = Stage::Room;
            }
            Stage::Room => {
                if !self.log.shrink_step().await? {
                    (self.at, self.stage) = (None, Stage::Sessions);
                    return Ok(MaintenanceStep::Done(std::mem::take(&mut self.totals)));
                }
            }
        }
        Ok(MaintenanceStep::More)
    }

    /// Finds the next page, in the current session or a later one.
    async fn next_page(&mut self) -> Result<Option<Page>, Error> {
        if let Some(page) = self.next.take() {
            return Ok(Some(page));
        }
        loop {
            let (at, before, done) = (self.at.clone(), before(self.compact_after), Arc::clone(&self.done));
            match self.log.read(move |view| find(view, at.as_ref(), before, &done)).await? {
                Found::Page(page) => return Ok(Some(page)),
                Found::NothingUpTo(last) => self.at = Some(last),
                Found::NoMoreSessions => return Ok(None),
            }
        }
    }

    /// Removes the progress of deleted sessions.
    async fn remove_deleted_sessions(&mut self) -> Result<(), Error> {
        let done = Arc::clone(&self.done);
        let gone = self.log.read(move |view| {
            let is_gone = |key: &&SessionKey| view.session(key).is_ok_and(|row| row.is_none());
            Ok(done.keys().filter(is_gone).cloned().collect::<Vec<_>>())
        });
        for key in gone.await? {
            Arc::make_mut(&mut self.done).remove(&key);
        }
        Ok(())
    }

    async fn compact(&mut self, page: Page) -> Result<(), Error> {
        let Page { key, epoch, settled, after, left } = page;
        let before = before(self.compact_after);
        let answer = self.log.request(Request::Compact { key: key.clone(), after, before }).await;
        let compacted = match answer {
            Ok(Response::Compacted(compacted)) => compacted,
            Ok(_) => return Err(Error::Closed),
            // The session was deleted meanwhile.
            Err(Error::UnknownSession(_)) => {
                self.at = Some(key);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.totals.merged += compacted.entries - compacted.rows;
        let left = left.or(compacted.has_left.then_some(after));
        if let Some(after) = compacted.next {
            self.next = Some(Page { key, epoch, settled, after, left });
            return Ok(());
        }
        let done = Done { epoch, settled, until: left.unwrap_or(compacted.last) };
        Arc::make_mut(&mut self.done).insert(key.clone(), done);
        self.at = Some(key);
        Ok(())
    }
}

/// The result of searching some sessions for a page.
enum Found {
    Page(Page),
    NothingUpTo(SessionKey),
    NoMoreSessions,
}

/// Searches the sessions after `at` for a page to compact.
fn find(
    view: &dyn View,
    at: Option<&SessionKey>,
    before: i64,
    done: &HashMap<SessionKey, Done>,
) -> Result<Found, Error> {
    let rows = view.sessions(None, at, SESSIONS)?;
    let Some(last) = rows.last().map(|row| row.key.clone()) else { return Ok(Found::NoMoreSessions) };
    for row in rows {
        let SessionRow { key, epoch, head, .. } = row;
        let done = done.get(&key).filter(|done| done.epoch == epoch);
        let (was_settled, after) = done.map_or((0, 0), |done| (done.settled, done.until));
        // Without new entries nothing new can be settled.
        let settled = if was_settled < head { view.last_settled(&key, before)? } else { was_settled };
        if settled > was_settled {
            return Ok(Found::Page(Page { key, epoch, settled, after, left: None }));
        }
    }
    Ok(Found::NothingUpTo(last))
}
