//! Copies a session, up to a position.

use bytes::Bytes;
use recount_message::{AgentEvent, FinishedReason, Fold, ReplyEnd, ReplyWriter, Stamps};
use tokio::sync::mpsc;

use crate::compaction::merge_deltas;
use crate::log::Log;
use crate::rebuild::decode;
use crate::session::{Session, check_cursor};
use crate::snapshot::start_of_message;
use crate::staging::StagedSession;
use crate::storage::{EntryRow, PageLimit, StateChange, View};
use crate::{Cursor, Error, Events, SessionKey};

/// How much is copied at once.
const PAGE: PageLimit = PageLimit { count: 2_048, bytes: 2 << 20 };

/// The end of the copied range of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ForkPoint {
    /// All entries.
    #[default]
    Head,
    /// The entries up to a cursor.
    After(Cursor),
    /// The entries before the first entry of the message with this id, complete or open.
    Before(String),
}

impl From<Option<Cursor>> for ForkPoint {
    fn from(cursor: Option<Cursor>) -> Self {
        cursor.map_or(Self::Head, Self::After)
    }
}

impl Log {
    /// Copies a session: all entries, those up to a cursor, or those before a message.
    ///
    /// The copy has its own epoch and numbers. Deltas are merged, and replies that are open at the end of the range are ended
    /// as interrupted. Documents are copied only with all entries, because they do not match an earlier position. A copy for
    /// another tenant includes the referenced uploads.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::{ForkPoint, Log};
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let log = Log::in_memory();
    /// let session = log.create("chat".parse()?).await?;
    /// for id in ["m1", "m2", "m3"] {
    ///     let message = Msg::user("Alice", "Hello").with_id(id);
    ///     session.append([&Event::new(CustomEvent::message(&message))]).await?;
    /// }
    /// let retry = log.fork(session.key(), ForkPoint::Before("m2".to_owned()), "retry".parse()?).await?;
    /// assert_eq!(retry.info().await?.head, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If the source or the message does not exist, if the new key is in use, or if the cursor belongs to another epoch, is
    /// beyond the head, or is inside of compacted entries.
    pub async fn fork(&self, from: &SessionKey, until: impl Into<ForkPoint>, to: SessionKey) -> Result<Session, Error> {
        let source = Source { from: from.clone(), until: until.into(), to: to.clone() };
        let (properties, exists) = self
            .read({
                let (from, to) = (from.clone(), to.clone());
                move |view| {
                    let row = view.session(&from)?.ok_or(Error::UnknownSession(from))?;
                    Ok((row.properties, view.session(&to)?.is_some()))
                }
            })
            .await?;
        if exists {
            return Err(Error::SessionExists(to));
        }
        // One thread reads the pages from one view while this task writes them.
        let (pages, mut read) = mpsc::channel(1);
        let log = self.clone();
        let reading = tokio::spawn(async move { log.read_long(move |view| source.copy(view, &pages)).await });
        let draft = StagedSession::create(self, to.clone(), properties).await?;
        while let Some(Page { events, states }) = read.recv().await {
            draft.append_with(events, states).await?;
        }
        reading.await.map_err(|_| Error::Closed)??;
        if from.tenant() != to.tenant() {
            self.copy_uploads(from, to.tenant()).await?;
        }
        draft.publish().await?;
        Ok(self.session(to))
    }

    /// Copies the uploads that a session references to another tenant.
    async fn copy_uploads(&self, from: &SessionKey, tenant: &str) -> Result<(), Error> {
        let key = from.clone();
        for digest in self.read(move |view| Ok(view.referenced_uploads(&key)?)).await? {
            if let Some(upload) = self.uploaded(from.tenant(), digest).await? {
                self.upload(tenant, &upload.media_type, upload.bytes).await?;
            }
        }
        Ok(())
    }
}

/// The parameters of a copy.
struct Source {
    from: SessionKey,
    until: ForkPoint,
    to: SessionKey,
}

/// A page of a copy.
struct Page {
    events: Events,
    states: Vec<StateChange>,
}

impl Source {
    /// Reads the session and sends its pages, waiting while the channel is full.
    fn copy(self, view: &dyn View, pages: &mpsc::Sender<Page>) -> Result<(), Error> {
        let Self { from, until, to } = self;
        let row = view.session(&from)?.ok_or_else(|| Error::UnknownSession(from.clone()))?;
        let until = match until {
            ForkPoint::Head => row.head,
            ForkPoint::After(cursor) => check_cursor(view, &from, cursor).map(|_| cursor.seq)?,
            // The first entry of a message is never merged with earlier ones, so the copy can end before it.
            ForkPoint::Before(id) => match start_of_message(view, &from, &id)? {
                Some(place) => place.saturating_sub(1),
                None => return Err(Error::UnknownMessage { session: from, id }),
            },
        };
        let send = |events, states| pages.blocking_send(Page { events, states }).map_err(|_| Error::Closed);
        let mut fold = Fold::new();
        let mut after = 0;
        while after < until {
            let mut rows: Vec<EntryRow> = view.entries(&from, after, PAGE)?;
            rows.retain(|row| row.last <= until);
            let Some(last) = rows.last() else { break };
            after = last.last;
            for row in &rows {
                let _ = fold.apply(&decode(&from, row.last, &row.body)?);
            }
            let _ = fold.take_ended();
            let mut events = Events::default();
            for joined in merge_deltas(&rows, |_| true) {
                let body = joined.row.body;
                events.push_encoded(&decode(&from, joined.row.last, &body)?, body.clone());
            }
            send(events, Vec::new())?;
        }
        let mut events = Events::default();
        for event in closing_events(&fold, &to) {
            events.push_encoded(&event, Bytes::from(event.to_json()));
        }
        // The documents do not match an earlier position.
        let states = if until == row.head { view.states(&from)? } else { Vec::new() };
        let states = states.into_iter().map(|(name, body)| StateChange { name, body: Some(body) }).collect();
        send(events, states)
    }
}

/// Creates the events that end the open replies of a fold: they end open blocks and give every call a result.
fn closing_events(fold: &Fold, key: &SessionKey) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    for reply in fold.open_replies() {
        let writer = ReplyWriter::resume(|event| events.push(event), Stamps::default(), key.name(), reply.clone());
        writer.end(ReplyEnd::new(FinishedReason::Interrupted));
    }
    events
}
