//! The start of a reply.

use crate::Object;

/// How a reply starts: its session, its agent, and optionally its id, parent and metadata.
///
/// ```
/// use recount_message::{ReplyStart, ReplyWriter, Stamps};
///
/// let start = ReplyStart::new("s1", "Searcher").with_reply_id("r2").with_parent("r1").with_metadata([("task", "search")]);
/// let reply = ReplyWriter::start_with(|_event| {}, Stamps::repeatable(), start);
/// assert_eq!((reply.reply_id(), reply.message().parent().as_deref()), ("r2", Some("r1")));
/// assert!(reply.message().metadata().contains_key("task"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ReplyStart {
    pub(super) session_id: String,
    pub(super) name: String,
    pub(super) reply_id: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) metadata: Object,
}

impl ReplyStart {
    /// Starts a reply of the agent `name`. The reply gets a new id and has no parent and no metadata.
    ///
    /// ```
    /// use recount_message::{ReplyStart, ReplyWriter, Stamps};
    ///
    /// let reply = ReplyWriter::start_with(|_event| {}, Stamps::repeatable(), ReplyStart::new("s1", "Friday"));
    /// assert_eq!((reply.reply_id(), reply.message().name()), ("id-1", "Friday"));
    /// ```
    pub fn new(session_id: impl Into<String>, name: impl Into<String>) -> Self {
        Self { session_id: session_id.into(), name: name.into(), reply_id: None, parent: None, metadata: Object::new() }
    }

    /// Sets the id of the reply and of its message.
    ///
    /// ```
    /// use recount_message::{ReplyStart, ReplyWriter, Stamps};
    ///
    /// let start = ReplyStart::new("s1", "Friday").with_reply_id("r1");
    /// assert_eq!(ReplyWriter::start_with(|_event| {}, Stamps::repeatable(), start).reply_id(), "r1");
    /// ```
    pub fn with_reply_id(mut self, reply_id: impl Into<String>) -> Self {
        self.reply_id = Some(reply_id.into());
        self
    }

    /// Sets the reply that started this one, if this is the reply of a sub-agent.
    ///
    /// ```
    /// use recount_message::{ReplyStart, ReplyWriter, Stamps};
    ///
    /// let start = ReplyStart::new("s1", "Searcher").with_parent("r1");
    /// let reply = ReplyWriter::start_with(|_event| {}, Stamps::repeatable(), start);
    /// assert_eq!(reply.message().parent().as_deref(), Some("r1"));
    /// ```
    pub fn with_parent(mut self, reply_id: impl Into<String>) -> Self {
        self.parent = Some(reply_id.into());
        self
    }

    /// Sets the metadata of the message.
    ///
    /// ```
    /// use recount_message::{ReplyStart, ReplyWriter, Stamps};
    ///
    /// let start = ReplyStart::new("s1", "Friday").with_metadata([("task", 7)]);
    /// let reply = ReplyWriter::start_with(|_event| {}, Stamps::repeatable(), start);
    /// assert_eq!(reply.message().metadata().get("task").unwrap().as_u64(), Some(7));
    /// ```
    pub fn with_metadata(mut self, metadata: impl Into<Object>) -> Self {
        self.metadata = metadata.into();
        self
    }
}
