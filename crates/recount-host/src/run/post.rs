//! Posting of messages.

use recount_agent::ReplyState;
use recount_log::{Cursor, Epoch, Error, Events};
use recount_message::{
    AgentEvent, ContentBlock, CustomEvent, CustomName, Event, Json, Msg, Object, Role, Stamps, UserInterruptEvent,
};

use super::Run;
use super::start::agent_name;
use crate::error::PostError;
use crate::options::{OnBusy, Posted};
use crate::run_metadata::{CurrentReply, QueuedMessage, reply_id_for, reply_start_event};

/// The entries that use the ids of a posted message and its reply.
struct Existing {
    epoch: Epoch,
    /// The sequence number and the text of the message with the same id.
    message: Option<(u64, String)>,
    /// Whether a reply with the id of the message's reply has started.
    has_reply: bool,
}

impl Run<'_> {
    /// Appends a message, and starts its reply or queues it.
    pub(super) async fn post(&mut self, message: Msg, on_busy: OnBusy) -> Result<Posted, PostError> {
        let reply_id = reply_id_for(message.id());
        let Existing { epoch, message: existing, has_reply } = self.find_existing(message.id(), &reply_id).await?;
        let existing_seq = match existing {
            Some((_, text)) if !has_same_content(&text, &message) => {
                return Err(PostError::IdConflict { id: message.id().to_owned() });
            }
            Some((seq, _)) => Some(seq),
            None => None,
        };
        let is_queued = self.state.lock().metadata.queue.iter().any(|queued| queued.reply_id == reply_id);
        if let Some(seq) = existing_seq.filter(|_| has_reply || is_queued) {
            return Ok(Posted { reply_id, cursor: Cursor { epoch, seq } });
        }
        if *self.draining.borrow() {
            return Err(crate::Error::Draining.into());
        }
        let event = existing_seq.is_none().then(|| message_event(&message));
        if has_reply {
            // The message is new, so the reply with this id belongs to something else.
            return Err(PostError::IdInUse { id: reply_id });
        }
        if let Some(event) = &event
            && self.session.find_event(&event.id).await?.is_some()
        {
            return Err(PostError::IdInUse { id: message.id().to_owned() });
        }
        let cursor = match self.state.reply() {
            None => self.start_reply(reply_id.clone(), event, None).await?,
            Some(open) => {
                // A rejected message appends nothing, so a lost lease would go unnoticed.
                self.session.renew(&self.lease, self.host.options.lease_time).await?;
                let queued = QueuedMessage { message_id: message.id().to_owned(), reply_id: reply_id.clone() };
                match on_busy {
                    OnBusy::Reject => return Err(PostError::Busy { reply_id: open.id }),
                    OnBusy::Queue => self.enqueue(queued, event, false).await?,
                    OnBusy::Interrupt => {
                        self.interrupt(open.id).await?;
                        self.enqueue(queued, event, true).await?
                    }
                }
            }
        };
        let cursor = existing_seq.map_or(cursor, |seq| Cursor { epoch, seq });
        Ok(Posted { reply_id, cursor })
    }

    async fn find_existing(&mut self, id: &str, reply_id: &str) -> Result<Existing, Error> {
        let (key, id, reply_id) = (self.session.key().clone(), id.to_owned(), reply_id.to_owned());
        let existing = self.host.log.read(move |view| {
            let row = view.session(&key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
            let message = view.message(&key, &id)?.map(|message| (message.start_seq, message.body.into_string()));
            let has_reply = view.message_status(&key, &reply_id)?.is_some()
                || view.open_reply_infos(&key)?.iter().any(|info| info.id == reply_id);
            Ok(Existing { epoch: row.epoch, message, has_reply })
        });
        existing.await
    }

    async fn interrupt(&mut self, reply_id: String) -> Result<(), Error> {
        match self.session.append([&Event::new(UserInterruptEvent::new(reply_id))]).await {
            // The log rejects the interrupt if the reply has ended or was interrupted before.
            Ok(_) | Err(Error::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Appends a message and adds it to the queue, at the front if it is urgent.
    async fn enqueue(
        &mut self,
        queued: QueuedMessage,
        event: Option<AgentEvent>,
        is_urgent: bool,
    ) -> Result<Cursor, Error> {
        let changes = {
            let mut state = self.state.lock();
            state.update_metadata(|metadata| match is_urgent {
                true => metadata.queue.push_front(queued),
                false => metadata.queue.push_back(queued),
            });
            state.take_state_changes()
        };
        Ok(self.queue.append(Events::of(&event), changes).await?.cursor)
    }

    /// Starts a reply, in one commit with the message or the hint that it answers. Returns the cursor of the message or the
    /// hint.
    pub(super) async fn start_reply(
        &mut self,
        reply_id: String,
        message: Option<AgentEvent>,
        hint: Option<AgentEvent>,
    ) -> Result<Cursor, crate::Error> {
        let agent = agent_name(&self.host, &self.session).await?;
        let builder = self.host.agents.build(&agent, self.session.key()).await?;
        let initial = builder.initial_state(self.session.key().name());
        let mut agent_state = self.stored_state(&agent).await?.unwrap_or(initial);
        agent_state.reply = Some(ReplyState::fresh(&reply_id));
        let reply = CurrentReply { id: reply_id, agent, name: builder.name().to_owned() };
        let start = reply_start_event(&reply, self.session.key().name());
        let mut events = self.agent_change_events(&reply.name);
        let has_message = message.is_some();
        events.extend(message);
        events.push(start);
        events.extend(hint);
        let changes = {
            let mut state = self.state.lock();
            state.set_agent_state(&reply.agent, &agent_state);
            state.update_metadata(|metadata| {
                metadata.announced_agent = Some(reply.name.clone());
                metadata.reply = Some(reply);
            });
            state.take_state_changes()
        };
        self.prepared = Some(builder);
        self.is_waiting = false;
        let Cursor { epoch, seq } = self.queue.append(Events::of(&events), changes).await?.cursor;
        // The start of the reply is the last event, and the message is the one before it.
        Ok(Cursor { epoch, seq: if has_message { seq - 1 } else { seq } })
    }

    /// Returns the signals that an agent has joined the session and that the previous one has left. Empty if the agent is the
    /// same.
    fn agent_change_events(&self, name: &str) -> Vec<AgentEvent> {
        let previous = self.state.lock().metadata.announced_agent.clone();
        if previous.as_deref() == Some(name) {
            return Vec::new();
        }
        let signal = |name: &str, joined: bool| {
            let mut value = Object::from([("name", name)]);
            value.insert("joined", joined);
            Event::new(CustomEvent::signal(CustomName::Agent.as_str(), value))
        };
        previous.iter().map(|previous| signal(previous, false)).chain([signal(name, true)]).collect()
    }
}

/// Whether a message has the same content as an earlier one, regardless of ids and times, which may have been generated for
/// each of them.
fn has_same_content(earlier: &str, message: &Msg) -> bool {
    fn remove_generated(object: &mut Object) {
        for name in ["id", "created_at", "finished_at"] {
            object.remove(name);
        }
    }
    fn comparable(text: &str) -> Option<(Object, Vec<Object>)> {
        let mut message = Object::parse(text).ok()?;
        remove_generated(&mut message);
        let blocks = message.remove("content")?.to_array()?;
        let mut blocks: Vec<Object> = blocks.iter().filter_map(Json::to_object).collect();
        blocks.iter_mut().for_each(remove_generated);
        Some((message, blocks))
    }
    comparable(earlier).is_some_and(|earlier| comparable(&message.to_json()) == Some(earlier))
}

/// Creates the event of a message, with the id of the message.
fn message_event(message: &Msg) -> AgentEvent {
    let (id, time) = (message.id().to_owned(), message.created_at().to_owned());
    Event::stamped(id, time, CustomEvent::message(message))
}

/// Validates a message that is to be posted, and fills in its id and time if they are empty.
pub(crate) fn validate(mut message: Msg) -> Result<Msg, PostError> {
    let mut stamps = Stamps::default();
    if message.id().is_empty() {
        message = message.with_id(stamps.id());
    }
    if message.created_at().is_empty() {
        message = message.with_created_at(stamps.time());
    }
    let invalid =
        |problem: &str| PostError::InvalidMessage { id: message.id().to_owned(), problem: problem.to_owned() };
    if message.role() == Role::System {
        return Err(invalid("a system prompt"));
    }
    let agent_block = message.content().iter().find(|block| {
        matches!(block, ContentBlock::ToolCall(_) | ContentBlock::ToolResult(_) | ContentBlock::Thinking(_))
    });
    match agent_block {
        Some(block) => Err(invalid(&format!("a block of type `{}`", block.type_name()))),
        None => Ok(message),
    }
}
