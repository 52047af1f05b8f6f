//! Hints: what is said to the model from outside.

use recount_log::{Appended, Cursor, Error, Events};
use recount_message::{AgentEvent, Event, EventKind, HintBlock, HintBlockEvent, Stamps};

use super::Run;
use crate::find_duplicate::find_duplicate;
use crate::run_metadata::Pending;

impl Run<'_> {
    /// Takes a hint: for the reply that has not ended, or for one that begins with it.
    pub(super) async fn hint(&mut self, event: AgentEvent) -> Result<Appended, crate::Error> {
        if let Some(known) = self.find_duplicate_hint(&event).await? {
            return Ok(known);
        }
        if self.desk.reply().is_none() {
            return self.wake_for(event).await;
        }
        let EventKind::HintBlock(hint) = &event.kind else { return Err(Error::Closed.into()) };
        let pending = Pending { id: event.id.to_string(), block: hint.block_id.to_string(), event: event.to_json() };
        let states = {
            let mut desk = self.desk.lock();
            desk.note(|notes| notes.hints.push(pending));
            desk.changes()
        };
        if let (Some(work), Some(block)) = (&self.work, block_of(&event.to_json())) {
            work.agent.hint(block);
        }
        let kept = self.outbox.ask(Events::default(), states).await?;
        Ok(Appended { written: 1, ..kept })
    }

    /// Has the conversation summarised before the model is asked the next time.
    pub(super) async fn compress(&mut self) -> Result<(), crate::Error> {
        if let Some(work) = &self.work {
            work.agent.compress();
        }
        let states = {
            let mut desk = self.desk.lock();
            desk.note(|notes| notes.compress = true);
            desk.changes()
        };
        self.outbox.ask(Events::default(), states).await?;
        Ok(())
    }

    /// What has become of a hint that was taken before.
    async fn find_duplicate_hint(&mut self, event: &AgentEvent) -> Result<Option<Appended>, Error> {
        let row = self.session.info().await?;
        let cursor = Cursor { epoch: row.epoch, seq: row.head };
        if self.desk.lock().notes.hints.iter().any(|pending| pending.id == event.id) {
            return Ok(Some(Appended { written: 0, duplicates: 1, cursor, ignored: Vec::new() }));
        }
        find_duplicate(&self.session, cursor, event).await
    }

    /// Begins a reply with a hint.
    async fn wake_for(&mut self, mut event: AgentEvent) -> Result<Appended, crate::Error> {
        if *self.draining.borrow() {
            return Err(crate::Error::Draining);
        }
        let reply_id = Stamps::default().id();
        if let EventKind::HintBlock(hint) = &mut event.kind {
            hint.reply_id = reply_id.clone().into();
        }
        let begun = self.begin_reply(reply_id, None, Some(event)).await?;
        Ok(Appended { written: 1, duplicates: 0, cursor: begun, ignored: Vec::new() })
    }
}

/// The block of a hint's event.
pub(super) fn block_of(event: &str) -> Option<HintBlock> {
    let event = Event::from_json(event).ok()?.into_owned();
    let extra = event.carried("extra").and_then(|extra| extra.to_object()).unwrap_or_default();
    let EventKind::HintBlock(hint) = event.kind else { return None };
    let HintBlockEvent { block_id, source, hint, .. } = hint;
    let mut block = HintBlock::new(hint).with_id(block_id);
    block.source = source.map(std::borrow::Cow::into_owned);
    block.extra = extra;
    Some(block)
}

/// The event of a hint that comes from a tool in the background of a reply. Its id follows from both, so that it cannot be
/// told twice.
pub(super) fn event_of(hint: HintBlock, reply_id: &str) -> AgentEvent {
    let HintBlock { hint, id, source, extra, created_at, .. } = hint;
    let event_id = format!("{reply_id}.{id}");
    let kind = HintBlockEvent {
        reply_id: reply_id.to_owned().into(),
        block_id: id.into(),
        source: source.map(Into::into),
        hint,
    };
    let event = Event::stamped(event_id, created_at, kind);
    if extra.is_empty() { event } else { event.carrying("extra", recount_message::Json::from(extra)) }
}

#[cfg(test)]
mod tests {
    use recount_message::Object;

    use super::*;

    #[test]
    fn a_hint_survives_being_an_event() {
        let mut hint = HintBlock::new("The build is green.").with_source("ci");
        hint.extra = Object::from([("run", 7)]);
        let block = block_of(&event_of(hint.clone(), "r1").to_json()).unwrap();
        assert_eq!((block.id, block.source, block.hint, block.extra), (hint.id, hint.source, hint.hint, hint.extra));
    }
}
