//! Events that somebody posts, sorted by who is told.

use std::collections::HashSet;

use recount_log::{Appended, Error, Events, Refusal};
use recount_message::{AgentEvent, Event, EventKind};

use crate::scan::contains;

/// Events that somebody posts, sorted by who is told.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Those that are for the session's own agent.
    pub(crate) hints: Vec<AgentEvent>,
    /// Those that are for the log.
    pub(crate) others: Events,
    pub(crate) places: Places,
}

/// Where those for the log stood in the batch.
#[derive(Debug)]
pub(crate) enum Places {
    /// Where they stand now.
    Same,
    At(Vec<usize>),
}

impl Batch {
    pub(crate) fn may_have_hints(events: &Events) -> bool {
        events.texts().any(|text| contains(text, b"\"HINT_BLOCK\""))
    }

    /// Sorts events. A hint in what an agent elsewhere says, whose open replies are given, is a part of its reply.
    pub(crate) fn of(events: Events, mut elsewhere: HashSet<String>) -> Self {
        if !Self::may_have_hints(&events) {
            return Self { hints: Vec::new(), others: events, places: Places::Same };
        }
        let (mut hints, mut others, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (place, text) in events.texts().enumerate() {
            // What is in there was made from events.
            let Ok(event) = Event::from_slice(text) else { continue };
            match &event.kind {
                EventKind::HintBlock(hint) if !elsewhere.contains(&*hint.reply_id) => {
                    hints.push(event.into_owned());
                    continue;
                }
                EventKind::ReplyStart(start) => drop(elsewhere.insert(start.reply_id.to_string())),
                _ => {}
            }
            others.push(event);
            places.push(place);
        }
        Self { hints, others: Events::of(&others), places: Places::At(places) }
    }
}

impl Places {
    /// What became of those for the log, told with the places that they had.
    pub(crate) fn of_outcome(&self, outcome: Result<Appended, Error>) -> Result<Appended, Error> {
        match outcome {
            Ok(mut appended) => {
                for ignored in &mut appended.ignored {
                    ignored.index = self.of(ignored.index);
                }
                Ok(appended)
            }
            Err(Error::Refused(refusal)) => Err(Error::Refused(Refusal { index: self.of(refusal.index), ..refusal })),
            Err(error) => Err(error),
        }
    }

    fn of(&self, index: usize) -> usize {
        match self {
            Self::Same => index,
            Self::At(places) => places.get(index).copied().unwrap_or(index),
        }
    }
}
