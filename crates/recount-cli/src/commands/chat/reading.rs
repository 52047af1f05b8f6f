//! Reading the session: what is shown of it, and where it stands.

use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result, bail};
use recount_log::{Cursor, EncodedMessage, Entry, Frame, Reader, Session, Snapshot, Start};
use recount_message::jiff::Timestamp;
use recount_message::{
    Checkpoint, CheckpointReply, CustomName, Event, EventKind, FinishedReason, Fold, Json, Msg, ReplyFold,
    ToolCallBlock, ToolCallState, ToolResultBlock, Usage, parse_time,
};

use super::sight::Sight;

/// Reads along, and knows what is open.
pub(super) struct Reading {
    reader: Reader,
    fold: Fold,
    /// Why a call was asked about.
    reasons: HashMap<CallKey, String>,
    /// Until when replies wait for their answers.
    expiries: HashMap<String, Timestamp>,
    /// The calls that somebody has answered for.
    answered: HashSet<CallKey>,
    /// The replies that have said, since they last did something, that nothing is left to do before they are answered.
    resting: HashSet<String>,
    last: Option<Ended>,
}

/// So many entries before the head it is looked first for open questions.
const NEAR: u64 = 1_000;

/// A call, by its reply and its id: agents that work for each other may both have a `call_1`.
type CallKey = (String, String);

/// How a reply has ended.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) reason: FinishedReason,
    pub(super) has_failed: bool,
    pub(super) usage: Option<Usage>,
}

/// Where the session stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    Idle,
    /// A reply is under way.
    Busy,
    /// Nothing goes on without answers. There is one of these for each reply that waits for some: the agent's own, and those
    /// of agents that work for it.
    Waiting(Vec<Waiting>),
}

/// What a reply waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) reply_id: String,
    /// Who asks, where it is an agent that works for the one that the user talks to.
    pub(super) helper: Option<String>,
    /// Calls that need a permission, each with the reason.
    pub(super) confirmations: Vec<(ToolCallBlock, Option<String>)>,
    /// Calls whose results come from outside.
    pub(super) results: Vec<ToolCallBlock>,
    /// Until when a permission can be given, where that is limited.
    pub(super) expires_at: Option<Timestamp>,
}

impl Waiting {
    /// Whether it is too late for a permission. The call is about to be denied then.
    pub(super) fn has_expired(&self) -> bool {
        !self.confirmations.is_empty() && self.expires_at.is_some_and(|time| time <= Timestamp::now())
    }
}

impl Reading {
    /// Begins to read at the session's head. Shows what was said before if that is wanted.
    pub(super) async fn begin(session: &Session, sight: &mut Sight, shows_past: bool) -> Result<Self> {
        let mut reader = session.subscribe(Start::Snapshot)?;
        let Frame::Snapshot(snapshot) = reader.next().await? else { bail!("the session cannot be read") };
        let mut reading = Self {
            reader,
            fold: Fold::new(),
            reasons: HashMap::new(),
            expiries: HashMap::new(),
            answered: HashSet::new(),
            resting: HashSet::new(),
            last: None,
        };
        reading.take_snapshot(&snapshot, sight, shows_past)?;
        if reading.fold.open_replies().next().is_some() {
            reading.recall_questions(session, snapshot.cursor).await?;
        }
        Ok(reading)
    }

    /// Looks up why open questions were asked and until when. Both stand in the log, at its end or not far from it.
    async fn recall_questions(&mut self, session: &Session, head: Cursor) -> Result<()> {
        let near = Cursor { seq: head.seq.saturating_sub(NEAR), ..head };
        // Where the log was joined together there, it has fewer entries.
        for start in [Start::After(near), Start::Beginning] {
            let mut reader = session.subscribe(start)?;
            while let Some(frame) = reader.try_next().await? {
                let frames: Vec<Frame> = std::iter::once(frame).chain(reader.drain_buffered()).collect();
                for frame in frames {
                    if let Frame::Entry(entry) = frame {
                        let event = Event::from_slice(&entry.event).context("an entry of the log cannot be read")?;
                        self.note_questions(&event);
                    }
                }
            }
            if !self.reasons.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Waits for what comes next and shows it, with all that has come along with it. To give up waiting loses nothing.
    pub(super) async fn next(&mut self, sight: &mut Sight) -> Result<()> {
        let frame = self.reader.next().await?;
        self.take(frame, sight)?;
        self.take_ready(sight)
    }

    /// Shows what has come by now.
    pub(super) async fn catch_up(&mut self, sight: &mut Sight) -> Result<()> {
        while let Some(frame) = self.reader.try_next().await? {
            self.take(frame, sight)?;
            self.take_ready(sight)?;
        }
        Ok(())
    }

    fn take_ready(&mut self, sight: &mut Sight) -> Result<()> {
        let frames: Vec<Frame> = self.reader.drain_buffered().collect();
        frames.into_iter().try_for_each(|frame| self.take(frame, sight))
    }

    fn take(&mut self, frame: Frame, sight: &mut Sight) -> Result<()> {
        match frame {
            Frame::Entry(entry) => self.entry(&entry, sight),
            // Somebody has changed what was read. What is open now is all that matters.
            Frame::Snapshot(snapshot) => self.take_snapshot(&snapshot, sight, false),
            _ => Ok(()),
        }
    }

    fn entry(&mut self, entry: &Entry, sight: &mut Sight) -> Result<()> {
        let event = Event::from_slice(&entry.event).context("an entry of the log cannot be read")?;
        sight.entry(&entry.event, &event, &self.fold)?;
        // The log has judged it already.
        let _ = self.fold.apply_at(entry.cursor.seq, &event);
        self.note_questions(&event);
        self.note_answers(&event);
        for message in self.fold.take_ended() {
            self.end(&message);
            self.answered.retain(|(reply_id, _)| reply_id != message.id());
            self.reasons.retain(|(reply_id, _), _| reply_id != message.id());
            self.expiries.remove(message.id());
            self.resting.remove(message.id());
        }
        Ok(())
    }

    /// Keeps what the fold does not: why something was asked, and until when.
    fn note_questions(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::RequireUserConfirm(asked) => {
                let reply_id = event.reply_id().unwrap_or_default();
                if let Some(reason) = event.extension("reason").and_then(|reason| reason.as_str().map(str::to_owned)) {
                    let key = |call: &ToolCallBlock| (reply_id.to_owned(), call.id.clone());
                    self.reasons.extend(asked.tool_calls.iter().map(|call| (key(call), reason.clone())));
                }
            }
            EventKind::Custom(signal) if signal.recount_name() == Some(CustomName::Waiting) => {
                let said = |key: &str| signal.value.get(key).and_then(Json::as_str).map(str::to_owned);
                let Some(reply_id) = said("reply_id") else { return };
                match said("expires_at").and_then(|time| parse_time(&time)) {
                    Some(expires_at) => self.expiries.insert(reply_id, expires_at),
                    None => self.expiries.remove(&reply_id),
                };
            }
            _ => {}
        }
    }

    /// Keeps that a reply waits, and that an answer is on its way.
    fn note_answers(&mut self, event: &Event<'_>) {
        let key = |call_id: &str| (event.reply_id().unwrap_or_default().to_owned(), call_id.to_owned());
        // Signals and hints do not make a reply go on.
        if let Some(reply_id) = event.reply_id()
            && !matches!(event.kind, EventKind::Custom(_) | EventKind::HintBlock(_))
        {
            self.resting.remove(reply_id);
        }
        match &event.kind {
            EventKind::RequireUserConfirm(asked) => {
                for call in &asked.tool_calls {
                    self.answered.remove(&key(&call.id));
                }
            }
            EventKind::Custom(signal) if signal.recount_name() == Some(CustomName::Waiting) => {
                self.resting.extend(signal.value.get("reply_id").and_then(Json::as_str).map(str::to_owned));
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

    fn end(&mut self, message: &Msg) {
        if let Some(reason) = message.finished_reason().filter(|_| message.parent().is_none()) {
            let (has_failed, usage) = (message.error().is_some(), message.usage().cloned());
            self.last = Some(Ended { reason, has_failed, usage });
        }
    }

    fn take_snapshot(&mut self, snapshot: &Snapshot, sight: &mut Sight, is_shown: bool) -> Result<()> {
        let messages = snapshot.messages.iter().map(EncodedMessage::decode);
        let messages: Vec<Msg> = messages.collect::<Result<_, _>>().context("a message of the log cannot be read")?;
        let mut replies = Vec::with_capacity(snapshot.open.len());
        for open in &snapshot.open {
            let fold = open.fold.decode().context("an open reply cannot be read")?;
            replies.push(CheckpointReply { call_floor: Some(fold.call_floor()), message: fold.into_message() });
        }
        if is_shown {
            if snapshot.before.is_some() {
                sight.note("… what was said before this is in the log");
            }
            let all = messages.iter().chain(replies.iter().map(|reply| &reply.message));
            let (parts, whole): (Vec<&Msg>, Vec<&Msg>) = all.partition(|message| message.parent().is_some());
            whole.into_iter().for_each(|message| sight.message(message, &parts));
        }
        // What runs has shown already what it works on.
        self.resting = replies.iter().map(|reply| reply.message.id().to_owned()).collect();
        self.fold = Fold::resume(Checkpoint { cursor: snapshot.cursor.seq, replies, taken: Vec::new() });
        Ok(())
    }

    /// Where the session stands, as far as it was read.
    pub(super) fn standing(&self) -> Standing {
        let open: Vec<&Msg> = self.fold.open_replies().map(ReplyFold::message).collect();
        let Some(own) = open.iter().find(|message| message.parent().is_none()) else { return Standing::Idle };
        let mut waiting = Vec::new();
        if self.collect_waiting(own, &open, &mut waiting) { Standing::Waiting(waiting) } else { Standing::Busy }
    }

    /// Collects what a reply and those of its helpers wait for. Tells whether all of it only waits.
    fn collect_waiting(&self, message: &Msg, open: &[&Msg], waiting: &mut Vec<Waiting>) -> bool {
        let unanswered = |result: Option<&ToolResultBlock>| result.is_none_or(|result| result.finished_at.is_none());
        let calls = message.tool_pairs().filter(|(_, result)| unanswered(*result)).map(|(call, _)| call);
        let mut own = Waiting {
            reply_id: message.id().to_owned(),
            helper: message.parent().map(|_| message.name().to_owned()),
            confirmations: Vec::new(),
            results: Vec::new(),
            expires_at: self.expiries.get(message.id()).copied(),
        };
        let (mut has_calls, mut has_pending) = (false, false);
        let before = waiting.len();
        for call in calls {
            has_calls = true;
            // A call that another agent works on waits for what that one waits for.
            if let Some(part) = open.iter().find(|part| is_part_of(part, message.id(), &call.id)) {
                if !self.collect_waiting(part, open, waiting) {
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
            waiting.push(own);
        }
        // Calls that nobody has looked at wait for the answers to those before them.
        let is_behind = || waiting.len() > before && self.resting.contains(message.id());
        has_calls && (!has_pending || is_behind())
    }

    /// How the last reply has ended, once.
    pub(super) fn take_ended(&mut self) -> Option<Ended> {
        self.last.take()
    }
}

/// Whether a message is the reply of an agent that works on a call.
pub(super) fn is_part_of(message: &Msg, reply_id: &str, call_id: &str) -> bool {
    let works_on = || message.metadata().get("tool_call_id").and_then(Json::as_str).map(str::to_owned);
    message.parent().as_deref() == Some(reply_id) && works_on().as_deref() == Some(call_id)
}
