//! An agent with what it has to know: its state, and the session's messages.

use std::collections::{HashMap, HashSet};

use recount_agent::machine::{CallStatus, OpenCalls};
use recount_agent::{Agent, AgentBuilder, AgentState, BuildError, ReplyState, SavedAgent};
use recount_log::storage::{OpenReplyInfo, Visibility};
use recount_log::{Error, Start};
use recount_message::{Checkpoint, CheckpointReply, ContentBlock, Msg, ReplyFold, Role};

use super::failing_agent::failing_agent;
use super::hint::block_of;
use super::rebuild::{RebuiltReplies, rebuild_replies};
use super::start::opened;
use super::{Run, StopReason};
use crate::run_metadata::{DRAINED_DOCUMENT, OpenReply, agent_document, reply_to};
use crate::sink::LogSink;
use crate::telemetry::RunTelemetry;
use crate::uploads::Uploads;

/// So many messages are read at once.
const PAGE: usize = 256;

impl Run<'_> {
    /// Takes up the reply that has not ended, from where the log has it.
    pub(super) async fn take_up(&mut self) -> Result<(), StopReason> {
        let Some(reply) = self.desk.reply() else { return Ok(()) };
        // What the last run has said is a part of it.
        self.outbox.committed().await?;
        let read = self.desk.lock().notes.read;
        let id = reply.id.clone();
        let is_wanted = move |opened: &OpenReplyInfo| opened.id == id || (opened.hosted && opened.nested);
        let rebuilt = rebuild_replies(&self.host.log, &self.session, is_wanted, read).await?;
        let RebuiltReplies { mut folds, untaken, cursor } = rebuilt;
        let is_left = self.session.state(DRAINED_DOCUMENT).await?.is_some_and(|at| at == cursor.to_string());
        let Some(fold) = folds.remove(&reply.id) else {
            // Somebody else has ended it.
            self.desk.lock().note(|notes| notes.reply = None);
            return Ok(());
        };
        self.reader = Some(self.session.subscribe(Start::After(cursor))?);
        let waits = untaken.is_empty() && waits(fold.message());
        {
            let mut desk = self.desk.lock();
            desk.untaken = untaken;
            desk.parts = folds.keys().cloned().collect();
        }
        self.must_reload = false;
        if waits && !std::mem::take(&mut self.has_expired) {
            return self.wait_on(&reply).await;
        }
        let agent = self.load(&reply, fold, folds, is_left).await?;
        self.set_to_work(agent, &reply.id)
    }

    /// The reply waits, and nobody has to be at it until somebody answers or the time for that is over.
    async fn wait_on(&mut self, reply: &OpenReply) -> Result<(), StopReason> {
        let stored = self.session.state(&agent_document(&reply.agent)).await?;
        let state = stored.and_then(|text| AgentState::from_json(&text).ok());
        self.wait(state.and_then(|state| state.expires_at()));
        Ok(())
    }

    /// Makes the agent of a reply, with all that it has to know.
    async fn load(
        &mut self,
        reply: &OpenReply,
        fold: ReplyFold,
        parts: HashMap<String, ReplyFold>,
        is_left: bool,
    ) -> Result<Agent, StopReason> {
        let builder = match self.prepared.take().filter(|prepared| prepared.name() == reply.name) {
            Some(builder) => builder,
            None => match self.host.agents.build(&reply.agent, self.session.key()).await {
                Ok(builder) => builder,
                Err(error) => failing_agent(&reply.name, error.to_string()),
            },
        };
        let initial = builder.initial_state(self.session.key().name());
        let is_blank = fold.message().content().is_empty();
        let mut state = self.state(reply, initial, is_blank).await?;
        if let Some(known) = &mut state.reply {
            known.is_handed_over = is_left;
        }
        let mut conversation = self.conversation(reply, fold).await?;
        conversation.replies.extend(parts.into_values().map(|part| {
            let call_floor = Some(part.call_floor());
            CheckpointReply { message: part.into_message(), call_floor }
        }));
        let saved = SavedAgent::new(state, conversation);
        match self.build(builder, reply, saved.clone()) {
            Ok(agent) => Ok(agent),
            Err(error) => {
                let stand_in = failing_agent(&reply.name, error.to_string());
                self.build(stand_in, reply, saved).map_err(|_| StopReason::Failed)
            }
        }
    }

    fn build(&self, builder: AgentBuilder, reply: &OpenReply, saved: SavedAgent) -> Result<Agent, BuildError> {
        let session_id = self.session.key().name().to_owned();
        let (desk, outbox, left) = (self.desk.clone(), self.outbox.clone(), self.host.left.clone());
        let sink = LogSink::new(desk, outbox, left, session_id, reply.clone());
        let builder = match self.host.options.on_restart {
            Some(on_restart) => builder.on_restart(on_restart),
            None => builder,
        };
        let watching = RunTelemetry {
            session: self.session.key().name().to_owned(),
            reply_id: reply.id.clone(),
            agent: reply.agent.clone(),
            traces: self.traces.clone(),
        };
        let uploads = Uploads::of(&self.host.log, self.session.key());
        let builder = builder.middleware(watching).middleware(uploads).still_running(self.watched.clone());
        builder.sink(sink).resume(saved).build()
    }

    /// What the agent knew when it last said so, with the hints that it has to be told.
    async fn state(&mut self, reply: &OpenReply, initial: AgentState, is_blank: bool) -> Result<AgentState, Error> {
        let mut state = self.stored_state(&reply.agent, initial).await?;
        if state.reply.as_ref().is_none_or(|known| known.id != reply.id) {
            let known = if is_blank { ReplyState::fresh(&reply.id) } else { ReplyState::new(&reply.id) };
            state.reply = Some(known);
        }
        let (pending, compress) = {
            let desk = self.desk.lock();
            (desk.notes.hints.clone(), desk.notes.compress)
        };
        state.compress |= compress;
        state.hints.retain(|hint| !pending.iter().any(|pending| pending.block == hint.id));
        state.hints.extend(pending.iter().filter_map(|pending| block_of(&pending.event)));
        Ok(state)
    }

    /// What an agent knew when it last said so, or what it knows at first.
    pub(super) async fn stored_state(&mut self, agent: &str, initial: AgentState) -> Result<AgentState, Error> {
        let stored = self.session.state(&agent_document(agent)).await?;
        // What cannot be read was written by another version.
        let known = stored.and_then(|text| AgentState::from_json(&text).ok());
        Ok(known.unwrap_or(initial))
    }

    /// The session's messages as the agent sees them: each question before its answer, nothing that is still queued, and of
    /// others only what they said.
    async fn conversation(&mut self, reply: &OpenReply, fold: ReplyFold) -> Result<Checkpoint, Error> {
        let open: HashSet<String> =
            opened(&self.host, &self.session).await?.into_iter().map(|opened| opened.id).collect();
        let queued: HashSet<String> =
            self.desk.lock().notes.queue.iter().map(|queued| queued.message.clone()).collect();
        let all = self.messages().await?;
        let ids: HashSet<String> = all.iter().map(|message| message.id().to_owned()).collect();
        let mut questions: HashMap<String, Msg> = HashMap::new();
        let mut replies = Vec::with_capacity(all.len());
        let whole = |message| CheckpointReply { message, call_floor: None };
        let call_floor = fold.call_floor();
        let mut own = Some(fold.into_message());
        for message in all {
            if queued.contains(message.id()) || message.role() == Role::System {
                continue;
            }
            let answer = reply_to(message.id());
            if ids.contains(&answer) {
                questions.insert(answer, message);
                continue;
            }
            replies.extend(questions.remove(message.id()).map(whole));
            if message.id() == reply.id {
                replies.extend(own.take().map(|message| CheckpointReply { message, call_floor: Some(call_floor) }));
            } else if !open.contains(message.id()) {
                replies.extend(said_by_others(message, &reply.name).map(whole));
            }
        }
        replies.extend(own.map(|message| CheckpointReply { message, call_floor: Some(call_floor) }));
        Ok(Checkpoint { cursor: 0, replies, taken: Vec::new() })
    }

    /// All messages that are no part of another reply, oldest first.
    async fn messages(&mut self) -> Result<Vec<Msg>, Error> {
        let mut pages = Vec::new();
        let mut before: Option<String> = None;
        loop {
            let page = self.session.messages(before.as_deref(), Visibility::TopLevel, PAGE).await?;
            let Some(page) = page else { break };
            before = page.before;
            pages.push(page.messages);
            if before.is_none() {
                break;
            }
        }
        let texts = pages.into_iter().rev().flatten();
        Ok(texts.filter_map(|text| Msg::from_json(&text).ok()).collect())
    }
}

/// Whether a reply only waits for somebody.
fn waits(message: &Msg) -> bool {
    let calls = OpenCalls::of(message);
    let is_at_rest = |status| matches!(status, CallStatus::Asking | CallStatus::Submitted | CallStatus::Pending);
    calls.is_waiting() && calls.iter().all(|(_, status)| is_at_rest(status))
}

/// A message as an agent sees it: of another agent's reply only what was said, since its calls are not this one's.
fn said_by_others(message: Msg, name: &str) -> Option<Msg> {
    if message.role() != Role::Assistant || message.name() == name {
        return Some(message);
    }
    let mut parts = message.into_parts();
    parts.content.retain(|block| matches!(block, ContentBlock::Text(_) | ContentBlock::Data(_)));
    (!parts.content.is_empty()).then(|| Msg::as_received(parts))
}
