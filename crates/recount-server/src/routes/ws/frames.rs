//! The frames that are about a session and are none of its entries.

use bytes::Bytes;
use recount_log::{Appended, Cursor};
use recount_message::Json;
use recount_message::wire::write_string;

use crate::problem::Problem;
use crate::routes::events::ignored;

/// Everything that was there has been told.
pub(super) fn live_frame(session: &str, cursor: Cursor) -> Bytes {
    let mut frame = session_frame(Some(session));
    frame.push_str(&format!("\"live\":\"{cursor}\"}}"));
    frame.into()
}

/// An event that a client has sent stands there, or has changed no message.
pub(super) fn appended_frame(session: &str, reference: &Json, appended: &Appended) -> Bytes {
    let mut frame = session_frame(Some(session));
    frame.push_str(&format!("\"ref\":{},\"cursor\":\"{}\"", reference.as_str(), appended.cursor));
    if !appended.ignored.is_empty() {
        frame.push_str(&format!(",\"ignored\":{}", Json::from(ignored(appended, &[])).as_str()));
    }
    frame.push('}');
    frame.into()
}

/// What a client wants cannot be done.
pub(super) fn problem_frame(session: Option<&str>, reference: Option<&Json>, problem: &Problem) -> Bytes {
    let mut frame = session_frame(session);
    if let Some(reference) = reference {
        frame.push_str(&format!("\"ref\":{},", reference.as_str()));
    }
    frame.push_str(&format!("\"problem\":{}}}", problem.to_json()));
    frame.into()
}

/// The beginning of a frame.
fn session_frame(session: Option<&str>) -> String {
    let mut frame = String::from("{");
    if let Some(session) = session {
        frame.push_str("\"session\":");
        write_string(&mut frame, session);
        frame.push(',');
    }
    frame
}
