//! Reasons for the end of a reply.

use super::Msg;
use crate::Json;
use crate::block::ToolCallState;
use crate::json::record::record;
use crate::json::wire::string_enum;

string_enum! {
    /// Why a reply ended.
    ///
    /// ```
    /// use recount_message::{FinishedReason, ReplyEnd, ReplyWriter, Stamps};
    ///
    /// let reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let message = reply.end(ReplyEnd::new(FinishedReason::Interrupted));
    /// assert_eq!(message.finished_reason(), Some(FinishedReason::Interrupted));
    /// ```
    pub enum FinishedReason as "finished reason" {
        /// The agent finished.
        Completed = "completed",
        /// The reply was interrupted.
        Interrupted = "interrupted",
        /// The agent reached its limit of rounds.
        ExceedMaxIters = "exceed_max_iters",
        /// The reply failed.
        Error = "error",
    }
}

string_enum! {
    /// The kind of error that ended a reply.
    ///
    /// ```
    /// use recount_message::ErrorType;
    ///
    /// // The program decides which errors are worth a retry.
    /// let is_passing = |kind| matches!(kind, ErrorType::RateLimit | ErrorType::Upstream | ErrorType::Connection);
    /// assert!(is_passing(ErrorType::RateLimit));
    /// assert!(!is_passing(ErrorType::Authentication));
    /// ```
    pub enum ErrorType as "error type" {
        /// A credential is missing or invalid.
        Authentication = "authentication",
        /// The credential lacks a permission.
        Permission = "permission",
        /// A rate limit was exceeded.
        RateLimit = "rate_limit",
        /// The request was invalid.
        InvalidRequest = "invalid_request",
        /// A service behind the agent failed.
        Upstream = "upstream",
        /// The network failed.
        Connection = "connection",
        /// The agent itself failed.
        Internal = "internal",
        /// The agent could not be configured.
        Setup = "setup",
        /// The kind is unknown.
        Unknown = "unknown",
    }
}

record! {
    /// The error that ended a reply.
    ///
    /// ```
    /// use recount_message::{ErrorInfo, ErrorType, ReplyEnd, ReplyWriter, Stamps};
    ///
    /// let reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let message = reply.end(ReplyEnd::failed(ErrorInfo::new(ErrorType::Upstream, "503 from the provider")));
    /// assert_eq!(message.error().unwrap().message, "503 from the provider");
    /// ```
    pub struct ErrorInfo {
        /// Kind of the error.
        pub kind as "type": ErrorType = |_here| ErrorType::Unknown,
        /// Description for people.
        pub message: String,
    }
}

impl ErrorInfo {
    /// Creates an error.
    ///
    /// ```
    /// use recount_message::{ErrorInfo, ErrorType};
    ///
    /// let error = ErrorInfo::new(ErrorType::Setup, "no model is configured");
    /// assert_eq!((error.kind.as_str(), error.message.as_str()), ("setup", "no model is configured"));
    /// ```
    pub fn new(kind: ErrorType, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), extra: crate::Object::new() }
    }
}

string_enum! {
    /// Why an agent stopped, as in AgentScope Java.
    ///
    /// ```
    /// use recount_message::{GenerateReason, Msg};
    ///
    /// let message = Msg::assistant("Friday", "").with_generate_reason(GenerateReason::PermissionAsking);
    /// let says = message.metadata().get("agentscope_generate_reason").unwrap();
    /// assert_eq!(says.as_str(), Some(GenerateReason::PermissionAsking.as_str()));
    /// ```
    pub enum GenerateReason as "generate reason" {
        /// The model finished.
        ModelStop = "MODEL_STOP",
        /// The model calls tools.
        ToolCalls = "TOOL_CALLS",
        /// The structured output is complete.
        StructuredOutput = "STRUCTURED_OUTPUT",
        /// The reply waits for an externally executed tool call.
        ToolSuspended = "TOOL_SUSPENDED",
        /// A stop was requested after the reasoning.
        ReasoningStopRequested = "REASONING_STOP_REQUESTED",
        /// A stop was requested after the tool calls.
        ActingStopRequested = "ACTING_STOP_REQUESTED",
        /// The reply waits for confirmation by the user.
        PermissionAsking = "PERMISSION_ASKING",
        /// A middleware requested a stop.
        MiddlewareStopRequested = "MIDDLEWARE_STOP_REQUESTED",
        /// All tool calls were denied.
        AllToolsDenied = "ALL_TOOLS_DENIED",
        /// The reply was interrupted.
        Interrupted = "INTERRUPTED",
        /// The agent reached its limit of rounds.
        MaxIterations = "MAX_ITERATIONS",
    }
}

/// The metadata key of the reason in AgentScope Java, which Recount uses as well.
pub(super) const GENERATE_REASON: &str = "agentscope_generate_reason";

impl Msg {
    /// Returns why the agent stopped, as in AgentScope Java: the reason in the metadata, or else the one that follows from
    /// [`finished_reason`](Self::finished_reason) or, for an open reply, from its waiting tool calls.
    ///
    /// ```
    /// use recount_message::{GenerateReason, Msg, ToolCallBlock, ToolCallState};
    ///
    /// let message = Msg::assistant("Friday", "Hello");
    /// assert_eq!(message.generate_reason(), GenerateReason::ModelStop);
    ///
    /// let stopped = message.with_generate_reason(GenerateReason::ActingStopRequested);
    /// assert_eq!(stopped.generate_reason(), GenerateReason::ActingStopRequested);
    ///
    /// let asked = ToolCallBlock::new("c1", "shell", "{}").with_state(ToolCallState::Asking);
    /// assert_eq!(Msg::assistant("Friday", asked).generate_reason(), GenerateReason::PermissionAsking);
    /// ```
    pub fn generate_reason(&self) -> GenerateReason {
        let stated = self.metadata.get(GENERATE_REASON).and_then(Json::as_str);
        if let Some(reason) = stated.and_then(GenerateReason::from_name) {
            return reason;
        }
        match self.finished_reason {
            Some(FinishedReason::Interrupted) => GenerateReason::Interrupted,
            Some(FinishedReason::ExceedMaxIters) => GenerateReason::MaxIterations,
            Some(FinishedReason::Completed | FinishedReason::Error) => GenerateReason::ModelStop,
            None => self.waits_for().unwrap_or(GenerateReason::ModelStop),
        }
    }

    /// Returns the reason for which an open reply waits; `None` if it does not wait.
    fn waits_for(&self) -> Option<GenerateReason> {
        let is_open = |state: ToolCallState| {
            self.tool_pairs()
                .any(|(call, result)| call.state == state && result.is_none_or(|result| result.finished_at.is_none()))
        };
        if self.finished_at.is_some() {
            return None;
        }
        if is_open(ToolCallState::Asking) {
            return Some(GenerateReason::PermissionAsking);
        }
        is_open(ToolCallState::Submitted).then_some(GenerateReason::ToolSuspended)
    }

    /// Sets the reason of AgentScope Java, and the corresponding native reason if there is one. Consumes the message and returns
    /// the changed one.
    ///
    /// ```
    /// use recount_message::{FinishedReason, GenerateReason, Msg};
    ///
    /// let message = Msg::assistant("Friday", "Hello");
    /// let stopped = message.clone().with_generate_reason(GenerateReason::Interrupted);
    /// assert_eq!(stopped.finished_reason(), Some(FinishedReason::Interrupted));
    /// let waiting = message.with_generate_reason(GenerateReason::ToolSuspended);
    /// assert_eq!(waiting.finished_reason(), None);
    /// ```
    pub fn with_generate_reason(mut self, reason: GenerateReason) -> Self {
        let native = match reason {
            GenerateReason::ModelStop | GenerateReason::StructuredOutput => Some(FinishedReason::Completed),
            GenerateReason::Interrupted => Some(FinishedReason::Interrupted),
            GenerateReason::MaxIterations => Some(FinishedReason::ExceedMaxIters),
            GenerateReason::ToolCalls
            | GenerateReason::ToolSuspended
            | GenerateReason::ReasoningStopRequested
            | GenerateReason::ActingStopRequested
            | GenerateReason::PermissionAsking
            | GenerateReason::MiddlewareStopRequested
            | GenerateReason::AllToolsDenied => None,
        };
        self.finished_reason = native.or(self.finished_reason);
        self.metadata.insert(GENERATE_REASON, reason.as_str());
        self
    }
}
