//! Events that somebody posts, sorted by who is told.

use std::collections::HashSet;

use recount_log::storage::OpenReplyInfo;
use recount_log::{Appended, Error, Events, Ignored, Refusal};
use recount_message::{AgentEvent, CustomName, Event, EventKind, Json};

use crate::run_state::is_input;
use crate::scan::contains;

/// Events that somebody posts, sorted by who is told.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Those that are for the session's own agent.
    pub(crate) hints: Vec<AgentEvent>,
    /// Those of a reply in which only the session's own agent speaks.
    pub(crate) strays: Vec<RejectedEvent>,
    /// Those that are for the log.
    pub(crate) others: Events,
    pub(crate) places: Places,
}

/// An event of a reply that is not its sender's.
#[derive(Debug)]
pub(crate) struct RejectedEvent {
    /// Where it stood in the batch.
    pub(crate) place: usize,
    pub(crate) event: AgentEvent,
    reply_id: String,
}

/// Where those for the log stood in the batch.
#[derive(Debug)]
pub(crate) enum Places {
    /// Where they stand now.
    Same,
    At(Vec<usize>),
}

impl Batch {
    /// Events that are all for the log.
    pub(crate) fn for_log(events: Events) -> Self {
        Self { hints: Vec::new(), strays: Vec::new(), others: events, places: Places::Same }
    }

    pub(crate) fn may_have_hints(events: &Events) -> bool {
        events.texts().any(|text| contains(text, b"\"HINT_BLOCK\""))
    }

    /// Sorts events, where some replies are open. A hint in what an agent elsewhere says is a part of its reply.
    pub(crate) fn of(events: &Events, open: &[OpenReplyInfo]) -> Self {
        let ids = |hosted: bool| open.iter().filter(move |reply| reply.hosted == hosted).map(|reply| reply.id.clone());
        let (hosted, mut elsewhere): (HashSet<String>, HashSet<String>) = (ids(true).collect(), ids(false).collect());
        let (mut hints, mut strays) = (Vec::new(), Vec::new());
        let (mut others, mut places) = (Vec::new(), Vec::new());
        for (place, text) in events.texts().enumerate() {
            // What is in there was made from events.
            let Ok(event) = Event::from_slice(text) else { continue };
            match &event.kind {
                EventKind::HintBlock(hint) if !elsewhere.contains(&*hint.reply_id) => {
                    hints.push(event.into_owned());
                    continue;
                }
                EventKind::ReplyStart(start) if !hosted.contains(&*start.reply_id) => {
                    elsewhere.insert(start.reply_id.to_string());
                }
                _ => {}
            }
            match said_in(&event).filter(|id| hosted.contains(id)) {
                Some(reply_id) => strays.push(RejectedEvent { place, event: event.into_owned(), reply_id }),
                None => {
                    others.push(event);
                    places.push(place);
                }
            }
        }
        Self { hints, strays, others: Events::of(&others), places: Places::At(places) }
    }
}

/// The reply that an event is a part of. Inputs are about one, and are anybody's.
fn said_in(event: &Event<'_>) -> Option<String> {
    match &event.kind {
        EventKind::Custom(custom) => match custom.own_name() {
            Some(CustomName::Block | CustomName::Call) => custom.value.get("reply_id").and_then(Json::to_text),
            _ => None,
        },
        _ if is_input(event) => None,
        kind => kind.reply_id().map(str::to_owned),
    }
}

impl RejectedEvent {
    /// What its sender is told.
    pub(crate) fn ignored(&self) -> Ignored {
        Ignored {
            index: self.place,
            event_id: self.event.id.to_string(),
            reason: "hosted",
            message: format!("only the agent here speaks in the reply {:?}", self.reply_id),
            is_written: false,
        }
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
