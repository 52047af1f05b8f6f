//! Generator of one reply, from its start to its end.

use recount_message::{
    CustomEvent, ExceedMaxItersEvent, FinishedReason, ModelCallEndEvent, ModelCallStartEvent, ModelFinishedReason,
    ReplyEndEvent, ReplyStartEvent, UserInterruptEvent,
};

use super::{blocks, foreign_signal, own_signal};
use crate::messages::{count, error};
use crate::stream::{StreamBuilder, UnstampedEvent};
use crate::{free_json, samples};

/// The state of the generator that the events of a reply share.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) id: String,
    session_id: String,
    name: String,
    /// Whether blocks of different types may have the same id.
    shares_ids: bool,
    /// The numbers of text, thinking and data blocks, hints and calls so far.
    counts: [usize; 5],
    /// Whether blocks may be left open, to be closed by the end of the reply.
    pub(super) leaves_open: bool,
    /// Whether every round uses the same call ids, as with some providers.
    pub(super) reuses_call_ids: bool,
}

/// The types of blocks with ids of their own.
#[derive(Debug, Clone, Copy)]
pub(super) enum BlockKind {
    Text,
    Thinking,
    Data,
    Hint,
    Call,
}

impl Reply {
    /// Generates the events of a reply. Every tenth reply stays open.
    pub(super) fn write(builder: &mut StreamBuilder, number: usize) -> Vec<UnstampedEvent> {
        let ends = builder.random.chance(90);
        let mut reply = Self {
            id: format!("r{number}"),
            session_id: builder.random.pick(&["s1", "session \"x\"", ""]).to_owned(),
            name: samples::name(&mut builder.random),
            shares_ids: builder.random.chance(30),
            counts: [0; 5],
            leaves_open: ends && builder.beyond_python(15),
            reuses_call_ids: builder.beyond_python(20),
        };
        // An id cannot be reused while its block is open.
        reply.reuses_call_ids &= !reply.leaves_open;
        builder.begin_part(0);
        let mut events = vec![reply.start(builder, number)];
        for _ in 0..builder.random.pick(&[0, 1, 1, 1, 2, 2, 3]) {
            events.extend(reply.round(builder));
        }
        builder.end_part(1);
        // Only one text or thinking block may be open at a time, so only the last may be left open.
        if reply.leaves_open
            && builder.random.chance(50)
            && let Some(last) = events.iter().rposition(UnstampedEvent::ends_speech)
        {
            events.remove(last);
        }
        if ends {
            events.extend(reply.end(builder));
        }
        builder.end_part(0);
        events
    }

    /// Returns a new id for a block.
    pub(super) fn next_id(&mut self, kind: BlockKind) -> String {
        let (index, prefix) = match kind {
            BlockKind::Text => (0, "text"),
            BlockKind::Thinking => (1, "thinking"),
            BlockKind::Data => (2, "data"),
            BlockKind::Hint => (3, "hint"),
            BlockKind::Call => (4, "call"),
        };
        self.counts[index] += 1;
        let prefix = if self.shares_ids { "b" } else { prefix };
        format!("{prefix}{}", self.counts[index])
    }

    fn start(&self, builder: &mut StreamBuilder, number: usize) -> UnstampedEvent {
        let role = builder.random.pick(&["assistant", "assistant", "user", "system"]);
        let mut event = builder
            .event(ReplyStartEvent::new(self.session_id.clone(), self.id.clone(), self.name.clone()).with_role(role));
        if builder.beyond_python(30) {
            event = event.with_extension("metadata", free_json::object(&mut builder.random));
        }
        if number > 0 && builder.beyond_python(50) {
            event = event.with_extension("parent", "r0");
        }
        event
    }

    /// Generates a model call with its tool calls and results.
    fn round(&mut self, builder: &mut StreamBuilder) -> Vec<UnstampedEvent> {
        builder.begin_part(1);
        let model_name = samples::model(&mut builder.random);
        let mut events = vec![builder.event(ModelCallStartEvent::new(self.id.clone(), model_name))];
        let tools = self.tools(builder);
        let mut sequences = vec![blocks::text_and_thinking(self, builder)];
        if builder.random.chance(30) {
            sequences.push(blocks::data(self, builder));
        }
        sequences.extend(tools.calls);
        events.extend(builder.interleaved(sequences));
        events.push(self.model_call_end(builder));
        events.extend(tools.permissions);
        let mut sequences = tools.results;
        sequences.push(self.side_events(builder));
        events.extend(builder.interleaved(sequences));
        builder.end_part(1);
        events
    }

    fn model_call_end(&self, builder: &mut StreamBuilder) -> UnstampedEvent {
        let is_unknown = builder.beyond_python(15);
        let mut tokens = || if is_unknown { 0 } else { count(&mut builder.random) };
        let kind = ModelCallEndEvent::new(self.id.clone(), tokens(), tokens())
            .with_cache_input_tokens(tokens())
            .with_cache_creation_input_tokens(tokens())
            .with_finished_reason(builder.random.pick(ModelFinishedReason::ALL));
        let event = builder.event(kind);
        if is_unknown { event.with_extension("usage", "unknown") } else { event }
    }

    /// Generates events that are independent of tools: hints, complete blocks and signals.
    fn side_events(&mut self, builder: &mut StreamBuilder) -> Vec<UnstampedEvent> {
        let mut events = Vec::new();
        for _ in 0..builder.random.pick(&[0, 0, 1, 2]) {
            builder.begin_part(2);
            let beyond_python = builder.beyond_python(50);
            events.extend(match builder.random.below(3) {
                0 if beyond_python => vec![blocks::whole(self, builder)],
                1 if beyond_python => {
                    let custom: CustomEvent<'static> =
                        if builder.random.chance(50) { own_signal(builder) } else { foreign_signal(builder) };
                    vec![builder.event(custom)]
                }
                _ => vec![blocks::hint(self, builder)],
            });
        }
        builder.end_part(2);
        events
    }

    fn end(&self, builder: &mut StreamBuilder) -> Vec<UnstampedEvent> {
        let reason = builder.random.pick(FinishedReason::ALL);
        let mut events = Vec::new();
        match reason {
            FinishedReason::ExceedMaxIters => {
                events.push(builder.event(ExceedMaxItersEvent::new(self.id.clone(), self.name.clone())));
            }
            FinishedReason::Interrupted => {
                events.push(builder.event(UserInterruptEvent::new(self.id.clone())));
            }
            _ => {}
        }
        let error = (reason == FinishedReason::Error).then(|| error(&mut builder.random));
        let mut kind = ReplyEndEvent::new(self.session_id.clone(), self.id.clone()).with_finished_reason(reason);
        kind.error = error;
        let mut end = builder.event(kind);
        if builder.beyond_python(30) {
            end = end.with_extension("structured_output", free_json::object(&mut builder.random));
        }
        if builder.beyond_python(30) {
            end = end.with_extension("metadata", free_json::object(&mut builder.random));
        }
        events.push(end);
        events
    }
}
