//! The declarations of all events.

use std::borrow::Cow;

use super::Event;
use super::codec::Head;
use super::declare::{IntoOwned, events, example, next_field, read_field, write_field};
use crate::block::{Payload, PermissionRule, ToolCallBlock, ToolResultBlock, ToolResultState};
use crate::json::fields::Fields;
use crate::json::record::{has_default, record};
use crate::json::scan::Scanner;
use crate::json::wire::{DecodeContext, Wire, string_enum};
use crate::msg::{ErrorInfo, FinishedReason};
use crate::{DecodeError, Field, Object, Record};

events! {
    /// The start of a reply.
    ReplyStart(ReplyStartEvent) = "REPLY_START" {
        /// Id of the producer's session.
        session_id: Cow<'a, str>,
        /// Id of the reply, and of the message that it becomes.
        reply_id: Cow<'a, str>,
        /// Name of the agent.
        name: Cow<'a, str>,
        /// Role of the agent. The message always has the role assistant.
        role: Cow<'a, str> = Cow::Borrowed("assistant"),
    } example r#""session_id":"s1","reply_id":"r1","name":"Friday","role":"assistant""#

    /// The end of a reply. Open blocks end with it.
    ReplyEnd(ReplyEndEvent) = "REPLY_END" {
        /// Id of the producer's session.
        session_id: Cow<'a, str>,
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Why the reply ended.
        finished_reason: FinishedReason = FinishedReason::Completed,
        /// The error that ended the reply.
        error: Option<ErrorInfo> = None,
    } example r#""session_id":"s1","reply_id":"r1","finished_reason":"completed","error":null"#

    /// The start of a model call.
    ModelCallStart(ModelCallStartEvent) = "MODEL_CALL_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Name of the model.
        model_name: Cow<'a, str>,
    } example r#""reply_id":"r1","model_name":"some-model""#

    /// The end of a model call. Its tokens are added to the usage of the message.
    ModelCallEnd(ModelCallEndEvent) = "MODEL_CALL_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Number of input tokens.
        input_tokens: u64,
        /// Number of output tokens.
        output_tokens: u64,
        /// Number of input tokens read from the prompt cache.
        cache_input_tokens: u64 = 0,
        /// Number of input tokens written to the prompt cache.
        cache_creation_input_tokens: u64 = 0,
        /// Why the call ended.
        finished_reason: ModelFinishedReason = ModelFinishedReason::Completed,
    } example r#""reply_id":"r1","input_tokens":120,"output_tokens":18,"cache_input_tokens":0,"cache_creation_input_tokens":0,"finished_reason":"completed""#

    /// The start of a text block.
    TextBlockStart(TextBlockStartEvent) = "TEXT_BLOCK_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1""#

    /// Text to append to a text block.
    TextBlockDelta(TextBlockDeltaEvent) = "TEXT_BLOCK_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// The text to append.
        delta: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1","delta":"Hello""#

    /// The end of a text block.
    TextBlockEnd(TextBlockEndEvent) = "TEXT_BLOCK_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// The full text, if it differs from the concatenated deltas.
        text: Option<Cow<'a, str>> = None,
    } example r#""reply_id":"r1","block_id":"b1","text":null"#

    /// The start of a thinking block.
    ThinkingBlockStart(ThinkingBlockStartEvent) = "THINKING_BLOCK_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1""#

    /// Text to append to a thinking block.
    ThinkingBlockDelta(ThinkingBlockDeltaEvent) = "THINKING_BLOCK_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// The text to append.
        delta: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1","delta":"First, ""#

    /// The end of a thinking block.
    ThinkingBlockEnd(ThinkingBlockEndEvent) = "THINKING_BLOCK_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1""#

    /// The start of a data block.
    DataBlockStart(DataBlockStartEvent) = "DATA_BLOCK_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// The media type, such as `image/png`.
        media_type: Cow<'a, str>,
        /// Name of the data, such as a file name.
        name: Option<Cow<'a, str>> = None,
    } example r#""reply_id":"r1","block_id":"b1","media_type":"image/png","name":"chart.png""#

    /// Bytes to append to a data block, or its URL. Exactly one of `data` and `url` is set.
    DataBlockDelta(DataBlockDeltaEvent) = "DATA_BLOCK_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// The media type. It replaces the one of the start only together with a `url`.
        media_type: Cow<'a, str>,
        /// Base64 to append, split at any character.
        data: Option<Cow<'a, str>> = None,
        /// URL of the data. It replaces earlier bytes.
        url: Option<Cow<'a, str>> = None,
    } example r#""reply_id":"r1","block_id":"b1","media_type":"image/png","data":"iVBORw0K","url":null"#

    /// The end of a data block.
    DataBlockEnd(DataBlockEndEvent) = "DATA_BLOCK_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
    } example r#""reply_id":"r1","block_id":"b1""#

    /// A complete hint block: input to the model from outside the conversation.
    HintBlock(HintBlockEvent) = "HINT_BLOCK" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the block.
        block_id: Cow<'a, str>,
        /// Sender of the hint: a name, or a JSON object with `label` and `sublabel`.
        source: Option<Cow<'a, str>> = None,
        /// Content of the hint.
        hint: Payload,
    } example r#""reply_id":"r1","block_id":"b1","source":"calendar","hint":"The meeting begins in ten minutes.""#

    /// The start of a tool call.
    ToolCallStart(ToolCallStartEvent) = "TOOL_CALL_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the call.
        tool_call_id: Cow<'a, str>,
        /// Name of the tool.
        tool_call_name: Cow<'a, str>,
    } example r#""reply_id":"r1","tool_call_id":"c1","tool_call_name":"get_weather""#

    /// A piece of the arguments of a tool call.
    ToolCallDelta(ToolCallDeltaEvent) = "TOOL_CALL_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the call.
        tool_call_id: Cow<'a, str>,
        /// JSON text to append, split at any character.
        delta: Cow<'a, str>,
    } example r#""reply_id":"r1","tool_call_id":"c1","delta":"{\"city\":""#

    /// The end of the arguments of a tool call.
    ToolCallEnd(ToolCallEndEvent) = "TOOL_CALL_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the call.
        tool_call_id: Cow<'a, str>,
    } example r#""reply_id":"r1","tool_call_id":"c1""#

    /// The start of a tool result.
    ToolResultStart(ToolResultStartEvent) = "TOOL_RESULT_START" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the tool call.
        tool_call_id: Cow<'a, str>,
        /// Name of the tool.
        tool_call_name: Cow<'a, str>,
    } example r#""reply_id":"r1","tool_call_id":"c1","tool_call_name":"get_weather""#

    /// Text to append to a tool result.
    ToolResultTextDelta(ToolResultTextDeltaEvent) = "TOOL_RESULT_TEXT_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the tool call.
        tool_call_id: Cow<'a, str>,
        /// The text to append.
        delta: Cow<'a, str>,
    } example r#""reply_id":"r1","tool_call_id":"c1","delta":"Sunny, 25°C""#

    /// Data of a tool result. Exactly one of `data` and `url` is set.
    ToolResultDataDelta(ToolResultDataDeltaEvent) = "TOOL_RESULT_DATA_DELTA" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the tool call.
        tool_call_id: Cow<'a, str>,
        /// Id of the data. A known id continues that data, a new id appends another item.
        block_id: Option<Cow<'a, str>> = None => omitted,
        /// The media type.
        media_type: Cow<'a, str>,
        /// Base64 to append, split at any character.
        data: Option<Cow<'a, str>> = None,
        /// URL of the data.
        url: Option<Cow<'a, str>> = None,
    } example r#""reply_id":"r1","tool_call_id":"c1","block_id":"d1","media_type":"image/png","data":null,"url":"https://example.com/map.png""#

    /// The end of a tool result. The metadata of the event becomes the metadata of the result.
    ToolResultEnd(ToolResultEndEvent) = "TOOL_RESULT_END" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Id of the tool call.
        tool_call_id: Cow<'a, str>,
        /// Outcome of the tool call.
        state: ToolResultState,
    } example r#""reply_id":"r1","tool_call_id":"c1","state":"success""#

    /// The agent reached its limit of rounds. `REPLY_END` has the same reason.
    ExceedMaxIters(ExceedMaxItersEvent) = "EXCEED_MAX_ITERS" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// Name of the agent.
        name: Cow<'a, str>,
    } example r#""reply_id":"r1","name":"Friday""#

    /// The reply waits for the user to confirm tool calls.
    RequireUserConfirm(RequireUserConfirmEvent) = "REQUIRE_USER_CONFIRM" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// The calls to confirm, with the rules that the user may accept.
        tool_calls: Vec<ToolCallBlock>,
    } example r#""reply_id":"r1","tool_calls":[{"type":"tool_call","id":"c1","name":"shell","input":"{}","state":"asking","suggested_rules":[],"created_at":"2026-01-01T00:00:00.000000+00:00","finished_at":null}]"#

    /// The reply waits for tool calls that another process executes.
    RequireExternalExecution(RequireExternalExecutionEvent) = "REQUIRE_EXTERNAL_EXECUTION" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// The calls to execute.
        tool_calls: Vec<ToolCallBlock>,
    } example r#""reply_id":"r1","tool_calls":[{"type":"tool_call","id":"c1","name":"open_door","input":"{}","state":"submitted","suggested_rules":[],"created_at":"2026-01-01T00:00:00.000000+00:00","finished_at":null}]"#

    /// The user allows or denies tool calls. An input to the agent.
    UserConfirmResult(UserConfirmResultEvent) = "USER_CONFIRM_RESULT" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// One decision for each call.
        confirm_results: Vec<ConfirmResult>,
    } example r#""reply_id":"r1","confirm_results":[{"confirmed":true,"tool_call":{"type":"tool_call","id":"c1","name":"shell","input":"{}","state":"asking","suggested_rules":[],"created_at":"2026-01-01T00:00:00.000000+00:00","finished_at":null},"rules":null}]"#

    /// The user interrupts a waiting reply. An input to the agent.
    UserInterrupt(UserInterruptEvent) = "USER_INTERRUPT" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
    } example r#""reply_id":"r1""#

    /// The results of externally executed tool calls. An input to the agent.
    ExternalExecutionResult(ExternalExecutionResultEvent) = "EXTERNAL_EXECUTION_RESULT" {
        /// Id of the reply.
        reply_id: Cow<'a, str>,
        /// The results.
        execution_results: Vec<ToolResultBlock>,
    } example r#""reply_id":"r1","execution_results":[{"type":"tool_result","id":"c1","name":"open_door","output":"opened","state":"success","metadata":{},"created_at":"2026-01-01T00:00:00.000000+00:00","finished_at":null}]"#

    /// A custom signal. It belongs to the session and changes no message, except for some of Recount's own names.
    Custom(CustomEvent) = "CUSTOM" {
        /// Id of the reply, if the producer set one.
        reply_id: Option<Cow<'a, str>> = None => omitted,
        /// Name of the signal.
        name: Cow<'a, str>,
        /// Value of the signal.
        value: Object = Object::new(),
    } example r#""name":"progress","value":{"done":3,"of":7}"#
}

string_enum! {
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
        /// The model finished.
        Completed = "completed",
        /// The call was interrupted.
        Interrupted = "interrupted",
    }
}

/// The kind of an event whose `type` is not declared in this version.
///
/// ```
/// use recount_message::{Event, EventKind};
///
/// // The fields of the event are preserved.
/// let event = Event::from_json(r#"{"type":"FROM_THE_FUTURE","colour":"blue"}"#)?;
/// assert!(matches!(&event.kind, EventKind::Unknown(kind) if kind.type_name == "FROM_THE_FUTURE"));
/// assert_eq!(event.extra.to_json(), r#"{"colour":"blue"}"#);
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownEvent<'a> {
    /// The value of `type`.
    pub type_name: Cow<'a, str>,
}

record! {
    /// The decision of a user about one tool call.
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
        /// Whether the call is allowed.
        pub confirmed: bool,
        /// The call. Its input replaces the input of the call in the reply, so that the user can edit the arguments.
        pub tool_call: ToolCallBlock,
        /// Permission rules that the user accepts together with the call.
        pub rules: Option<Vec<PermissionRule>> = |_here| None,
    }
}

impl ConfirmResult {
    /// Creates the decision to allow a call.
    ///
    /// ```
    /// use recount_message::{ConfirmResult, ToolCallBlock};
    ///
    /// assert!(ConfirmResult::allow(ToolCallBlock::new("c1", "shell", "{}")).confirmed);
    /// ```
    pub fn allow(tool_call: ToolCallBlock) -> Self {
        Self { confirmed: true, tool_call, rules: None, extra: Object::new() }
    }

    /// Creates the decision to deny a call.
    ///
    /// ```
    /// use recount_message::{ConfirmResult, Event, Msg, ToolCallBlock, ToolCallState, UserConfirmResultEvent};
    ///
    /// let call = ToolCallBlock::new("c1", "shell", "{}").with_state(ToolCallState::Asking);
    /// let mut reply = Msg::assistant("Friday", call.clone()).with_id("r1");
    /// reply.append_event(&Event::new(UserConfirmResultEvent::new("r1", [ConfirmResult::deny(call)])));
    /// assert_eq!(reply.call("c1").unwrap().state, ToolCallState::Finished);
    /// ```
    pub fn deny(tool_call: ToolCallBlock) -> Self {
        Self { confirmed: false, tool_call, rules: None, extra: Object::new() }
    }

    /// Sets the permission rules that the user accepts. Consumes the decision and returns the changed one.
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
    /// Creates the event with the decisions about calls of a reply.
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
    /// Creates the event with the results of externally executed calls of a reply.
    ///
    /// ```
    /// use recount_message::{Event, ExternalExecutionResultEvent, Msg, ToolCallBlock};
    ///
    /// let call = ToolCallBlock::new("c1", "open_door", "{}");
    /// let answer = ExternalExecutionResultEvent::new("r1", [call.success("opened")]);
    /// let mut reply = Msg::assistant("Friday", call).with_id("r1");
    /// reply.append_event(&Event::new(answer));
    /// assert_eq!(reply.result_of("c1").unwrap().output.text().as_deref(), Some("opened"));
    /// ```
    pub fn new(reply_id: impl Into<String>, results: impl IntoIterator<Item = ToolResultBlock>) -> Self {
        Self { reply_id: Cow::Owned(reply_id.into()), execution_results: results.into_iter().collect() }
    }
}

impl UserInterruptEvent<'static> {
    /// Creates the event that interrupts a reply.
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
    /// Returns the id of the reply that the event belongs to; `None` for an event of the session.
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
