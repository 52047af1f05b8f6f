//! Checks the responses to appends against the model.

use recount_log::{AppendRequest, Appended, Error, Lease, Response};
use recount_message::AgentEvent;
use recount_testkit::laws::Broken;

use super::{Verdict, World};
use crate::model::{ModelSession, same_answer};

impl World {
    pub(super) fn judge_append(
        &mut self,
        node: usize,
        index: usize,
        request: &AppendRequest,
        events: &[AgentEvent],
        answer: &Result<Response, Error>,
    ) -> Verdict {
        let answer = match answer {
            Ok(Response::Appended(appended)) => Ok(appended.clone()),
            Ok(other) => return Err(Broken::new(format!("an append was answered {other:?}"))),
            Err(error) => Err(error.clone()),
        };
        let lost = request.lease.as_ref().filter(|lease| !self.holds(node, lease)).cloned();
        if lost.is_some() {
            self.tally.lost_leases += 1;
        }
        // Whether the response matches the earlier state of the session, and whether the append would have changed that state.
        let changes = |model: Option<&ModelSession>| {
            let mut next = model.cloned();
            let is_right = same_answer(&answer, &expected(next.as_mut(), lost.as_ref(), request, events, &answer));
            is_right.then(|| model.zip(next.as_ref()).is_some_and(|(was, is)| !is.is_same(was)))
        };
        if let Some(was) = self.overtaken.as_ref().and_then(|overtaken| overtaken.before(index, &request.key)) {
            if changes(was.as_ref()) != Some(false) {
                self.overtaken = None;
            } else if changes(self.models.get(&request.key)).is_none() {
                return Ok(());
            }
        }
        let expected = expected(self.models.get_mut(&request.key), lost.as_ref(), request, events, &answer);
        if !same_answer(&answer, &expected) {
            let texts: Vec<String> = events.iter().map(AgentEvent::to_json).collect();
            return Err(Broken::new(format!(
                "appending to {}\n{}\nanswered {answer:?}\nnot      {expected:?}",
                request.key,
                texts.join("\n")
            )));
        }
        match answer {
            Ok(appended) => {
                self.tally.written += appended.written;
                self.tally.duplicates += appended.duplicates;
            }
            Err(Error::Refused(_)) => self.tally.refused += 1,
            Err(_) => {}
        }
        Ok(())
    }
}

/// Applies an append to a model and returns the required response.
fn expected(
    model: Option<&mut ModelSession>,
    lost: Option<&Lease>,
    request: &AppendRequest,
    events: &[AgentEvent],
    answer: &Result<Appended, Error>,
) -> Result<Appended, Error> {
    if let Some(lease) = lost {
        let subject = lease.subject().to_owned();
        return Err(Error::LeaseLost { session: request.key.clone(), subject });
    }
    let Some(model) = model else { return Err(Error::UnknownSession(request.key.clone())) };
    // A writer may or may not know the ids of merged entries.
    if !model.joined.is_empty() {
        let mut forgetful = model.clone();
        let expected = forgetful.append_knowing(false, request, events);
        if same_answer(answer, &expected) {
            *model = forgetful;
            return expected;
        }
    }
    model.append(request, events)
}
