//! Streams in the making.

use recount_message::{AgentEvent, Event, EventKind, Json};

use crate::random::Random;
use crate::{Reach, free};

/// The parts of a stream that an event belongs to: its reply, its round of that, its block or tool business of that.
/// Whatever is left when all events of one part are taken away is still a legal stream.
pub(crate) type Parts = [u32; 3];

/// An event that has no id and no time yet.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    event: AgentEvent,
    pub(crate) parts: Parts,
}

impl Draft {
    /// The same with something that the native fields cannot say.
    pub(crate) fn with_extension(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.event = self.event.with_extension(key, value);
        self
    }

    /// Whether the event ends a text or a thought.
    pub(crate) fn ends_speech(&self) -> bool {
        matches!(self.event.kind, EventKind::TextBlockEnd(_) | EventKind::ThinkingBlockEnd(_))
    }

    /// Gives the event its id and time.
    pub(crate) fn stamped(mut self, random: &mut Random, at: usize) -> AgentEvent {
        self.event.id = format!("e{at}").into();
        self.event.created_at = time(random, at).into();
        self.event
    }
}

/// Times go up in the order of the stream, in whatever spelling. A few events come without any.
fn time(random: &mut Random, at: usize) -> String {
    let (second, milli) = (at / 1_000 % 60, at % 1_000);
    match random.below(20) {
        0 => String::new(),
        1 => format!("2026-01-01T00:00:{second:02}.{milli:03}Z"),
        2 => format!("2026-01-01T00:00:{second:02}.{milli:03}000"),
        _ => format!("2026-01-01T00:00:{second:02}.{milli:03}000+00:00"),
    }
}

/// Where drafts come from: chance, a reach, and the numbers of the parts that have been begun.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) random: Random,
    pub(crate) reach: Reach,
    parts: Parts,
    begun: u32,
}

impl Desk {
    pub(crate) fn new(seed: u64, reach: Reach) -> Self {
        Self { random: Random::new(seed), reach, parts: [0; 3], begun: 0 }
    }

    /// Whether something happens that only Recount can follow.
    pub(crate) fn beyond_python(&mut self, percent: usize) -> bool {
        self.random.chance(percent) && self.reach == Reach::Recount
    }

    /// Begins a part of the stream at a level; what comes next belongs to it.
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

    /// Goes back to the part of a higher level.
    pub(crate) fn end_part(&mut self, level: usize) {
        for part in self.parts.iter_mut().skip(level) {
            *part = 0;
        }
    }

    /// An event, with unknown fields and metadata now and then.
    pub(crate) fn draft(&mut self, kind: impl Into<EventKind<'static>>) -> Draft {
        let mut event = Event::stamped("", "", kind).with_metadata(free::rare_metadata(&mut self.random));
        event.extra = free::rare_fields(&mut self.random);
        Draft { event, parts: self.parts }
    }

    /// Several sequences of events at the same time, each in its order.
    pub(crate) fn interleaved(&mut self, mut strands: Vec<Vec<Draft>>) -> Vec<Draft> {
        let mut out = Vec::new();
        strands.iter_mut().for_each(|strand| strand.reverse());
        strands.retain(|strand| !strand.is_empty());
        while !strands.is_empty() {
            let at = self.random.below(strands.len());
            for _ in 0..self.random.between(1, 4) {
                out.extend(strands[at].pop());
            }
            strands.retain(|strand| !strand.is_empty());
        }
        out
    }
}
