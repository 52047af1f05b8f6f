//! What a process may answer that another one has overtaken.

use std::collections::BTreeMap;

use recount_log::SessionKey;

use crate::model::ModelSession;

type Models = BTreeMap<SessionKey, ModelSession>;

/// A process committed something while another one had requests that it had not answered.
///
/// Then the calls are concurrent, and an answer is right if some order of them explains it together with all others. The
/// commit is one step, so that order is: some requests of the overtaken process, the commit, the other requests. Hence an
/// answer may be that of before the commit only if
///
/// - its request was made before the commit,
/// - it changes nothing, since what is written was written after the commit, and on top of it,
/// - it is about a session that the commit has changed; to all others the model as it is now applies, and
/// - no answer before it was one that only the commit explains: a process does what it is asked in that order.
///
/// Everything else is held to the model as it is.
#[derive(Debug)]
pub(super) struct Overtaken {
    /// The sessions that the commit has changed, as they were; nothing where there was none.
    before: BTreeMap<SessionKey, Option<ModelSession>>,
    /// How many requests the process had been given by then.
    asked: usize,
}

impl Overtaken {
    /// What a commit has changed, if anything.
    pub(super) fn by(mut before: Models, now: &Models, asked: usize) -> Option<Self> {
        let made: Vec<_> = now.keys().filter(|key| !before.contains_key(*key)).cloned().collect();
        before.retain(|key, was| now.get(key).is_none_or(|model| !model.is_same(was)));
        let changed = before.into_iter().map(|(key, was)| (key, Some(was)));
        let before: BTreeMap<_, _> = changed.chain(made.into_iter().map(|key| (key, None))).collect();
        (!before.is_empty()).then_some(Self { before, asked })
    }

    /// The session as it was before the commit, for a request that may be answered as of then.
    pub(super) fn before(&self, index: usize, key: &SessionKey) -> Option<&Option<ModelSession>> {
        self.before.get(key).filter(|_| index < self.asked)
    }
}
