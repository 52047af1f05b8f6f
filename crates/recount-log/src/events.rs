//! Events on their way into the log: encoded once, and never again.

use bytes::Bytes;
use recount_message::{DecodeError, Event, Stamps};

/// Some events in native JSON, ready to be appended.
///
/// They are encoded where they are made, so that the writer, the storage and every reader share the same bytes. Ids and
/// times that are missing are stamped here, once: sending the same `Events` again is sending the same events.
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
    texts: Vec<Bytes>,
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// How many bytes they have.
    pub fn bytes(&self) -> usize {
        self.texts.iter().map(Bytes::len).sum()
    }

    /// Events that are stored already.
    pub(crate) fn from_stored(texts: Vec<Bytes>) -> Self {
        Self { texts }
    }

    pub(crate) fn texts(&self) -> &[Bytes] {
        &self.texts
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
    buffer: String,
    ends: Vec<usize>,
}

impl Encoder {
    fn push(&mut self, event: &Event<'_>, stamps: &mut Stamps) {
        if event.id.is_empty() || event.created_at.is_empty() {
            let mut event = event.clone();
            if event.id.is_empty() {
                event.id = stamps.id().into();
            }
            if event.created_at.is_empty() {
                event.created_at = stamps.time().into();
            }
            event.write_json(&mut self.buffer);
        } else {
            event.write_json(&mut self.buffer);
        }
        self.ends.push(self.buffer.len());
    }

    fn finish(self) -> Events {
        let whole = Bytes::from(self.buffer);
        let mut start = 0;
        let texts = self.ends.into_iter().map(|end| whole.slice(std::mem::replace(&mut start, end)..end)).collect();
        Events { texts }
    }
}
