//! Building of streams from events without ids and times.

use recount_message::{AgentEvent, Event, EventKind, Json};

use crate::random::Random;
use crate::{Profile, free_json};

/// The parts of a stream that an event belongs to: its reply, the round in the reply, and the block or the tool calls in the
/// round. Removing all events of one part leaves a legal stream.
pub(crate) type Parts = [u32; 3];

/// An event without an id and a time.
#[derive(Debug, Clone)]
pub(crate) struct UnstampedEvent {
    event: AgentEvent,
    pub(crate) parts: Parts,
}

impl UnstampedEvent {
    /// Adds a value for which the event has no native field.
    pub(crate) fn with_extension(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.event = self.event.with_extension(key, value);
        self
    }

    /// Whether the event ends a text block or a thinking block.
    pub(crate) fn ends_speech(&self) -> bool {
        matches!(self.event.kind, EventKind::TextBlockEnd(_) | EventKind::ThinkingBlockEnd(_))
    }

    /// Sets the id and the time of the event.
    pub(crate) fn stamped(mut self, random: &mut Random, at: usize) -> AgentEvent {
        self.event.id = format!("e{at}").into();
        self.event.created_at = time(random, at).into();
        self.event
    }
}

/// Returns a time that increases with the position, in varying formats. It is sometimes empty.
fn time(random: &mut Random, at: usize) -> String {
    let (second, milli) = (at / 1_000 % 60, at % 1_000);
    match random.below(20) {
        0 => String::new(),
        1 => format!("2026-01-01T00:00:{second:02}.{milli:03}Z"),
        2 => format!("2026-01-01T00:00:{second:02}.{milli:03}000"),
        _ => format!("2026-01-01T00:00:{second:02}.{milli:03}000+00:00"),
    }
}

/// Creates the events of a stream. Holds the random generator, the profile and the current parts.
#[derive(Debug)]
pub(crate) struct StreamBuilder {
    pub(crate) random: Random,
    pub(crate) profile: Profile,
    parts: Parts,
    begun: u32,
}

impl StreamBuilder {
    pub(crate) fn new(seed: u64, profile: Profile) -> Self {
        Self { random: Random::new(seed), profile, parts: [0; 3], begun: 0 }
    }

    /// Returns `true` with a probability if the profile allows features that AgentScope Python lacks.
    pub(crate) fn beyond_python(&mut self, percent: usize) -> bool {
        self.random.chance(percent) && self.profile == Profile::Recount
    }

    /// Starts a part of the stream at a level. The following events belong to it.
    pub(crate) fn begin_part(&mut self, level: usize) {
        self.begun += 1;
        for (depth, part) in self.parts.iter_mut().enumerate() {
            match depth.cmp(&level) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => *part = self.begun,
                std::cmp::Ordering::Greater => *part = 0,
            }
        }
    }

    /// Ends the current part at a level.
    pub(crate) fn end_part(&mut self, level: usize) {
        for part in self.parts.iter_mut().skip(level) {
            *part = 0;
        }
    }

    /// Creates an event, sometimes with unknown fields and metadata.
    pub(crate) fn event(&mut self, kind: impl Into<EventKind<'static>>) -> UnstampedEvent {
        let mut event = Event::stamped("", "", kind).with_metadata(free_json::rare_metadata(&mut self.random));
        event.extra = free_json::rare_fields(&mut self.random);
        UnstampedEvent { event, parts: self.parts }
    }

    /// Interleaves sequences of events. Each keeps its order.
    pub(crate) fn interleaved(&mut self, mut sequences: Vec<Vec<UnstampedEvent>>) -> Vec<UnstampedEvent> {
        let mut out = Vec::new();
        sequences.iter_mut().for_each(|sequence| sequence.reverse());
        sequences.retain(|sequence| !sequence.is_empty());
        while !sequences.is_empty() {
            let at = self.random.below(sequences.len());
            for _ in 0..self.random.between(1, 4) {
                out.extend(sequences[at].pop());
            }
            sequences.retain(|sequence| !sequence.is_empty());
        }
        out
    }
}
