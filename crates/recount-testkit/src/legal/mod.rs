//! Generator of legal streams, which follow every rule of the protocol.

mod blocks;
mod reply;
mod tools;

use recount_message::{AgentEvent, CustomEvent, CustomName, Event, EventKind};

use crate::stream::{Parts, StreamBuilder, UnstampedEvent};
use crate::{Profile, free_json, messages};
use reply::Reply;

/// Generates a stream of several replies, interleaved with each other and with events of the session.
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
    legal_for(Profile::Recount, seed)
}

/// Generates a stream that uses only the features of a profile.
pub fn legal_for(profile: Profile, seed: u64) -> Vec<AgentEvent> {
    with_parts(profile, seed).into_iter().map(|(event, _)| event).collect()
}

/// Generates a stream, with the parts that each event belongs to.
pub(crate) fn with_parts(profile: Profile, seed: u64) -> Vec<(AgentEvent, Parts)> {
    let mut builder = StreamBuilder::new(seed, profile);
    let count = builder.random.pick(&[1, 1, 1, 2, 2, 3]);
    let mut sequences: Vec<Vec<UnstampedEvent>> = (0..count).map(|number| Reply::write(&mut builder, number)).collect();
    if profile == Profile::Recount {
        sequences.push(session_events(&mut builder));
    }
    let events = if builder.random.chance(70) {
        builder.interleaved(sequences)
    } else {
        sequences.into_iter().flatten().collect()
    };
    events
        .into_iter()
        .enumerate()
        .map(|(at, event)| {
            let parts = event.parts;
            (event.stamped(&mut builder.random, at + 1), parts)
        })
        .collect()
}

/// Generates events without a reply: complete messages, Recount's own signals, and other signals.
fn session_events(builder: &mut StreamBuilder) -> Vec<UnstampedEvent> {
    let mut events = Vec::new();
    for number in 0..builder.random.below(5) {
        builder.begin_part(0);
        let custom = match builder.random.below(4) {
            0 | 1 => {
                CustomEvent::message(&messages::message(&mut builder.random, builder.profile, &format!("m{number}")))
            }
            2 => own_signal(builder),
            _ => foreign_signal(builder),
        };
        events.push(builder.event(custom));
    }
    builder.end_part(0);
    events
}

/// Generates one of Recount's own signals that do not affect messages.
pub(crate) fn own_signal(builder: &mut StreamBuilder) -> CustomEvent<'static> {
    let is_told = |name: &CustomName| !matches!(name, CustomName::Message | CustomName::Block | CustomName::Call);
    let names: Vec<CustomName> = CustomName::ALL.iter().copied().filter(is_told).collect();
    let name = builder.random.pick(&names);
    CustomEvent::signal(name.as_str(), free_json::object(&mut builder.random))
}

/// Generates a signal of another application, sometimes with a reply.
pub(crate) fn foreign_signal(builder: &mut StreamBuilder) -> CustomEvent<'static> {
    let name = builder.random.pick(&["state_updated", "team_updated", "recount.unheard_of", ""]);
    let mut custom = CustomEvent::signal(name, free_json::object(&mut builder.random));
    custom.reply_id = builder.random.chance(50).then(|| builder.random.pick(&["r0", "r9"]).to_owned().into());
    custom
}

/// Whether an event belongs to the session rather than a message.
pub(crate) fn is_for_session(event: &Event<'_>) -> bool {
    let is_folded =
        matches!(event.kind.recount_name(), Some(CustomName::Message | CustomName::Block | CustomName::Call));
    matches!(event.kind, EventKind::Custom(_)) && !is_folded
}
