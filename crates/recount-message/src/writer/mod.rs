//! The writer: streams a reply as events.

mod blocks;
mod cut;
mod end;
mod model_call;
mod stamps;
mod start;
mod tools;

pub use blocks::OpenData;
pub use end::ReplyEnd;
pub use stamps::Stamps;
pub use start::ReplyStart;
pub use tools::{OpenResult, ToolCall};

use std::borrow::Cow;
use std::fmt;

use crate::block::{Block, ContentBlock, ToolResultState};
use crate::event::{
    AgentEvent, CustomEvent, Event, EventKind, ExceedMaxItersEvent, ModelFinishedReason, ReplyEndEvent, ReplyStartEvent,
};
use crate::fold::{Outcome, ReplyFold};
use crate::msg::{FinishedReason, Msg};
use crate::{Json, Object};

/// Writes one reply as events, always in a valid order.
///
/// Text and thinking blocks start with their first piece, and end when another block starts, when the model call ends, or at
/// the latest when the reply ends. Dropping the writer ends the reply as interrupted. Tool calls without a result then get
/// one. The writer folds its own events, so [`message`](Self::message) always equals the message of a reader.
///
/// ```
/// use recount_message::{Fold, ReplyEnd, ReplyWriter, Stamps, ToolResultState, Usage};
///
/// let mut events = Vec::new();
/// let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "session-1", "Friday");
///
/// reply.model_call("some-model");
/// reply.thinking("The user asks for the weather.");
/// reply.text("Let me look.");
/// let call = reply.tool_call("call_1", "get_weather");
/// reply.tool_input(&call, r#"{"city": "Beijing"}"#);
/// reply.end_model_call(Some(Usage::new(100, 20)));
///
/// let result = reply.tool_result(call);
/// reply.result_text(&result, "Sunny, 25°C");
/// reply.end_result(result, ToolResultState::Success);
///
/// let message = reply.end(ReplyEnd::completed());
///
/// let mut fold = Fold::new();
/// fold.extend(&events);
/// assert_eq!(fold.messages().next(), Some(&message));
/// ```
pub struct ReplyWriter<S: FnMut(AgentEvent)> {
    sink: S,
    stamps: Stamps,
    session_id: String,
    fold: ReplyFold,
    /// The open text or thinking block. There is at most one.
    prose: Option<OpenProse>,
    /// The tool calls with incomplete arguments, and their extra fields.
    open_calls: Vec<(String, Object)>,
    open_data: Vec<String>,
    open_results: Vec<String>,
    model_call_open: bool,
    /// Whether the reply was paused. A paused writer writes nothing.
    is_paused: bool,
}

#[derive(Debug)]
struct OpenProse {
    kind: Prose,
    id: String,
    extra: Object,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prose {
    Text,
    Thinking,
}

impl<S: FnMut(AgentEvent)> ReplyWriter<S> {
    /// Starts a reply with a new id, and writes its REPLY_START.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let sink = move |event| {
    ///     let _ = sender.send(event);
    /// };
    /// let _reply = ReplyWriter::start(sink, Stamps::default(), "s1", "Friday");
    /// assert_eq!(receiver.recv().unwrap().type_name(), "REPLY_START");
    /// ```
    pub fn start(sink: S, stamps: Stamps, session_id: impl Into<String>, name: impl Into<String>) -> Self {
        Self::start_with(sink, stamps, ReplyStart::new(session_id, name))
    }

    /// Starts a reply and writes its REPLY_START.
    ///
    /// ```
    /// use recount_message::{ReplyStart, ReplyWriter, Stamps};
    ///
    /// let start = ReplyStart::new("s1", "Searcher").with_reply_id("r2").with_parent("r1");
    /// let reply = ReplyWriter::start_with(|_event| {}, Stamps::repeatable(), start);
    /// assert_eq!((reply.reply_id(), reply.message().parent().as_deref()), ("r2", Some("r1")));
    /// ```
    pub fn start_with(mut sink: S, mut stamps: Stamps, start: ReplyStart) -> Self {
        let ReplyStart { session_id, name, reply_id, parent, metadata } = start;
        let reply_id = reply_id.unwrap_or_else(|| stamps.id());
        let start = ReplyStartEvent::new(session_id.clone(), reply_id, name);
        let mut event = Event::stamped(stamps.id(), stamps.time(), start);
        if let Some(parent) = parent {
            event = event.with_extension("parent", parent);
        }
        if !metadata.is_empty() {
            event = event.with_extension("metadata", metadata);
        }
        let fold = ReplyFold::start(&event).unwrap_or_else(|| ReplyFold::from_message(Msg::assistant("", [])));
        sink(event);
        Self::resume(sink, stamps, session_id, fold)
    }

    /// Resumes a reply that another writer started, such as one that waited for its user.
    ///
    /// ```
    /// use recount_message::{Msg, ReplyFold, ReplyWriter, Stamps, ToolCallBlock, ToolCallState, ToolResultState};
    ///
    /// let asked = ToolCallBlock::new("c1", "shell", "{}").with_state(ToolCallState::Allowed);
    /// let fold = ReplyFold::from_message(Msg::assistant("Friday", asked).with_id("r1"));
    /// let mut reply = ReplyWriter::resume(|_event| {}, Stamps::default(), "s1", fold);
    ///
    /// let call = reply.unanswered_call("c1").unwrap();
    /// let result = reply.tool_result(call);
    /// reply.end_result(result, ToolResultState::Success);
    /// assert!(reply.message().result_of("c1").is_some());
    /// ```
    pub fn resume(sink: S, stamps: Stamps, session_id: impl Into<String>, fold: ReplyFold) -> Self {
        let mut writer = Self {
            sink,
            stamps,
            session_id: session_id.into(),
            fold,
            prose: None,
            open_calls: Vec::new(),
            open_data: Vec::new(),
            open_results: Vec::new(),
            model_call_open: false,
            is_paused: false,
        };
        writer.find_open_blocks();
        writer
    }

    fn find_open_blocks(&mut self) {
        for block in self.fold.message().content().iter().filter(|block| block.finished_at().is_none()) {
            let id = block.id().to_owned();
            match block {
                ContentBlock::Text(_) => self.prose = Some(OpenProse::new(Prose::Text, id)),
                ContentBlock::Thinking(_) => self.prose = Some(OpenProse::new(Prose::Thinking, id)),
                ContentBlock::Data(_) => self.open_data.push(id),
                ContentBlock::ToolCall(_) => self.open_calls.push((id, Object::new())),
                ContentBlock::ToolResult(_) => self.open_results.push(id),
                ContentBlock::Hint(_) | ContentBlock::Unknown(_) => {}
            }
        }
    }

    /// Returns the id of the reply and of its message.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// assert_eq!(reply.reply_id(), "id-1");
    /// ```
    pub fn reply_id(&self) -> &str {
        self.message().id()
    }

    /// Returns the current message, equal to the message of a reader.
    ///
    /// ```
    /// use std::cell::RefCell;
    ///
    /// use recount_message::{Fold, ReplyWriter, Stamps};
    ///
    /// let reader = RefCell::new(Fold::new());
    /// let sink = |event| {
    ///     let _ = reader.borrow_mut().apply(&event);
    /// };
    /// let mut reply = ReplyWriter::start(sink, Stamps::repeatable(), "s1", "Friday");
    /// reply.text("Hel");
    /// assert_eq!(reader.borrow().messages().next(), Some(reply.message()));
    /// ```
    pub fn message(&self) -> &Msg {
        self.fold.message()
    }

    /// Returns the number of blocks at the last model call. Later blocks are its output and the results of its tool calls.
    ///
    /// ```
    /// use recount_message::{HintBlock, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.hint(HintBlock::new("It is noon."));
    /// reply.model_call("some-model");
    /// reply.text("Hello");
    /// assert_eq!(reply.call_floor(), 1);
    /// ```
    pub fn call_floor(&self) -> usize {
        self.fold.call_floor()
    }

    /// Pauses the reply without ending it, so that it can be [resumed](Self::resume) later. This writer writes nothing more.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut events = Vec::new();
    /// let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "shell");
    /// reply.ask(&call, vec![]);
    /// let waiting = reply.pause();
    /// assert!(waiting.message().finished_at().is_none());
    /// drop(reply);
    /// assert_eq!(events.last().unwrap().type_name(), "REQUIRE_USER_CONFIRM");
    /// ```
    pub fn pause(&mut self) -> ReplyFold {
        self.is_paused = true;
        std::mem::replace(&mut self.fold, ReplyFold::from_message(Msg::assistant("", [])))
    }

    /// Returns whether the reply has ended. The writer then writes nothing more.
    ///
    /// ```
    /// use recount_message::{Event, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// assert!(!reply.has_ended());
    ///
    /// // Another writer can end the reply.
    /// let end = r#"{"created_at":"2026-01-01T00:00:01Z","type":"REPLY_END","session_id":"s1","reply_id":"id-1"}"#;
    /// reply.receive(&Event::from_json(end)?);
    /// assert!(reply.has_ended());
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn has_ended(&self) -> bool {
        self.message().finished_at().is_some()
    }

    /// Creates an id, for content that a provider sent without one.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let id = reply.new_id();
    /// assert_eq!(reply.tool_call(&id, "search").id(), id);
    /// ```
    pub fn new_id(&mut self) -> String {
        self.stamps.id()
    }

    /// Applies an event that another writer has written to the same reply, such as a confirmation, an interrupt or a hint. The
    /// event is not written again.
    ///
    /// ```
    /// use recount_message::{Event, HintBlock, HintBlockEvent, Outcome, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let hint = Event::new(HintBlockEvent::new("id-1", "h1", "It is noon."));
    /// assert_eq!(reply.receive(&hint), Outcome::Applied);
    /// assert!(reply.message().has::<HintBlock>());
    /// ```
    pub fn receive(&mut self, event: &Event<'_>) -> Outcome {
        self.fold.apply(event)
    }

    /// Applies and writes an event from outside, such as a confirmation of the user. An event without effect is not written.
    ///
    /// ```
    /// use recount_message::{ConfirmResult, Event, ReplyWriter, Stamps, ToolCallState, UserConfirmResultEvent};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "shell");
    /// reply.ask(&call, vec![]);
    ///
    /// let asked = reply.message().call("c1").unwrap().clone();
    /// let answer = UserConfirmResultEvent::new(reply.reply_id(), [ConfirmResult::allow(asked)]);
    /// assert_eq!(reply.record(Event::new(answer)).reason(), None);
    /// assert_eq!(reply.message().call("c1").unwrap().state, ToolCallState::Allowed);
    /// ```
    pub fn record(&mut self, event: AgentEvent) -> Outcome {
        let outcome = self.fold.apply(&event);
        if !matches!(outcome, Outcome::Ignored(_)) {
            (self.sink)(event);
        }
        outcome
    }

    /// Writes an event of this reply. It must be valid after the earlier events.
    fn emit(&mut self, kind: impl Into<EventKind<'static>>) {
        self.emit_with_extensions(kind, &Object::new());
    }

    fn emit_with_extensions(&mut self, kind: impl Into<EventKind<'static>>, extensions: &Object) {
        if self.has_ended() || self.is_paused {
            return;
        }
        let mut event = Event::stamped(self.stamps.id(), self.stamps.time(), kind);
        for (key, value) in extensions.iter() {
            event = event.with_extension(key, value.clone());
        }
        self.publish(event);
    }

    fn publish(&mut self, event: AgentEvent) {
        let outcome = self.fold.apply(&event);
        debug_assert_eq!(
            outcome.reason(),
            None,
            "the writer wrote an event that cannot be applied: {}",
            event.to_json()
        );
        (self.sink)(event);
    }

    fn id(&self) -> Cow<'static, str> {
        Cow::Owned(self.reply_id().to_owned())
    }

    /// Writes that the agent reached its limit of rounds. This does not end the reply.
    ///
    /// ```
    /// use recount_message::{FinishedReason, GenerateReason, ReplyEnd, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.exceed_max_iters();
    /// let message = reply.end(ReplyEnd::new(FinishedReason::ExceedMaxIters));
    /// assert_eq!(message.generate_reason(), GenerateReason::MaxIterations);
    /// ```
    pub fn exceed_max_iters(&mut self) {
        let (reply_id, name) = (self.id(), self.message().name().to_owned());
        self.emit(ExceedMaxItersEvent { reply_id, name: name.into() });
    }

    /// Writes a signal. It changes no message.
    ///
    /// ```
    /// use recount_message::{EventKind, ReplyWriter, Stamps};
    ///
    /// let mut events = Vec::new();
    /// let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s1", "Friday");
    /// reply.signal("progress", [("done", 3), ("of", 7)]);
    /// drop(reply);
    /// assert!(matches!(&events[1].kind, EventKind::Custom(signal) if signal.name == "progress"));
    /// ```
    pub fn signal(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Object>) {
        self.emit(CustomEvent::signal(name, value));
    }

    /// Ends the reply and returns its message. Open blocks end first, and calls without a result get the state interrupted.
    ///
    /// ```
    /// use recount_message::{ReplyEnd, ReplyWriter, Stamps, ToolResultState};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let _call = reply.tool_call("c1", "search");
    /// let message = reply.end(ReplyEnd::completed());
    /// assert!(message.finished_at().is_some());
    /// assert_eq!(message.result_of("c1").unwrap().state, ToolResultState::Interrupted);
    /// ```
    pub fn end(mut self, end: ReplyEnd) -> Msg {
        self.finish(end);
        self.fold.message().clone()
    }

    /// Ends the reply like [`end`](Self::end), without consuming the writer. The writer then writes nothing more.
    ///
    /// ```
    /// use recount_message::{FinishedReason, ReplyEnd, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.finish(ReplyEnd::completed());
    /// reply.text("too late");
    /// assert_eq!(reply.message().finished_reason(), Some(FinishedReason::Completed));
    /// assert!(reply.message().content().is_empty());
    /// ```
    pub fn finish(&mut self, end: ReplyEnd) {
        if self.has_ended() || self.is_paused {
            return;
        }
        let call_reason = match end.reason {
            FinishedReason::Interrupted => ModelFinishedReason::Interrupted,
            FinishedReason::Completed | FinishedReason::ExceedMaxIters | FinishedReason::Error => {
                ModelFinishedReason::Completed
            }
        };
        self.close_model_call(None, call_reason);
        self.close_results();
        let mut extensions = Object::new();
        if let Some(output) = end.structured_output {
            extensions.insert("structured_output", output);
        }
        if !end.metadata.is_empty() {
            extensions.insert("metadata", end.metadata);
        }
        let (reply_id, session_id) = (self.id(), Cow::Owned(self.session_id.clone()));
        let event = ReplyEndEvent { session_id, reply_id, finished_reason: end.reason, error: end.error };
        self.emit_with_extensions(event, &extensions);
    }

    /// Ends the open results, and adds results to the calls that have none.
    fn close_results(&mut self) {
        for id in std::mem::take(&mut self.open_results) {
            self.write_result_end(id, ToolResultState::Interrupted, Object::new());
        }
        let unanswered: Vec<(String, String)> = self
            .message()
            .tool_pairs()
            .filter(|(_, result)| result.is_none())
            .map(|(call, _)| (call.id.clone(), call.name.clone()))
            .collect();
        for (id, name) in unanswered {
            self.write_result_start(&id, &name, Object::new());
            self.write_result_end(id, ToolResultState::Interrupted, Object::new());
        }
    }

    /// Returns `wanted`, or a variant of it that no block of the type in this reply uses.
    fn unused_id<B: Block>(&self, wanted: &str) -> String {
        let taken = |id: &str| {
            self.message().content().iter().any(|block| B::from_content(block).is_some() && block.id() == id)
        };
        if !taken(wanted) {
            return wanted.to_owned();
        }
        (2_u64..).map(|number| format!("{wanted}_{number}")).find(|id| !taken(id)).unwrap_or_default()
    }
}

impl OpenProse {
    fn new(kind: Prose, id: String) -> Self {
        Self { kind, id, extra: Object::new() }
    }
}

impl<S: FnMut(AgentEvent)> Drop for ReplyWriter<S> {
    fn drop(&mut self) {
        self.finish(ReplyEnd::new(FinishedReason::Interrupted));
    }
}

impl<S: FnMut(AgentEvent)> fmt::Debug for ReplyWriter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyWriter").field("message", self.message()).finish_non_exhaustive()
    }
}

/// Returns the extensions for the extra fields of a block; empty if there are none.
fn extra_extension(extra: Object) -> Object {
    if extra.is_empty() { Object::new() } else { Object::from([("extra", Json::from(extra))]) }
}
