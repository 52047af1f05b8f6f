//! A copy of a session, up to a place.

use bytes::Bytes;
use recount_message::{AgentEvent, FinishedReason, Fold, ReplyEnd, ReplyWriter, Stamps};
use tokio::sync::mpsc;

use crate::join_deltas::join_deltas;
use crate::refold::decode;
use crate::session::check_cursor;
use crate::snapshot::place_of;
use crate::storage::{Limit, Row, StateChange, View};
use crate::{Cursor, Error, Events, SessionKey};

/// How much is copied at once.
const PAGE: Limit = Limit { count: 2_048, bytes: 2 << 20 };

/// Up to where a session is copied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ForkPoint {
    /// All of it.
    #[default]
    Head,
    /// The entries up to a cursor.
    After(Cursor),
    /// The entries before the one that begins the message with this id, be it complete or open: what was there when it
    /// was said.
    Before(String),
}

impl From<Option<Cursor>> for ForkPoint {
    fn from(cursor: Option<Cursor>) -> Self {
        cursor.map_or(Self::Head, Self::After)
    }
}

/// A session that is copied, and up to where.
pub(crate) struct Source {
    from: SessionKey,
    until: ForkPoint,
    to: SessionKey,
}

/// A piece of a copy.
pub(crate) struct Page {
    pub(crate) events: Events,
    pub(crate) states: Vec<StateChange>,
}

impl Source {
    pub(crate) fn of(from: SessionKey, until: ForkPoint, to: SessionKey) -> Self {
        Self { from, until, to }
    }

    /// Reads the session and hands on what its copy is made of, page by page. It waits while nobody takes them.
    pub(crate) fn copy(self, view: &dyn View, pages: &mpsc::Sender<Page>) -> Result<(), Error> {
        let Self { from, until, to } = self;
        let row = view.session(&from)?.ok_or_else(|| Error::UnknownSession(from.clone()))?;
        let until = match until {
            ForkPoint::Head => row.head,
            ForkPoint::After(cursor) => check_cursor(view, &from, cursor).map(|_| cursor.seq)?,
            // The entry that begins a message is joined with no other, so the one before it can be told.
            ForkPoint::Before(id) => match place_of(view, &from, &id)? {
                Some(place) => place.saturating_sub(1),
                None => return Err(Error::UnknownMessage { session: from, id }),
            },
        };
        let hand_on = |events, states| pages.blocking_send(Page { events, states }).map_err(|_| Error::Closed);
        let mut fold = Fold::new();
        let mut after = 0;
        while after < until {
            let mut rows: Vec<Row> = view.entries(&from, after, PAGE)?;
            rows.retain(|row| row.last <= until);
            let Some(last) = rows.last() else { break };
            after = last.last;
            for row in &rows {
                let _ = fold.apply(&decode(&from, row.last, &row.body)?);
            }
            let _ = fold.take_ended();
            let mut events = Events::default();
            for joined in join_deltas(&rows, |_| true) {
                let body = joined.row.body;
                events.push_encoded(&decode(&from, joined.row.last, &body)?, body.clone());
            }
            hand_on(events, Vec::new())?;
        }
        let mut events = Events::default();
        for event in closing_events(&fold, &to) {
            events.push_encoded(&event, Bytes::from(event.to_json()));
        }
        // At an older place the documents would know more than the entries say.
        let states = if until == row.head { view.states(&from)? } else { Vec::new() };
        let states = states.into_iter().map(|(name, body)| StateChange { name, body: Some(body) }).collect();
        hand_on(events, states)
    }
}

/// The events that end the open replies of a fold: open blocks end, and every call gets its result.
fn closing_events(fold: &Fold, key: &SessionKey) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    for reply in fold.open_replies() {
        let writer = ReplyWriter::resume(|event| events.push(event), Stamps::default(), key.name(), reply.clone());
        writer.end(ReplyEnd::new(FinishedReason::Interrupted));
    }
    events
}
