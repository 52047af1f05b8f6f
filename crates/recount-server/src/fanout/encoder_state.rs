//! The state that an encoder needs at a position in a session.

use std::collections::HashSet;

use recount_log::storage::MessageRow;
use recount_log::{Cursor, Error, OpenReply, Session, Snapshot, Start};
use recount_message::Fold;

use super::StreamFormat;
use super::encoder::{Encoder, EncoderState, fold_of, message_item};

/// The initial number of messages to search for those that are held back by an open reply.
const INITIAL_PAGE: usize = 16;

/// Resolves [`Start::Now`] to the current head, so that a reader misses nothing that is committed before its first read.
pub(super) async fn resolve_start(session: &Session, start: Start) -> Result<Start, Error> {
    if start != Start::Now {
        return Ok(start);
    }
    let row = session.info().await?;
    Ok(Start::After(Cursor { epoch: row.epoch, seq: row.head }))
}

/// Creates an encoder for the entries after a cursor; `None` means the beginning of the session.
pub(crate) async fn encoder_at(
    session: &Session,
    format: &StreamFormat,
    position: Option<Cursor>,
) -> Result<Encoder, Error> {
    let state = match position {
        Some(cursor) if format.needs_fold() => match session.open_replies_at(cursor).await {
            Ok(open) => {
                let nested = open.iter().filter(|reply| reply.nested).map(|reply| reply.id.clone());
                let nested: HashSet<String> = if format.all { HashSet::new() } else { nested.collect() };
                let included: Vec<OpenReply> = open.into_iter().filter(|reply| format.all || !reply.nested).collect();
                EncoderState { fold: ordered_fold(session, format, cursor, &included).await?, nested }
            }
            // A reader at this cursor receives a snapshot first.
            Err(Error::Gap { .. }) => EncoderState::default(),
            Err(error) => return Err(error),
        },
        Some(cursor) if !format.all => {
            EncoderState { nested: nested_at(session, cursor).await?, ..EncoderState::default() }
        }
        _ => EncoderState::default(),
    };
    Ok(Encoder::new(format, session.key().name(), state))
}

/// Creates an encoder for the entries after a snapshot.
pub(crate) async fn encoder_after_snapshot(
    session: &Session,
    format: &StreamFormat,
    snapshot: &Snapshot,
) -> Result<Encoder, Error> {
    let mut state = EncoderState::default();
    if format.needs_fold() {
        state.fold = ordered_fold(session, format, snapshot.cursor, &snapshot.open).await?;
    }
    if !format.all {
        state.nested = nested_at(session, snapshot.cursor).await?;
    }
    Ok(Encoder::new(format, session.key().name(), state))
}

/// Returns a fold of the open replies and, in a sequential format, of the messages that the first of them holds back.
async fn ordered_fold(
    session: &Session,
    format: &StreamFormat,
    cursor: Cursor,
    open: &[OpenReply],
) -> Result<Fold, Error> {
    let mut replies: Vec<(u64, String)> = open.iter().map(|reply| (reply.start_seq, reply.fold.to_string())).collect();
    if let Some(first) = open.iter().map(|reply| reply.start_seq).min().filter(|_| format.is_sequential()) {
        let held_back = messages_between(session, format, first, cursor.seq).await?;
        replies.extend(held_back.iter().map(|message| (message.start_seq, message_item(message.body.as_str()))));
    }
    replies.sort_by_key(|(start_seq, _)| *start_seq);
    Ok(fold_of(cursor, replies.iter().map(|(_, reply)| reply)))
}

/// Returns the messages that started after `after` and were complete at `until`.
async fn messages_between(
    session: &Session,
    format: &StreamFormat,
    after: u64,
    until: u64,
) -> Result<Vec<MessageRow>, Error> {
    let key = session.key().clone();
    let visibility = format.visibility();
    let read = session.log().read(move |view| {
        let mut count = INITIAL_PAGE;
        loop {
            let mut messages = view.messages_before(&key, until.saturating_add(1), visibility, count)?;
            let reaches_start =
                messages.len() < count || messages.first().is_none_or(|oldest| oldest.start_seq <= after);
            if reaches_start {
                messages.retain(|message| message.start_seq > after && message.end_seq <= until);
                return Ok(messages);
            }
            count = count.saturating_mul(4);
        }
    });
    read.await
}

/// Returns the ids of the sub-agent replies that are open at a cursor.
async fn nested_at(session: &Session, cursor: Cursor) -> Result<HashSet<String>, Error> {
    let key = session.key().clone();
    let read = session.log().read(move |view| {
        let open =
            view.open_reply_infos(&key)?.into_iter().filter(|reply| reply.nested && reply.start_seq <= cursor.seq);
        let ended = view.messages_spanning(&key, cursor.seq)?.into_iter().filter(|message| message.nested);
        Ok(open.map(|reply| reply.id).chain(ended.map(|message| message.id)).collect())
    });
    read.await
}
