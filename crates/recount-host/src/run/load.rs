//! Loading an agent with its state and the session's messages, to resume the open reply.

use std::collections::{HashMap, HashSet};

use recount_agent::machine::{CallStatus, OpenCalls};
use recount_agent::{Agent, AgentBuilder, AgentState, BuildError, ReplyState, SavedAgent};
use recount_log::storage::{OpenReplyInfo, Visibility};
use recount_log::{Error, RebuiltReplies};
use recount_message::{Checkpoint, CheckpointReply, ContentBlock, Msg, ReplyFold, Role};

use super::failing_agent::failing_agent;
use super::hint::parse_hint_block;
use super::start::open_replies;
use super::{Run, StopReason};
use crate::run_metadata::{CurrentReply, DRAINED_DOCUMENT, agent_state_document, reply_id_for};
use crate::sink::LogSink;
use crate::telemetry::RunTelemetry;
use crate::uploads::InlineUploads;

/// The number of messages that are read at once.
const PAGE_SIZE: usize = 256;

impl Run<'_> {
    /// Resumes the open reply from the log: waits if the reply waits for input, else starts its agent.
    pub(super) async fn resume(&mut self) -> Result<(), StopReason> {
        let Some(reply) = self.state.reply() else { return Ok(()) };
        // The events of the previous agent are part of the reply.
        self.queue.flush().await?;
        let last_input_seq = self.state.lock().metadata.last_input_seq;
        let id = reply.id.clone();
        let is_needed = move |info: &OpenReplyInfo| info.id == id || (info.hosted && info.nested);
        let rebuilt = self.session.rebuild_open_replies(is_needed, last_input_seq).await?;
        let RebuiltReplies { cursor, replies, pending_inputs } = rebuilt;
        let mut folds: HashMap<String, ReplyFold> =
            replies.into_iter().map(|reply| (reply.info.id, reply.fold)).collect();
        let was_drained = self.session.state(DRAINED_DOCUMENT).await?.is_some_and(|head| head == cursor.to_string());
        let Some(fold) = folds.remove(&reply.id) else {
            // Another client has ended the reply.
            self.state.lock().update_metadata(|metadata| metadata.reply = None);
            return Ok(());
        };
        self.reader = Some(self.session.subscribe_inputs(cursor)?);
        let waits = pending_inputs.is_empty() && waits_for_input(fold.message());
        {
            let mut state = self.state.lock();
            state.pending_inputs = pending_inputs.into_iter().map(Into::into).collect();
            state.sub_replies = folds.keys().cloned().collect();
        }
        self.must_reload = false;
        if waits && !std::mem::take(&mut self.has_expired) {
            let state = self.stored_state(&reply.agent).await?;
            self.start_waiting(state.and_then(|state| state.expires_at()));
            return Ok(());
        }
        let agent = self.load_agent(&reply, fold, folds, was_drained).await?;
        self.start_agent(agent, &reply.id)
    }

    /// Builds the agent of a reply with its state and the conversation. If the agent is unavailable, a failing one takes its
    /// place, which ends the reply.
    async fn load_agent(
        &mut self,
        reply: &CurrentReply,
        fold: ReplyFold,
        sub_replies: HashMap<String, ReplyFold>,
        was_drained: bool,
    ) -> Result<Agent, StopReason> {
        let builder = match self.prepared.take().filter(|prepared| prepared.name() == reply.name) {
            Some(builder) => builder,
            None => match self.host.agents.build(&reply.agent, self.session.key()).await {
                Ok(builder) => builder,
                Err(error) => failing_agent(&reply.name, error.to_string()),
            },
        };
        let initial = builder.initial_state(self.session.key().name());
        let is_new = fold.message().content().is_empty();
        let mut state = self.resumed_state(reply, initial, is_new).await?;
        if let Some(reply_state) = &mut state.reply {
            reply_state.is_handed_over = was_drained;
        }
        let mut conversation = self.conversation(reply, fold).await?;
        conversation.replies.extend(sub_replies.into_values().map(|fold| {
            let call_floor = Some(fold.call_floor());
            CheckpointReply { message: fold.into_message(), call_floor }
        }));
        let saved = SavedAgent::new(state, conversation);
        match self.build_agent(builder, reply, saved.clone()) {
            Ok(agent) => Ok(agent),
            Err(error) => {
                let builder = failing_agent(&reply.name, error.to_string());
                self.build_agent(builder, reply, saved).map_err(|_| StopReason::Failed)
            }
        }
    }

    fn build_agent(&self, builder: AgentBuilder, reply: &CurrentReply, saved: SavedAgent) -> Result<Agent, BuildError> {
        let session_id = self.session.key().name().to_owned();
        let (state, queue, shutdown) = (self.state.clone(), self.queue.clone(), self.host.shutdown.clone());
        let sink = LogSink::new(state, queue, shutdown, session_id, reply.clone());
        let builder = match self.host.options.on_restart {
            Some(on_restart) => builder.on_restart(on_restart),
            None => builder,
        };
        let telemetry = RunTelemetry {
            session: self.session.key().name().to_owned(),
            reply_id: reply.id.clone(),
            agent: reply.agent.clone(),
            traces: self.traces.clone(),
        };
        let uploads = InlineUploads::new(&self.host.log, self.session.key());
        let builder = builder.middleware(telemetry).middleware(uploads).still_running(self.watched_calls.clone());
        builder.sink(sink).resume(saved).build()
    }

    /// Returns the state with which an agent resumes a reply: its stored state or the initial one, with the pending hints.
    async fn resumed_state(
        &mut self,
        reply: &CurrentReply,
        initial: AgentState,
        is_new: bool,
    ) -> Result<AgentState, Error> {
        let mut agent_state = self.stored_state(&reply.agent).await?.unwrap_or(initial);
        if agent_state.reply.as_ref().is_none_or(|known| known.id != reply.id) {
            let reply_state = if is_new { ReplyState::fresh(&reply.id) } else { ReplyState::new(&reply.id) };
            agent_state.reply = Some(reply_state);
        }
        let (hints, compress) = {
            let state = self.state.lock();
            (state.metadata.hints.clone(), state.metadata.compress)
        };
        agent_state.compress |= compress;
        agent_state.hints.retain(|stored| !hints.iter().any(|hint| hint.block_id == stored.id));
        agent_state.hints.extend(hints.iter().filter_map(|hint| parse_hint_block(&hint.event)));
        Ok(agent_state)
    }

    /// Returns the stored state of an agent. `None` if nothing is stored, or if another version wrote it in a format that this
    /// one cannot read.
    pub(super) async fn stored_state(&mut self, agent: &str) -> Result<Option<AgentState>, Error> {
        let stored = self.session.state(&agent_state_document(agent)).await?;
        Ok(stored.and_then(|text| AgentState::from_json(&text).ok()))
    }

    /// Returns the session's messages as the agent sees them: each question directly before its reply, without queued
    /// messages, and with only the visible content of other agents' replies.
    async fn conversation(&mut self, reply: &CurrentReply, fold: ReplyFold) -> Result<Checkpoint, Error> {
        let open: HashSet<String> =
            open_replies(&self.host, &self.session).await?.into_iter().map(|info| info.id).collect();
        let queued: HashSet<String> =
            self.state.lock().metadata.queue.iter().map(|queued| queued.message_id.clone()).collect();
        let messages = self.messages().await?;
        let ids: HashSet<String> = messages.iter().map(|message| message.id().to_owned()).collect();
        let mut questions: HashMap<String, Msg> = HashMap::new();
        let mut replies = Vec::with_capacity(messages.len());
        let complete = |message| CheckpointReply { message, call_floor: None };
        let call_floor = fold.call_floor();
        let mut own = Some(fold.into_message());
        for message in messages {
            if queued.contains(message.id()) || message.role() == Role::System {
                continue;
            }
            let reply_id = reply_id_for(message.id());
            if ids.contains(&reply_id) {
                questions.insert(reply_id, message);
                continue;
            }
            replies.extend(questions.remove(message.id()).map(complete));
            if message.id() == reply.id {
                replies.extend(own.take().map(|message| CheckpointReply { message, call_floor: Some(call_floor) }));
            } else if !open.contains(message.id()) {
                replies.extend(visible_to(message, &reply.name).map(complete));
            }
        }
        replies.extend(own.map(|message| CheckpointReply { message, call_floor: Some(call_floor) }));
        Ok(Checkpoint { cursor: 0, replies, taken: Vec::new() })
    }

    /// Returns all messages except the replies of sub-agents, oldest first.
    async fn messages(&mut self) -> Result<Vec<Msg>, Error> {
        let mut pages = Vec::new();
        let mut before: Option<String> = None;
        loop {
            let page = self.session.messages(before.as_deref(), Visibility::TopLevel, PAGE_SIZE).await?;
            let Some(page) = page else { break };
            before = page.before;
            pages.push(page.messages);
            if before.is_none() {
                break;
            }
        }
        let texts = pages.into_iter().rev().flatten();
        Ok(texts.filter_map(|message| message.decode().ok()).collect())
    }
}

/// Whether a reply can continue only after an input.
fn waits_for_input(message: &Msg) -> bool {
    let calls = OpenCalls::of(message);
    let is_waiting = |status| matches!(status, CallStatus::Asking | CallStatus::Submitted | CallStatus::Pending);
    calls.is_waiting() && calls.iter().all(|(_, status)| is_waiting(status))
}

/// Returns a message as an agent sees it. Replies of other agents are reduced to text and data, because their tool calls do
/// not concern this agent. `None` if nothing is left.
fn visible_to(message: Msg, agent_name: &str) -> Option<Msg> {
    if message.role() != Role::Assistant || message.name() == agent_name {
        return Some(message);
    }
    let mut parts = message.into_parts();
    parts.content.retain(|block| matches!(block, ContentBlock::Text(_) | ContentBlock::Data(_)));
    (!parts.content.is_empty()).then(|| Msg::from_parts_lenient(parts))
}
