//! Entries to frames.

use std::collections::HashSet;
use std::fmt::Write;

use recount_dialect::Dialect;
use recount_log::{Cursor, Entry, GapReason, Snapshot};
use recount_message::wire::write_string;
use recount_message::{Checkpoint, CustomName, Event, EventKind, Fold, Json};

use super::chunk::ChunkBuilder;
use super::{Framing, Style};

/// Makes frames of entries, in their order.
///
/// What it needs to know of what came before follows from the place where it is, so that any two encoders of a style make
/// the same frames of the same entries.
#[derive(Debug)]
pub(crate) struct Encoder {
    style: Style,
    /// The session's name, as JSON.
    session: Box<str>,
    /// The replies that are open, where a dialect wants to know.
    fold: Fold,
    /// The open replies that are a part of another one.
    nested: HashSet<String>,
}

/// What an encoder has to know of a place.
#[derive(Debug, Default)]
pub(crate) struct Before {
    pub(crate) fold: Fold,
    pub(crate) nested: HashSet<String>,
}

impl Encoder {
    pub(crate) fn new(style: Style, session: &str, before: Before) -> Self {
        let mut name = String::new();
        write_string(&mut name, session);
        Self { style, session: name.into(), fold: before.fold, nested: before.nested }
    }

    /// The frames of an entry, if it is shown.
    pub(crate) fn entry(&mut self, entry: &Entry, out: &mut ChunkBuilder) {
        let Ok(text) = std::str::from_utf8(&entry.event) else { return };
        if self.style.is_plain() {
            return self.frame(Some(entry.cursor), text, entry.cursor.seq, out);
        }
        let Ok(event) = Event::from_json(text) else { return };
        let is_hidden = self.is_of_nested_reply(&event);
        let is_shown = !is_hidden && (self.style.signals || !matches!(event.kind, EventKind::Custom(_)));
        if !self.style.needs_fold() {
            if is_shown {
                self.frame(Some(entry.cursor), text, entry.cursor.seq, out);
            }
            return;
        }
        if is_hidden {
            return;
        }
        if is_shown {
            let frames = self.style.dialect.frames(&self.fold, &event);
            self.frames(&frames, entry.cursor, out);
        }
        let _ = self.fold.apply(&event);
        if !self.fold.take_ended().is_empty() {
            // Without this the ids of all ended messages would stay.
            let checkpoint = Checkpoint { taken: Vec::new(), ..self.fold.checkpoint() };
            self.fold = Fold::resume(checkpoint);
        }
    }

    /// The frame for what cannot be continued.
    pub(crate) fn gap(&self, reason: &str, out: &mut ChunkBuilder) {
        match self.style.framing {
            Framing::Sse => {
                let _ = write!(out.text, "event: gap\ndata: {{\"reason\":\"{reason}\"}}\n\n");
            }
            Framing::Ws => {
                let _ = write!(out.text, "{{\"session\":{},\"gap\":{{\"reason\":\"{reason}\"}}}}", self.session);
            }
            Framing::Lines => return,
        }
        out.end_frame(0);
    }

    /// The frames for a snapshot: the snapshot itself, or what a dialect has for it.
    pub(crate) fn snapshot(&self, snapshot: &Snapshot, out: &mut ChunkBuilder) {
        let cursor = snapshot.cursor;
        if self.style.dialect != Dialect::Native {
            let frames = self.style.dialect.prelude(&whole(snapshot));
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
                let _ = write!(out.text, "{{\"session\":{session},\"id\":\"{cursor}\",\"snapshot\":{json}}}");
            }
            Framing::Lines => return,
        }
        out.end_frame(cursor.seq);
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
                let named = custom.value.get("reply_id").and_then(Json::to_text);
                named.is_some_and(|id| self.nested.contains(&id))
                    || custom.reply_id.as_deref().is_some_and(|id| self.nested.contains(id))
            }
            kind => kind.reply_id().is_some_and(|id| self.nested.contains(id)),
        }
    }
}

/// The reason on the wire.
pub(crate) fn gap_word(reason: GapReason) -> &'static str {
    reason.as_str()
}

/// Everything in a snapshot as one fold, for who is told all of it anew.
fn whole(snapshot: &Snapshot) -> Fold {
    let messages = snapshot.messages.iter().map(|message| format!("{{\"message\":{message},\"call_floor\":null}}"));
    let open = snapshot.open.iter().map(|reply| reply.fold.to_string());
    fold_of(snapshot.cursor, messages.chain(open))
}

/// A fold of replies that are items of a checkpoint.
pub(crate) fn fold_of(cursor: Cursor, replies: impl Iterator<Item = impl AsRef<str>>) -> Fold {
    let mut text = format!(r#"{{"version":1,"cursor":"{}","replies":["#, cursor.seq);
    for (index, reply) in replies.enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(reply.as_ref());
    }
    text.push_str("]}");
    match Checkpoint::from_json(&text) {
        Ok(checkpoint) => Fold::resume(checkpoint),
        Err(error) => {
            tracing::error!(%error, "a stored reply cannot be read");
            Fold::new()
        }
    }
}
