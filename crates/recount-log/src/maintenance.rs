//! What has to be done now and then: compaction, uploads that nobody names, room that is given back.

use std::sync::Arc;
use std::time::Duration;

use hashbrown::HashMap;

use crate::log::{Log, before};
use crate::request::{Request, Response};
use crate::storage::{SessionRow, View};
use crate::{Epoch, Error, SessionKey};

/// How many sessions are looked at in one step.
const SESSIONS: usize = 64;
/// Uploads that no entry names are kept for so long: whoever has made one is about to name it.
const UPLOADS: Duration = Duration::from_secs(24 * 60 * 60);

/// Looks after a log, step by step.
///
/// A step changes a few hundred entries at most, which takes a millisecond or two; appends go on between the steps. A
/// service runs a round every hour or so, in a task of its own. What was looked at in one round is not looked at again
/// in the next, unless there is something that had to be left.
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
/// // A service would say `compact_after` thirty days or so.
/// let mut housekeeping = Maintenance::new(log, Duration::ZERO);
/// assert_eq!(housekeeping.round().await?.joined, 2);
/// assert_eq!(housekeeping.round().await?.joined, 0);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Maintenance {
    log: Log,
    compact_after: Duration,
    /// Where compaction has come to.
    done: Arc<HashMap<SessionKey, Done>>,
    /// The last session of this round that is done.
    at: Option<SessionKey>,
    /// What is next in the session after that one.
    next: Option<Stretch>,
    stage: Stage,
    totals: MaintenanceReport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Sessions,
    Uploads,
    Room,
}

/// Whether a round of [`Maintenance`] is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaintenanceStep {
    /// There is more to do.
    More,
    /// The round is over, and this is what was done in it.
    Done(MaintenanceReport),
}

/// What a round of [`Maintenance`] has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MaintenanceReport {
    /// How many entries were joined to others.
    pub joined: u64,
}

/// What has been done in a session.
#[derive(Debug, Clone, Copy)]
struct Done {
    epoch: Epoch,
    /// The last entry that was complete for long enough when it was looked at.
    settled: u64,
    /// Up to this entry everything is joined that ever will be.
    until: u64,
}

/// A stretch of a session that may have something to join.
#[derive(Debug)]
struct Stretch {
    key: SessionKey,
    epoch: Epoch,
    settled: u64,
    after: u64,
    /// Where the first stretch of the session begins in which something was left for later.
    left: Option<u64>,
}

impl Maintenance {
    /// Looks after a log, and joins the deltas of what was complete so long ago.
    pub fn new(log: Log, compact_after: Duration) -> Self {
        let (stage, totals) = (Stage::Sessions, MaintenanceReport::default());
        Self { log, compact_after, done: Arc::default(), at: None, next: None, stage, totals }
    }

    /// Does everything that there is to do.
    ///
    /// # Errors
    ///
    /// When the storage fails, or the log is closed. The next round goes on where this one was.
    pub async fn round(&mut self) -> Result<MaintenanceReport, Error> {
        loop {
            if let MaintenanceStep::Done(kept) = self.step().await? {
                return Ok(kept);
            }
        }
    }

    /// Does a little of what there is to do.
    ///
    /// # Errors
    ///
    /// As [`round`](Self::round).
    pub async fn step(&mut self) -> Result<MaintenanceStep, Error> {
        match self.stage {
            Stage::Sessions => match self.next_stretch().await? {
                Some(stretch) => self.compact(stretch).await?,
                None => self.stage = Stage::Uploads,
            },
            Stage::Uploads => {
                self.forget_gone_sessions().await?;
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

    /// The next stretch, in the session at hand or one after it.
    async fn next_stretch(&mut self) -> Result<Option<Stretch>, Error> {
        if let Some(stretch) = self.next.take() {
            return Ok(Some(stretch));
        }
        loop {
            let (at, before, done) = (self.at.clone(), before(self.compact_after), Arc::clone(&self.done));
            match self.log.read(move |view| find(view, at.as_ref(), before, &done)).await? {
                Found::Stretch(stretch) => return Ok(Some(stretch)),
                Found::NothingUpTo(last) => self.at = Some(last),
                Found::NoMoreSessions => return Ok(None),
            }
        }
    }

    /// Keeps nothing of sessions that are gone.
    async fn forget_gone_sessions(&mut self) -> Result<(), Error> {
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

    async fn compact(&mut self, stretch: Stretch) -> Result<(), Error> {
        let Stretch { key, epoch, settled, after, left } = stretch;
        let before = before(self.compact_after);
        let answer = self.log.request(Request::Compact { key: key.clone(), after, before }).await;
        let compacted = match answer {
            Ok(Response::Compacted(compacted)) => compacted,
            Ok(_) => return Err(Error::Closed),
            // It is gone, and there is nothing to do any more.
            Err(Error::UnknownSession(_)) => {
                self.at = Some(key);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.totals.joined += compacted.entries - compacted.rows;
        let left = left.or(compacted.has_left.then_some(after));
        if let Some(after) = compacted.next {
            self.next = Some(Stretch { key, epoch, settled, after, left });
            return Ok(());
        }
        let done = Done { epoch, settled, until: left.unwrap_or(compacted.last) };
        Arc::make_mut(&mut self.done).insert(key.clone(), done);
        self.at = Some(key);
        Ok(())
    }
}

/// What there is to do in some sessions.
enum Found {
    Stretch(Stretch),
    NothingUpTo(SessionKey),
    NoMoreSessions,
}

/// Looks for something to join in the sessions after one.
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
        // Nothing can be settled that was not there.
        let settled = if was_settled < head { view.last_settled(&key, before)? } else { was_settled };
        if settled > was_settled {
            return Ok(Found::Stretch(Stretch { key, epoch, settled, after, left: None }));
        }
    }
    Ok(Found::NothingUpTo(last))
}
