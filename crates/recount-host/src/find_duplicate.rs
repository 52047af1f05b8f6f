//! Lookup of events by id in the log.

use recount_log::{Appended, Cursor, Error, Session};
use recount_message::AgentEvent;

/// Returns the result of an event that is in the log already, or `None`. Appends nothing.
pub(crate) async fn find_duplicate(
    session: &Session,
    head: Cursor,
    event: &AgentEvent,
) -> Result<Option<Appended>, Error> {
    // The log detects duplicates before it compares the head, and no head can be this one.
    let impossible_head = Cursor { seq: u64::MAX, ..head };
    match session.append_if(impossible_head, [event]).await {
        Ok(duplicate) => Ok(Some(duplicate)),
        Err(Error::Moved { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
