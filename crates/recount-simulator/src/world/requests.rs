//! Generates requests.

use std::sync::atomic::Ordering;
use std::time::Duration;

use recount_log::storage::StateChange;
use recount_log::{AppendRequest, Cursor, Events, LeaseRequest, Request, SessionKey};
use recount_message::AgentEvent;

use super::writing::Sent;
use super::{Known, KnownDraft, SESSIONS, World};
use crate::model::session_key;
use crate::script::{Script, note};

impl World {
    /// Appends the next piece of a staged session, or publishes it.
    fn go_on_with_a_draft(&mut self, index: usize) -> Sent {
        let random = &mut self.random;
        let KnownDraft { draft, key, missing, .. } = &mut self.drafts[index];
        let (draft, key) = (draft.clone(), key.clone());
        // It may be published while another process still has pieces of it.
        if missing.is_empty() && random.chance(60) {
            missing.push_back(note(&format!("late-{}", random.number())));
        }
        if missing.is_empty() || random.chance(3) {
            let request = if random.chance(85) {
                Request::Publish { draft, key, replaces: random.chance(70) }
            } else {
                Request::Delete(draft)
            };
            return Sent { request, events: Vec::new() };
        }
        let count = random.between(1, 24).min(missing.len());
        let events: Vec<AgentEvent> = missing.drain(..count).collect();
        let mut request = AppendRequest::new(draft, Events::of(&events));
        request.checks_inputs = false;
        Sent { request: Request::Append(request), events }
    }

    /// Generates a request.
    pub(super) fn request(&mut self, node: usize) -> Sent {
        if !self.drafts.is_empty() && self.random.chance(20) {
            let index = self.random.below(self.drafts.len());
            return self.go_on_with_a_draft(index);
        }
        if self.random.chance(4) {
            return Sent { request: self.request_about_uploads(), events: Vec::new() };
        }
        let key = self.key();
        self.request_about(node, key)
    }

    /// Generates a request for a session or a staged session.
    pub(super) fn request_about(&mut self, node: usize, key: SessionKey) -> Sent {
        if let Some(index) = self.drafts.iter().position(|known| known.draft == key) {
            return self.go_on_with_a_draft(index);
        }
        let Some(model) = self.models.get(&key) else {
            return Sent { request: Request::Create { key, properties: "{}".to_owned() }, events: Vec::new() };
        };
        let begun = &mut self.scripts_begun;
        let script = self.scripts.entry(key.clone()).or_insert_with(|| {
            *begun += 1;
            Script::new(*begun)
        });
        let random = &mut self.random;
        let events = match random.below(100) {
            0..48 => script.next(random),
            48..62 => script.again(random),
            62..78 => script.input(random, model),
            78..80 => return Sent { request: Request::Delete(key), events: Vec::new() },
            80 => {
                let properties = format!("{{\"title\":{}}}", random.below(9));
                return Sent { request: Request::SetProperties { key, properties }, events: Vec::new() };
            }
            81..83 => {
                let before = if random.chance(70) { i64::MAX } else { self.time.load(Ordering::Relaxed) - 20_000 };
                return Sent { request: Request::Compact { key, after: 0, before }, events: Vec::new() };
            }
            83..86 => {
                // A copy of the entries, for the same session or another one.
                let events = model.entries.clone();
                let key = if random.chance(70) { key } else { session_key(random.below(SESSIONS)) };
                return Sent { request: Request::Stage { key, properties: "{}".to_owned() }, events };
            }
            86..92 => {
                let subject = format!("reply {}", random.below(2));
                let mut request = LeaseRequest::new(subject, format!("node {node}")).with_ttl(Duration::from_secs(5));
                request.force = random.chance(20);
                return Sent { request: Request::Acquire { key, request }, events: Vec::new() };
            }
            92..94 if !self.leases.is_empty() => {
                let lease = random.pick_ref(&self.leases).lease.clone();
                let request = if random.chance(50) {
                    Request::Renew { lease, ttl: Duration::from_secs(5) }
                } else {
                    Request::Release(lease)
                };
                return Sent { request, events: Vec::new() };
            }
            // Documents alone.
            94..96 => Vec::new(),
            _ => script.next(random),
        };
        let mut request = AppendRequest::new(key.clone(), Events::of(&events));
        if random.chance(10) {
            let head = model.head();
            let seq = if random.chance(60) { head.seq } else { head.seq.saturating_sub(1) };
            request.after = Some(Cursor { seq, ..head });
        }
        let leases: Vec<&Known> = self.leases.iter().filter(|known| known.lease.session() == &key).collect();
        if !leases.is_empty() && random.chance(40) {
            request.lease = Some(random.pick_ref(&leases).lease.clone());
        }
        if events.is_empty() || random.chance(20) {
            let body = random.chance(80).then(|| format!("{{\"iteration\":{}}}", random.below(9)));
            request.states.push(StateChange { name: format!("agent {}", random.below(2)), body });
        }
        Sent { request: Request::Append(request), events }
    }
}

/// The session or staged session of a request, before the request.
pub(super) fn session_of(request: &Request) -> Option<&SessionKey> {
    match request {
        Request::Create { key, .. }
        | Request::SetProperties { key, .. }
        | Request::Delete(key)
        | Request::Append(AppendRequest { key, .. })
        | Request::Publish { draft: key, .. }
        | Request::Acquire { key, .. }
        | Request::Compact { key, .. } => Some(key),
        _ => None,
    }
}
