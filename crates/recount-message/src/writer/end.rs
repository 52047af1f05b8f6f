//! The end of a reply.

use crate::Object;
use crate::msg::{ErrorInfo, FinishedReason};

/// How a reply ends: its reason, and optionally an error, structured output and metadata.
///
/// ```
/// use recount_message::{FinishedReason, ReplyEnd, ReplyWriter, Stamps};
///
/// let reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Judge");
/// let message = reply.end(ReplyEnd::completed().with_structured_output([("approved", true)]));
/// assert_eq!(message.finished_reason(), Some(FinishedReason::Completed));
/// assert!(message.has_structured());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ReplyEnd {
    pub(super) reason: FinishedReason,
    pub(super) error: Option<ErrorInfo>,
    pub(super) structured_output: Option<Object>,
    pub(super) metadata: Object,
}

impl ReplyEnd {
    /// Ends the reply for a reason.
    ///
    /// ```
    /// use recount_message::{FinishedReason, ReplyEnd};
    ///
    /// assert_eq!(ReplyEnd::new(FinishedReason::Completed), ReplyEnd::completed());
    /// ```
    pub fn new(reason: FinishedReason) -> Self {
        Self { reason, error: None, structured_output: None, metadata: Object::new() }
    }

    /// Ends the reply as completed.
    ///
    /// ```
    /// use recount_message::{FinishedReason, ReplyEnd, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.text("Done.");
    /// assert_eq!(reply.end(ReplyEnd::completed()).finished_reason(), Some(FinishedReason::Completed));
    /// ```
    pub fn completed() -> Self {
        Self::new(FinishedReason::Completed)
    }

    /// Ends the reply with an error.
    ///
    /// ```
    /// use recount_message::{ErrorInfo, ErrorType, FinishedReason, ReplyEnd, ReplyWriter, Stamps};
    ///
    /// let reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let message = reply.end(ReplyEnd::failed(ErrorInfo::new(ErrorType::Connection, "timed out")));
    /// assert_eq!(message.finished_reason(), Some(FinishedReason::Error));
    /// assert_eq!(message.error().unwrap().message, "timed out");
    /// ```
    pub fn failed(error: ErrorInfo) -> Self {
        Self { error: Some(error), ..Self::new(FinishedReason::Error) }
    }

    /// Sets the structured output. Consumes the value and returns the changed one.
    ///
    /// ```
    /// use recount_message::{ReplyEnd, ReplyWriter, Stamps};
    ///
    /// let reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Judge");
    /// let message = reply.end(ReplyEnd::completed().with_structured_output([("score", 7)]));
    /// assert_eq!(message.structured_output().unwrap().to_json(), r#"{"score":7}"#);
    /// ```
    pub fn with_structured_output(mut self, output: impl Into<Object>) -> Self {
        self.structured_output = Some(output.into());
        self
    }

    /// Sets metadata to merge into the message. Consumes the value and returns the changed one.
    ///
    /// ```
    /// use recount_message::{ReplyEnd, ReplyWriter, Stamps};
    ///
    /// let reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let message = reply.end(ReplyEnd::completed().with_metadata([("rounds", 3)]));
    /// assert_eq!(message.metadata().get("rounds").unwrap().as_u64(), Some(3));
    /// ```
    pub fn with_metadata(mut self, metadata: impl Into<Object>) -> Self {
        self.metadata = metadata.into();
        self
    }
}
