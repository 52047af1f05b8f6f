//! What an encoder has to know of a place in a session.

use std::collections::HashSet;

use recount_log::storage::{MessageRow, Visibility};
use recount_log::{Cursor, Error, OpenReply, Session, Snapshot, Start};

use super::StreamFormat;
use super::encoder::{Encoder, EncoderState, finished_reply, fold_of};

/// How many messages are looked at, at first, for those that wait for a reply to end.
const FIRST_LOOK: usize = 16;

/// Where somebody begins, so that it does not depend on when they read. Whoever begins now, and has been told that they are
/// heard, misses nothing of what happens next.
pub(super) async fn settled(session: &Session, start: Start) -> Result<Start, Error> {
    if start != Start::Now {
        return Ok(start);
    }
    let row = session.info().await?;
    Ok(Start::After(Cursor { epoch: row.epoch, seq: row.head }))
}

/// An encoder for what comes after a place; nothing means the very beginning.
pub(crate) async fn encoder_at(
    session: &Session,
    style: &StreamFormat,
    place: Option<Cursor>,
) -> Result<Encoder, Error> {
    let before = match place {
        Some(cursor) if style.needs_fold() => match session.open_at(cursor).await {
            Ok(open) => {
                let nested = open.iter().filter(|reply| reply.nested).map(|reply| reply.id.clone());
                let nested: HashSet<String> = if style.all { HashSet::new() } else { nested.collect() };
                let shown: Vec<OpenReply> = open.into_iter().filter(|reply| style.all || !reply.nested).collect();
                EncoderState { fold: fold_in_order(session, style, cursor, &shown).await?, nested }
            }
            // Whoever reads on from here gets a snapshot first.
            Err(Error::Gap { .. }) => EncoderState::default(),
            Err(error) => return Err(error),
        },
        Some(cursor) if !style.all => {
            EncoderState { nested: nested_at(session, cursor).await?, ..EncoderState::default() }
        }
        _ => EncoderState::default(),
    };
    Ok(Encoder::new(style, session.key().name(), before))
}

/// An encoder for what comes after a snapshot.
pub(crate) async fn encoder_after_snapshot(
    session: &Session,
    style: &StreamFormat,
    snapshot: &Snapshot,
) -> Result<Encoder, Error> {
    let mut before = EncoderState::default();
    if style.needs_fold() {
        before.fold = fold_in_order(session, style, snapshot.cursor, &snapshot.open).await?;
    }
    if !style.all {
        before.nested = nested_at(session, snapshot.cursor).await?;
    }
    Ok(Encoder::new(style, session.key().name(), before))
}

/// The open replies as one fold, with the messages that wait for the first of them to end.
async fn fold_in_order(
    session: &Session,
    style: &StreamFormat,
    cursor: Cursor,
    open: &[OpenReply],
) -> Result<recount_message::Fold, Error> {
    let mut replies: Vec<(u64, String)> = open.iter().map(|reply| (reply.start_seq, reply.fold.to_string())).collect();
    if let Some(first) = open.iter().map(|reply| reply.start_seq).min().filter(|_| style.is_sequential()) {
        let waiting = complete_between(session, style, first, cursor.seq).await?;
        let item = |message: &MessageRow| finished_reply(&message.body);
        replies.extend(waiting.iter().map(|message| (message.start_seq, item(message))));
    }
    replies.sort_by_key(|(place, _)| *place);
    Ok(fold_of(cursor, replies.iter().map(|(_, reply)| reply)))
}

/// The messages that began after a place and were complete at another.
async fn complete_between(
    session: &Session,
    style: &StreamFormat,
    after: u64,
    until: u64,
) -> Result<Vec<MessageRow>, Error> {
    let key = session.key().clone();
    let show = if style.all { Visibility::All } else { Visibility::TopLevel };
    let look = session.log().read(move |view| {
        let mut count = FIRST_LOOK;
        loop {
            let mut messages = view.messages_before(&key, until.saturating_add(1), show, count)?;
            let is_all = messages.len() < count || messages.first().is_none_or(|message| message.start_seq <= after);
            if is_all {
                messages.retain(|message| message.start_seq > after && message.end_seq <= until);
                return Ok(messages);
            }
            count = count.saturating_mul(4);
        }
    });
    look.await
}

/// The replies that are open at a place and a part of another one.
async fn nested_at(session: &Session, cursor: Cursor) -> Result<HashSet<String>, Error> {
    let key = session.key().clone();
    let look = session.log().read(move |view| {
        let open =
            view.open_reply_infos(&key)?.into_iter().filter(|reply| reply.nested && reply.start_seq <= cursor.seq);
        let ended = view.messages_spanning(&key, cursor.seq)?.into_iter().filter(|message| message.nested);
        Ok(open.map(|reply| reply.id).chain(ended.map(|message| message.id)).collect())
    });
    look.await
}
