//! The responses that are allowed to a process after another one has committed.

use std::collections::BTreeMap;

use recount_log::SessionKey;

use crate::model::ModelSession;

type Models = BTreeMap<SessionKey, ModelSession>;

/// A commit of one process while another one had pending requests.
///
/// The calls are concurrent, so a response is correct if some order of all calls explains it together with the others. The
/// commit is one step, so that order is: some requests of the overtaken process, the commit, the remaining requests. Hence a
/// response may reflect the state before the commit only if
///
/// - its request was sent before the commit,
/// - it changes nothing, because written entries come after the commit,
/// - its session was changed by the commit; for all other sessions the current model applies, and
/// - no earlier response reflects the commit, because a process handles its requests in order.
///
/// All other responses are checked against the current model.
#[derive(Debug)]
pub(super) struct Overtaken {
    /// The changed sessions before the commit. `None` if the session did not exist.
    before: BTreeMap<SessionKey, Option<ModelSession>>,
    /// The number of requests that were sent to the process before the commit.
    asked: usize,
}

impl Overtaken {
    /// Returns the changes of a commit. `None` if it changed nothing.
    pub(super) fn by(mut before: Models, now: &Models, asked: usize) -> Option<Self> {
        let made: Vec<_> = now.keys().filter(|key| !before.contains_key(*key)).cloned().collect();
        before.retain(|key, was| now.get(key).is_none_or(|model| !model.is_same(was)));
        let changed = before.into_iter().map(|(key, was)| (key, Some(was)));
        let before: BTreeMap<_, _> = changed.chain(made.into_iter().map(|key| (key, None))).collect();
        (!before.is_empty()).then_some(Self { before, asked })
    }

    /// The session before the commit, if the response to the request may reflect that state.
    pub(super) fn before(&self, index: usize, key: &SessionKey) -> Option<&Option<ModelSession>> {
        self.before.get(key).filter(|_| index < self.asked)
    }
}
