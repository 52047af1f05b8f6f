//! Streams that keep every rule of the protocol.

mod blocks;
mod reply;
mod tools;

use recount_message::{AgentEvent, CustomEvent, CustomName, Event, EventKind};

use crate::stream::{Desk, Draft, Parts};
use crate::{Reach, free, messages};
use reply::Reply;

/// A stream that follows from a seed: several replies, interleaved with each other and with what is the session's.
///
/// ```
/// use recount_message::{Fold, Outcome};
///
/// let mut fold = Fold::new();
/// for event in recount_testkit::legal(7) {
///     assert!(matches!(fold.apply(&event), Outcome::Applied | Outcome::NotForMessage));
/// }
/// ```
pub fn legal(seed: u64) -> Vec<AgentEvent> {
    legal_within(Reach::Recount, seed)
}

/// A stream that follows from a seed and holds nothing beyond a reach.
pub fn legal_within(reach: Reach, seed: u64) -> Vec<AgentEvent> {
    with_parts(reach, seed).into_iter().map(|(event, _)| event).collect()
}

/// The same, with the parts that each event belongs to.
pub(crate) fn with_parts(reach: Reach, seed: u64) -> Vec<(AgentEvent, Parts)> {
    let mut desk = Desk::new(seed, reach);
    let count = desk.random.pick(&[1, 1, 1, 2, 2, 3]);
    let mut strands: Vec<Vec<Draft>> = (0..count).map(|number| Reply::write(&mut desk, number)).collect();
    if reach == Reach::Recount {
        strands.push(session_events(&mut desk));
    }
    let drafts =
        if desk.random.chance(70) { desk.interleaved(strands) } else { strands.into_iter().flatten().collect() };
    drafts
        .into_iter()
        .enumerate()
        .map(|(at, draft)| {
            let parts = draft.parts;
            (draft.stamped(&mut desk.random, at + 1), parts)
        })
        .collect()
}

/// What belongs to no reply: whole messages, Recount's own signals, and those of others.
fn session_events(desk: &mut Desk) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for number in 0..desk.random.below(5) {
        desk.begin_part(0);
        let custom = match desk.random.below(4) {
            0 | 1 => CustomEvent::message(&messages::message(&mut desk.random, desk.reach, &format!("m{number}"))),
            2 => told(desk),
            _ => foreign(desk),
        };
        drafts.push(desk.draft(custom));
    }
    desk.end_part(0);
    drafts
}

/// One of Recount's own signals that say nothing about a message.
pub(crate) fn told(desk: &mut Desk) -> CustomEvent<'static> {
    let is_told = |name: &CustomName| !matches!(name, CustomName::Message | CustomName::Block | CustomName::Call);
    let names: Vec<CustomName> = CustomName::ALL.iter().copied().filter(is_told).collect();
    let name = desk.random.pick(&names);
    CustomEvent::signal(name.as_str(), free::object(&mut desk.random))
}

/// A signal of somebody else's, which may name a reply.
pub(crate) fn foreign(desk: &mut Desk) -> CustomEvent<'static> {
    let name = desk.random.pick(&["state_updated", "team_updated", "recount.unheard_of", ""]);
    let mut custom = CustomEvent::signal(name, free::object(&mut desk.random));
    custom.reply_id = desk.random.chance(50).then(|| desk.random.pick(&["r0", "r9"]).to_owned().into());
    custom
}

/// Whether an event is for the session only.
pub(crate) fn is_for_session(event: &Event<'_>) -> bool {
    let is_folded =
        matches!(event.kind.recount_name(), Some(CustomName::Message | CustomName::Block | CustomName::Call));
    matches!(event.kind, EventKind::Custom(_)) && !is_folded
}
