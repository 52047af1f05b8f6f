//! A copy of a session, up to a cursor.

use bytes::Bytes;
use recount_message::{AgentEvent, FinishedReason, Fold, ReplyEnd, ReplyWriter, Stamps};
use tokio::sync::mpsc;

use crate::join_deltas::join_deltas;
use crate::refold::decode;
use crate::session::check_cursor;
use crate::storage::{Limit, Row, StateChange, View};
use crate::{Cursor, Error, Events, SessionKey};

/// How much is copied at once.
const PAGE: Limit = Limit { count: 2_048, bytes: 2 << 20 };

/// A session that is copied, and up to where.
pub(crate) struct Source {
    from: SessionKey,
    at: Option<Cursor>,
    to: SessionKey,
}

/// A piece of a copy.
pub(crate) struct Page {
    pub(crate) events: Events,
    pub(crate) states: Vec<StateChange>,
}

impl Source {
    pub(crate) fn of(from: SessionKey, at: Option<Cursor>, to: SessionKey) -> Self {
        Self { from, at, to }
    }

    /// Reads the session and hands on what its copy is made of, page by page. It waits while nobody takes them.
    pub(crate) fn copy(self, view: &dyn View, pages: &mpsc::Sender<Page>) -> Result<(), Error> {
        let Self { from, at, to } = self;
        let row = match at {
            Some(cursor) => check_cursor(view, &from, cursor)?,
            None => view.session(&from)?.ok_or_else(|| Error::UnknownSession(from.clone()))?,
        };
        let hand_on = |events, states| pages.blocking_send(Page { events, states }).map_err(|_| Error::Closed);
        let until = at.map_or(row.head, |cursor| cursor.seq);
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
