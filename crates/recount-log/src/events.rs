//! Events on their way into the log: encoded once, and never again.

use bytes::Bytes;
use recount_message::{DecodeError, Event, EventKind, Stamps};
use smallvec::SmallVec;

use crate::Digest;
use crate::dedup_window::IdHash;

/// Small events share memory up to so many bytes: an entry that is kept for readers keeps that much from being given back,
/// and not the whole batch that it came with.
const SHARED: usize = 4 * 1024;

/// Some events in native JSON, ready to be appended.
///
/// They are encoded where they are made, so that the writer, the storage and every reader share the same bytes. What else
/// follows from an event alone is found out here too, and not by the writer, for which everybody waits. Ids and times that
/// are missing are stamped here, once: sending the same `Events` again is sending the same events.
///
/// ```
/// use recount_log::Events;
/// use recount_message::{Event, UserInterruptEvent};
///
/// let events = Events::of([&Event::new(UserInterruptEvent::new("r1"))]);
/// assert_eq!(events.len(), 1);
///
/// let lines = "{\"type\":\"USER_INTERRUPT\",\"reply_id\":\"r1\"}\n\n{\"type\":\"USER_INTERRUPT\",\"reply_id\":\"r2\"}\n";
/// assert_eq!(Events::from_lines(lines.as_bytes())?.len(), 2);
/// # Ok::<(), recount_log::LineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    /// Mostly one: a delta is sent as soon as it is there.
    items: SmallVec<[Item; 1]>,
    /// The uploads that events name, each with the index of the event.
    uploads: Vec<(usize, Digest)>,
}

/// An event, encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) text: Bytes,
    pub(crate) id: IdHash,
}

/// A line that is no event.
///
/// ```
/// let error = recount_log::Events::from_lines(b"{\"type\":\"USER_INTERRUPT\"}").unwrap_err();
/// assert_eq!(error.to_string(), "line 1: `reply_id`: this field is required");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("line {line}: {error}")]
pub struct LineError {
    /// The number of the line, counted from one.
    pub line: usize,
    /// What is wrong with it.
    pub error: DecodeError,
}

impl Events {
    /// Encodes events; what has no id or no time gets a random one and the present one.
    pub fn of<'e, 'a: 'e>(events: impl IntoIterator<Item = &'e Event<'a>>) -> Self {
        Self::stamped(events, &mut Stamps::default())
    }

    /// Encodes events; what has no id or no time is given one.
    pub fn stamped<'e, 'a: 'e>(events: impl IntoIterator<Item = &'e Event<'a>>, stamps: &mut Stamps) -> Self {
        let mut encoder = Encoder::default();
        for event in events {
            encoder.push(event, stamps);
        }
        encoder.finish()
    }

    /// Reads events from JSON lines; blank ones are passed over. What they hold is written canonically.
    ///
    /// # Errors
    ///
    /// When a line is no event; the error has its number.
    pub fn from_lines(text: &[u8]) -> Result<Self, LineError> {
        let mut encoder = Encoder::default();
        let mut stamps = Stamps::default();
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let event = Event::from_slice(line).map_err(|error| LineError { line: index + 1, error })?;
            encoder.push(&event, &mut stamps);
        }
        Ok(encoder.finish())
    }

    /// The events in native JSON, in their order.
    pub fn texts(&self) -> impl Iterator<Item = &Bytes> {
        self.items.iter().map(|item| &item.text)
    }

    /// Puts more events behind these.
    pub fn extend(&mut self, more: Self) {
        let before = self.items.len();
        self.items.extend(more.items);
        self.uploads.extend(more.uploads.into_iter().map(|(index, digest)| (before + index, digest)));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many bytes they have.
    pub fn bytes(&self) -> usize {
        self.items.iter().map(|item| item.text.len()).sum()
    }

    /// Takes an event whose text is there already.
    pub(crate) fn push_encoded(&mut self, event: &Event<'_>, text: Bytes) {
        if may_name_uploads(&event.kind)
            && let Ok(text) = std::str::from_utf8(&text)
        {
            let index = self.items.len();
            self.uploads.extend(Digest::all_in(text).map(|digest| (index, digest)));
        }
        self.items.push(Item { text, id: IdHash::of(&event.id) });
    }

    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// The uploads that the event with an index names.
    pub(crate) fn uploads_of(&self, index: usize) -> impl Iterator<Item = Digest> {
        self.uploads.iter().filter(move |(of, _)| *of == index).map(|(_, digest)| *digest)
    }

    /// Whether any event names an upload. Hardly any do.
    pub(crate) fn names_uploads(&self) -> bool {
        !self.uploads.is_empty()
    }
}

impl<'e, 'a: 'e, const COUNT: usize> From<[&'e Event<'a>; COUNT]> for Events {
    fn from(events: [&'e Event<'a>; COUNT]) -> Self {
        Self::of(events)
    }
}

impl<'a> From<&Event<'a>> for Events {
    fn from(event: &Event<'a>) -> Self {
        Self::of([event])
    }
}

impl<'a> From<&[Event<'a>]> for Events {
    fn from(events: &[Event<'a>]) -> Self {
        Self::of(events)
    }
}

impl<'a> From<&Vec<Event<'a>>> for Events {
    fn from(events: &Vec<Event<'a>>) -> Self {
        Self::of(events)
    }
}

#[derive(Default)]
struct Encoder {
    /// Texts that are not items yet.
    buffer: String,
    /// Where each of them ends, and what its id is.
    ends: SmallVec<[(usize, IdHash); 1]>,
    items: SmallVec<[Item; 1]>,
    uploads: Vec<(usize, Digest)>,
}

impl Encoder {
    fn push(&mut self, event: &Event<'_>, stamps: &mut Stamps) {
        let start = self.buffer.len();
        let id = if event.id.is_empty() || event.created_at.is_empty() {
            let mut event = event.clone();
            if event.id.is_empty() {
                event.id = stamps.id().into();
            }
            if event.created_at.is_empty() {
                event.created_at = stamps.time().into();
            }
            event.write_json(&mut self.buffer);
            IdHash::of(&event.id)
        } else {
            event.write_json(&mut self.buffer);
            IdHash::of(&event.id)
        };
        let text = self.buffer.get(start..).unwrap_or_default();
        if may_name_uploads(&event.kind) {
            let index = self.items.len() + self.ends.len();
            self.uploads.extend(Digest::all_in(text).map(|digest| (index, digest)));
        }
        if text.len() > SHARED {
            let large = self.buffer.split_off(start);
            self.share();
            self.items.push(Item { text: large.into(), id });
            return;
        }
        self.ends.push((self.buffer.len(), id));
        if self.buffer.len() >= SHARED {
            self.share();
        }
    }

    /// Makes items of the texts. They share one piece of memory.
    fn share(&mut self) {
        let whole = Bytes::from(std::mem::take(&mut self.buffer));
        let mut start = 0;
        self.items.extend(self.ends.drain(..).map(|(end, id)| {
            let text = whole.slice(std::mem::replace(&mut start, end)..end);
            Item { text, id }
        }));
    }

    fn finish(mut self) -> Events {
        self.share();
        Events { items: self.items, uploads: self.uploads }
    }
}

/// Whether an event can hold a URL. Deltas of text cannot, and they are most of what is written.
fn may_name_uploads(kind: &EventKind<'_>) -> bool {
    !matches!(
        kind,
        EventKind::TextBlockStart(_)
            | EventKind::TextBlockDelta(_)
            | EventKind::ThinkingBlockStart(_)
            | EventKind::ThinkingBlockDelta(_)
            | EventKind::ToolCallStart(_)
            | EventKind::ToolCallDelta(_)
            | EventKind::ToolResultTextDelta(_)
    )
}

#[cfg(test)]
mod tests {
    use recount_message::{CustomEvent, Object};

    use super::*;

    #[test]
    fn an_event_shares_its_memory_with_few_others() {
        let event = |size: usize| Event::new(CustomEvent::signal("note", Object::from([("text", "x".repeat(size))])));
        let given: Vec<_> = [10, 20_000, 30, 40, 5_000].into_iter().chain([100; 200]).map(event).collect();
        let events = Events::of(&given);
        let texts: Vec<&[u8]> = events.texts().map(|text| &text[..]).collect();
        assert_eq!(texts, given.iter().map(|event| event.to_json().into_bytes()).collect::<Vec<_>>());
        // What lies in one piece of memory follows each other in it.
        let mut pieces: Vec<usize> = Vec::new();
        let mut end = std::ptr::null();
        for text in texts {
            let range = text.as_ptr_range();
            match pieces.last_mut() {
                Some(piece) if range.start == end => *piece += text.len(),
                _ => pieces.push(text.len()),
            }
            end = range.end;
        }
        assert!(pieces.len() >= 8, "{pieces:?}");
        assert!(pieces.iter().all(|&piece| piece <= SHARED + 1_024 || piece > 5_000), "{pieces:?}");
    }
}
