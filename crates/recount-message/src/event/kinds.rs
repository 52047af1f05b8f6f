//! The events, each declared once.

use std::borrow::Cow;

use super::Event;
use super::codec::Head;
use super::declare::{IntoOwned, events, example, next_field, read_field, write_field};
use crate::block::{Payload, PermissionRule, ToolCallBlock, ToolResultBlock, ToolResultState};
use crate::json::fields::Fields;
use crate::json::record::{has_default, record};
use crate::json::scan::Scanner;
use crate::json::wire::{Place, Wire, words};
use crate::msg::{ErrorInfo, FinishedReason};
use crate::{DecodeError, Field, Object, Record};

events! {
    /// An agent begins a reply.
    ReplyStart(ReplyStartEvent) = "REPLY_START" {
        /// Id of the producer's session.
        session_id: Cow<'a, str>,
        /// Id of the reply, and of the message that it becomes.
        reply_id: Cow<'a, str>,
        /// The agent's name.
        name: Cow<'a, str>,
        /// The agent's role. The message is an assistant's, whatever this says.
        role: Cow<'a, str> = Cow::Borrowed("assistant"),
    } example r#""session_id":"s1","reply_id":"r1","name":"Friday","role":"assistant""#

    /// The reply is over. What is still open ends with it.
    ReplyEnd(ReplyEndEvent) = "REPLY_END" {
        /// Id of the producer's session.
        session_id: Cow<'a, str>,
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Why the reply ended.
        finished_reason: FinishedReason = FinishedReason::Completed,
        /// What went wrong, where something did.
        error: Option<ErrorInfo> = None,
    } example r#""session_id":"s1","reply_id":"r1","finished_reason":"completed","error":null"#

    /// A model is called.
    ModelCallStart(ModelCallStartEvent) = "MODEL_CALL_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// The model.
        model_name: Cow<'a, str>,
    } example r#""reply_id":"r1","model_name":"some-model""#

    /// The model has answered. Its tokens are added to the message's.
    ModelCallEnd(ModelCallEndEvent) = "MODEL_CALL_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Tokens read.
        input_tokens: u64,
        /// Tokens written.
        output_tokens: u64,
        /// Tokens read from the prompt cache.
        cache_input_tokens: u64 = 0,
        /// Tokens written to the prompt cache.
        cache_creation_input_tokens: u64 = 0,
        /// Why the call ended.
        finished_reason: ModelFinishedReason = ModelFinishedReason::Completed,
    } example r#""reply_id":"r1","input_tokens":120,"output_tokens":18,"cache_input_tokens":0,"cache_creation_input_tokens":0,"finished_reason":"completed""#

    /// A text block begins.
    TextBlockStart(TextBlockStartEvent) = "TEXT_BLOCK_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1""#

    /// More text.
    TextBlockDelta(TextBlockDeltaEvent) = "TEXT_BLOCK_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// What is appended.
        delta: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1","delta":"Hello""#

    /// The text block is complete.
    TextBlockEnd(TextBlockEndEvent) = "TEXT_BLOCK_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// The whole text, where it is not what the deltas make.
        text: Option<Cow<'a, str>> = None,
    } example r#""reply_id":"r1","block_id":"b1","text":null"#

    /// A thinking block begins.
    ThinkingBlockStart(ThinkingBlockStartEvent) = "THINKING_BLOCK_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1""#

    /// More thinking.
    ThinkingBlockDelta(ThinkingBlockDeltaEvent) = "THINKING_BLOCK_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// What is appended.
        delta: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1","delta":"First, ""#

    /// The thinking block is complete.
    ThinkingBlockEnd(ThinkingBlockEndEvent) = "THINKING_BLOCK_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1""#

    /// A data block begins.
    DataBlockStart(DataBlockStartEvent) = "DATA_BLOCK_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// The media type, such as `image/png`.
        media_type: Cow<'a, str>,
        /// What the data is called.
        name: Option<Cow<'a, str>> = None,
    } example r#""reply_id":"r1","block_id":"b1","media_type":"image/png","name":"chart.png""#

    /// More data, or where it is. Exactly one of `data` and `url` is there.
    DataBlockDelta(DataBlockDeltaEvent) = "DATA_BLOCK_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// The media type. The one of the start stands, unless a `url` comes.
        media_type: Cow<'a, str>,
        /// Base64, cut anywhere.
        data: Option<Cow<'a, str>> = None,
        /// Where the data is; it replaces what came before.
        url: Option<Cow<'a, str>> = None,
    } example r#""reply_id":"r1","block_id":"b1","media_type":"image/png","data":"iVBORw0K","url":null"#

    /// The data block is complete.
    DataBlockEnd(DataBlockEndEvent) = "DATA_BLOCK_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1""#

    /// Something is said to the model from outside, all at once.
    HintBlock(HintBlockEvent) = "HINT_BLOCK" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// Who says it; may be a small JSON object with `label` and `sublabel`.
        source: Option<Cow<'a, str>> = None,
        /// What is said.
        hint: Payload,
    } example r#""reply_id":"r1","block_id":"b1","source":"calendar","hint":"The meeting begins in ten minutes.""#

    /// The model begins a tool call.
    ToolCallStart(ToolCallStartEvent) = "TOOL_CALL_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the call.
        tool_call_id: Cow<'a, str>,
        /// The tool.
        tool_call_name: Cow<'a, str>,
    } example r#""reply_id":"r1","tool_call_id":"c1","tool_call_name":"get_weather""#

    /// More of the arguments.
    ToolCallDelta(ToolCallDeltaEvent) = "TOOL_CALL_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the call.
        tool_call_id: Cow<'a, str>,
        /// A piece of JSON text, cut anywhere.
        delta: Cow<'a, str>,
    } example r#""reply_id":"r1","tool_call_id":"c1","delta":"{\"city\":""#

    /// The arguments are complete.
    ToolCallEnd(ToolCallEndEvent) = "TOOL_CALL_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the call.
        tool_call_id: Cow<'a, str>,
    } example r#""reply_id":"r1","tool_call_id":"c1""#

    /// A tool begins to run.
    ToolResultStart(ToolResultStartEvent) = "TOOL_RESULT_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the call that is answered.
        tool_call_id: Cow<'a, str>,
        /// The tool.
        tool_call_name: Cow<'a, str>,
    } example r#""reply_id":"r1","tool_call_id":"c1","tool_call_name":"get_weather""#

    /// The tool says more.
    ToolResultTextDelta(ToolResultTextDeltaEvent) = "TOOL_RESULT_TEXT_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the call that is answered.
        tool_call_id: Cow<'a, str>,
        /// What is appended.
        delta: Cow<'a, str>,
    } example r#""reply_id":"r1","tool_call_id":"c1","delta":"Sunny, 25°C""#

    /// The tool gives data. Exactly one of `data` and `url` is there.
    ToolResultDataDelta(ToolResultDataDeltaEvent) = "TOOL_RESULT_DATA_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the call that is answered.
        tool_call_id: Cow<'a, str>,
        /// Id of the data: a known one is continued, a new one appended.
        block_id: Option<Cow<'a, str>> = None => omitted,
        /// The media type.
        media_type: Cow<'a, str>,
        /// Base64, cut anywhere.
        data: Option<Cow<'a, str>> = None,
        /// Where the data is.
        url: Option<Cow<'a, str>> = None,
    } example r#""reply_id":"r1","tool_call_id":"c1","block_id":"d1","media_type":"image/png","data":null,"url":"https://example.com/map.png""#

    /// The tool is done. The event's metadata is what the tool says beside its answer.
    ToolResultEnd(ToolResultEndEvent) = "TOOL_RESULT_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the call that is answered.
        tool_call_id: Cow<'a, str>,
        /// How it went.
        state: ToolResultState,
    } example r#""reply_id":"r1","tool_call_id":"c1","state":"success""#

    /// The agent took more rounds than it may. `REPLY_END` says so too.
    ExceedMaxIters(ExceedMaxItersEvent) = "EXCEED_MAX_ITERS" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// The agent's name.
        name: Cow<'a, str>,
    } example r#""reply_id":"r1","name":"Friday""#

    /// The agent waits for the user's permission.
    RequireUserConfirm(RequireUserConfirmEvent) = "REQUIRE_USER_CONFIRM" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// The calls that need it, with the rules that the user may accept.
        tool_calls: Vec<ToolCallBlock>,
    } example r#""reply_id":"r1","tool_calls":[{"type":"tool_call","id":"c1","name":"shell","input":"{}","state":"asking","suggested_rules":[],"created_at":"2026-01-01T00:00:00.000000+00:00","finished_at":null}]"#

    /// The agent waits for tools that run elsewhere.
    RequireExternalExecution(RequireExternalExecutionEvent) = "REQUIRE_EXTERNAL_EXECUTION" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// The calls to run.
        tool_calls: Vec<ToolCallBlock>,
    } example r#""reply_id":"r1","tool_calls":[{"type":"tool_call","id":"c1","name":"open_door","input":"{}","state":"submitted","suggested_rules":[],"created_at":"2026-01-01T00:00:00.000000+00:00","finished_at":null}]"#

    /// The user allows or refuses calls. Goes to the agent.
    UserConfirmResult(UserConfirmResultEvent) = "USER_CONFIRM_RESULT" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// One answer for each call.
        confirm_results: Vec<ConfirmResult>,
    } example r#""reply_id":"r1","confirm_results":[{"confirmed":true,"tool_call":{"type":"tool_call","id":"c1","name":"shell","input":"{}","state":"asking","suggested_rules":[],"created_at":"2026-01-01T00:00:00.000000+00:00","finished_at":null},"rules":null}]"#

    /// The user stops a reply that waits. Goes to the agent.
    UserInterrupt(UserInterruptEvent) = "USER_INTERRUPT" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
    } example r#""reply_id":"r1""#

    /// Tools that ran elsewhere have answered. Goes to the agent.
    ExternalExecutionResult(ExternalExecutionResultEvent) = "EXTERNAL_EXECUTION_RESULT" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// The answers.
        execution_results: Vec<ToolResultBlock>,
    } example r#""reply_id":"r1","execution_results":[{"type":"tool_result","id":"c1","name":"open_door","output":"opened","state":"success","metadata":{},"created_at":"2026-01-01T00:00:00.000000+00:00","finished_at":null}]"#

    /// A signal that is no other event. It belongs to the session, not to a message, unless its name is one of
    /// Recount's own that say otherwise.
    Custom(CustomEvent) = "CUSTOM" {
        /// Id of the reply, where the producer names one.
        reply_id: Option<Cow<'a, str>> = None => omitted,
        /// The kind of signal.
        name: Cow<'a, str>,
        /// What it says.
        value: Object = Object::new(),
    } example r#""name":"progress","value":{"done":3,"of":7}"#
}

words! {
    /// Why a model call ended.
    ///
    /// ```
    /// use recount_message::{Event, EventKind, ModelFinishedReason};
    ///
    /// let line = r#"{"type":"MODEL_CALL_END","reply_id":"r1","input_tokens":120,"output_tokens":18}"#;
    /// let EventKind::ModelCallEnd(end) = Event::from_json(line)?.kind else { unreachable!() };
    /// assert_eq!(end.finished_reason, ModelFinishedReason::Completed);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub enum ModelFinishedReason as "finished reason" {
        /// The model was done.
        Completed = "completed",
        /// The call was broken off.
        Interrupted = "interrupted",
    }
}

/// An event whose `type` this version does not know.
///
/// ```
/// use recount_message::{Event, EventKind};
///
/// // Nothing of an event from the future is lost.
/// let event = Event::from_json(r#"{"type":"FROM_THE_FUTURE","colour":"blue"}"#)?;
/// assert!(matches!(&event.kind, EventKind::Unknown(kind) if kind.type_name == "FROM_THE_FUTURE"));
/// assert_eq!(event.extra.to_json(), r#"{"colour":"blue"}"#);
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownEvent<'a> {
    /// What `type` says.
    pub type_name: Cow<'a, str>,
}

record! {
    /// A user's answer to one call.
    ///
    /// ```
    /// use recount_message::{ConfirmResult, ToolCallBlock};
    ///
    /// // The user may edit the arguments before the call runs.
    /// let mut answer = ConfirmResult::allow(ToolCallBlock::new("c1", "shell", r#"{"command":"rm *"}"#));
    /// answer.tool_call.input = r#"{"command":"ls"}"#.to_owned();
    /// assert!(answer.confirmed);
    /// ```
    pub struct ConfirmResult {
        /// Whether the call may run.
        pub confirmed: bool,
        /// The call. Where its input differs from the one that was asked about, the user has edited it.
        pub tool_call: ToolCallBlock,
        /// Rules that the user accepts along with the call.
        pub rules: Option<Vec<PermissionRule>> = |_here| None,
    }
}

impl ConfirmResult {
    /// The call may run.
    ///
    /// ```
    /// use recount_message::{ConfirmResult, ToolCallBlock};
    ///
    /// assert!(ConfirmResult::allow(ToolCallBlock::new("c1", "shell", "{}")).confirmed);
    /// ```
    pub fn allow(tool_call: ToolCallBlock) -> Self {
        Self { confirmed: true, tool_call, rules: None, extra: Object::new() }
    }

    /// The call may not run.
    ///
    /// ```
    /// use recount_message::{ConfirmResult, Event, Msg, ToolCallBlock, ToolCallState, UserConfirmResultEvent};
    ///
    /// let call = ToolCallBlock::new("c1", "shell", "{}").with_state(ToolCallState::Asking);
    /// let mut reply = Msg::assistant("Friday", call.clone()).with_id("r1");
    /// let _ = reply.append_event(&Event::new(UserConfirmResultEvent::new("r1", [ConfirmResult::deny(call)])));
    /// assert_eq!(reply.call("c1").unwrap().state, ToolCallState::Finished);
    /// ```
    pub fn deny(tool_call: ToolCallBlock) -> Self {
        Self { confirmed: false, tool_call, rules: None, extra: Object::new() }
    }

    /// The same answer with rules for calls like it.
    ///
    /// ```
    /// use recount_message::{ConfirmResult, PermissionBehavior, PermissionRule, ToolCallBlock};
    ///
    /// let call = ToolCallBlock::new("c1", "shell", r#"{"command":"git status"}"#);
    /// let rule = PermissionRule::new("shell", Some("git status:*"), PermissionBehavior::Allow);
    /// assert_eq!(ConfirmResult::allow(call).with_rules([rule]).rules.unwrap().len(), 1);
    /// ```
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = PermissionRule>) -> Self {
        self.rules = Some(rules.into_iter().collect());
        self
    }
}

impl UserConfirmResultEvent<'static> {
    /// The user's answers to calls of a reply.
    ///
    /// ```
    /// use recount_message::{ConfirmResult, Event, ToolCallBlock, UserConfirmResultEvent};
    ///
    /// let call = ToolCallBlock::new("c1", "shell", "{}");
    /// let event = Event::new(UserConfirmResultEvent::new("r1", [ConfirmResult::allow(call)]));
    /// assert_eq!(event.reply_id(), Some("r1"));
    /// ```
    pub fn new(reply_id: impl Into<String>, answers: impl IntoIterator<Item = ConfirmResult>) -> Self {
        Self { reply_id: Cow::Owned(reply_id.into()), confirm_results: answers.into_iter().collect() }
    }
}

impl ExternalExecutionResultEvent<'static> {
    /// The results of calls of a reply that ran elsewhere.
    ///
    /// ```
    /// use recount_message::{Event, ExternalExecutionResultEvent, Msg, ToolCallBlock};
    ///
    /// let call = ToolCallBlock::new("c1", "open_door", "{}");
    /// let answer = ExternalExecutionResultEvent::new("r1", [call.success("opened")]);
    /// let mut reply = Msg::assistant("Friday", call).with_id("r1");
    /// let _ = reply.append_event(&Event::new(answer));
    /// assert_eq!(reply.result_of("c1").unwrap().output.text().as_deref(), Some("opened"));
    /// ```
    pub fn new(reply_id: impl Into<String>, results: impl IntoIterator<Item = ToolResultBlock>) -> Self {
        Self { reply_id: Cow::Owned(reply_id.into()), execution_results: results.into_iter().collect() }
    }
}

impl UserInterruptEvent<'static> {
    /// The user stops a reply.
    ///
    /// ```
    /// use recount_message::UserInterruptEvent;
    ///
    /// assert_eq!(UserInterruptEvent::new("r1").reply_id, "r1");
    /// ```
    pub fn new(reply_id: impl Into<String>) -> Self {
        Self { reply_id: Cow::Owned(reply_id.into()) }
    }
}

impl EventKind<'_> {
    /// Id of the reply that the event is for; nothing where it is for the session.
    ///
    /// ```
    /// use recount_message::{EventKind, TextBlockStartEvent};
    ///
    /// let kind = EventKind::from(TextBlockStartEvent::new("r1", "b1"));
    /// assert_eq!(kind.reply_id(), Some("r1"));
    /// ```
    pub fn reply_id(&self) -> Option<&str> {
        macro_rules! reply_id {
            ($($name:ident)+) => {
                match self {
                    $( Self::$name(kind) => Some(&kind.reply_id), )+
                    Self::Custom(kind) => kind.reply_id.as_deref(),
                    Self::Unknown(_) => None,
                }
            };
        }
        reply_id! {
            ReplyStart ReplyEnd ModelCallStart ModelCallEnd TextBlockStart TextBlockDelta TextBlockEnd
            ThinkingBlockStart ThinkingBlockDelta ThinkingBlockEnd DataBlockStart DataBlockDelta DataBlockEnd HintBlock
            ToolCallStart ToolCallDelta ToolCallEnd ToolResultStart ToolResultTextDelta ToolResultDataDelta
            ToolResultEnd ExceedMaxIters RequireUserConfirm RequireExternalExecution UserConfirmResult UserInterrupt
            ExternalExecutionResult
        }
    }
}
