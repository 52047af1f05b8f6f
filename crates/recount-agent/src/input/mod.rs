//! The input of an agent.

mod check;
mod messages;
mod rejection;

pub(crate) use check::{AnswerValidator, Confirmation, ValidatedAnswer, validate_answer};
pub use messages::InvalidMessage;
pub(crate) use messages::check_messages;
pub use rejection::InputRejection;

use recount_message::{
    AgentEvent, Event, EventKind, ExternalExecutionResultEvent, Msg, UserConfirmResultEvent, UserInterruptEvent,
};

/// The input of a reply: messages, an answer to a waiting reply, or nothing.
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
    pub(crate) kind: InputKind,
    pub(crate) is_recorded: bool,
    /// The parent reply and its call, for the input of a sub-agent.
    pub(crate) parent_call: Option<(String, String)>,
}

#[derive(Debug, Clone)]
pub(crate) enum InputKind {
    Messages(Vec<Msg>),
    Event(Box<AgentEvent>),
    /// Interrupts the waiting reply, whatever its id.
    Interrupt,
}

impl Input {
    /// Creates an input that ends the waiting reply as interrupted, whatever its id.
    #[must_use]
    pub fn interrupt() -> Self {
        Self::kind(InputKind::Interrupt)
    }

    /// Marks the input as already recorded in the log, so that the agent does not write it again.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.is_recorded = true;
        self
    }

    /// Marks the reply to this input as part of a call of another reply.
    pub(crate) fn parent_call(mut self, reply_id: &str, call_id: &str) -> Self {
        self.parent_call = Some((reply_id.to_owned(), call_id.to_owned()));
        self
    }

    /// Returns the event, if it is already recorded.
    pub(crate) fn recorded_event(&self) -> Option<AgentEvent> {
        match &self.kind {
            InputKind::Event(event) if self.is_recorded => Some((**event).clone()),
            InputKind::Event(_) | InputKind::Messages(_) | InputKind::Interrupt => None,
        }
    }

    fn kind(kind: InputKind) -> Self {
        Self { kind, is_recorded: false, parent_call: None }
    }
}

impl From<Msg> for Input {
    fn from(message: Msg) -> Self {
        vec![message].into()
    }
}

impl From<Vec<Msg>> for Input {
    fn from(messages: Vec<Msg>) -> Self {
        Self::kind(InputKind::Messages(messages))
    }
}

/// No new input: continues from the existing conversation.
impl From<()> for Input {
    fn from((): ()) -> Self {
        Vec::new().into()
    }
}

/// A text message of the user.
impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Msg::user("user", text).into()
    }
}

/// A text message of the user.
impl From<String> for Input {
    fn from(text: String) -> Self {
        Msg::user("user", text).into()
    }
}

impl From<AgentEvent> for Input {
    fn from(event: AgentEvent) -> Self {
        Self::kind(InputKind::Event(Box::new(event)))
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

/// Returns whether an event is an answer that a reply can wait for.
pub(crate) fn is_answer(event: &AgentEvent) -> bool {
    matches!(
        event.kind,
        EventKind::UserConfirmResult(_) | EventKind::ExternalExecutionResult(_) | EventKind::UserInterrupt(_)
    )
}
