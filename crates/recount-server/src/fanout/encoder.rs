//! The encoder: entries of the log to frames.

use std::collections::HashSet;
use std::fmt::Write;

use recount_log::{Cursor, Entry, GapReason, Snapshot, SnapshotItem};
use recount_message::wire::{ObjectWriter, write_string};
use recount_message::{Checkpoint, CustomName, Event, EventKind, Fold, Json, Object};

use super::chunk::ChunkBuilder;
use super::signals::{SignalFilter, is_message_part};
use super::{Framing, StreamFormat};
use crate::media::{BlobUpload, Linked, LinkedStream, Media};

/// Encodes consecutive entries of a session as frames.
///
/// Its state depends only on its position in the log. So any two encoders of a format produce the same frames for the same
/// entries.
#[derive(Debug)]
pub(crate) struct Encoder {
    format: StreamFormat,
    name: Box<str>,
    /// The session's name as JSON.
    session_json: Box<str>,
    /// The open replies, if the format needs them, and the messages that are held back until one of them ends.
    fold: Fold,
    /// The ids of the open replies of sub-agents.
    nested: HashSet<String>,
    /// For readers that receive media as URLs.
    links: Option<LinkedStream>,
}

/// The state of an encoder at a position.
#[derive(Debug, Default)]
pub(crate) struct EncoderState {
    pub(crate) fold: Fold,
    pub(crate) nested: HashSet<String>,
}

impl Encoder {
    pub(crate) fn new(format: &StreamFormat, session: &str, state: EncoderState) -> Self {
        let mut session_json = String::new();
        write_string(&mut session_json, session);
        let EncoderState { mut fold, nested } = state;
        let links = (format.media == Media::Url).then(|| {
            let mut links = LinkedStream::after(std::mem::take(&mut fold));
            fold = links.linked_fold();
            links
        });
        Self { format: format.clone(), name: session.into(), session_json: session_json.into(), fold, nested, links }
    }

    /// Returns the blobs that must be stored before the encoded frames, which contain their URLs, are sent.
    pub(crate) fn take_uploads(&mut self) -> Vec<BlobUpload> {
        self.links.as_mut().map(LinkedStream::take_uploads).unwrap_or_default()
    }

    /// Encodes the next entry.
    pub(crate) fn entry(&mut self, entry: &Entry, out: &mut ChunkBuilder) {
        let Ok(text) = std::str::from_utf8(&entry.event) else { return };
        if self.format.is_passthrough() {
            return self.write_frame(Some(entry.cursor), text, entry.cursor.seq, out);
        }
        let Ok(event) = Event::from_json(text) else { return };
        let is_hidden = self.update_nested(&event);
        let is_included = !is_hidden && self.is_included(&event);
        if !self.format.needs_fold() {
            if is_included {
                self.write_frame(Some(entry.cursor), text, entry.cursor.seq, out);
            }
            return;
        }
        if is_hidden {
            return;
        }
        let linked = self.links.as_mut().map_or(Linked::Same, |links| links.take(&event, text));
        let mut frames = Vec::with_capacity(1);
        match linked {
            Linked::Same => self.apply(&event, is_included, &mut frames),
            Linked::Events(events) => events.iter().for_each(|event| self.apply(event, is_included, &mut frames)),
        }
        self.write_frames(&self.without_custom(frames), entry.cursor, out);
    }

    /// Applies an event to the fold, and appends its frames in the target's JSON if it is included.
    fn apply(&mut self, event: &Event<'_>, is_included: bool, frames: &mut Vec<String>) {
        if self.format.is_native() {
            frames.extend(is_included.then(|| event.to_json()));
            return;
        }
        if is_included {
            frames.extend(self.format.target.frames(&self.name, &self.fold, event));
        }
        let _ = self.fold.apply(event);
        if !self.fold.take_ended().is_empty() {
            // Drops the ids of ended messages, which would accumulate.
            let checkpoint = Checkpoint { taken: Vec::new(), ..self.fold.checkpoint() };
            self.fold = Fold::resume(checkpoint);
        }
    }

    /// Encodes a gap. Front-end protocols have no frame for it: their snapshot replaces everything before it.
    pub(crate) fn gap(&self, reason: GapReason, out: &mut ChunkBuilder) {
        let json = ObjectWriter::new().string("reason", reason.as_str()).finish();
        match self.format.framing {
            _ if self.format.is_sequential() => return,
            Framing::Sse => {
                let _ = write!(out.text, "event: gap\ndata: {json}\n\n");
            }
            Framing::Ws => self.write_ws_object(None, "gap", &json, out),
            Framing::Lines => return,
        }
        out.end_frame(0);
    }

    /// Encodes a snapshot, in the target's JSON if the format is not native.
    pub(crate) fn snapshot(&mut self, snapshot: &Snapshot, out: &mut ChunkBuilder) {
        let linked = self.links.as_mut().map(|links| links.linker().snapshot(snapshot));
        let (cursor, snapshot) = (snapshot.cursor, linked.as_ref().unwrap_or(snapshot));
        if !self.format.is_native() {
            let frames = self.without_custom(self.format.target.prelude(&self.name, &self.snapshot_fold(snapshot)));
            if frames.is_empty() && self.format.framing == Framing::Sse {
                // Without frames, the client still needs a cursor to reconnect with.
                let _ = write!(out.text, "id: {cursor}\n\n");
                return out.end_frame(cursor.seq);
            }
            return self.write_frames(&frames, cursor, out);
        }
        match self.format.framing {
            Framing::Sse => {
                let _ = write!(out.text, "event: snapshot\nid: {cursor}\ndata: {}\n\n", snapshot.to_json());
            }
            Framing::Ws => self.write_ws_object(Some(cursor), "snapshot", &snapshot.to_json(), out),
            Framing::Lines => return,
        }
        out.end_frame(cursor.seq);
    }

    /// Encodes the frames for a client that reconnects at the encoder's position with everything before it.
    pub(crate) fn resumed(&self, cursor: Cursor, out: &mut ChunkBuilder) {
        let frames = self.format.target.resume_frames(&self.name, &self.fold);
        self.write_frames(&self.without_custom(frames), cursor, out);
    }

    /// Encodes the replies in the encoder's state, for a client that has received nothing.
    pub(crate) fn prelude(&self, cursor: Cursor, out: &mut ChunkBuilder) {
        let frames = self.format.target.prelude(&self.name, &self.fold);
        self.write_frames(&self.without_custom(frames), cursor, out);
    }

    /// Whether no reply in the encoder's state is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        recount_dialect::is_idle(&self.fold)
    }

    /// Returns all messages of a snapshot as one fold. In a sequential format, messages that are held back follow the open
    /// reply.
    fn snapshot_fold(&self, snapshot: &Snapshot) -> Fold {
        let item = |item| match item {
            SnapshotItem::Message(message) => message_item(message.as_str()),
            SnapshotItem::OpenReply(reply) => reply.fold.to_string(),
        };
        let mut checkpoint = fold_of(snapshot.cursor, snapshot.items().map(item)).checkpoint();
        if self.format.is_sequential() {
            let held_back = self.fold.checkpoint().replies;
            checkpoint.replies.retain(|reply| self.fold.reply(reply.message.id()).is_none());
            checkpoint.replies.extend(held_back);
        }
        Fold::resume(checkpoint)
    }

    /// Whether the signal filter includes an event. Front-end protocols always receive the parts of messages.
    fn is_included(&self, event: &Event<'_>) -> bool {
        match &event.kind {
            EventKind::Custom(custom) => {
                self.format.signals.includes(custom) || (is_message_part(custom) && self.format.is_sequential())
            }
            _ => true,
        }
    }

    /// Removes CUSTOM frames if the filter excludes all signals. A dialect uses CUSTOM for events that it does not have.
    fn without_custom(&self, mut frames: Vec<String>) -> Vec<String> {
        if self.format.signals == SignalFilter::None && !self.format.is_native() && !self.format.is_sequential() {
            let is_custom = |frame: &String| {
                let kind = Object::parse(frame)
                    .ok()
                    .and_then(|frame| frame.get("type").and_then(Json::as_str).map(str::to_owned));
                kind.is_some_and(|kind| kind == "CUSTOM")
            };
            frames.retain(|frame| !is_custom(frame));
        }
        frames
    }

    fn write_frames(&self, frames: &[String], cursor: Cursor, out: &mut ChunkBuilder) {
        for (index, frame) in frames.iter().enumerate() {
            // Only the last frame of an entry has the cursor: a client that disconnects before it receives all of them again.
            let is_last = index + 1 == frames.len();
            self.write_frame(is_last.then_some(cursor), frame, cursor.seq, out);
        }
    }

    fn write_frame(&self, cursor: Option<Cursor>, json: &str, seq: u64, out: &mut ChunkBuilder) {
        match self.format.framing {
            Framing::Sse => {
                let text = &mut out.text;
                if let Some(cursor) = cursor {
                    let _ = writeln!(text, "id: {cursor}");
                }
                text.push_str("data: ");
                text.push_str(json);
                text.push_str("\n\n");
            }
            Framing::Ws => self.write_ws_object(cursor, "event", json, out),
            Framing::Lines => {
                out.text.push_str(json);
                out.text.push('\n');
            }
        }
        out.end_frame(seq);
    }

    /// Writes `{"session":…,"id":…,FIELD:JSON}` into the chunk, without a copy.
    fn write_ws_object(&self, cursor: Option<Cursor>, field: &str, json: &str, out: &mut ChunkBuilder) {
        let text = &mut out.text;
        text.push_str("{\"session\":");
        text.push_str(&self.session_json);
        if let Some(cursor) = cursor {
            let _ = write!(text, ",\"id\":\"{cursor}\"");
        }
        let _ = write!(text, ",\"{field}\":");
        text.push_str(json);
        text.push('}');
    }

    /// Updates the ids of open sub-agent replies. Returns whether the event belongs to one of them and is not included.
    fn update_nested(&mut self, event: &Event<'_>) -> bool {
        if self.format.all {
            return false;
        }
        match &event.kind {
            EventKind::ReplyStart(start) if event.extension("parent").is_some() => {
                self.nested.insert(start.reply_id.to_string());
                true
            }
            _ if self.nested.is_empty() => false,
            EventKind::ReplyEnd(end) => self.nested.remove(&*end.reply_id),
            EventKind::Custom(custom) if custom.recount_name() != Some(CustomName::Message) => {
                let reply_id = custom.value.get("reply_id").and_then(Json::as_str).map(str::to_owned);
                reply_id.is_some_and(|id| self.nested.contains(&id))
                    || custom.reply_id.as_deref().is_some_and(|id| self.nested.contains(id))
            }
            kind => kind.reply_id().is_some_and(|id| self.nested.contains(id)),
        }
    }
}

/// Returns a message as an item of a checkpoint.
pub(super) fn message_item(message: impl AsRef<str>) -> String {
    ObjectWriter::new().raw("message", message.as_ref()).raw("call_floor", "null").finish()
}

/// Returns a fold of replies that are items of a checkpoint.
pub(crate) fn fold_of(cursor: Cursor, replies: impl Iterator<Item = impl AsRef<str>>) -> Fold {
    let json = ObjectWriter::new()
        .raw("version", 1)
        .string("cursor", &cursor.seq.to_string())
        .array("replies", replies)
        .finish();
    match Checkpoint::from_json(&json) {
        Ok(checkpoint) => Fold::resume(checkpoint),
        Err(error) => {
            tracing::error!(%error, "invalid stored reply");
            Fold::new()
        }
    }
}
