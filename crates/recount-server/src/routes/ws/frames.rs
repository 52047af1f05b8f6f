//! Frames that are not entries of a session.

use bytes::Bytes;
use recount_log::{Appended, Cursor};
use recount_message::Json;
use recount_message::wire::ObjectWriter;

use crate::problem::Problem;
use crate::routes::events::ignored;

/// Returns the frame that marks the end of the backlog: later frames are live.
pub(super) fn live_frame(session: &str, cursor: Cursor) -> Bytes {
    ObjectWriter::new().string("session", session).string("live", &cursor.to_string()).finish().into()
}

/// Returns the frame that acknowledges an event of the client, and names it if it changed no message.
pub(super) fn appended_frame(session: &str, reference: &Json, appended: &Appended) -> Bytes {
    let cursor = appended.cursor.to_string();
    let mut frame = ObjectWriter::new().string("session", session).raw("ref", reference).string("cursor", &cursor);
    if !appended.ignored.is_empty() {
        frame = frame.raw("ignored", Json::from(ignored(appended, &[])));
    }
    frame.finish().into()
}

/// Returns the frame for a failed request of the client.
pub(super) fn problem_frame(session: Option<&str>, reference: Option<&Json>, problem: &Problem) -> Bytes {
    let mut frame = ObjectWriter::new();
    if let Some(session) = session {
        frame = frame.string("session", session);
    }
    if let Some(reference) = reference {
        frame = frame.raw("ref", reference);
    }
    frame.raw("problem", problem.to_json()).finish().into()
}
