//! What front ends read, and all that a stream can be written as.

use std::fmt;
use std::str::FromStr;

use recount_message::{Event, Fold};

use crate::reply_view::is_waiting;
use crate::{Dialect, ag_ui, ai_sdk, reply_queue};

/// A library for user interfaces that reads a stream of events.
///
/// They are told, and what their users say comes by Recount's own routes: so their streams are written and never read.
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
    /// AG-UI 1.0, as `@ag-ui/client` reads it.
    AgUi,
    /// The UI message stream of the AI SDK 7, as `ai` and `@ai-sdk/react` read it.
    AiSdk,
}

impl FrontEnd {
    /// All of them.
    ///
    /// ```
    /// use recount_dialect::FrontEnd;
    ///
    /// assert!(FrontEnd::ALL.contains(&FrontEnd::AgUi));
    /// ```
    pub const ALL: [Self; 2] = [Self::AgUi, Self::AiSdk];

    /// The name of the front end.
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

    /// What a reader gets for an event of a session that comes after what is folded in `before`.
    ///
    /// It follows from these alone. `before` holds the oldest open reply and all that came after its start; what came
    /// before that does not matter. One reply is told at a time: what begins while another is open is told when that has
    /// ended.
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

    /// What a reader gets who joins at a point: all messages, and what is open.
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

    /// What a reader gets first who comes back on a new connection with all messages up to a point.
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

/// Whether nothing goes on at a point: no reply is open, or the one that is told is_waiting for somebody.
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

/// What a stream can be written as.
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
    /// A dialect, which can be read too.
    Dialect(Dialect),
    /// What a front end reads.
    FrontEnd(FrontEnd),
}

impl Target {
    /// All of them.
    ///
    /// ```
    /// use recount_dialect::Target;
    ///
    /// assert_eq!(Target::all().next().map(Target::name), Some("native"));
    /// ```
    pub fn all() -> impl Iterator<Item = Self> {
        Dialect::ALL.into_iter().map(Self::Dialect).chain(FrontEnd::ALL.into_iter().map(Self::FrontEnd))
    }

    /// Its name.
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

    /// What a reader gets for an event: [`Dialect::frames`] or [`FrontEnd::frames`].
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

    /// What a reader gets who joins: [`Dialect::prelude`] or [`FrontEnd::prelude`].
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

    /// What a reader gets first who comes back. A dialect's stream goes on over connections, so its readers get nothing.
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

/// A name that nothing has that a stream can be written as.
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
