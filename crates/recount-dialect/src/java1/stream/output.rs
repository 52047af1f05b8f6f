//! The emitted events.

use recount_message::{AgentEvent, Event, EventKind, Object};

use super::super::envelope::Envelope;
use super::super::frames::SYNTHETIC;
use crate::java::Version;
use crate::preserved;

/// Collects the events for one envelope.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) reply_id: String,
    pub(super) time: String,
    /// The number of emitted events, which is part of their ids.
    pub(super) count: u64,
    pub(super) events: Vec<AgentEvent>,
}

impl Output {
    pub(super) fn new(reply_id: String, time: String, count: u64) -> Self {
        Self { reply_id, time, count, events: Vec::new() }
    }

    /// Creates an event with the current time.
    pub(super) fn event(&self, kind: impl Into<EventKind<'static>>) -> AgentEvent {
        Event::stamped("", self.time.clone(), kind)
    }

    pub(super) fn emit(&mut self, kind: impl Into<EventKind<'static>>) {
        let event = self.event(kind);
        self.push(event);
    }

    /// Emits an event with the unknown fields of its block.
    pub(super) fn emit_with_extra(&mut self, kind: impl Into<EventKind<'static>>, extra: &Object) {
        let event = self.event(kind);
        self.push(if extra.is_empty() { event } else { event.with_extension("extra", extra.clone()) });
    }

    /// Emits an event under a new id.
    pub(super) fn push(&mut self, mut event: AgentEvent) {
        self.count += 1;
        event.id = format!("{}:{}", self.reply_id, self.count).into();
        self.events.push(event);
    }

    /// Emits an envelope as a signal.
    pub(super) fn emit_signal(&mut self, envelope: Envelope) {
        let mut event = envelope.into_event();
        event.created_at = self.time.clone().into();
        self.push(event);
    }
}

/// Marks an event as inserted.
pub(super) fn mark_synthetic(event: &mut AgentEvent) {
    preserved::store(&mut event.metadata, Version::One.name(), Object::from([(SYNTHETIC, true)]));
}
