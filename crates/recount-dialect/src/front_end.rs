//! Front ends, and all formats that a stream can be written in.

use std::fmt;
use std::str::FromStr;

use recount_message::{Event, Fold};

use crate::reply_view::is_waiting;
use crate::{Dialect, ag_ui, ai_sdk, reply_queue};

/// A user-interface library that reads a stream of events.
///
/// Front-end streams are write-only: users reply through Recount's own routes.
///
/// ```
/// use recount_dialect::FrontEnd;
/// use recount_message::{Event, Fold};
///
/// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#)?;
/// let frames = FrontEnd::AgUi.frames("s", &Fold::new(), &start);
/// assert_eq!(frames, [r#"{"type":"RUN_STARTED","threadId":"s","runId":"r"}"#]);
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrontEnd {
    /// AG-UI 1.0, as read by `@ag-ui/client`.
    AgUi,
    /// The UI message stream of the AI SDK 7, as read by `ai` and `@ai-sdk/react`.
    AiSdk,
}

impl FrontEnd {
    /// All front ends.
    ///
    /// ```
    /// use recount_dialect::FrontEnd;
    ///
    /// assert!(FrontEnd::ALL.contains(&FrontEnd::AgUi));
    /// ```
    pub const ALL: [Self; 2] = [Self::AgUi, Self::AiSdk];

    /// Returns the name of the front end.
    ///
    /// ```
    /// use recount_dialect::FrontEnd;
    ///
    /// assert_eq!(FrontEnd::AgUi.name(), "ag-ui");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::AgUi => "ag-ui",
            Self::AiSdk => "ai-sdk",
        }
    }

    /// Returns the frames for an event of a session. `before` is the fold of all preceding events.
    ///
    /// The result depends only on these values. `before` must hold the oldest open reply and everything after its start;
    /// earlier messages have no effect. One reply is delivered at a time: a message that begins while a reply is open is
    /// delivered after that reply has ended.
    ///
    /// ```
    /// use recount_dialect::FrontEnd;
    /// use recount_message::{CustomEvent, Event, Fold, Msg};
    ///
    /// let hello = Event::new(CustomEvent::message(&Msg::user("Alice", "Hello").with_id("m")));
    /// let frames = FrontEnd::AgUi.frames("s", &Fold::new(), &hello);
    /// assert!(frames[0].contains(r#""messages":[{"id":"m","role":"user","name":"Alice","content":"Hello"}]"#));
    /// ```
    pub fn frames(self, session: &str, before: &Fold, event: &Event<'_>) -> Vec<String> {
        match self {
            Self::AgUi => ag_ui::frames(session, before, event),
            Self::AiSdk => ai_sdk::frames(before, event),
        }
    }

    /// Returns the first frames for a reader who joins at a point: all messages and the open blocks.
    ///
    /// ```
    /// use recount_dialect::FrontEnd;
    /// use recount_message::{CustomEvent, Event, Fold, Msg};
    ///
    /// let fold: Fold = [Event::new(CustomEvent::message(&Msg::user("Alice", "Hello")))].iter().collect();
    /// assert!(FrontEnd::AgUi.prelude("s", &fold)[1].starts_with(r#"{"type":"MESSAGES_SNAPSHOT","#));
    /// ```
    pub fn prelude(self, session: &str, at: &Fold) -> Vec<String> {
        match self {
            Self::AgUi => ag_ui::prelude(session, at),
            Self::AiSdk => ai_sdk::prelude(at),
        }
    }

    /// Returns the first frames for a reader who reconnects and has all messages up to a point.
    ///
    /// ```
    /// use recount_dialect::FrontEnd;
    /// use recount_message::{Event, Fold};
    ///
    /// let stream = [
    ///     r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":""}"#,
    ///     r#"{"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t"}"#,
    /// ];
    /// let stream = stream.map(|line| Event::from_json(line).unwrap());
    /// let frames = FrontEnd::AgUi.resume_frames("s", &stream.iter().collect::<Fold>());
    /// assert_eq!(frames[1], r#"{"type":"TEXT_MESSAGE_START","messageId":"r.0","role":"assistant"}"#);
    /// ```
    pub fn resume_frames(self, session: &str, at: &Fold) -> Vec<String> {
        match self {
            Self::AgUi => ag_ui::resume_frames(session, at),
            Self::AiSdk => ai_sdk::resume_frames(at),
        }
    }
}

/// Returns whether a session is idle at a point: no reply is open, or the current one waits for a user or an external
/// tool.
///
/// ```
/// use recount_dialect::is_idle;
/// use recount_message::{Event, Fold};
///
/// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#)?;
/// assert!(is_idle(&Fold::new()) && !is_idle(&[start].iter().collect()));
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
pub fn is_idle(at: &Fold) -> bool {
    reply_queue::current_reply(at).is_none_or(|reply| is_waiting(reply.message()))
}

impl fmt::Display for FrontEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A format that a stream can be written in.
///
/// ```
/// use recount_dialect::{Dialect, FrontEnd, Target};
///
/// assert_eq!("java".parse::<Target>()?, Target::Dialect(Dialect::Java));
/// assert_eq!("ag-ui".parse::<Target>()?, Target::FrontEnd(FrontEnd::AgUi));
///
/// let error = "perl".parse::<Target>().unwrap_err().to_string();
/// assert!(error.starts_with(r#"unknown dialect "perl", expected one of native, java, java1, typescript, ag-ui"#));
/// # Ok::<(), recount_dialect::UnknownTarget>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// A dialect, which can also be read.
    Dialect(Dialect),
    /// A front end.
    FrontEnd(FrontEnd),
}

impl Target {
    /// All targets.
    ///
    /// ```
    /// use recount_dialect::Target;
    ///
    /// assert_eq!(Target::all().next().map(Target::name), Some("native"));
    /// ```
    pub fn all() -> impl Iterator<Item = Self> {
        Dialect::ALL.into_iter().map(Self::Dialect).chain(FrontEnd::ALL.into_iter().map(Self::FrontEnd))
    }

    /// Returns the name of the target.
    ///
    /// ```
    /// use recount_dialect::{FrontEnd, Target};
    ///
    /// assert_eq!(Target::FrontEnd(FrontEnd::AgUi).name(), "ag-ui");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Dialect(dialect) => dialect.name(),
            Self::FrontEnd(front_end) => front_end.name(),
        }
    }

    /// Returns the frames for an event: [`Dialect::frames`] or [`FrontEnd::frames`].
    ///
    /// ```
    /// use recount_dialect::{Dialect, Target};
    /// use recount_message::{Event, Fold, UserInterruptEvent};
    ///
    /// let event = Event::new(UserInterruptEvent::new("r"));
    /// assert_eq!(Target::Dialect(Dialect::Native).frames("s", &Fold::new(), &event), [event.to_json()]);
    /// ```
    pub fn frames(self, session: &str, before: &Fold, event: &Event<'_>) -> Vec<String> {
        match self {
            Self::Dialect(dialect) => dialect.frames(before, event),
            Self::FrontEnd(front_end) => front_end.frames(session, before, event),
        }
    }

    /// Returns the first frames for a reader who joins: [`Dialect::prelude`] or [`FrontEnd::prelude`].
    ///
    /// ```
    /// use recount_dialect::Target;
    /// use recount_message::Fold;
    ///
    /// assert!(Target::all().all(|target| target.prelude("s", &Fold::new()).is_empty()));
    /// ```
    pub fn prelude(self, session: &str, at: &Fold) -> Vec<String> {
        match self {
            Self::Dialect(dialect) => dialect.prelude(at),
            Self::FrontEnd(front_end) => front_end.prelude(session, at),
        }
    }

    /// Returns the first frames for a reader who reconnects. Empty for a dialect, whose stream is independent of
    /// connections.
    ///
    /// ```
    /// use recount_dialect::Target;
    /// use recount_message::Fold;
    ///
    /// assert!(Target::all().all(|target| target.resume_frames("s", &Fold::new()).is_empty()));
    /// ```
    pub fn resume_frames(self, session: &str, at: &Fold) -> Vec<String> {
        match self {
            Self::Dialect(_) => Vec::new(),
            Self::FrontEnd(front_end) => front_end.resume_frames(session, at),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        Self::all().find(|target| target.name() == name).ok_or_else(|| UnknownTarget(name.to_owned()))
    }
}

/// The error for an unknown target name. Holds the name.
///
/// ```
/// use recount_dialect::{Target, UnknownTarget};
///
/// assert!(matches!("".parse::<Target>(), Err(UnknownTarget(name)) if name.is_empty()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTarget(pub String);

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Target::all().map(Target::name).collect();
        write!(f, "unknown dialect {:?}, expected one of {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownTarget {}
