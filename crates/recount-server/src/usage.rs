//! The token usage of sessions.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use recount_log::storage::{View, Visibility};
use recount_log::{Cursor, Error, Session, SessionKey};
use recount_message::{Msg, Usage};

/// Caches the token usage of sessions.
#[derive(Debug, Default)]
pub(crate) struct UsageCache {
    totals: Mutex<HashMap<SessionKey, Total>>,
}

/// The usage of a session at a cursor.
#[derive(Debug, Clone)]
struct Total {
    at: Cursor,
    usage: Usage,
    /// All messages before this sequence number are complete, and their sum is in `settled`. They are not read again.
    settled_before: u64,
    settled: Usage,
}

/// The maximum number of cached sessions.
const CAPACITY: usize = 4_096;
/// The number of messages read at once.
const PAGE: usize = 64;

impl UsageCache {
    /// Returns the usage of all complete messages of a session.
    pub(crate) async fn of(&self, session: &Session) -> Result<Usage, Error> {
        let key = session.key().clone();
        let known = self.totals().get(&key).cloned();
        let total = session.log().read(move |view| count(view, &key, known)).await?;
        let usage = total.usage.clone();
        let mut totals = self.totals();
        if totals.len() >= CAPACITY {
            totals.clear();
        }
        totals.insert(session.key().clone(), total);
        Ok(usage)
    }

    fn totals(&self) -> MutexGuard<'_, HashMap<SessionKey, Total>> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sums up the usage, continuing from a cached total.
fn count(view: &dyn View, key: &SessionKey, known: Option<Total>) -> Result<Total, Error> {
    let row = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
    let at = Cursor { epoch: row.epoch, seq: row.head };
    let (from, mut settled) = match known {
        Some(known) if known.at == at => return Ok(known),
        Some(known) if known.at.epoch == at.epoch => (known.settled_before, known.settled),
        _ => (0, Usage::new(0, 0)),
    };
    let oldest_open = view.open_reply_infos(key)?.iter().map(|reply| reply.start_seq).min();
    let settled_before = oldest_open.unwrap_or(row.head + 1);
    let (mut rest, mut before) = (Usage::new(0, 0), u64::MAX);
    while before > from {
        let page = view.messages_before(key, before, Visibility::All, PAGE)?;
        for message in page.iter().filter(|message| message.start_seq >= from) {
            if let Some(usage) = message.body.decode().ok().as_ref().and_then(Msg::usage) {
                let sum = if message.start_seq < settled_before { &mut settled } else { &mut rest };
                *sum += usage;
            }
        }
        before = page.first().map_or(0, |oldest| oldest.start_seq);
    }
    Ok(Total { at, usage: [settled.clone(), rest].into_iter().sum(), settled_before, settled })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use recount_log::Log;
    use recount_message::{AgentEvent, ReplyEnd, ReplyWriter, Stamps};

    use super::*;

    /// Returns the events of a reply that uses one token, and separately its end.
    fn reply() -> (Vec<AgentEvent>, AgentEvent) {
        let mut events = Vec::new();
        let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "s", "Friday");
        reply.model_call("m");
        reply.end_model_call(Some(Usage::new(1, 0)));
        reply.end(ReplyEnd::completed());
        let end = events.pop().unwrap();
        (events, end)
    }

    #[tokio::test]
    async fn usage_counts_each_reply_when_it_ends() {
        let log = Log::in_memory();
        let session = log.create("s".parse().unwrap()).await.unwrap();
        let usages = UsageCache::default();
        let counted = async || usages.of(&session).await.unwrap().input_tokens;
        let (first, first_end) = reply();
        session.append(&first).await.unwrap();
        assert_eq!(counted().await, 0);
        for number in 1..=3 {
            let (other, end) = reply();
            session.append(&other).await.unwrap();
            assert_eq!(counted().await, number - 1);
            session.append(&end).await.unwrap();
            assert_eq!(counted().await, number);
        }
        session.append(&first_end).await.unwrap();
        assert_eq!((counted().await, counted().await), (4, 4));
        let (last, end) = reply();
        session.append(&last).await.unwrap();
        session.append(&end).await.unwrap();
        assert_eq!((counted().await, UsageCache::default().of(&session).await.unwrap().input_tokens), (5, 5));
    }
}
