//! Hints: messages to the model from outside of the conversation.

use std::borrow::Cow;

use recount_log::{Appended, Cursor, Error, Events};
use recount_message::{AgentEvent, Event, EventKind, HintBlock, HintBlockEvent, Json, Stamps};

use super::Run;
use crate::run_metadata::PendingHint;

impl Run<'_> {
    /// Stores a hint for the open reply, or starts a reply with it.
    pub(super) async fn hint(&mut self, event: AgentEvent) -> Result<Appended, crate::Error> {
        if let Some(duplicate) = self.find_duplicate_hint(&event).await? {
            return Ok(duplicate);
        }
        if self.state.reply().is_none() {
            return self.start_reply_with_hint(event).await;
        }
        let EventKind::HintBlock(hint) = &event.kind else { return Err(Error::Closed.into()) };
        let pending =
            PendingHint { event_id: event.id.to_string(), block_id: hint.block_id.to_string(), event: event.to_json() };
        let changes = {
            let mut state = self.state.lock();
            state.update_metadata(|metadata| metadata.hints.push(pending));
            state.take_state_changes()
        };
        if let (Some(active), Some(block)) = (&self.active, parse_hint_block(&event.to_json())) {
            active.agent.hint(block);
        }
        let appended = self.queue.append(Events::default(), changes).await?;
        Ok(Appended { written: 1, ..appended })
    }

    /// Requests a summary of the conversation before the next model call.
    pub(super) async fn compress(&mut self) -> Result<(), crate::Error> {
        if let Some(active) = &self.active {
            active.agent.compress();
        }
        let changes = {
            let mut state = self.state.lock();
            state.update_metadata(|metadata| metadata.compress = true);
            state.take_state_changes()
        };
        self.queue.append(Events::default(), changes).await?;
        Ok(())
    }

    /// Returns the result of a hint that is pending or in the log already, or `None`.
    async fn find_duplicate_hint(&mut self, event: &AgentEvent) -> Result<Option<Appended>, Error> {
        let is_pending = self.state.lock().metadata.hints.iter().any(|hint| hint.event_id == event.id);
        let cursor = match is_pending {
            true => {
                let row = self.session.info().await?;
                Some(Cursor { epoch: row.epoch, seq: row.head })
            }
            false => self.session.find_event(&event.id).await?,
        };
        Ok(cursor.map(|cursor| Appended { written: 0, duplicates: 1, cursor, ignored: Vec::new() }))
    }

    async fn start_reply_with_hint(&mut self, mut event: AgentEvent) -> Result<Appended, crate::Error> {
        if *self.draining.borrow() {
            return Err(crate::Error::Draining);
        }
        let reply_id = Stamps::default().id();
        if let EventKind::HintBlock(hint) = &mut event.kind {
            hint.reply_id = reply_id.clone().into();
        }
        let cursor = self.start_reply(reply_id, None, Some(event)).await?;
        Ok(Appended { written: 1, duplicates: 0, cursor, ignored: Vec::new() })
    }
}

/// Parses the event of a hint, and returns its block. `None` if it is not a hint.
pub(super) fn parse_hint_block(event: &str) -> Option<HintBlock> {
    let event = Event::from_json(event).ok()?.into_owned();
    let extra = event.extension("extra").and_then(|extra| extra.to_object()).unwrap_or_default();
    let EventKind::HintBlock(hint) = event.kind else { return None };
    let HintBlockEvent { block_id, source, hint, .. } = hint;
    let mut block = HintBlock::new(hint).with_id(block_id);
    block.source = source.map(Cow::into_owned);
    block.extra = extra;
    Some(block)
}

/// Creates the event of a hint from a background tool. Its id is derived from the reply and the hint, so that duplicates are
/// detected.
pub(super) fn background_hint_event(hint: HintBlock, reply_id: &str) -> AgentEvent {
    let HintBlock { hint, id, source, extra, created_at, .. } = hint;
    let event_id = format!("{reply_id}.{id}");
    let mut kind = HintBlockEvent::new(reply_id.to_owned(), id, hint);
    kind.source = source.map(Into::into);
    let event = Event::stamped(event_id, created_at, kind);
    if extra.is_empty() { event } else { event.with_extension("extra", Json::from(extra)) }
}

#[cfg(test)]
mod tests {
    use recount_message::Object;

    use super::*;

    #[test]
    fn hint_block_round_trips_through_its_event() {
        let mut hint = HintBlock::new("The build is green.").with_source("ci");
        hint.extra = Object::from([("run", 7)]);
        let block = parse_hint_block(&background_hint_event(hint.clone(), "r1").to_json()).unwrap();
        assert_eq!((block.id, block.source, block.hint, block.extra), (hint.id, hint.source, hint.hint, hint.extra));
    }
}
