//! Validation of streams.
//!
//! A [`Fold`] is lenient: it applies every event as far as possible and reports what it ignored. A [`Checker`] validates a
//! stream against all rules and reports every violation.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::block::{ContentBlock, DataBlock, MediaBlock, Payload, Source, ToolResultBlock, ToolResultState};
use crate::event::{ConfirmResult, Event, EventKind, Folded};
use crate::fold::{Fold, Outcome, Reason};
use crate::msg::{Msg, Role};

/// The severity of a [`Finding`].
///
/// ```
/// use recount_message::check::Severity;
///
/// assert!(Severity::Warning < Severity::Error);
/// assert_eq!(format!("{:>8}", Severity::Error), "   error");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// Allowed, and probably a mistake.
    Warning,
    /// A violation of the rules.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A problem in a stream.
///
/// ```
/// use recount_message::check::{Checker, Finding, Severity};
/// use recount_message::{Event, UserInterruptEvent};
///
/// let findings = Checker::new().event(&Event::new(UserInterruptEvent::new("r1")));
/// let Finding { severity, code, message } = &findings[0];
/// assert_eq!((*severity, *code, message.as_str()), (Severity::Error, "unknown_reply", "no reply \"r1\" has begun"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Severity of the problem.
    pub severity: Severity,
    /// Code for programs, such as `unknown_block`.
    pub code: &'static str,
    /// Description for people.
    pub message: String,
}

/// Validates a stream: order, pairing, ids, unknown types, roles.
///
/// ```
/// use recount_message::{Event, check::Checker};
///
/// let mut checker = Checker::new();
/// let delta = Event::from_json(
///     r#"{"id":"e1","created_at":"2026-01-01T00:00:00Z","type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"x"}"#,
/// )?;
/// let findings = checker.event(&delta);
/// assert_eq!(findings[0].code, "unknown_reply");
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Default)]
pub struct Checker {
    fold: Fold,
    replies: HashMap<String, ReplyRules>,
    event_ids: HashSet<String>,
    findings: Vec<Finding>,
}

/// State of a reply that its message does not contain.
#[derive(Debug, Default)]
struct ReplyRules {
    /// All blocks that have started.
    begun: HashSet<BlockKey>,
    /// The blocks that have not ended.
    open: HashSet<BlockKey>,
    model_call_open: bool,
}

type BlockKey = (BlockKind, String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum BlockKind {
    Text,
    Thinking,
    Data,
    ToolCall,
    ToolResult,
}

/// The effect of an event on a block.
enum Step {
    Start,
    End,
}

impl Checker {
    /// Creates a checker for a new stream.
    ///
    /// ```
    /// use recount_message::check::Checker;
    ///
    /// assert_eq!(Checker::new().finish(), []);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks the next event and returns its problems.
    ///
    /// ```
    /// use recount_message::check::Checker;
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let event = Event::new(CustomEvent::message(&Msg::user("Alice", "Hello")));
    /// let mut checker = Checker::new();
    /// assert_eq!(checker.event(&event), []);
    /// assert_eq!(checker.event(&event)[0].code, "repeated_event");
    /// ```
    pub fn event(&mut self, event: &Event<'_>) -> Vec<Finding> {
        self.check_head(event);
        self.check_values(event);
        let outcome = self.fold.apply(event);
        self.check_outcome(&outcome);
        if matches!(outcome, Outcome::Applied | Outcome::Partial(_)) {
            self.check_order(event);
        }
        let _ = self.fold.take_ended();
        std::mem::take(&mut self.findings)
    }

    /// Checks a message that is not part of a stream.
    ///
    /// ```
    /// use recount_message::check::Checker;
    /// use recount_message::{Msg, ToolResultBlock};
    ///
    /// let message = Msg::assistant("Friday", ToolResultBlock::success("c1", "search", "3 hits"));
    /// let findings = Checker::new().message(&message);
    /// assert_eq!(findings[0].message, "the result \"c1\" has no tool call");
    /// ```
    pub fn message(&mut self, message: &Msg) -> Vec<Finding> {
        self.check_message(message);
        std::mem::take(&mut self.findings)
    }

    /// Checks the end of the stream and returns its problems.
    ///
    /// ```
    /// use recount_message::Event;
    /// use recount_message::check::Checker;
    ///
    /// let mut checker = Checker::new();
    /// checker.event(&Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#)?);
    /// let findings = checker.finish();
    /// assert_eq!(findings[0].code, "open_reply");
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn finish(mut self) -> Vec<Finding> {
        let open: Vec<String> = self
            .fold
            .open_replies()
            .filter(|reply| !is_waiting(reply.message()))
            .map(|reply| reply.message().id().to_owned())
            .collect();
        for id in open {
            self.warn("open_reply", format!("the stream ends before the reply {id:?} does"));
        }
        self.findings
    }

    fn warn(&mut self, code: &'static str, message: String) {
        self.findings.push(Finding { severity: Severity::Warning, code, message });
    }

    fn error(&mut self, code: &'static str, message: String) {
        self.findings.push(Finding { severity: Severity::Error, code, message });
    }

    /// Checks the id and the time of an event.
    fn check_head(&mut self, event: &Event<'_>) {
        if event.id.is_empty() {
            self.warn("missing_id", "the event has no id, so duplicates cannot be detected".to_owned());
        } else if !self.event_ids.insert(event.id.to_string()) {
            self.error("repeated_event", format!("an event {:?} was there before", event.id));
        }
        if event.created().is_none() {
            self.warn("bad_time", format!("`created_at` is {:?}, which is not a time", event.created_at));
        }
    }

    /// Checks values that can be parsed but should not be written.
    fn check_values(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::ReplyStart(kind) if kind.role != Role::Assistant.as_str() => {
                self.warn("role", format!("a reply is an assistant's message, and `role` is {:?}", kind.role));
            }
            EventKind::DataBlockDelta(kind) => self.check_url(kind.url.as_deref()),
            EventKind::ToolResultDataDelta(kind) => self.check_url(kind.url.as_deref()),
            EventKind::ToolResultEnd(kind) if kind.state == ToolResultState::Running => {
                self.warn("running_result", format!("the result of {:?} ends as running", kind.tool_call_id));
            }
            EventKind::HintBlock(kind) => self.check_payload(&kind.hint),
            EventKind::UserConfirmResult(kind) => {
                for answer in &kind.confirm_results {
                    self.check_confirmed_name(&kind.reply_id, answer);
                }
            }
            EventKind::ExternalExecutionResult(kind) => {
                kind.execution_results.iter().for_each(|result| self.check_result(result));
            }
            EventKind::Unknown(kind) => {
                self.warn("unknown_type", format!("the event type {:?} is not known", kind.type_name));
            }
            EventKind::Custom(kind) => match kind.folded() {
                Ok(Some(Folded::Message(message))) => self.check_message(&message),
                Ok(Some(Folded::Block { block, .. })) => self.check_block(&block),
                // The outcome contains the error of an invalid value.
                Ok(Some(Folded::Call { .. }) | None) | Err(_) => {}
            },
            _ => {}
        }
    }

    fn check_url(&mut self, url: Option<&str>) {
        if let Some(url) = url
            && let Err(problem) = crate::block::check_url(url)
        {
            self.warn("bad_url", format!("{url:?} is not a URL: {problem}"));
        }
    }

    fn check_data(&mut self, data: &DataBlock) {
        if let Source::Url(source) = &data.source {
            self.check_url(Some(source.url()));
        }
    }

    fn check_payload(&mut self, payload: &Payload) {
        for block in payload.blocks() {
            match block {
                MediaBlock::Text(_) => {}
                MediaBlock::Data(data) => self.check_data(data),
                MediaBlock::Unknown(block) => self.unknown_block(block.type_name()),
            }
        }
    }

    fn check_result(&mut self, result: &ToolResultBlock) {
        if result.state == ToolResultState::Running {
            self.warn("running_result", format!("the result of {:?} comes as running", result.id));
        }
        self.check_payload(&result.output);
    }

    fn check_block(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Data(data) => self.check_data(data),
            ContentBlock::Hint(hint) => self.check_payload(&hint.hint),
            ContentBlock::ToolResult(result) => self.check_payload(&result.output),
            ContentBlock::Unknown(block) => self.unknown_block(block.type_name()),
            ContentBlock::Text(_) | ContentBlock::Thinking(_) | ContentBlock::ToolCall(_) => {}
        }
    }

    fn unknown_block(&mut self, type_name: &str) {
        self.warn("unknown_block_type", format!("the block type {type_name:?} is not known"));
    }

    /// Checks that a confirmation does not change the name of the tool. It can only edit the arguments.
    fn check_confirmed_name(&mut self, reply_id: &str, answer: &ConfirmResult) {
        let given = &answer.tool_call;
        let asked = self.fold.message(reply_id).and_then(|message| message.call(&given.id));
        if let Some(name) = asked.map(|call| call.name.clone())
            && name != given.name
        {
            self.warn(
                "edited_name",
                format!("the answer for {:?} names {:?} in place of {name:?}", given.id, given.name),
            );
        }
    }

    fn check_outcome(&mut self, outcome: &Outcome) {
        match outcome {
            // Reported by `check_values`.
            Outcome::Ignored(Reason::UnknownType(_)) => {}
            Outcome::Ignored(reason) => self.error(reason.code(), reason.to_string()),
            Outcome::Partial(skipped) => {
                for part in skipped {
                    self.error(part.reason.code(), format!("item {}: {}", part.index, part.reason));
                }
            }
            Outcome::Applied | Outcome::NotForMessage | Outcome::Seen => {}
        }
    }

    /// Checks an applied event against earlier ones.
    fn check_order(&mut self, event: &Event<'_>) {
        let Some(reply_id) = event.reply_id() else { return };
        if let Some((step, kind, id)) = block_step(&event.kind) {
            let rules = self.replies.entry(reply_id.to_owned()).or_default();
            let key = (kind, id.to_owned());
            match step {
                Step::End => {
                    rules.open.remove(&key);
                }
                Step::Start => self.check_start(reply_id, key),
            }
            return;
        }
        match &event.kind {
            EventKind::ModelCallStart(_) => self.model_call(reply_id, true),
            EventKind::ModelCallEnd(_) => self.model_call(reply_id, false),
            EventKind::ReplyEnd(_) => self.check_reply_end(reply_id),
            _ => {}
        }
    }

    fn check_start(&mut self, reply_id: &str, key: BlockKey) {
        let (kind, id) = key.clone();
        let rules = self.replies.entry(reply_id.to_owned()).or_default();
        let is_prose = |kind: &BlockKind| matches!(kind, BlockKind::Text | BlockKind::Thinking);
        let other = rules.open.iter().find(|(open, _)| is_prose(&kind) && is_prose(open)).cloned();
        let reused = !rules.begun.insert(key.clone());
        rules.open.insert(key);
        if let Some((_, other)) = other {
            self.error("two_open", format!("the block {id:?} begins before the block {other:?} has ended"));
        }
        if reused {
            self.warn("reused_id", format!("the id {id:?} was used before in the reply {reply_id:?}"));
        }
    }

    fn model_call(&mut self, reply_id: &str, begins: bool) {
        let rules = self.replies.entry(reply_id.to_owned()).or_default();
        if std::mem::replace(&mut rules.model_call_open, begins) == begins {
            let problem = if begins { "begins before the last one has ended" } else { "ends that has not begun" };
            self.warn("model_call", format!("a model call of the reply {reply_id:?} {problem}"));
        }
    }

    fn check_reply_end(&mut self, reply_id: &str) {
        let rules = self.replies.remove(reply_id).unwrap_or_default();
        let mut open: Vec<String> = rules.open.into_iter().map(|(_, id)| id).collect();
        open.sort_unstable();
        for id in open {
            self.warn("open_at_end", format!("the reply {reply_id:?} ends before its block {id:?} does"));
        }
        for id in self.fold.message(reply_id).map(unanswered).unwrap_or_default() {
            self.error("unpaired_call", format!("the reply {reply_id:?} ends and its tool call {id:?} has no result"));
        }
    }

    fn check_message(&mut self, message: &Msg) {
        if message.created().is_none() {
            self.warn("bad_time", format!("`created_at` is {:?}, which is not a time", message.created_at()));
        }
        for (index, block) in message.content().iter().enumerate() {
            self.check_block(block);
            if !message.role().allows(block) {
                let (role, what) = (message.role(), block.type_name());
                self.error("role", format!("`content[{index}]`: a {role} message may not hold a {what} block"));
            }
        }
        if message.role() == Role::Assistant {
            self.check_pairs(message);
        }
    }

    fn check_pairs(&mut self, message: &Msg) {
        let calls: HashSet<&str> = message.tool_pairs().map(|(call, _)| call.id.as_str()).collect();
        for result in message.blocks::<ToolResultBlock>() {
            if !calls.contains(result.id.as_str()) {
                self.error("unknown_call", format!("the result {:?} has no tool call", result.id));
            }
        }
        if message.finished_at().is_some() {
            for id in unanswered(message) {
                self.error("unpaired_call", format!("the tool call {id:?} of a finished message has no result"));
            }
        }
    }
}

/// Returns the ids of the tool calls without a result.
fn unanswered(message: &Msg) -> Vec<String> {
    message.tool_pairs().filter(|(_, result)| result.is_none()).map(|(call, _)| call.id.clone()).collect()
}

/// Returns whether a reply waits for input, so that its stream can end here.
fn is_waiting(message: &Msg) -> bool {
    use crate::block::ToolCallState::{Asking, Submitted};
    message.tool_pairs().any(|(call, _)| matches!(call.state, Asking | Submitted))
}

/// Returns the block that an event starts or ends.
fn block_step<'e>(kind: &'e EventKind<'_>) -> Option<(Step, BlockKind, &'e str)> {
    let (step, kind, id) = match kind {
        EventKind::TextBlockStart(kind) => (Step::Start, BlockKind::Text, &kind.block_id),
        EventKind::TextBlockEnd(kind) => (Step::End, BlockKind::Text, &kind.block_id),
        EventKind::ThinkingBlockStart(kind) => (Step::Start, BlockKind::Thinking, &kind.block_id),
        EventKind::ThinkingBlockEnd(kind) => (Step::End, BlockKind::Thinking, &kind.block_id),
        EventKind::DataBlockStart(kind) => (Step::Start, BlockKind::Data, &kind.block_id),
        EventKind::DataBlockEnd(kind) => (Step::End, BlockKind::Data, &kind.block_id),
        EventKind::ToolCallStart(kind) => (Step::Start, BlockKind::ToolCall, &kind.tool_call_id),
        EventKind::ToolCallEnd(kind) => (Step::End, BlockKind::ToolCall, &kind.tool_call_id),
        EventKind::ToolResultStart(kind) => (Step::Start, BlockKind::ToolResult, &kind.tool_call_id),
        EventKind::ToolResultEnd(kind) => (Step::End, BlockKind::ToolResult, &kind.tool_call_id),
        _ => return None,
    };
    Some((step, kind, id))
}
