//! Messages that are posted.

use recount_agent::ReplyState;
use recount_log::{Cursor, Epoch, Error, Events};
use recount_message::{
    AgentEvent, ContentBlock, CustomEvent, CustomName, Event, Json, Msg, Object, Role, Stamps, UserInterruptEvent,
};

use super::Run;
use super::start::agent_of;
use crate::error::PostError;
use crate::find_duplicate::find_duplicate;
use crate::options::{OnBusy, Posted};
use crate::run_metadata::{OpenReply, QueuedMessage, reply_to, start_of};

/// What is known of a message that is posted.
struct Earlier {
    epoch: Epoch,
    /// Where it stands, if it does, and what it says.
    message: Option<(u64, String)>,
    /// Its reply has begun.
    is_answered: bool,
}

impl Run<'_> {
    /// Takes a message: writes it, and begins its reply or queues it.
    pub(super) async fn post(&mut self, message: Msg, on_busy: OnBusy) -> Result<Posted, PostError> {
        let reply_id = reply_to(message.id());
        let Earlier { epoch, message: earlier, is_answered } = self.earlier(message.id(), &reply_id).await?;
        let place = match earlier {
            Some((_, text)) if !says_the_same(&text, &message) => {
                return Err(PostError::IdConflict { id: message.id().to_owned() });
            }
            Some((place, _)) => Some(place),
            None => None,
        };
        let is_queued = self.desk.lock().notes.queue.iter().any(|queued| queued.reply == reply_id);
        if let Some(seq) = place.filter(|_| is_answered || is_queued) {
            return Ok(Posted { reply_id, cursor: Cursor { epoch, seq } });
        }
        if *self.draining.borrow() {
            return Err(crate::Error::Draining.into());
        }
        let event = place.is_none().then(|| event_of(&message));
        if is_answered {
            // Nobody has answered this message, so that reply is another's.
            return Err(PostError::IdInUse { id: reply_id });
        }
        if let Some(event) = &event
            && find_duplicate(&self.session, Cursor { epoch, seq: 0 }, event).await?.is_some()
        {
            return Err(PostError::IdInUse { id: message.id().to_owned() });
        }
        let cursor = match self.desk.reply() {
            None => self.begin_reply(reply_id.clone(), event, None).await?,
            Some(open) => {
                // What is refused writes nothing, so whether the session is still this run's has to be asked.
                self.session.renew(&self.lease, self.host.options.lease_time).await?;
                let queued = QueuedMessage { message: message.id().to_owned(), reply: reply_id.clone() };
                match on_busy {
                    OnBusy::Reject => return Err(PostError::Busy { reply_id: open.id }),
                    OnBusy::Queue => self.queue(queued, event, false).await?,
                    OnBusy::Interrupt => {
                        self.interrupt(open.id).await?;
                        self.queue(queued, event, true).await?
                    }
                }
            }
        };
        let cursor = place.map_or(cursor, |seq| Cursor { epoch, seq });
        Ok(Posted { reply_id, cursor })
    }

    async fn earlier(&mut self, id: &str, reply_id: &str) -> Result<Earlier, Error> {
        let (key, id, reply_id) = (self.session.key().clone(), id.to_owned(), reply_id.to_owned());
        let earlier = self.host.log.read(move |view| {
            let row = view.session(&key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
            let message = view.message(&key, &id)?.map(|message| (message.start_seq, message.body));
            let is_answered = view.message_status(&key, &reply_id)?.is_some()
                || view.open_reply_infos(&key)?.iter().any(|opened| opened.id == reply_id);
            Ok(Earlier { epoch: row.epoch, message, is_answered })
        });
        earlier.await
    }

    async fn interrupt(&mut self, reply_id: String) -> Result<(), Error> {
        match self.session.append([&Event::new(UserInterruptEvent::new(reply_id))]).await {
            // Somebody was first, or it has ended by itself.
            Ok(_) | Err(Error::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn queue(
        &mut self,
        queued: QueuedMessage,
        event: Option<AgentEvent>,
        is_urgent: bool,
    ) -> Result<Cursor, Error> {
        let states = {
            let mut desk = self.desk.lock();
            desk.note(|notes| match is_urgent {
                true => notes.queue.push_front(queued),
                false => notes.queue.push_back(queued),
            });
            desk.changes()
        };
        Ok(self.outbox.ask(Events::of(&event), states).await?.cursor)
    }

    /// Begins a reply, in one commit with the message that it answers or the hint that it begins with. Says where that
    /// stands.
    pub(super) async fn begin_reply(
        &mut self,
        reply_id: String,
        message: Option<AgentEvent>,
        hint: Option<AgentEvent>,
    ) -> Result<Cursor, crate::Error> {
        let agent = agent_of(&self.host, &self.session).await?;
        let builder = self.host.agents.build(&agent, self.session.key()).await?;
        let initial = builder.initial_state(self.session.key().name());
        let mut state = self.stored_state(&agent, initial).await?;
        state.reply = Some(ReplyState::fresh(&reply_id));
        let open = OpenReply { id: reply_id, agent, name: builder.name().to_owned() };
        let start = start_of(&open, self.session.key().name());
        let mut events = self.joining(&open.name);
        let is_answer = message.is_some();
        events.extend(message);
        events.push(start);
        events.extend(hint);
        let states = {
            let mut desk = self.desk.lock();
            desk.keep(&open.agent, &state);
            desk.note(|notes| {
                notes.joined = Some(open.name.clone());
                notes.reply = Some(open);
            });
            desk.changes()
        };
        self.prepared = Some(builder);
        self.is_waiting = false;
        let Cursor { epoch, seq } = self.outbox.ask(Events::of(&events), states).await?.cursor;
        // The start is the last one, and the message stands before it.
        Ok(Cursor { epoch, seq: if is_answer { seq - 1 } else { seq } })
    }

    /// Says that an agent has joined the session, and that the one before it has left.
    fn joining(&self, name: &str) -> Vec<AgentEvent> {
        let before = self.desk.lock().notes.joined.clone();
        if before.as_deref() == Some(name) {
            return Vec::new();
        }
        let said = |name: &str, joined: bool| {
            let mut value = Object::from([("name", name)]);
            value.insert("joined", joined);
            Event::new(CustomEvent::signal(CustomName::Agent.as_str(), value))
        };
        before.iter().map(|before| said(before, false)).chain([said(name, true)]).collect()
    }
}

/// Whether a message says what an earlier one says. Ids and times of its blocks may have been filled in for each of them.
fn says_the_same(earlier: &str, message: &Msg) -> bool {
    fn stripped(object: &mut Object) {
        for name in ["id", "created_at", "finished_at"] {
            object.remove(name);
        }
    }
    fn words(text: &str) -> Option<(Object, Vec<Object>)> {
        let mut message = Object::parse(text).ok()?;
        stripped(&mut message);
        let blocks = message.remove("content")?.to_list()?;
        let mut blocks: Vec<Object> = blocks.iter().filter_map(Json::to_object).collect();
        blocks.iter_mut().for_each(stripped);
        Some((message, blocks))
    }
    words(earlier).is_some_and(|earlier| words(&message.to_json()) == Some(earlier))
}

/// The entry of a message. Its id is the message's.
fn event_of(message: &Msg) -> AgentEvent {
    let (id, time) = (message.id().to_owned(), message.created_at().to_owned());
    Event::stamped(id, time, CustomEvent::message(message))
}

/// Looks at a message before anything is done with it. What has no id or no time gets one.
pub(crate) fn checked(mut message: Msg) -> Result<Msg, PostError> {
    let mut stamps = Stamps::default();
    if message.id().is_empty() {
        message = message.with_id(stamps.id());
    }
    if message.created_at().is_empty() {
        message = message.with_created_at(stamps.time());
    }
    let problem = |what: &str| PostError::InvalidMessage { id: message.id().to_owned(), problem: what.to_owned() };
    if message.role() == Role::System {
        return Err(problem("a system prompt"));
    }
    let unsayable = message.content().iter().find(|block| {
        matches!(block, ContentBlock::ToolCall(_) | ContentBlock::ToolResult(_) | ContentBlock::Thinking(_))
    });
    match unsayable {
        Some(block) => Err(problem(&format!("a block of the type {}", block.type_name()))),
        None => Ok(message),
    }
}
