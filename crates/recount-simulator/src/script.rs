//! The scripted agents and users of a simulated session.

use std::collections::VecDeque;

use recount_log::Digest;
use recount_message::{
    AgentEvent, ConfirmResult, CountingIds, CustomEvent, DataBlock, Event, EventKind, ExternalExecutionResultEvent,
    Msg, Object, ReplyEnd, ReplyWriter, Stamps, SteppingClock, ToolCallBlock, ToolResultBlock, UrlSource,
    UserConfirmResultEvent, UserInterruptEvent,
};
use recount_testkit::random::Random;

use crate::model::{ModelSession, contents};

/// The events that a session's agents will send, and those that were sent.
#[derive(Debug)]
pub struct Script {
    /// A prefix that makes the ids unique among all scripts.
    name: usize,
    number: usize,
    upcoming: VecDeque<AgentEvent>,
    sent: Vec<Vec<AgentEvent>>,
}

impl Script {
    /// Creates a script.
    pub fn new(name: usize) -> Self {
        Self { name, number: 0, upcoming: VecDeque::new(), sent: Vec::new() }
    }

    /// Returns the next events, in a batch of random size.
    pub fn next(&mut self, random: &mut Random) -> Vec<AgentEvent> {
        if self.upcoming.is_empty() {
            self.number += 1;
            self.upcoming = write(random, self.name, self.number).into();
        }
        let count = random.between(1, 12).min(self.upcoming.len());
        let events: Vec<AgentEvent> = self.upcoming.drain(..count).collect();
        self.keep(&events);
        events
    }

    /// Returns events that were sent before, in different batches.
    pub fn again(&mut self, random: &mut Random) -> Vec<AgentEvent> {
        if self.sent.is_empty() {
            return self.next(random);
        }
        let at = random.below(self.sent.len());
        let mut events: Vec<AgentEvent> = self.sent.iter().skip(at).take(2).flatten().cloned().collect();
        events.truncate(random.between(1, 16));
        // A disconnected agent continues with the next events.
        if random.chance(30) {
            events.extend(self.upcoming.pop_front());
        }
        events
    }

    /// Returns an input for a reply of the session.
    pub fn input(&mut self, random: &mut Random, model: &ModelSession) -> Vec<AgentEvent> {
        self.number += 1;
        let replies: Vec<&Msg> = model.fold.messages().collect();
        let open: Vec<&Msg> = model.fold.open_replies().map(recount_message::ReplyFold::message).collect();
        let among = if random.chance(80) { &open } else { &replies };
        let message = (!among.is_empty()).then(|| *random.pick_ref(among));
        let reply_id = message.map_or("nobody", Msg::id).to_owned();
        let calls: Vec<ToolCallBlock> =
            message.map(|message| message.blocks::<ToolCallBlock>().cloned().collect()).unwrap_or_default();
        let mut chosen: Vec<ToolCallBlock> = Vec::new();
        for _ in 0..random.pick(&[1, 1, 1, 2]) {
            chosen.push(match calls.len() {
                0 => ToolCallBlock::new("no such call", "shell", "{}"),
                count => calls[random.below(count)].clone(),
            });
        }
        let kind: EventKind<'static> = match random.below(5) {
            0 | 1 => {
                let answer =
                    |call| if random.chance(60) { ConfirmResult::allow(call) } else { ConfirmResult::deny(call) };
                UserConfirmResultEvent::new(reply_id, chosen.into_iter().map(answer).collect::<Vec<_>>()).into()
            }
            2 | 3 => {
                let results = chosen.iter().map(|call| ToolResultBlock::success(&call.id, &call.name, "done"));
                ExternalExecutionResultEvent::new(reply_id, results.collect::<Vec<_>>()).into()
            }
            _ => UserInterruptEvent::new(reply_id).into(),
        };
        let event = Event::stamped(format!("input-{}-{}", self.name, self.number), "2026-01-02T00:00:00Z", kind);
        let mut events = vec![event];
        // Batched with a valid event, which must not be written if the input is rejected.
        if random.chance(25) {
            events.insert(0, note(&format!("note-{}-{}", self.name, self.number)));
        }
        self.keep(&events);
        events
    }

    fn keep(&mut self, events: &[AgentEvent]) {
        self.sent.push(events.to_vec());
    }
}

/// An event that changes no message.
pub fn note(id: &str) -> AgentEvent {
    Event::stamped(id.to_owned(), "2026-01-02T00:00:00Z", CustomEvent::signal("note", Object::new()))
}

/// Generates further events: first a generated stream, later replies of the script.
fn write(random: &mut Random, script: usize, number: usize) -> Vec<AgentEvent> {
    let seed = random.number();
    let mut events = match (number, random.below(4)) {
        (1, 0) => recount_testkit::legal(seed),
        (1, 1) => recount_testkit::illegal(seed),
        (_, 2) => {
            let id = format!("m{script}-{number}");
            let shown = contents().map(|bytes| Digest::of(bytes.as_bytes()).url()).find(|_| random.chance(15));
            let message = match shown {
                Some(url) => Msg::user("Alice", DataBlock::new(UrlSource::unchecked(url, "image/png"))),
                None => Msg::user("Alice", "Are you there?"),
            };
            let event = CustomEvent::message(&message.with_id(&*id));
            return vec![Event::stamped(id, "2026-01-01T00:00:00Z", event)];
        }
        _ => return reply(random, &format!("{script}-{number}-")),
    };
    for (index, event) in events.iter_mut().enumerate() {
        event.id = format!("{script}-{number}-{index}").into();
        // Without an id the log would generate one that the model does not know.
        if event.created_at.is_empty() {
            event.created_at = "2026-01-01T00:00:00Z".into();
        }
    }
    events
}

/// Generates a reply that sometimes waits for an input.
fn reply(random: &mut Random, prefix: &str) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    let ids = CountingIds::new(prefix);
    let stamps = Stamps::new(ids, SteppingClock::default());
    let mut reply = ReplyWriter::start(|event| events.push(event), stamps, "s", "Friday");
    for round in 0..random.between(1, 3) {
        reply.model_call("some-model");
        if random.chance(40) {
            reply.thinking("Let me think.");
        }
        for _ in 0..random.between(0, 8) {
            reply.text(random.pick(&["word ", "é", "\"quoted\" ", "🌍 "]));
        }
        let calls: Vec<_> = (0..random.below(3))
            .map(|index| {
                let call = reply.tool_call(&format!("call-{round}-{index}"), "shell");
                reply.tool_input(&call, "{\"command\":");
                reply.tool_input(&call, "\"ls\"}");
                call
            })
            .collect();
        reply.end_model_call(None);
        for call in calls {
            match random.below(4) {
                0 => reply.ask(&call, Vec::new()),
                1 => reply.submit(&[&call]),
                2 => {
                    let result = reply.tool_result(call);
                    reply.result_text(&result, "a file");
                    reply.end_result(result, recount_message::ToolResultState::Success);
                }
                _ => reply.allow(&call),
            }
        }
    }
    reply.end(ReplyEnd::completed());
    events
}
