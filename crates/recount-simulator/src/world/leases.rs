//! Leases, and checks of the responses to lease requests.

use recount_log::{Cursor, Error, Lease, LeaseRequest, Response, SessionKey};
use recount_message::AgentEvent;
use recount_testkit::laws::Broken;

use super::stored::{decode, is_taken_over};
use super::{Known, Verdict, World};
use crate::model::ModelSession;

impl World {
    pub(super) fn void_leases(&mut self, node: usize, key: &SessionKey) {
        for known in self.leases.iter_mut().filter(|known| known.node == node && known.lease.session() == key) {
            known.is_held = false;
        }
    }

    pub(super) fn holds(&self, node: usize, lease: &Lease) -> bool {
        self.leases.iter().any(|known| known.is_held && known.node == node && &known.lease == lease)
    }

    pub(super) fn judge_lease(
        &mut self,
        node: usize,
        index: usize,
        key: &SessionKey,
        request: &LeaseRequest,
        answer: &Result<Response, Error>,
    ) -> Verdict {
        let now = self.now();
        let held_by = self.leases.iter().position(|known| {
            known.is_held
                && known.node == node
                && known.lease.session() == key
                && known.lease.subject() == request.subject
        });
        let holder = held_by.and_then(|place| self.leases.get(place));
        let is_free = holder.is_none_or(|known| request.force || known.until <= now);
        let fits = |is_there: bool| match answer {
            Err(Error::UnknownSession(unknown)) => !is_there && unknown == key,
            Err(Error::LeaseHeld { session, subject, holder }) => {
                is_there && !is_free && session == key && *subject == request.subject && *holder == request.holder
            }
            Ok(Response::Granted(lease)) => {
                is_there && is_free && lease.session() == key && lease.subject() == request.subject
            }
            _ => false,
        };
        // A take-over appends an entry.
        let changes_nothing = answer.is_err() || held_by.is_none();
        let mut is_right = fits(self.models.contains_key(key));
        if let Some(was) = self.overtaken.as_ref().and_then(|overtaken| overtaken.before(index, key)) {
            if changes_nothing && fits(was.is_some()) {
                is_right = true;
            } else {
                self.overtaken = None;
            }
        }
        if !is_right {
            return Err(Broken::new(format!("asking for a lease on {key} was answered {answer:?}")));
        }
        let Ok(Response::Granted(lease)) = answer else { return Ok(()) };
        if let Some(place) = held_by {
            self.leases[place].is_held = false;
            let event = self.taken_over(key)?;
            if let Some(model) = self.models.get_mut(key) {
                model.push(event);
            }
        }
        self.leases.push(Known { node, lease: lease.clone(), until: now + 5_000, is_held: true });
        Ok(())
    }

    /// Returns the published entry of a take-over: the next one of the session.
    fn taken_over(&self, key: &SessionKey) -> Result<AgentEvent, Broken> {
        let head = self.models.get(key).map(ModelSession::head);
        let next = head.map(|head| Cursor { seq: head.seq + 1, ..head });
        let told = self.noticed.iter().find(|entry| entry.key == *key && Some(entry.cursor) == next);
        let event = told.map(|entry| decode(&entry.event)).transpose()?;
        event.filter(is_taken_over).ok_or_else(|| Broken::new("a lease was taken over and no entry says so"))
    }
}
