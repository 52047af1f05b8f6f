//! Whether the log has an event.

use recount_log::{Appended, Cursor, Error, Session};
use recount_message::AgentEvent;

/// What became of an event that was written before; nothing if it was not. It is not written now.
pub(crate) async fn find_duplicate(
    session: &Session,
    head: Cursor,
    event: &AgentEvent,
) -> Result<Option<Appended>, Error> {
    // Nothing is ever behind this place, so nothing is written; and known events are known before that is looked at.
    let nowhere = Cursor { seq: u64::MAX, ..head };
    match session.append_if(nowhere, [event]).await {
        Ok(known) => Ok(Some(known)),
        Err(Error::Moved { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
