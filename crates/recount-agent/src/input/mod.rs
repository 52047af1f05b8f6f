//! What is said to an agent.

mod check;
mod messages;
mod rejection;

pub(crate) use check::{Checked, Confirmation, Problems, check};
pub use messages::InvalidMessage;
pub(crate) use messages::check_messages;
pub use rejection::InputRejection;

use recount_message::{
    AgentEvent, Event, EventKind, ExternalExecutionResultEvent, Msg, UserConfirmResultEvent, UserInterruptEvent,
};

/// What is said to an agent: messages, nothing, or an answer that a reply waits for.
///
/// ```
/// use recount_agent::Input;
/// use recount_message::{Msg, UserInterruptEvent};
///
/// let _: Input = "Hello".into();
/// let _: Input = Msg::user("Alice", "Hello").into();
/// let _: Input = vec![Msg::user("Alice", "Hello"), Msg::assistant("Bob", "Hi")].into();
/// let _: Input = ().into();
/// let _: Input = UserInterruptEvent::new("reply-1").into();
/// ```
#[derive(Debug, Clone)]
pub struct Input {
    pub(crate) said: Said,
    pub(crate) is_recorded: bool,
    /// The reply and the call in it that what is answered is a part of.
    pub(crate) part_of: Option<(String, String)>,
}

#[derive(Debug, Clone)]
pub(crate) enum Said {
    Messages(Vec<Msg>),
    Event(Box<AgentEvent>),
    /// The reply that waits shall end, whichever it is.
    Interrupt,
}

impl Input {
    /// Ends the reply that waits, whichever it is.
    #[must_use]
    pub fn interrupt() -> Self {
        Self::said(Said::Interrupt)
    }

    /// The same input, which stands in the log already: the agent takes note of it and does not write it again.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.is_recorded = true;
        self
    }

    /// The same, and the reply to it is a part of another one: of the work on one of its calls.
    pub(crate) fn part_of(mut self, reply_id: &str, call_id: &str) -> Self {
        self.part_of = Some((reply_id.to_owned(), call_id.to_owned()));
        self
    }

    /// The event in it, if that stands in the log already.
    pub(crate) fn recorded_event(&self) -> Option<AgentEvent> {
        match &self.said {
            Said::Event(event) if self.is_recorded => Some((**event).clone()),
            Said::Event(_) | Said::Messages(_) | Said::Interrupt => None,
        }
    }

    fn said(said: Said) -> Self {
        Self { said, is_recorded: false, part_of: None }
    }
}

impl From<Msg> for Input {
    fn from(message: Msg) -> Self {
        vec![message].into()
    }
}

impl From<Vec<Msg>> for Input {
    fn from(messages: Vec<Msg>) -> Self {
        Self::said(Said::Messages(messages))
    }
}

/// Nothing new is said: the agent answers to what is there.
impl From<()> for Input {
    fn from((): ()) -> Self {
        Vec::new().into()
    }
}

/// A user says something.
impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Msg::user("user", text).into()
    }
}

/// A user says something.
impl From<String> for Input {
    fn from(text: String) -> Self {
        Msg::user("user", text).into()
    }
}

impl From<AgentEvent> for Input {
    fn from(event: AgentEvent) -> Self {
        Self::said(Said::Event(Box::new(event)))
    }
}

impl From<UserConfirmResultEvent<'static>> for Input {
    fn from(kind: UserConfirmResultEvent<'static>) -> Self {
        Event::new(kind).into()
    }
}

impl From<ExternalExecutionResultEvent<'static>> for Input {
    fn from(kind: ExternalExecutionResultEvent<'static>) -> Self {
        Event::new(kind).into()
    }
}

impl From<UserInterruptEvent<'static>> for Input {
    fn from(kind: UserInterruptEvent<'static>) -> Self {
        Event::new(kind).into()
    }
}

/// Whether an event is one that a reply may wait for.
pub(crate) fn is_answer(event: &AgentEvent) -> bool {
    matches!(
        event.kind,
        EventKind::UserConfirmResult(_) | EventKind::ExternalExecutionResult(_) | EventKind::UserInterrupt(_)
    )
}
