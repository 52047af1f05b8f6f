//! A copy of a session, up to a cursor.

use bytes::Bytes;
use recount_message::{AgentEvent, FinishedReason, Fold, ReplyEnd, ReplyWriter, Stamps};

use crate::join_deltas::join_deltas;
use crate::refold::decode;
use crate::request::Adoption;
use crate::session::check_cursor;
use crate::storage::{Limit, Row, StateChange, View};
use crate::{Cursor, Error, Events, SessionKey};

const PAGE: Limit = Limit { count: 4_096, bytes: 4 << 20 };

/// What a copy of a session is made of.
pub(crate) fn forked(
    view: &dyn View,
    from: &SessionKey,
    at: Option<Cursor>,
    to: SessionKey,
) -> Result<Adoption, Error> {
    let row = match at {
        Some(cursor) => check_cursor(view, from, cursor)?,
        None => view.session(from)?.ok_or_else(|| Error::UnknownSession(from.clone()))?,
    };
    let until = at.map_or(row.head, |cursor| cursor.seq);
    let mut events = Events::default();
    let mut fold = Fold::new();
    let mut after = 0;
    while after < until {
        let mut rows: Vec<Row> = view.entries(from, after, PAGE)?;
        rows.retain(|row| row.last <= until);
        let Some(last) = rows.last() else { break };
        after = last.last;
        for row in &rows {
            let _ = fold.apply(&decode(from, row.last, &row.body)?);
        }
        let _ = fold.take_ended();
        for joined in join_deltas(&rows, |_| true) {
            let body = joined.row.body;
            events.push_encoded(&decode(from, joined.row.last, &body)?, body.clone());
        }
    }
    for event in closing_events(&fold, &to) {
        events.push_encoded(&event, Bytes::from(event.to_json()));
    }
    // At an older place the documents would know more than the entries say.
    let states = if until == row.head { view.states(from)? } else { Vec::new() };
    let states = states.into_iter().map(|(name, body)| StateChange { name, body: Some(body) }).collect();
    Ok(Adoption { key: to, about: row.about, events, states, replaces: false })
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
