//! Routing of appended events: hints go to the session's run, all others to the log.

use std::collections::HashSet;

use recount_log::storage::OpenReplyInfo;
use recount_log::{Appended, Error, Events, Ignored, InputKind, Refusal};
use recount_message::{AgentEvent, CustomName, Event, EventKind, Json};

/// The events of one append call, by destination.
#[derive(Debug)]
pub(crate) struct RoutedEvents {
    /// Hints for the session's hosted agent.
    pub(crate) hints: Vec<AgentEvent>,
    /// Events of a hosted reply, which only the hosted agent may append.
    pub(crate) rejected: Vec<RejectedEvent>,
    /// Events for the log.
    pub(crate) for_log: Events,
    pub(crate) positions: Positions,
}

/// An event of a hosted reply that another client has sent.
#[derive(Debug)]
pub(crate) struct RejectedEvent {
    /// The index of the event in the append call.
    pub(crate) index: usize,
    pub(crate) event: AgentEvent,
    reply_id: String,
}

/// Maps the indices of the events for the log to their indices in the append call.
#[derive(Debug)]
pub(crate) enum Positions {
    /// The indices are the same.
    Unchanged,
    /// The indices in the append call, by index in the events for the log.
    Mapped(Vec<usize>),
}

impl RoutedEvents {
    /// Routes all events to the log.
    pub(crate) fn all_to_log(events: Events) -> Self {
        Self { hints: Vec::new(), rejected: Vec::new(), for_log: events, positions: Positions::Unchanged }
    }

    /// Whether events may include a hint. Searches their text, to avoid parsing them.
    pub(crate) fn may_have_hints(events: &Events) -> bool {
        any_contains(events, &["\"HINT_BLOCK\""])
    }

    /// Whether events may include an input that a reply waits for. Searches their text, to avoid parsing them.
    pub(crate) fn may_have_inputs(events: &Events) -> bool {
        any_contains(events, &["\"USER_CONFIRM_RESULT\"", "\"EXTERNAL_EXECUTION_RESULT\"", "\"USER_INTERRUPT\""])
    }

    /// Routes events by the open replies of the session. A hint that is part of a remote agent's reply goes to the log.
    pub(crate) fn new(events: &Events, open: &[OpenReplyInfo]) -> Self {
        let ids = |hosted: bool| open.iter().filter(move |reply| reply.hosted == hosted).map(|reply| reply.id.clone());
        let (hosted, mut remote): (HashSet<String>, HashSet<String>) = (ids(true).collect(), ids(false).collect());
        let (mut hints, mut rejected) = (Vec::new(), Vec::new());
        let (mut for_log, mut positions) = (Vec::new(), Vec::new());
        for (index, text) in events.texts().enumerate() {
            // `Events` holds only valid events.
            let Ok(event) = Event::from_slice(text) else { continue };
            match &event.kind {
                EventKind::HintBlock(hint) if !remote.contains(&*hint.reply_id) => {
                    hints.push(event.into_owned());
                    continue;
                }
                EventKind::ReplyStart(start) if !hosted.contains(&*start.reply_id) => {
                    remote.insert(start.reply_id.to_string());
                }
                _ => {}
            }
            match reply_of(&event).filter(|id| hosted.contains(id)) {
                Some(reply_id) => rejected.push(RejectedEvent { index, event: event.into_owned(), reply_id }),
                None => {
                    for_log.push(event);
                    positions.push(index);
                }
            }
        }
        Self { hints, rejected, for_log: Events::of(&for_log), positions: Positions::Mapped(positions) }
    }
}

fn any_contains(events: &Events, words: &[&str]) -> bool {
    let texts = events.texts().filter_map(|text| std::str::from_utf8(text).ok());
    texts.into_iter().any(|text| words.iter().any(|word| text.contains(word)))
}

/// Returns the id of the reply that an event is part of. `None` for inputs, which any client may send.
fn reply_of(event: &Event<'_>) -> Option<String> {
    match &event.kind {
        EventKind::Custom(custom) => match custom.recount_name() {
            Some(CustomName::Block | CustomName::Call) => {
                custom.value.get("reply_id").and_then(Json::as_str).map(str::to_owned)
            }
            _ => None,
        },
        _ if InputKind::of(event).is_some() => None,
        kind => kind.reply_id().map(str::to_owned),
    }
}

impl RejectedEvent {
    /// Returns the report for the sender.
    pub(crate) fn to_ignored(&self) -> Ignored {
        Ignored {
            index: self.index,
            event_id: self.event.id.to_string(),
            reason: "hosted",
            message: format!("only the hosted agent may append to the reply {:?}", self.reply_id),
            is_written: false,
        }
    }
}

impl Positions {
    /// Maps the indices in the result of the log to those of the append call.
    pub(crate) fn map_result(&self, result: Result<Appended, Error>) -> Result<Appended, Error> {
        match result {
            Ok(mut appended) => {
                for ignored in &mut appended.ignored {
                    ignored.index = self.map(ignored.index);
                }
                Ok(appended)
            }
            Err(Error::Refused(refusal)) => Err(Error::Refused(Refusal { index: self.map(refusal.index), ..refusal })),
            Err(error) => Err(error),
        }
    }

    fn map(&self, index: usize) -> usize {
        match self {
            Self::Unchanged => index,
            Self::Mapped(positions) => positions.get(index).copied().unwrap_or(index),
        }
    }
}
