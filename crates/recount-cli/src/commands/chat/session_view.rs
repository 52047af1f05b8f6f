//! Follows a session: passes its entries to the renderer and tracks its state.

use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result, bail};
use recount_log::{Cursor, EncodedMessage, Entry, Frame, Reader, Session, Snapshot, Start};
use recount_message::jiff::Timestamp;
use recount_message::{
    Checkpoint, CheckpointReply, CustomName, Event, EventKind, FinishedReason, Fold, Json, Msg, ReplyFold,
    ToolCallBlock, ToolCallState, ToolResultBlock, Usage, parse_time,
};

use super::renderer::Renderer;

/// A subscription to a session, with a fold of its open replies.
pub(super) struct SessionView {
    reader: Reader,
    fold: Fold,
    /// The reason of each confirmation request.
    reasons: HashMap<CallKey, String>,
    /// The deadline of each waiting reply, by reply id.
    expiries: HashMap<String, Timestamp>,
    /// The calls that have an answer in the log.
    answered: HashSet<CallKey>,
    /// The replies that reported that they wait for answers and have made no progress since.
    waiting_replies: HashSet<String>,
    last_outcome: Option<ReplyOutcome>,
}

/// How many entries before the head are searched first for open confirmation requests.
const NEAR_HEAD: u64 = 1_000;

/// A reply id and a call id. The call id alone is ambiguous: an agent and its sub-agent may both have a `call_1`.
type CallKey = (String, String);

/// The result of a finished reply.
#[derive(Debug, Clone)]
pub(super) struct ReplyOutcome {
    pub(super) reason: FinishedReason,
    pub(super) has_failed: bool,
    pub(super) usage: Option<Usage>,
}

/// The state of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SessionState {
    Idle,
    /// A reply is in progress.
    Busy,
    /// The session cannot continue without answers. There is one element for each reply that waits: that of the main
    /// agent and those of its sub-agents.
    Waiting(Vec<PendingRequests>),
}

/// The confirmations and results that one reply waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PendingRequests {
    pub(super) reply_id: String,
    /// The name of the sub-agent. `None` for the main agent.
    pub(super) sub_agent: Option<String>,
    /// Calls that need a confirmation, each with its reason.
    pub(super) confirmations: Vec<(ToolCallBlock, Option<String>)>,
    /// Calls that need an external result.
    pub(super) results: Vec<ToolCallBlock>,
    /// The deadline of the confirmations. `None` if there is no limit.
    pub(super) expires_at: Option<Timestamp>,
}

impl PendingRequests {
    /// Returns whether the deadline of the confirmations has passed. The calls are about to be denied then.
    pub(super) fn has_expired(&self) -> bool {
        !self.confirmations.is_empty() && self.expires_at.is_some_and(|time| time <= Timestamp::now())
    }
}

impl SessionView {
    /// Subscribes at the head of the session. Renders the messages of the snapshot if `shows_past` is set.
    pub(super) async fn subscribe(session: &Session, renderer: &mut Renderer, shows_past: bool) -> Result<Self> {
        let mut reader = session.subscribe(Start::Snapshot)?;
        let Frame::Snapshot(snapshot) = reader.next().await? else { bail!("the session cannot be read") };
        let mut session_view = Self {
            reader,
            fold: Fold::new(),
            reasons: HashMap::new(),
            expiries: HashMap::new(),
            answered: HashSet::new(),
            waiting_replies: HashSet::new(),
            last_outcome: None,
        };
        session_view.apply_snapshot(&snapshot, renderer, shows_past)?;
        if session_view.fold.open_replies().next().is_some() {
            session_view.load_requests(session, snapshot.cursor).await?;
        }
        Ok(session_view)
    }

    /// Looks up the reasons and deadlines of open confirmation requests. Both are in the log, usually near the head.
    async fn load_requests(&mut self, session: &Session, head: Cursor) -> Result<()> {
        let near = Cursor { seq: head.seq.saturating_sub(NEAR_HEAD), ..head };
        // A compacted log has fewer entries in this range, so fall back to the beginning.
        for start in [Start::After(near), Start::Beginning] {
            let mut reader = session.subscribe(start)?;
            while let Some(frame) = reader.try_next().await? {
                let frames: Vec<Frame> = std::iter::once(frame).chain(reader.drain_buffered()).collect();
                for frame in frames {
                    if let Frame::Entry(entry) = frame {
                        let event = Event::from_slice(&entry.event).context("an entry of the log cannot be read")?;
                        self.record_requests(&event);
                    }
                }
            }
            if !self.reasons.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Waits for the next frame and renders it together with all buffered frames. Cancel-safe.
    pub(super) async fn next(&mut self, renderer: &mut Renderer) -> Result<()> {
        let frame = self.reader.next().await?;
        self.apply_frame(frame, renderer)?;
        self.apply_buffered(renderer)
    }

    /// Renders all entries that are already in the log.
    pub(super) async fn catch_up(&mut self, renderer: &mut Renderer) -> Result<()> {
        while let Some(frame) = self.reader.try_next().await? {
            self.apply_frame(frame, renderer)?;
            self.apply_buffered(renderer)?;
        }
        Ok(())
    }

    fn apply_buffered(&mut self, renderer: &mut Renderer) -> Result<()> {
        let frames: Vec<Frame> = self.reader.drain_buffered().collect();
        frames.into_iter().try_for_each(|frame| self.apply_frame(frame, renderer))
    }

    fn apply_frame(&mut self, frame: Frame, renderer: &mut Renderer) -> Result<()> {
        match frame {
            Frame::Entry(entry) => self.apply_entry(&entry, renderer),
            // Earlier entries were replaced. Only the open replies matter now.
            Frame::Snapshot(snapshot) => self.apply_snapshot(&snapshot, renderer, false),
            _ => Ok(()),
        }
    }

    fn apply_entry(&mut self, entry: &Entry, renderer: &mut Renderer) -> Result<()> {
        let event = Event::from_slice(&entry.event).context("an entry of the log cannot be read")?;
        renderer.entry(&entry.event, &event, &self.fold)?;
        // The log has already validated the event.
        let _ = self.fold.apply_at(entry.cursor.seq, &event);
        self.record_requests(&event);
        self.record_answers(&event);
        for message in self.fold.take_ended() {
            self.record_end(&message);
            self.answered.retain(|(reply_id, _)| reply_id != message.id());
            self.reasons.retain(|(reply_id, _), _| reply_id != message.id());
            self.expiries.remove(message.id());
            self.waiting_replies.remove(message.id());
        }
        Ok(())
    }

    /// Records what the fold does not keep: the reasons and deadlines of confirmation requests.
    fn record_requests(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::RequireUserConfirm(request) => {
                let reply_id = event.reply_id().unwrap_or_default();
                if let Some(reason) = event.extension("reason").and_then(|reason| reason.as_str().map(str::to_owned)) {
                    let key = |call: &ToolCallBlock| (reply_id.to_owned(), call.id.clone());
                    self.reasons.extend(request.tool_calls.iter().map(|call| (key(call), reason.clone())));
                }
            }
            EventKind::Custom(signal) if signal.recount_name() == Some(CustomName::Waiting) => {
                let field = |key: &str| signal.value.get(key).and_then(Json::as_str).map(str::to_owned);
                let Some(reply_id) = field("reply_id") else { return };
                match field("expires_at").and_then(|time| parse_time(&time)) {
                    Some(expires_at) => self.expiries.insert(reply_id, expires_at),
                    None => self.expiries.remove(&reply_id),
                };
            }
            _ => {}
        }
    }

    /// Records which replies wait, and which calls have an answer.
    fn record_answers(&mut self, event: &Event<'_>) {
        let key = |call_id: &str| (event.reply_id().unwrap_or_default().to_owned(), call_id.to_owned());
        // Signals and hints are not progress of the reply.
        if let Some(reply_id) = event.reply_id()
            && !matches!(event.kind, EventKind::Custom(_) | EventKind::HintBlock(_))
        {
            self.waiting_replies.remove(reply_id);
        }
        match &event.kind {
            EventKind::RequireUserConfirm(request) => {
                for call in &request.tool_calls {
                    self.answered.remove(&key(&call.id));
                }
            }
            EventKind::Custom(signal) if signal.recount_name() == Some(CustomName::Waiting) => {
                self.waiting_replies.extend(signal.value.get("reply_id").and_then(Json::as_str).map(str::to_owned));
            }
            EventKind::UserConfirmResult(answer) => {
                self.answered.extend(answer.confirm_results.iter().map(|result| key(&result.tool_call.id)));
            }
            EventKind::ExternalExecutionResult(answer) => {
                self.answered.extend(answer.execution_results.iter().map(|result| key(&result.id)));
            }
            _ => {}
        }
    }

    fn record_end(&mut self, message: &Msg) {
        if let Some(reason) = message.finished_reason().filter(|_| message.parent().is_none()) {
            let (has_failed, usage) = (message.error().is_some(), message.usage().cloned());
            self.last_outcome = Some(ReplyOutcome { reason, has_failed, usage });
        }
    }

    fn apply_snapshot(&mut self, snapshot: &Snapshot, renderer: &mut Renderer, is_shown: bool) -> Result<()> {
        let messages = snapshot.messages.iter().map(EncodedMessage::decode);
        let messages: Vec<Msg> = messages.collect::<Result<_, _>>().context("a message of the log cannot be read")?;
        let mut replies = Vec::with_capacity(snapshot.open.len());
        for open in &snapshot.open {
            let fold = open.fold.decode().context("an open reply cannot be read")?;
            replies.push(CheckpointReply { call_floor: Some(fold.call_floor()), message: fold.into_message() });
        }
        if is_shown {
            if snapshot.before.is_some() {
                renderer.note("… what was said before this is in the log");
            }
            let all = messages.iter().chain(replies.iter().map(|reply| &reply.message));
            let (parts, whole): (Vec<&Msg>, Vec<&Msg>) = all.partition(|message| message.parent().is_some());
            whole.into_iter().for_each(|message| renderer.message(message, &parts));
        }
        // Treat every open reply as waiting: the calls that a running reply works on are not pending any more.
        self.waiting_replies = replies.iter().map(|reply| reply.message.id().to_owned()).collect();
        self.fold = Fold::resume(Checkpoint { cursor: snapshot.cursor.seq, replies, taken: Vec::new() });
        Ok(())
    }

    /// Returns the state of the session at the last entry that was read.
    pub(super) fn state(&self) -> SessionState {
        let open: Vec<&Msg> = self.fold.open_replies().map(ReplyFold::message).collect();
        let Some(own) = open.iter().find(|message| message.parent().is_none()) else { return SessionState::Idle };
        let mut pending = Vec::new();
        if self.collect_requests(own, &open, &mut pending) {
            SessionState::Waiting(pending)
        } else {
            SessionState::Busy
        }
    }

    /// Collects the requests of a reply and of its sub-agents. Returns whether the reply is blocked on them.
    fn collect_requests(&self, message: &Msg, open: &[&Msg], pending: &mut Vec<PendingRequests>) -> bool {
        let unanswered = |result: Option<&ToolResultBlock>| result.is_none_or(|result| result.finished_at.is_none());
        let calls = message.tool_pairs().filter(|(_, result)| unanswered(*result)).map(|(call, _)| call);
        let mut own = PendingRequests {
            reply_id: message.id().to_owned(),
            sub_agent: message.parent().map(|_| message.name().to_owned()),
            confirmations: Vec::new(),
            results: Vec::new(),
            expires_at: self.expiries.get(message.id()).copied(),
        };
        let (mut has_calls, mut has_pending) = (false, false);
        let before = pending.len();
        for call in calls {
            has_calls = true;
            // A call to a sub-agent waits for the requests of that sub-agent.
            if let Some(part) = open.iter().find(|part| is_sub_agent_reply(part, message.id(), &call.id)) {
                if !self.collect_requests(part, open, pending) {
                    return false;
                }
                continue;
            }
            let key = (message.id().to_owned(), call.id.clone());
            match call.state {
                _ if self.answered.contains(&key) => return false,
                ToolCallState::Asking => own.confirmations.push((call.clone(), self.reasons.get(&key).cloned())),
                ToolCallState::Submitted => own.results.push(call.clone()),
                ToolCallState::Pending => has_pending = true,
                _ => return false,
            }
        }
        if !own.confirmations.is_empty() || !own.results.is_empty() {
            pending.push(own);
        }
        // Pending calls wait until the calls before them are answered.
        let is_blocked = || pending.len() > before && self.waiting_replies.contains(message.id());
        has_calls && (!has_pending || is_blocked())
    }

    /// Returns the result of the last finished reply, once.
    pub(super) fn take_outcome(&mut self) -> Option<ReplyOutcome> {
        self.last_outcome.take()
    }
}

/// Returns whether a message is the reply of the sub-agent that works on a call.
pub(super) fn is_sub_agent_reply(message: &Msg, reply_id: &str, call_id: &str) -> bool {
    let works_on = || message.metadata().get("tool_call_id").and_then(Json::as_str).map(str::to_owned);
    message.parent().as_deref() == Some(reply_id) && works_on().as_deref() == Some(call_id)
}
