//! What an encoder has to know of a place in a session.

use std::collections::HashSet;

use recount_log::{Cursor, Error, Session, Snapshot};

use super::Style;
use super::encoder::{Before, Encoder, fold_of};

/// An encoder for what comes after a place; nothing means the very beginning.
pub(crate) async fn encoder_at(session: &Session, style: Style, place: Option<Cursor>) -> Result<Encoder, Error> {
    let before = match place {
        Some(cursor) if style.needs_fold() => match session.open_at(cursor).await {
            Ok(open) => {
                let nested = open.iter().filter(|reply| reply.nested).map(|reply| reply.id.clone());
                let nested: HashSet<String> = if style.all { HashSet::new() } else { nested.collect() };
                let shown = open.iter().filter(|reply| style.all || !reply.nested);
                Before { fold: fold_of(cursor, shown.map(|reply| &*reply.fold)), nested }
            }
            // Whoever reads on from here gets a snapshot first.
            Err(Error::Gap { .. }) => Before::default(),
            Err(error) => return Err(error),
        },
        Some(cursor) if !style.all => Before { nested: nested_at(session, cursor).await?, ..Before::default() },
        _ => Before::default(),
    };
    Ok(Encoder::new(style, session.key().name(), before))
}

/// An encoder for what comes after a snapshot.
pub(crate) async fn encoder_after(session: &Session, style: Style, snapshot: &Snapshot) -> Result<Encoder, Error> {
    let mut before = Before::default();
    if style.needs_fold() {
        before.fold = fold_of(snapshot.cursor, snapshot.open.iter().map(|reply| &*reply.fold));
    }
    if !style.all {
        before.nested = nested_at(session, snapshot.cursor).await?;
    }
    Ok(Encoder::new(style, session.key().name(), before))
}

/// The replies that are open at a place and a part of another one.
async fn nested_at(session: &Session, cursor: Cursor) -> Result<HashSet<String>, Error> {
    let key = session.key().clone();
    let look = session.log().look(move |view| {
        let open = view.opened(&key)?.into_iter().filter(|reply| reply.nested && reply.place <= cursor.seq);
        let ended = view.spanning(&key, cursor.seq)?.into_iter().filter(|message| message.nested);
        Ok(open.map(|reply| reply.id).chain(ended.map(|message| message.id)).collect())
    });
    look.await
}
