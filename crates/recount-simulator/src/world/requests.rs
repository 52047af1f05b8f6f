//! What is asked of the log.

use std::sync::atomic::Ordering;
use std::time::Duration;

use recount_log::storage::StateChange;
use recount_log::{Adoption, AppendRequest, Cursor, Events, LeaseRequest, Request};

use super::{Known, SESSIONS, Sent, World};
use crate::model::session_key;
use crate::script::Script;

impl World {
    /// Something that somebody asks for.
    pub(super) fn request(&mut self, node: usize) -> Sent {
        let key = self.key();
        let Some(model) = self.models.get(&key) else {
            return Sent { request: Request::Create { key, about: "{}".to_owned() }, events: Vec::new() };
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
                let about = format!("{{\"title\":{}}}", random.below(9));
                return Sent { request: Request::Describe { key, about }, events: Vec::new() };
            }
            81..84 => {
                let before = if random.chance(70) { i64::MAX } else { self.time.load(Ordering::Relaxed) - 20_000 };
                return Sent { request: Request::Compact { key, after: 0, before }, events: Vec::new() };
            }
            84 | 85 => {
                let events = model.entries.clone();
                let replaces = random.chance(70);
                let to = if replaces { key } else { session_key(random.below(SESSIONS)) };
                let adoption = Adoption {
                    key: to,
                    about: "{}".to_owned(),
                    events: Events::of(&events),
                    states: Vec::new(),
                    replaces,
                };
                return Sent { request: Request::Adopt(adoption), events };
            }
            86..92 => {
                let subject = format!("reply {}", random.below(2));
                let mut request = LeaseRequest::new(subject, format!("node {node}")).lasting(Duration::from_secs(5));
                request.by_force = random.chance(20);
                return Sent { request: Request::Acquire { key, request }, events: Vec::new() };
            }
            92..94 if !self.leases.is_empty() => {
                let lease = random.pick_ref(&self.leases).lease.clone();
                let request = if random.chance(50) {
                    Request::Renew { lease, time: Duration::from_secs(5) }
                } else {
                    Request::Release(lease)
                };
                return Sent { request, events: Vec::new() };
            }
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
        if random.chance(20) {
            let body = random.chance(80).then(|| format!("{{\"iteration\":{}}}", random.below(9)));
            request.states.push(StateChange { name: format!("agent {}", random.below(2)), body });
        }
        Sent { request: Request::Append(request), events }
    }
}
