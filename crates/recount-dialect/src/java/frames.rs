//! Writing of a native stream for Java clients.
//!
//! Every event becomes its Java counterpart, with the tool's name where Java repeats it. An event without a counterpart
//! is carried by a `CUSTOM` event. The end of a reply is preceded by the AGENT_RESULT that Java clients wait for. That
//! result is built from the reply, even if the Java agent sent one, so that every reader receives it exactly once. A
//! reply is marked as exact, so that `stream` parses these frames into the original native stream without repairs.

use recount_message::{Event, EventKind, Fold, Json, Msg, MsgParts, Object};

use super::event;
use super::{NAME, NATIVE, Version, message, time};
use crate::event_ids::unnamed_tool_call_id;
use crate::json::ObjectWriter;
use crate::{native, preserved};

/// The mark of a reply whose events correspond one to one to native events.
pub(super) const EXACT: &str = "exact";

/// The mark of a frame that is only for Java clients.
pub(super) const SKIP: &str = "skip";

/// The mark of a frame that carries native events.
pub(super) const EVENTS: &str = "events";

/// The mark of an event that was not in the Java stream.
pub(super) const SYNTHETIC: &str = "synthetic";

/// The name of a signal that carries an event without a Java counterpart.
const CARRIER: &str = "recount.event";

/// Returns the frames for an event. `before` is the fold of all preceding events.
pub(crate) fn frames(before: &Fold, event: &Event<'_>) -> Vec<String> {
    let marks = preserved::get(&event.metadata, NAME);
    // Java cannot parse ALL_TOOLS_DENIED, and AGENT_RESULT is written with the end of the reply.
    let is_unreadable = matches!(marks.get("type").and_then(Json::as_str), Some("ALL_TOOLS_DENIED" | "AGENT_RESULT"));
    let is_synthetic = marks.contains_key(SYNTHETIC) || preserved::get(&event.extra, NAME).contains_key(SYNTHETIC);
    if is_unreadable || is_synthetic {
        return vec![carrier(event)];
    }
    let reply = event.reply_id().and_then(|id| before.message(id));
    let tool_name = unnamed_tool_call_id(&event.kind).and_then(|id| reply?.call(id)).map(|call| call.name.as_str());
    let mut frames = Vec::with_capacity(1);
    let mut out = String::new();
    match &event.kind {
        EventKind::ReplyStart(_) => {
            let mut event = event.clone();
            let mut native = preserved::get(&event.metadata, NATIVE);
            native.insert(EXACT, true);
            preserved::store(&mut event.metadata, NATIVE, native);
            event::write(&event, tool_name, &mut out);
        }
        EventKind::ReplyEnd(_) => {
            frames.extend(agent_result(before, event));
            event::write(event, tool_name, &mut out);
        }
        _ => event::write(event, tool_name, &mut out),
    }
    frames.push(out);
    frames
}

/// Returns the first frames for a reader who joins.
pub(crate) fn prelude(at: &Fold) -> Vec<String> {
    native::replay_as(at, frames)
}

/// Returns a signal that carries an event.
fn carrier(event: &Event<'_>) -> String {
    let events = [Json::parse(&event.to_json()).unwrap_or_else(|_| Json::null())];
    let native = Object::from([(EVENTS, Json::from(events))]);
    frame(event, "CUSTOM", native, |object| {
        object.text("name", CARRIER);
        object.raw("value", "{}");
    })
}

/// Returns the AGENT_RESULT that Java agents send before they end: the message of the last model call.
fn agent_result(before: &Fold, event: &Event<'_>) -> Option<String> {
    let reply = before.reply(event.reply_id()?)?;
    let mut ended = reply.clone();
    let _ = ended.apply(event);
    let floor = reply.call_floor();
    let mut parts = ended.into_message().into_parts();
    parts.content.drain(..floor.min(parts.content.len()));
    let message = Msg::from_parts_lenient(MsgParts { extra: Object::new(), ..parts });
    let native = Object::from([(SKIP, true)]);
    Some(frame(event, "AGENT_RESULT", native, |object| {
        message::write_without_preserved(&message, Version::Two, object.key("result"));
    }))
}

/// Returns a frame with the time of an event.
fn frame(event: &Event<'_>, kind: &str, native: Object, write: impl FnOnce(&mut ObjectWriter<'_>)) -> String {
    let mut out = String::new();
    let mut object = ObjectWriter::jackson(&mut out);
    object.text("type", kind);
    // The id of the event itself belongs to another frame.
    object.text("id", &format!("{}.{}", event.id, kind.to_ascii_lowercase()));
    object.text("createdAt", &time::event_time_to_java(&event.created_at));
    write(&mut object);
    let mut metadata = Object::new();
    preserved::store(&mut metadata, NATIVE, native);
    object.object("metadata", &metadata);
    object.end();
    out
}
