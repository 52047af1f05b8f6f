//! Outcomes of applying events.

use std::fmt;

/// The outcome of applying an event.
///
/// ```
/// use recount_message::{Event, Fold, Outcome};
///
/// let stream = [
///     r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#,
///     r#"{"type":"CUSTOM","name":"progress","value":{"done":3}}"#,
///     r#"{"type":"TEXT_BLOCK_END","reply_id":"r","block_id":"t"}"#,
/// ];
/// let (mut fold, mut log) = (Fold::new(), Vec::new());
/// for line in stream {
///     match fold.apply(&Event::from_json(line)?) {
///         Outcome::Applied => log.push("applied".to_owned()),
///         Outcome::Ignored(reason) => log.push(reason.to_string()),
///         _ => {}
///     }
/// }
/// assert_eq!(log, ["applied", "no block \"t\" has begun"]);
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The event was applied.
    Applied,
    /// Some items of the event were applied, the listed ones were not.
    Partial(Vec<Skipped>),
    /// The event had no effect.
    Ignored(Reason),
    /// The event belongs to the session and changes no message.
    NotForMessage,
    /// The event is at or before the cursor: it was applied earlier.
    Seen,
}

impl Outcome {
    /// Returns why the event, or its first item that was not applied, had no effect.
    ///
    /// ```
    /// use recount_message::{Event, Fold, Reason, UserInterruptEvent};
    ///
    /// let outcome = Fold::new().apply(&Event::new(UserInterruptEvent::new("r1")));
    /// assert_eq!(outcome.reason(), Some(&Reason::UnknownReply("r1".to_owned())));
    /// ```
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Self::Ignored(reason) => Some(reason),
            Self::Partial(skipped) => skipped.first().map(|skipped| &skipped.reason),
            Self::Applied | Self::NotForMessage | Self::Seen => None,
        }
    }

    /// Returns whether the event, or a part of it, changed a message.
    ///
    /// ```
    /// use recount_message::{Event, Fold, UserInterruptEvent};
    ///
    /// assert!(!Fold::new().apply(&Event::new(UserInterruptEvent::new("r1"))).is_applied());
    /// ```
    pub fn is_applied(&self) -> bool {
        matches!(self, Self::Applied | Self::Partial(_))
    }

    /// Converts the outcome for callers that treat an ignored event as an error.
    ///
    /// ```
    /// use recount_message::{CustomEvent, Event, Fold, Reason, UserInterruptEvent};
    ///
    /// let mut fold = Fold::new();
    /// fold.apply(&Event::new(CustomEvent::new("progress"))).into_result()?;
    /// let error = fold.apply(&Event::new(UserInterruptEvent::new("r1"))).into_result().unwrap_err();
    /// assert_eq!(error, Reason::UnknownReply("r1".to_owned()));
    /// # Ok::<(), Reason>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the reason of [`Ignored`](Self::Ignored), or the first reason of [`Partial`](Self::Partial).
    pub fn into_result(self) -> Result<(), Reason> {
        match self {
            Self::Ignored(reason) => Err(reason),
            Self::Partial(skipped) => skipped.into_iter().next().map_or(Ok(()), |skipped| Err(skipped.reason)),
            Self::Applied | Self::NotForMessage | Self::Seen => Ok(()),
        }
    }

    /// Combines the results of the items of an event.
    pub(super) fn of_items(items: impl Iterator<Item = Result<(), Reason>>) -> Self {
        let mut done = false;
        let mut skipped = Vec::new();
        for (index, item) in items.enumerate() {
            match item {
                Ok(()) => done = true,
                Err(reason) => skipped.push(Skipped { index, reason }),
            }
        }
        match (done, skipped.pop()) {
            (_, None) => Self::Applied,
            (false, Some(last)) => Self::Ignored(skipped.into_iter().next().unwrap_or(last).reason),
            (true, Some(last)) => {
                skipped.push(last);
                Self::Partial(skipped)
            }
        }
    }
}

impl From<Result<(), Reason>> for Outcome {
    fn from(result: Result<(), Reason>) -> Self {
        match result {
            Ok(()) => Self::Applied,
            Err(reason) => Self::Ignored(reason),
        }
    }
}

/// An item of an event that had no effect.
///
/// ```
/// use recount_message::{Event, ExternalExecutionResultEvent, Msg, Outcome, Reason, ToolCallBlock, ToolResultBlock};
///
/// let mut reply = Msg::assistant("Friday", ToolCallBlock::new("c1", "search", "{}")).with_id("r1");
/// let results = ["c1", "c2"].map(|id| ToolResultBlock::success(id, "search", "3 hits"));
/// let outcome = reply.append_event(&Event::new(ExternalExecutionResultEvent::new("r1", results)));
/// let Outcome::Partial(skipped) = outcome else { unreachable!() };
/// assert_eq!((skipped[0].index, &skipped[0].reason), (1, &Reason::UnknownCall("c2".to_owned())));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Index of the item in the event.
    pub index: usize,
    /// The reason.
    pub reason: Reason,
}

/// Why an event had no effect.
///
/// ```
/// use recount_message::{Event, Fold, Outcome, Reason, UserInterruptEvent};
///
/// // A reader that joins late ignores events of earlier replies.
/// let outcome = Fold::new().apply(&Event::new(UserInterruptEvent::new("r1")));
/// assert!(matches!(outcome, Outcome::Ignored(Reason::UnknownReply(id)) if id == "r1"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The reply has not started.
    UnknownReply(String),
    /// The event belongs to another reply.
    OtherReply(String),
    /// The reply has ended.
    ReplyEnded(String),
    /// A message with this id already exists.
    MessageExists(String),
    /// The message is not a reply, so events do not apply to it.
    NotAReply(String),
    /// The block has not started.
    UnknownBlock(String),
    /// The block is still open.
    BlockOpen(String),
    /// The block has ended.
    BlockEnded(String),
    /// The tool call does not exist.
    UnknownCall(String),
    /// The tool call does not wait for confirmation.
    NotAsking(String),
    /// The tool call already has a result.
    ResultExists(String),
    /// The data is at a URL, so bytes cannot be appended.
    DataAtUrl(String),
    /// The data is not base64.
    BadData {
        /// Id of the block.
        block_id: String,
        /// The base64 error.
        problem: String,
    },
    /// This version does not declare the event type.
    UnknownType(String),
    /// A CUSTOM event of Recount has an invalid value.
    BadValue(String),
}

impl Reason {
    /// Returns the code of the reason for programs, such as `unknown_block`.
    ///
    /// ```
    /// use recount_message::Reason;
    ///
    /// let reason = Reason::UnknownBlock("b1".to_owned());
    /// assert_eq!(reason.code(), "unknown_block");
    /// assert_eq!(reason.to_string(), "no block \"b1\" has begun");
    /// ```
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownReply(_) => "unknown_reply",
            Self::OtherReply(_) => "other_reply",
            Self::ReplyEnded(_) => "reply_ended",
            Self::MessageExists(_) => "message_exists",
            Self::NotAReply(_) => "not_a_reply",
            Self::UnknownBlock(_) => "unknown_block",
            Self::BlockOpen(_) => "block_open",
            Self::BlockEnded(_) => "block_ended",
            Self::UnknownCall(_) => "unknown_call",
            Self::NotAsking(_) => "not_asking",
            Self::ResultExists(_) => "result_exists",
            Self::DataAtUrl(_) => "data_at_url",
            Self::BadData { .. } => "bad_data",
            Self::UnknownType(_) => "unknown_type",
            Self::BadValue(_) => "bad_value",
        }
    }
}

impl std::error::Error for Reason {}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownReply(id) => write!(f, "no reply {id:?} has begun"),
            Self::OtherReply(id) => write!(f, "the event is for the reply {id:?}"),
            Self::ReplyEnded(id) => write!(f, "the reply {id:?} has ended"),
            Self::MessageExists(id) => write!(f, "there is a message {id:?} already"),
            Self::NotAReply(id) => write!(f, "the message {id:?} is not a reply, so events do not apply to it"),
            Self::UnknownBlock(id) => write!(f, "no block {id:?} has begun"),
            Self::BlockOpen(id) => write!(f, "the block {id:?} is still open"),
            Self::BlockEnded(id) => write!(f, "the block {id:?} has ended"),
            Self::UnknownCall(id) => write!(f, "there is no tool call {id:?}"),
            Self::NotAsking(id) => write!(f, "the tool call {id:?} does not wait for permission"),
            Self::ResultExists(id) => write!(f, "the tool call {id:?} has its result already"),
            Self::DataAtUrl(id) => write!(f, "the data {id:?} is at a URL, so nothing can be appended to it"),
            Self::BadData { block_id, problem } => write!(f, "the data for {block_id:?} is not base64: {problem}"),
            Self::UnknownType(name) => write!(f, "the event type {name:?} is not known"),
            Self::BadValue(problem) => f.write_str(problem),
        }
    }
}
