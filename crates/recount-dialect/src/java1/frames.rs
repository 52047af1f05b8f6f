//! Writing of a native stream for Java 1 clients.
//!
//! Every event becomes one envelope that carries it, so that the native stream can be restored exactly. The message of
//! the envelope holds what Java 1 streams: the chunks of text, thinking and calls, the complete message at the end of a
//! model call, tool results, and the agent's result. All other events become envelopes of a type that clients ignore.

use recount_message::{
    ContentBlock, CustomEvent, CustomName, Event, EventKind, FinishedReason, Fold, Json, ModelCallEndEvent, Msg,
    Object, ReplyEndEvent, Role, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock, ToolResultEndEvent,
    ToolResultState, Usage,
};

use super::envelope::{self, EVENT, EXTRACTED, EnvelopeType, SKIP};
use crate::java::codec::{BlockContext, SUSPENDED};
use crate::java::fields::without_nulls;
use crate::java::message::{self, CHAT_USAGE, GENERATE_REASON, STRUCTURED_OUTPUT};
use crate::java::{Version, block, time, usage};
use crate::json::ObjectWriter;
use crate::{native, preserved};

/// The mark of an event that the Java 1 stream did not contain and that need not be written to it.
pub(super) const SYNTHETIC: &str = "synthetic";

/// The author of tool results in Java 1.
const SYSTEM: &str = "system";

/// The tool name that Java 1 uses in chunks of arguments.
pub(super) const FRAGMENT: &str = "__fragment__";

/// Returns the frames for an event. `before` is the fold of all preceding events.
pub(crate) fn frames(before: &Fold, event: &Event<'_>) -> Vec<String> {
    let mut frames = Vec::with_capacity(1);
    if let Some(original) = envelope::original_envelope(event, false) {
        frames.push(original);
        return frames;
    }
    let content = EnvelopeContent::of(before, event);
    if let EventKind::ReplyEnd(ReplyEndEvent { finished_reason: FinishedReason::ExceedMaxIters, .. }) = event.kind {
        frames.push(envelope::write(EnvelopeType::Summary, &content.message, true, &Object::from([(SKIP, true)])));
    }
    frames.push(content.carrying(event));
    if let EventKind::ExternalExecutionResult(results) = &event.kind {
        frames.extend(results.execution_results.iter().map(|result| {
            let content = EnvelopeContent::result(before, event, result.clone(), true);
            envelope::write(content.envelope_type, &content.message, content.is_last, &Object::from([(SKIP, true)]))
        }));
    }
    frames
}

/// Returns the first frames for a reader who joins.
pub(crate) fn prelude(at: &Fold) -> Vec<String> {
    native::replay_as(at, frames)
}

/// Serializes an event on its own.
pub(super) fn write_alone(event: &Event<'_>, out: &mut String) {
    match envelope::original_envelope(event, true) {
        Some(original) => out.push_str(&original),
        None => out.push_str(&EnvelopeContent::of(&Fold::new(), event).carrying(event)),
    }
}

/// The content of an envelope.
struct EnvelopeContent {
    envelope_type: EnvelopeType,
    message: Object,
    is_last: bool,
    /// The field of the native event whose value is in the message.
    extracted: Option<&'static str>,
}

impl EnvelopeContent {
    fn of(before: &Fold, event: &Event<'_>) -> Self {
        let at = EventContext { before, event };
        if at.is_synthetic() {
            return at.ignored();
        }
        match &event.kind {
            EventKind::TextBlockDelta(delta) => at.delta(text(&delta.delta)),
            EventKind::ThinkingBlockDelta(delta) => at.delta(ThinkingBlock::stamped("", "", &*delta.delta)),
            EventKind::ToolCallDelta(delta) => {
                let started = at.reply().and_then(|reply| reply.call(&delta.tool_call_id));
                let name = started.map_or(FRAGMENT, |call| call.name.as_str());
                at.delta(call(&delta.tool_call_id, name, &delta.delta))
            }
            EventKind::ToolCallStart(start) => {
                let mut content = at.delta(call(&start.tool_call_id, &start.tool_call_name, ""));
                content.extracted = None;
                content
            }
            EventKind::ToolResultTextDelta(delta) => {
                let name = at.result(&delta.tool_call_id).map_or(String::new(), |result| result.name.clone());
                let result = result(&delta.tool_call_id, &name, &delta.delta);
                let mut content = Self::result(before, event, result, false);
                content.extracted = Some("delta");
                content
            }
            EventKind::ToolResultEnd(end) => match at.ended_result(end) {
                Some(result) => Self::result(before, event, result, true),
                None => at.ignored(),
            },
            EventKind::ModelCallEnd(end) => at.model_call(end),
            EventKind::HintBlock(hint) => {
                let text = text(&hint.hint.text().unwrap_or_default());
                at.content(EnvelopeType::Hint, Role::User, &[text.into()], &Object::new(), true)
            }
            EventKind::ExceedMaxIters(_) => {
                at.content(EnvelopeType::Summary, Role::Assistant, &[], &Object::new(), false)
            }
            EventKind::RequireExternalExecution(wait) => at.suspended(&wait.tool_calls),
            EventKind::RequireUserConfirm(wait) => {
                let calls: Vec<ContentBlock> = wait.tool_calls.iter().cloned().map(Into::into).collect();
                let metadata = Object::from([(GENERATE_REASON, "REASONING_STOP_REQUESTED")]);
                at.content(EnvelopeType::AgentResult, Role::Assistant, &calls, &metadata, true)
            }
            EventKind::ReplyEnd(end) => at.agent_result(end),
            EventKind::Custom(custom) if custom.recount_name() == Some(CustomName::Message) => {
                at.complete_message(custom)
            }
            _ => at.ignored(),
        }
    }

    fn result(before: &Fold, event: &Event<'_>, result: ToolResultBlock, is_last: bool) -> Self {
        EventContext { before, event }.content(
            EnvelopeType::ToolResult,
            Role::Tool,
            &[result.into()],
            &Object::new(),
            is_last,
        )
    }

    /// Returns the envelope with the native event in it.
    fn carrying(&self, event: &Event<'_>) -> String {
        let mut carried = Object::parse(&event.to_json()).unwrap_or_default();
        let mut native = Object::new();
        if let Some(extracted) = self.extracted {
            carried.remove(extracted);
            native.insert(EXTRACTED, extracted);
        }
        native.insert(EVENT, carried);
        let written = envelope::write(self.envelope_type, &self.message, self.is_last, &native);
        // A complete message can contain fields that are lost in Java 1. Chunks cannot.
        if self.extracted != Some("value") || carries(&written, event) {
            return written;
        }
        let native = Object::from([(EVENT, Object::parse(&event.to_json()).unwrap_or_default())]);
        envelope::write(self.envelope_type, &self.message, self.is_last, &native)
    }
}

/// Returns whether parsing an envelope gives this event.
fn carries(written: &str, event: &Event<'_>) -> bool {
    let carried = envelope::Envelope::read(written).ok().and_then(|read| read.carried_event());
    carried.is_some_and(|carried| carried == *event)
}

/// An event and the fold before it.
#[derive(Clone, Copy)]
struct EventContext<'p> {
    before: &'p Fold,
    event: &'p Event<'p>,
}

impl EventContext<'_> {
    fn reply(&self) -> Option<&Msg> {
        self.before.message(self.event.reply_id()?)
    }

    /// Returns the latest result of a call.
    fn result(&self, call_id: &str) -> Option<&ToolResultBlock> {
        let results = self.reply()?.content().iter().rev();
        results.into_iter().find_map(|block| match block {
            ContentBlock::ToolResult(result) if result.id == call_id => Some(result),
            _ => None,
        })
    }

    /// Returns whether the event, or the result it belongs to, was inserted.
    fn is_synthetic(&self) -> bool {
        let name = Version::One.name();
        let is_marked = |object: &Object| preserved::get(object, name).contains_key(SYNTHETIC);
        let call = match &self.event.kind {
            EventKind::ToolResultTextDelta(delta) => Some(&delta.tool_call_id),
            EventKind::ToolResultEnd(end) => Some(&end.tool_call_id),
            _ => None,
        };
        is_marked(&self.event.metadata)
            || call.and_then(|id| self.result(id)).is_some_and(|result| is_marked(&result.extra))
    }

    fn ignored(&self) -> EnvelopeContent {
        self.content(EnvelopeType::All, Role::Assistant, &[], &Object::new(), false)
    }

    fn delta(&self, block: impl Into<ContentBlock>) -> EnvelopeContent {
        let mut content =
            self.content(EnvelopeType::Reasoning, Role::Assistant, &[block.into()], &Object::new(), false);
        content.extracted = Some("delta");
        content
    }

    /// Returns the number of blocks at the last model call.
    fn floor(&self) -> usize {
        let reply = self.event.reply_id().and_then(|id| self.before.reply(id));
        reply.map_or(0, recount_message::ReplyFold::call_floor)
    }

    /// Returns the blocks of the model since its last call.
    fn since_model_call(&self) -> Vec<ContentBlock> {
        let blocks = self.reply().map(Msg::content).unwrap_or_default().iter().skip(self.floor());
        blocks.filter(|block| !matches!(block, ContentBlock::ToolResult(_) | ContentBlock::Hint(_))).cloned().collect()
    }

    fn model_call(&self, end: &ModelCallEndEvent<'_>) -> EnvelopeContent {
        let mut metadata = Object::new();
        if self.event.extension("usage").and_then(|usage| usage.as_str().map(str::to_owned)).as_deref()
            != Some("unknown")
        {
            metadata.insert(CHAT_USAGE, chat_usage(&Usage::new(end.input_tokens, end.output_tokens)));
        }
        self.content(EnvelopeType::Reasoning, Role::Assistant, &self.since_model_call(), &metadata, true)
    }

    fn ended_result(&self, end: &ToolResultEndEvent<'_>) -> Option<ToolResultBlock> {
        let mut result = self.result(&end.tool_call_id)?.clone();
        result.state = end.state;
        result.metadata = self.event.metadata.clone();
        Some(result)
    }

    /// Returns the result for externally executed tools: the calls, each with a placeholder result.
    fn suspended(&self, calls: &[ToolCallBlock]) -> EnvelopeContent {
        let mut blocks: Vec<ContentBlock> = Vec::with_capacity(calls.len() * 2);
        for call in calls {
            blocks.push(call.clone().into());
            let mut result = result(&call.id, &call.name, "[Awaiting external execution]");
            result.metadata = Object::from([(SUSPENDED, true)]);
            blocks.push(result.into());
        }
        let metadata = Object::from([(GENERATE_REASON, "TOOL_SUSPENDED")]);
        self.content(EnvelopeType::AgentResult, Role::Assistant, &blocks, &metadata, true)
    }

    fn agent_result(&self, end: &ReplyEndEvent<'_>) -> EnvelopeContent {
        let mut metadata = self.reply().map(|reply| reply.metadata().clone()).unwrap_or_default();
        if let Some(more) = self.event.extension("metadata").and_then(|more| more.to_object()) {
            more.iter().for_each(|(name, value)| metadata.insert(name, value.clone()));
        }
        metadata.remove(preserved::KEY);
        let mut metadata = without_nulls(&metadata);
        match end.finished_reason {
            FinishedReason::Interrupted => metadata.insert(GENERATE_REASON, "INTERRUPTED"),
            FinishedReason::ExceedMaxIters => metadata.insert(GENERATE_REASON, "MAX_ITERATIONS"),
            _ => {}
        }
        if let Some(output) = self.event.extension("structured_output") {
            metadata.insert(STRUCTURED_OUTPUT, output);
        }
        if let Some(usage) = self.reply().and_then(Msg::usage) {
            metadata.insert(CHAT_USAGE, chat_usage(usage));
        }
        self.content(EnvelopeType::AgentResult, Role::Assistant, &self.since_model_call(), &metadata, true)
    }

    /// Returns the envelope for a message that was not streamed.
    fn complete_message(&self, custom: &CustomEvent<'_>) -> EnvelopeContent {
        let Ok(message) = Msg::from_json(&custom.value.to_json()) else { return self.ignored() };
        if CustomEvent::message(&message).value != custom.value {
            return self.ignored();
        }
        let mut out = String::new();
        message::write(&message, Version::One, &mut out);
        let envelope_type = match message.role() {
            Role::Assistant => EnvelopeType::AgentResult,
            Role::Tool => EnvelopeType::ToolResult,
            _ => EnvelopeType::All,
        };
        EnvelopeContent {
            envelope_type,
            message: Object::parse(&out).unwrap_or_default(),
            is_last: true,
            extracted: Some("value"),
        }
    }

    fn content(
        &self,
        envelope_type: EnvelopeType,
        role: Role,
        blocks: &[ContentBlock],
        metadata: &Object,
        is_last: bool,
    ) -> EnvelopeContent {
        let reply_id = self.event.reply_id().unwrap_or_default();
        // In Java, every model call and every result is a message of its own.
        let id = match (blocks, self.floor()) {
            ([ContentBlock::ToolResult(result)], _) => format!("{reply_id}.{}", result.id),
            (_, 0) => reply_id.to_owned(),
            (_, floor) => format!("{reply_id}.{floor}"),
        };
        let name = match envelope_type {
            EnvelopeType::ToolResult => Some(SYSTEM),
            _ => self.reply().map(Msg::name).filter(|name| !name.is_empty()),
        };
        let mut out = String::new();
        let mut object = ObjectWriter::jackson(&mut out);
        object.text_or_null("id", Some(&*id).filter(|id| !id.is_empty()));
        object.text_or_null("name", name);
        object.text("role", role.as_str().to_ascii_uppercase().as_str());
        let context = BlockContext { version: Version::One, ..BlockContext::default() };
        object.list("content", blocks, |_, block, out| drop(block::write(block, context, out)));
        object.object("metadata", metadata);
        let time = time::message_time_to_java(&self.event.created_at);
        object.text_or_null("timestamp", Some(&*time).filter(|time| !time.is_empty()));
        object.end();
        EnvelopeContent { envelope_type, message: Object::parse(&out).unwrap_or_default(), is_last, extracted: None }
    }
}

fn text(text: &str) -> TextBlock {
    TextBlock::stamped("", "", text)
}

fn call(id: &str, name: &str, input: &str) -> ToolCallBlock {
    ToolCallBlock::stamped(id, "", name, input)
}

fn result(id: &str, name: &str, output: &str) -> ToolResultBlock {
    ToolResultBlock::stamped(id, "", name, text(output), ToolResultState::Running)
}

fn chat_usage(counted: &Usage) -> Json {
    let mut out = String::new();
    usage::write(counted, Version::One, &mut out);
    Json::parse(&out).unwrap_or_else(|_| Json::null())
}
