//! A native stream as one that a reader of Java 1 understands.
//!
//! Every event becomes one envelope that carries it, so that the native stream comes back exactly. What Java 1 streams is
//! in the message of that envelope: the pieces of text, thinking and calls, the whole message when a model call ends, the
//! result of a tool, the result of the agent. Everything else comes as a step that no reader waits for.

use recount_message::{
    ContentBlock, CustomEvent, CustomName, Event, EventKind, FinishedReason, Fold, Json, MediaBlock, ModelCallEndEvent,
    Msg, Object, Payload, ReplyEndEvent, Role, TextBlock, ThinkingBlock, ToolCallBlock, ToolCallState, ToolResultBlock,
    ToolResultEndEvent, ToolResultState, Usage,
};

use super::envelope::{self, EVENT, SAID, SKIP, Step};
use crate::java::message::{self, CHAT_USAGE, GENERATE_REASON, STRUCTURED_OUTPUT};
use crate::java::plain::{Place, SUSPENDED};
use crate::java::text::ObjectWriter;
use crate::java::{Version, block, time, usage};
use crate::{native, residue};

/// The mark of what the stream of Java 1 did not say, and so need not be told it.
pub(super) const SYNTHETIC: &str = "synthetic";

/// The name that Java 1 gives to who brings the results of tools.
const SYSTEM: &str = "system";

/// What Java 1 calls the tool in a piece of a call's arguments.
pub(super) const FRAGMENT: &str = "__fragment__";

/// What a reader gets for an event that comes after what is folded.
pub(crate) fn frames(before: &Fold, event: &Event<'_>) -> Vec<String> {
    let mut frames = Vec::with_capacity(1);
    if let Some(original) = envelope::original(event, false) {
        frames.push(original);
        return frames;
    }
    let told = Told::of(before, event);
    if let EventKind::ReplyEnd(ReplyEndEvent { finished_reason: FinishedReason::ExceedMaxIters, .. }) = event.kind {
        frames.push(envelope::write(Step::Summary, &told.message, true, &Object::from([(SKIP, true)])));
    }
    frames.push(told.carrying(event));
    if let EventKind::ExternalExecutionResult(results) = &event.kind {
        frames.extend(results.execution_results.iter().map(|result| {
            let told = Told::result(before, event, result.clone(), true);
            envelope::write(told.step, &told.message, told.is_last, &Object::from([(SKIP, true)]))
        }));
    }
    frames
}

/// What a reader gets who joins: all that has been said so far.
pub(crate) fn prelude(at: &Fold) -> Vec<String> {
    let mut before = Fold::new();
    let mut all = Vec::new();
    for event in native::rebuilt(at) {
        all.extend(frames(&before, &event));
        let _ = before.apply(&event);
    }
    all
}

/// Writes an event by itself.
pub(super) fn write_alone(event: &Event<'_>, out: &mut String) {
    match envelope::original(event, true) {
        Some(original) => out.push_str(&original),
        None => out.push_str(&Told::of(&Fold::new(), event).carrying(event)),
    }
}

/// What Java 1 is told about an event.
struct Told {
    step: Step,
    message: Object,
    is_last: bool,
    /// The native field that the message says.
    said: Option<&'static str>,
}

impl Told {
    fn of(before: &Fold, event: &Event<'_>) -> Self {
        let at = Moment { before, event };
        if at.is_synthetic() {
            return at.nothing();
        }
        match &event.kind {
            EventKind::TextBlockDelta(delta) => at.piece(text(&delta.delta)),
            EventKind::ThinkingBlockDelta(delta) => at.piece(ThinkingBlock {
                thinking: delta.delta.to_string(),
                id: String::new(),
                created_at: String::new(),
                finished_at: None,
                extra: Object::new(),
            }),
            EventKind::ToolCallDelta(delta) => {
                let begun = at.reply().and_then(|reply| reply.call(&delta.tool_call_id));
                let name = begun.map_or(FRAGMENT, |call| call.name.as_str());
                at.piece(call(&delta.tool_call_id, name, &delta.delta))
            }
            EventKind::ToolCallStart(start) => {
                let mut told = at.piece(call(&start.tool_call_id, &start.tool_call_name, ""));
                told.said = None;
                told
            }
            EventKind::ToolResultTextDelta(delta) => {
                let name = at.result(&delta.tool_call_id).map_or(String::new(), |result| result.name.clone());
                let result = result(&delta.tool_call_id, &name, &delta.delta);
                let mut told = Self::result(before, event, result, false);
                told.said = Some("delta");
                told
            }
            EventKind::ToolResultEnd(end) => match at.ended_result(end) {
                Some(result) => Self::result(before, event, result, true),
                None => at.nothing(),
            },
            EventKind::ModelCallEnd(end) => at.model_call(end),
            EventKind::HintBlock(hint) => {
                let text = text(&hint.hint.text().unwrap_or_default());
                at.told(Step::Hint, Role::User, &[text.into()], &Object::new(), true)
            }
            EventKind::ExceedMaxIters(_) => at.told(Step::Summary, Role::Assistant, &[], &Object::new(), false),
            EventKind::RequireExternalExecution(wait) => at.suspended(&wait.tool_calls),
            EventKind::RequireUserConfirm(wait) => {
                let calls: Vec<ContentBlock> = wait.tool_calls.iter().cloned().map(Into::into).collect();
                let metadata = Object::from([(GENERATE_REASON, "REASONING_STOP_REQUESTED")]);
                at.told(Step::AgentResult, Role::Assistant, &calls, &metadata, true)
            }
            EventKind::ReplyEnd(end) => at.agent_result(end),
            EventKind::Custom(custom) if custom.own_name() == Some(CustomName::Message) => at.whole(custom),
            _ => at.nothing(),
        }
    }

    fn result(before: &Fold, event: &Event<'_>, result: ToolResultBlock, is_last: bool) -> Self {
        Moment { before, event }.told(Step::ToolResult, Role::Tool, &[result.into()], &Object::new(), is_last)
    }

    /// The envelope, with the event in it.
    fn carrying(&self, event: &Event<'_>) -> String {
        let mut carried = Object::parse(&event.to_json()).unwrap_or_default();
        let mut native = Object::new();
        if let Some(said) = self.said {
            carried.remove(said);
            native.insert(SAID, said);
        }
        native.insert(EVENT, carried);
        let written = envelope::write(self.step, &self.message, self.is_last, &native);
        // A whole message may have something that does not come back; pieces have not.
        if self.said != Some("value") || carries(&written, event) {
            return written;
        }
        let native = Object::from([(EVENT, Object::parse(&event.to_json()).unwrap_or_default())]);
        envelope::write(self.step, &self.message, self.is_last, &native)
    }
}

/// Whether an event comes back from an envelope.
fn carries(written: &str, event: &Event<'_>) -> bool {
    let carried = envelope::Envelope::read(written).ok().and_then(|read| read.carried());
    carried.is_some_and(|carried| carried == *event)
}

/// An event, and what was before it.
#[derive(Clone, Copy)]
struct Moment<'p> {
    before: &'p Fold,
    event: &'p Event<'p>,
}

impl Moment<'_> {
    fn reply(&self) -> Option<&Msg> {
        self.before.message(self.event.reply_id()?)
    }

    /// The newest result of a call.
    fn result(&self, call_id: &str) -> Option<&ToolResultBlock> {
        let results = self.reply()?.content().iter().rev();
        results.into_iter().find_map(|block| match block {
            ContentBlock::ToolResult(result) if result.id == call_id => Some(result),
            _ => None,
        })
    }

    /// Whether Java 1 has not said this, so that it need not be told.
    fn is_synthetic(&self) -> bool {
        let name = Version::One.name();
        let is_marked = |object: &Object| residue::get(object, name).contains_key(SYNTHETIC);
        let call = match &self.event.kind {
            EventKind::ToolResultTextDelta(delta) => Some(&delta.tool_call_id),
            EventKind::ToolResultEnd(end) => Some(&end.tool_call_id),
            _ => None,
        };
        is_marked(&self.event.metadata)
            || call.and_then(|id| self.result(id)).is_some_and(|result| is_marked(&result.extra))
    }

    fn nothing(&self) -> Told {
        self.told(Step::All, Role::Assistant, &[], &Object::new(), false)
    }

    fn piece(&self, block: impl Into<ContentBlock>) -> Told {
        let mut told = self.told(Step::Reasoning, Role::Assistant, &[block.into()], &Object::new(), false);
        told.said = Some("delta");
        told
    }

    /// How many blocks the reply had when the model was last called.
    fn floor(&self) -> usize {
        let reply = self.event.reply_id().and_then(|id| self.before.reply(id));
        reply.map_or(0, recount_message::ReplyFold::call_floor)
    }

    /// What the model has said since it was last called.
    fn since_model_call(&self) -> Vec<ContentBlock> {
        let blocks = self.reply().map(Msg::content).unwrap_or_default().iter().skip(self.floor());
        blocks.filter(|block| !matches!(block, ContentBlock::ToolResult(_) | ContentBlock::Hint(_))).cloned().collect()
    }

    fn model_call(&self, end: &ModelCallEndEvent<'_>) -> Told {
        let mut metadata = Object::new();
        if self.event.carried("usage").and_then(|usage| usage.to_text()).as_deref() != Some("unknown") {
            metadata.insert(CHAT_USAGE, chat_usage(&Usage::new(end.input_tokens, end.output_tokens)));
        }
        self.told(Step::Reasoning, Role::Assistant, &self.since_model_call(), &metadata, true)
    }

    fn ended_result(&self, end: &ToolResultEndEvent<'_>) -> Option<ToolResultBlock> {
        let mut result = self.result(&end.tool_call_id)?.clone();
        result.state = end.state;
        result.metadata = self.event.metadata.clone();
        Some(result)
    }

    /// What Java 1 returns when somebody else has to run a tool: the calls, each with a result that says so.
    fn suspended(&self, calls: &[ToolCallBlock]) -> Told {
        let mut blocks: Vec<ContentBlock> = Vec::with_capacity(calls.len() * 2);
        for call in calls {
            blocks.push(call.clone().into());
            let mut result = result(&call.id, &call.name, "[Awaiting external execution]");
            result.metadata = Object::from([(SUSPENDED, true)]);
            blocks.push(result.into());
        }
        let metadata = Object::from([(GENERATE_REASON, "TOOL_SUSPENDED")]);
        self.told(Step::AgentResult, Role::Assistant, &blocks, &metadata, true)
    }

    fn agent_result(&self, end: &ReplyEndEvent<'_>) -> Told {
        let mut metadata = self.reply().map(|reply| reply.metadata().clone()).unwrap_or_default();
        if let Some(more) = self.event.carried("metadata").and_then(|more| more.to_object()) {
            more.iter().for_each(|(name, value)| metadata.insert(name, value.clone()));
        }
        metadata.remove(residue::KEY);
        let mut metadata = residue::without_nulls(&metadata);
        match end.finished_reason {
            FinishedReason::Interrupted => metadata.insert(GENERATE_REASON, "INTERRUPTED"),
            FinishedReason::ExceedMaxIters => metadata.insert(GENERATE_REASON, "MAX_ITERATIONS"),
            _ => {}
        }
        if let Some(output) = self.event.carried("structured_output") {
            metadata.insert(STRUCTURED_OUTPUT, output);
        }
        if let Some(usage) = self.reply().and_then(Msg::usage) {
            metadata.insert(CHAT_USAGE, chat_usage(usage));
        }
        self.told(Step::AgentResult, Role::Assistant, &self.since_model_call(), &metadata, true)
    }

    /// A message that nobody streamed.
    fn whole(&self, custom: &CustomEvent<'_>) -> Told {
        let Ok(message) = Msg::from_json(&custom.value.to_json()) else { return self.nothing() };
        if CustomEvent::message(&message).value != custom.value {
            return self.nothing();
        }
        let mut out = String::new();
        message::write(&message, Version::One, &mut out);
        let step = match message.role() {
            Role::Assistant => Step::AgentResult,
            Role::Tool => Step::ToolResult,
            _ => Step::All,
        };
        Told { step, message: Object::parse(&out).unwrap_or_default(), is_last: true, said: Some("value") }
    }

    fn told(&self, step: Step, role: Role, blocks: &[ContentBlock], metadata: &Object, is_last: bool) -> Told {
        let reply_id = self.event.reply_id().unwrap_or_default();
        // In Java every model call makes a message of its own, and so does every result.
        let id = match (blocks, self.floor()) {
            ([ContentBlock::ToolResult(result)], _) => format!("{reply_id}.{}", result.id),
            (_, 0) => reply_id.to_owned(),
            (_, floor) => format!("{reply_id}.{floor}"),
        };
        let name = match step {
            Step::ToolResult => Some(SYSTEM),
            _ => self.reply().map(Msg::name).filter(|name| !name.is_empty()),
        };
        let mut out = String::new();
        let mut object = ObjectWriter::begin(&mut out);
        object.text_or_null("id", Some(&*id).filter(|id| !id.is_empty()));
        object.text_or_null("name", name);
        object.text("role", role.as_str().to_ascii_uppercase().as_str());
        let place = Place { version: Version::One, ..Place::default() };
        object.list("content", blocks, |_, block, out| drop(block::write(block, place, out)));
        object.object("metadata", metadata);
        let time = time::message_time_to_java(&self.event.created_at);
        object.text_or_null("timestamp", Some(&*time).filter(|time| !time.is_empty()));
        object.end();
        Told { step, message: Object::parse(&out).unwrap_or_default(), is_last, said: None }
    }
}

fn text(text: &str) -> TextBlock {
    TextBlock {
        text: text.to_owned(),
        id: String::new(),
        created_at: String::new(),
        finished_at: None,
        extra: Object::new(),
    }
}

fn call(id: &str, name: &str, input: &str) -> ToolCallBlock {
    ToolCallBlock {
        id: id.to_owned(),
        name: name.to_owned(),
        input: input.to_owned(),
        state: ToolCallState::Pending,
        suggested_rules: Vec::new(),
        created_at: String::new(),
        finished_at: None,
        extra: Object::new(),
    }
}

fn result(id: &str, name: &str, output: &str) -> ToolResultBlock {
    ToolResultBlock {
        id: id.to_owned(),
        name: name.to_owned(),
        output: Payload::Blocks(vec![MediaBlock::Text(text(output))]),
        state: ToolResultState::Running,
        metadata: Object::new(),
        created_at: String::new(),
        finished_at: None,
        extra: Object::new(),
    }
}

fn chat_usage(counted: &Usage) -> Json {
    let mut out = String::new();
    usage::write(counted, Version::One, &mut out);
    Json::parse(&out).unwrap_or_else(|_| Json::null())
}
