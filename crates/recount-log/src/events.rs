//! Events to append, encoded once.

use bytes::Bytes;
use recount_message::{DecodeError, Event, EventKind, Stamps};
use smallvec::SmallVec;

use crate::Digest;
use crate::dedup_window::IdHash;

/// The size up to which small events share one allocation. An entry that is kept for readers keeps its whole allocation
/// alive, so the size is limited.
const SHARED: usize = 4 * 1024;

/// Some events in native JSON, ready to be appended.
///
/// They are encoded on the caller's thread, and the writer, the storage and every reader share the same bytes. Ids are hashed
/// and referenced uploads are collected here too, to keep work off the writer thread. Missing ids and times are filled in
/// once, so appending the same `Events` again appends the same events.
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
    /// Usually one, because deltas are sent as they arrive.
    items: SmallVec<[Item; 1]>,
    /// The uploads that events reference, each with the index of the event.
    uploads: Vec<(usize, Digest)>,
}

/// An encoded event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) text: Bytes,
    pub(crate) id: IdHash,
}

/// The error of a line that is not an event.
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
    /// The decode error.
    pub error: DecodeError,
}

impl Events {
    /// Encodes events. A missing id is replaced by a random one, a missing time by the current one.
    pub fn of<'e, 'a: 'e>(events: impl IntoIterator<Item = &'e Event<'a>>) -> Self {
        Self::stamped(events, &mut Stamps::default())
    }

    /// Encodes events, and takes missing ids and times from `stamps`.
    pub fn stamped<'e, 'a: 'e>(events: impl IntoIterator<Item = &'e Event<'a>>, stamps: &mut Stamps) -> Self {
        let mut encoder = Encoder::default();
        for event in events {
            encoder.push(event, stamps);
        }
        encoder.finish()
    }

    /// Decodes events from JSON lines, skipping blank ones, and encodes them canonically.
    ///
    /// # Errors
    ///
    /// If a line is not an event. The error contains the number of the line.
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

    /// Returns the events in native JSON, in order.
    pub fn texts(&self) -> impl Iterator<Item = &Bytes> {
        self.items.iter().map(|item| &item.text)
    }

    /// Appends further events.
    pub fn extend(&mut self, more: Self) {
        let before = self.items.len();
        self.items.extend(more.items);
        self.uploads.extend(more.uploads.into_iter().map(|(index, digest)| (before + index, digest)));
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The size of the encoded events in bytes.
    pub fn bytes(&self) -> usize {
        self.items.iter().map(|item| item.text.len()).sum()
    }

    /// Adds an event that is encoded already.
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

    /// Returns the uploads that the event with an index references.
    pub(crate) fn uploads_of(&self, index: usize) -> impl Iterator<Item = Digest> {
        self.uploads.iter().filter(move |(of, _)| *of == index).map(|(_, digest)| *digest)
    }

    /// Whether any event references an upload. Most do not.
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
    /// Encoded events that are not items yet.
    buffer: String,
    /// The end of each of them in the buffer, and its id.
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

    /// Turns the encoded events into items that share one allocation.
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

/// Whether an event can contain an upload URL. Text deltas, which are most of the events, cannot.
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
    fn small_events_share_bounded_allocations() {
        let event = |size: usize| Event::new(CustomEvent::signal("note", Object::from([("text", "x".repeat(size))])));
        let given: Vec<_> = [10, 20_000, 30, 40, 5_000].into_iter().chain([100; 200]).map(event).collect();
        let events = Events::of(&given);
        let texts: Vec<&[u8]> = events.texts().map(|text| &text[..]).collect();
        assert_eq!(texts, given.iter().map(|event| event.to_json().into_bytes()).collect::<Vec<_>>());
        // Events in one allocation are adjacent in memory.
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
