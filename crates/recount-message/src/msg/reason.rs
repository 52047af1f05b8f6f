//! Why a reply ended.

use super::Msg;
use crate::Json;
use crate::block::ToolCallState;
use crate::json::record::record;
use crate::json::wire::words;

words! {
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
        /// The agent was done.
        Completed = "completed",
        /// Somebody stopped it.
        Interrupted = "interrupted",
        /// It took more rounds than it may.
        ExceedMaxIters = "exceed_max_iters",
        /// Something went wrong.
        Error = "error",
    }
}

words! {
    /// What kind of error ended a reply.
    ///
    /// ```
    /// use recount_message::ErrorType;
    ///
    /// // Whether it makes sense to try again is up to the program.
    /// let is_passing = |kind| matches!(kind, ErrorType::RateLimit | ErrorType::Upstream | ErrorType::Connection);
    /// assert!(is_passing(ErrorType::RateLimit));
    /// assert!(!is_passing(ErrorType::Authentication));
    /// ```
    pub enum ErrorType as "error type" {
        /// A credential is missing or wrong.
        Authentication = "authentication",
        /// The credential may not do this.
        Permission = "permission",
        /// Too much, too fast.
        RateLimit = "rate_limit",
        /// The request was malformed.
        InvalidRequest = "invalid_request",
        /// A service behind the agent failed.
        Upstream = "upstream",
        /// The network failed.
        Connection = "connection",
        /// The agent itself failed.
        Internal = "internal",
        /// The agent could not be put together.
        Setup = "setup",
        /// Nobody knows.
        Unknown = "unknown",
    }
}

record! {
    /// What went wrong.
    ///
    /// ```
    /// use recount_message::{ErrorInfo, ErrorType, ReplyEnd, ReplyWriter, Stamps};
    ///
    /// let reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let message = reply.end(ReplyEnd::failed(ErrorInfo::new(ErrorType::Upstream, "503 from the provider")));
    /// assert_eq!(message.error().unwrap().message, "503 from the provider");
    /// ```
    pub struct ErrorInfo {
        /// What kind of error it was.
        pub kind as "type": ErrorType = |_here| ErrorType::Unknown,
        /// What happened, for a person.
        pub message: String,
    }
}

impl ErrorInfo {
    /// An error of a kind.
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

words! {
    /// Why an agent stopped, in AgentScope Java's words.
    ///
    /// ```
    /// use recount_message::{GenerateReason, Msg};
    ///
    /// let message = Msg::assistant("Friday", "").with_generate_reason(GenerateReason::PermissionAsking);
    /// let says = message.metadata().get("agentscope_generate_reason").unwrap();
    /// assert_eq!(says.as_str(), Some(GenerateReason::PermissionAsking.as_str()));
    /// ```
    pub enum GenerateReason as "generate reason" {
        /// The model was done.
        ModelStop = "MODEL_STOP",
        /// The model wants tools to be called.
        ToolCalls = "TOOL_CALLS",
        /// The structured output is there.
        StructuredOutput = "STRUCTURED_OUTPUT",
        /// A tool runs elsewhere and its result is awaited.
        ToolSuspended = "TOOL_SUSPENDED",
        /// Somebody asked to stop after the reasoning.
        ReasoningStopRequested = "REASONING_STOP_REQUESTED",
        /// Somebody asked to stop after the acting.
        ActingStopRequested = "ACTING_STOP_REQUESTED",
        /// The user's permission is awaited.
        PermissionAsking = "PERMISSION_ASKING",
        /// A middleware asked to stop.
        MiddlewareStopRequested = "MIDDLEWARE_STOP_REQUESTED",
        /// No tool was allowed to run.
        AllToolsDenied = "ALL_TOOLS_DENIED",
        /// Somebody interrupted the reply.
        Interrupted = "INTERRUPTED",
        /// The reply took more rounds than it may.
        MaxIterations = "MAX_ITERATIONS",
    }
}

/// Where AgentScope Java keeps the reason, and therefore Recount too.
pub(super) const GENERATE_REASON: &str = "agentscope_generate_reason";

impl Msg {
    /// Why the agent stopped, in AgentScope Java's words: what the metadata says, or what follows from
    /// [`finished_reason`](Self::finished_reason), or what the calls of a reply that has not ended wait for.
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
        if let Some(reason) = stated.and_then(|word| GenerateReason::from_word(word)) {
            return reason;
        }
        match self.finished_reason {
            Some(FinishedReason::Interrupted) => GenerateReason::Interrupted,
            Some(FinishedReason::ExceedMaxIters) => GenerateReason::MaxIterations,
            Some(FinishedReason::Completed | FinishedReason::Error) => GenerateReason::ModelStop,
            None => self.waits_for().unwrap_or(GenerateReason::ModelStop),
        }
    }

    /// What a reply that has not ended waits for, if it waits.
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

    /// The same message with a reason in AgentScope Java's words. The native reason follows where there is one.
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
