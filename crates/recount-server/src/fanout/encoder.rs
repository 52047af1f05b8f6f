//! Entries to frames.

use std::collections::HashSet;
use std::fmt::Write;

use recount_log::{Cursor, Entry, GapReason, Snapshot, SnapshotItem};
use recount_message::wire::{ObjectWriter, write_string};
use recount_message::{Checkpoint, CustomName, Event, EventKind, Fold, Json, Object};

use super::chunk::ChunkBuilder;
use super::signals::{SignalFilter, is_message_part};
use super::{Framing, StreamFormat};
use crate::media::{BlobUpload, Linked, LinkedStream, Media};

/// Makes frames of entries, in their order.
///
/// What it needs to know of what came before follows from the place where it is, so that any two encoders of a style make
/// the same frames of the same entries.
#[derive(Debug)]
pub(crate) struct Encoder {
    style: StreamFormat,
    name: Box<str>,
    /// The session's name, as JSON.
    session: Box<str>,
    /// The replies that are open, where a dialect wants to know, and the messages that wait for one of them to end.
    fold: Fold,
    /// The open replies that are a part of another one.
    nested: HashSet<String>,
    /// For who wants media by URL.
    links: Option<LinkedStream>,
}

/// What an encoder has to know of a place.
#[derive(Debug, Default)]
pub(crate) struct EncoderState {
    pub(crate) fold: Fold,
    pub(crate) nested: HashSet<String>,
}

impl Encoder {
    pub(crate) fn new(style: &StreamFormat, session: &str, before: EncoderState) -> Self {
        let mut json = String::new();
        write_string(&mut json, session);
        let EncoderState { mut fold, nested } = before;
        let links = (style.media == Media::Url).then(|| {
            let mut links = LinkedStream::after(std::mem::take(&mut fold));
            fold = links.linked_fold();
            links
        });
        Self { style: style.clone(), name: session.into(), session: json.into(), fold, nested, links }
    }

    /// The bytes that have to be kept before anybody is told what was encoded.
    pub(crate) fn take_uploads(&mut self) -> Vec<BlobUpload> {
        self.links.as_mut().map(LinkedStream::take_uploads).unwrap_or_default()
    }

    /// The frames of an entry, if it is shown.
    pub(crate) fn entry(&mut self, entry: &Entry, out: &mut ChunkBuilder) {
        let Ok(text) = std::str::from_utf8(&entry.event) else { return };
        if self.style.is_passthrough() {
            return self.frame(Some(entry.cursor), text, entry.cursor.seq, out);
        }
        let Ok(event) = Event::from_json(text) else { return };
        let is_hidden = self.is_of_nested_reply(&event);
        let is_shown = !is_hidden && self.is_wanted(&event);
        if !self.style.needs_fold() {
            if is_shown {
                self.frame(Some(entry.cursor), text, entry.cursor.seq, out);
            }
            return;
        }
        if is_hidden {
            return;
        }
        let linked = self.links.as_mut().map_or(Linked::Same, |links| links.take(&event, text));
        let mut frames = Vec::with_capacity(1);
        match linked {
            Linked::Same => self.show(&event, is_shown, &mut frames),
            Linked::Events(events) => events.iter().for_each(|event| self.show(event, is_shown, &mut frames)),
        }
        self.frames(&self.wanted(frames), entry.cursor, out);
    }

    /// What a dialect has for an event, if it is shown.
    fn show(&mut self, event: &Event<'_>, is_shown: bool, frames: &mut Vec<String>) {
        if self.style.is_native() {
            frames.extend(is_shown.then(|| event.to_json()));
            return;
        }
        if is_shown {
            frames.extend(self.style.target.frames(&self.name, &self.fold, event));
        }
        let _ = self.fold.apply(event);
        if !self.fold.take_ended().is_empty() {
            // Without this the ids of all ended messages would stay.
            let checkpoint = Checkpoint { taken: Vec::new(), ..self.fold.checkpoint() };
            self.fold = Fold::resume(checkpoint);
        }
    }

    /// The frame for what cannot be continued.
    pub(crate) fn gap(&self, reason: GapReason, out: &mut ChunkBuilder) {
        let reason = reason.as_str();
        match self.style.framing {
            // A front end would take it for one of its events. The snapshot that follows tells it all it needs.
            _ if self.style.is_sequential() => return,
            Framing::Sse => {
                let gap = ObjectWriter::new().string("reason", reason).finish();
                let _ = write!(out.text, "event: gap\ndata: {gap}\n\n");
            }
            Framing::Ws => {
                let gap = ObjectWriter::new().string("reason", reason).finish();
                out.text.push_str(&ObjectWriter::new().raw("session", &self.session).raw("gap", gap).finish());
            }
            Framing::Lines => return,
        }
        out.end_frame(0);
    }

    /// The frames for a snapshot: the snapshot itself, or what a dialect has for it.
    pub(crate) fn snapshot(&mut self, snapshot: &Snapshot, out: &mut ChunkBuilder) {
        let linked = self.links.as_mut().map(|links| links.linker().snapshot(snapshot));
        let (cursor, snapshot) = (snapshot.cursor, linked.as_ref().unwrap_or(snapshot));
        if !self.style.is_native() {
            let frames = self.wanted(self.style.target.prelude(&self.name, &self.whole(snapshot)));
            if frames.is_empty() && self.style.framing == Framing::Sse {
                // Nothing to tell, but a place to come back to.
                let _ = write!(out.text, "id: {cursor}\n\n");
                return out.end_frame(cursor.seq);
            }
            return self.frames(&frames, cursor, out);
        }
        match self.style.framing {
            Framing::Sse => {
                let _ = write!(out.text, "event: snapshot\nid: {cursor}\ndata: {}\n\n", snapshot.to_json());
            }
            Framing::Ws => {
                let (session, json) = (&self.session, snapshot.to_json());
                let frame = ObjectWriter::new().raw("session", session).string("id", &cursor.to_string());
                out.text.push_str(&frame.raw("snapshot", json).finish());
            }
            Framing::Lines => return,
        }
        out.end_frame(cursor.seq);
    }

    /// The frames for who comes back at the place where this is, with everything up to it.
    pub(crate) fn resumed(&self, cursor: Cursor, out: &mut ChunkBuilder) {
        self.frames(&self.wanted(self.style.target.resume_frames(&self.name, &self.fold)), cursor, out);
    }

    /// The frames for who is told of what this knows of, and nothing else.
    pub(crate) fn prelude(&self, cursor: Cursor, out: &mut ChunkBuilder) {
        self.frames(&self.wanted(self.style.target.prelude(&self.name, &self.fold)), cursor, out);
    }

    /// Whether nothing goes on in what this knows of.
    pub(crate) fn rests(&self) -> bool {
        recount_dialect::is_idle(&self.fold)
    }

    /// Everything in a snapshot as one fold, for who is told all of it anew. What waits for an open reply stands after it.
    fn whole(&self, snapshot: &Snapshot) -> Fold {
        let item = |shown| match shown {
            SnapshotItem::Message(message) => finished_reply(message),
            SnapshotItem::OpenReply(reply) => reply.fold.to_string(),
        };
        let mut whole = fold_of(snapshot.cursor, snapshot.items().map(item)).checkpoint();
        if self.style.is_sequential() {
            let behind = self.fold.checkpoint().replies;
            whole.replies.retain(|reply| self.fold.reply(reply.message.id()).is_none());
            whole.replies.extend(behind);
        }
        Fold::resume(whole)
    }

    /// Whether an event is none of the signals that are left out. To a front end a message or a block is no signal, however it
    /// came.
    fn is_wanted(&self, event: &Event<'_>) -> bool {
        match &event.kind {
            EventKind::Custom(custom) => {
                self.style.signals.shows(custom) || (is_message_part(custom) && self.style.is_sequential())
            }
            _ => true,
        }
    }

    /// The frames that are shown. A dialect may say as a CUSTOM event what it has no other for.
    fn wanted(&self, mut frames: Vec<String>) -> Vec<String> {
        if self.style.signals == SignalFilter::None && !self.style.is_native() && !self.style.is_sequential() {
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

    fn frames(&self, frames: &[String], cursor: Cursor, out: &mut ChunkBuilder) {
        for (index, frame) in frames.iter().enumerate() {
            // Who drops off between two frames of an entry gets all of them again.
            let is_last = index + 1 == frames.len();
            self.frame(is_last.then_some(cursor), frame, cursor.seq, out);
        }
    }

    fn frame(&self, cursor: Option<Cursor>, text: &str, seq: u64, out: &mut ChunkBuilder) {
        let framed = &mut out.text;
        match self.style.framing {
            Framing::Sse => {
                if let Some(cursor) = cursor {
                    let _ = writeln!(framed, "id: {cursor}");
                }
                framed.push_str("data: ");
                framed.push_str(text);
                framed.push_str("\n\n");
            }
            Framing::Ws => {
                framed.push_str("{\"session\":");
                framed.push_str(&self.session);
                if let Some(cursor) = cursor {
                    let _ = write!(framed, ",\"id\":\"{cursor}\"");
                }
                framed.push_str(",\"event\":");
                framed.push_str(text);
                framed.push('}');
            }
            Framing::Lines => {
                framed.push_str(text);
                framed.push('\n');
            }
        }
        out.end_frame(seq);
    }

    /// Whether an event is of a reply that is a part of another one and not shown. Notes which replies are.
    fn is_of_nested_reply(&mut self, event: &Event<'_>) -> bool {
        if self.style.all {
            return false;
        }
        match &event.kind {
            EventKind::ReplyStart(start) if event.carried("parent").is_some() => {
                self.nested.insert(start.reply_id.to_string());
                true
            }
            _ if self.nested.is_empty() => false,
            EventKind::ReplyEnd(end) => self.nested.remove(&*end.reply_id),
            EventKind::Custom(custom) if custom.own_name() != Some(CustomName::Message) => {
                let named = custom.value.get("reply_id").and_then(Json::as_str).map(str::to_owned);
                named.is_some_and(|id| self.nested.contains(&id))
                    || custom.reply_id.as_deref().is_some_and(|id| self.nested.contains(id))
            }
            kind => kind.reply_id().is_some_and(|id| self.nested.contains(id)),
        }
    }
}

/// Returns a finished message, given as JSON, as an item of a checkpoint's `replies`.
pub(crate) fn finished_reply(message: &str) -> String {
    ObjectWriter::new().raw("message", message).raw("call_floor", "null").finish()
}

/// A fold of replies that are items of a checkpoint.
pub(crate) fn fold_of(cursor: Cursor, replies: impl Iterator<Item = impl AsRef<str>>) -> Fold {
    let text = ObjectWriter::new()
        .raw("version", 1)
        .string("cursor", &cursor.seq.to_string())
        .array("replies", replies)
        .finish();
    match Checkpoint::from_json(&text) {
        Ok(checkpoint) => Fold::resume(checkpoint),
        Err(error) => {
            tracing::error!(%error, "a stored reply cannot be read");
            Fold::new()
        }
    }
}
