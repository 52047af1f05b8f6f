//! One small stream for each rule, and recorded streams of agents.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod blocks;
mod native_replies;
mod pairing;
mod property;
mod recorded;
mod reply_bounds;
mod result;
mod subagents;

use recount_message::check::{Checker, Finding, Severity};
use recount_message::{AgentEvent, EventKind, Fold, Json, Msg, Object};

use super::{JavaStream, output};

const NOT_STREAMED: &str = "The result of this call was not streamed.";

/// A stream that is saved and restored after every event.
#[derive(Debug, Default)]
struct ResumingStream {
    stream: JavaStream,
    events: Vec<AgentEvent>,
}

impl ResumingStream {
    fn push(&mut self, line: &str) {
        let events = self.stream.push(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.after(events);
    }

    fn user_turn(&mut self) {
        let events = self.stream.user_turn("2026-01-01T01:00:00Z");
        self.after(events);
    }

    fn after(&mut self, events: Vec<AgentEvent>) {
        self.events.extend(events);
        let document = self.stream.state().to_json();
        let resumed = JavaStream::from_state(&Object::parse(&document).unwrap()).unwrap();
        assert_eq!(resumed, self.stream, "{document}");
        self.stream = resumed;
    }

    fn finish(mut self) -> Vec<AgentEvent> {
        let events = self.stream.finish();
        self.after(events);
        self.events
    }
}

/// Returns the JSON lines of a small stream, given the type and fields of each event. Ids and times are numbered.
fn lines(stream: &str) -> impl Iterator<Item = String> {
    let line = |(number, line): (usize, &str)| {
        let (kind, fields) = line.split_once(' ').unwrap_or((line, ""));
        let comma = if fields.is_empty() { "" } else { "," };
        let number = number + 1;
        format!(r#"{{"type":"{kind}","id":"e{number}","createdAt":"2026-01-01T00:00:{number:02}Z"{comma}{fields}}}"#)
    };
    let lines: Vec<&str> = stream.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.into_iter().enumerate().map(line).collect::<Vec<_>>().into_iter()
}

/// Returns the native events of a small stream, including its end. The line `USER` is a user message.
fn read(stream: &str) -> Vec<AgentEvent> {
    let mut resumed = ResumingStream::default();
    for line in lines(stream) {
        if line.starts_with(r#"{"type":"USER","#) {
            resumed.user_turn();
        } else {
            resumed.push(&line);
        }
    }
    let events = resumed.finish();
    assert_eq!(errors(&events), [], "{:#?}", summarize(&events));
    events
}

/// Returns the findings of the checker.
fn findings(events: &[AgentEvent]) -> Vec<Finding> {
    let mut checker = Checker::new();
    let mut findings: Vec<Finding> = events.iter().flat_map(|event| checker.event(event)).collect();
    findings.extend(checker.finish());
    findings
}

fn errors(events: &[AgentEvent]) -> Vec<Finding> {
    findings(events).into_iter().filter(|finding| finding.severity == Severity::Error).collect()
}

fn folded(events: &[AgentEvent]) -> Vec<Msg> {
    let mut fold = Fold::new();
    for event in events {
        assert_eq!(fold.apply(event).reason(), None, "{}", event.to_json());
    }
    fold.into_messages().collect()
}

/// Returns whether an event was inserted.
fn is_inserted(event: &AgentEvent) -> bool {
    output::marks(event).contains_key("synthetic")
}

/// Returns a short form of events. Inserted ones begin with `+`.
fn summarize(events: &[AgentEvent]) -> Vec<String> {
    let summary = |event: &AgentEvent| {
        let (id, more) = match &event.kind {
            EventKind::ReplyStart(kind) => (&*kind.reply_id, kind.name.to_string()),
            EventKind::ReplyEnd(kind) => (&*kind.reply_id, kind.finished_reason.as_str().to_owned()),
            EventKind::ModelCallEnd(kind) => ("", kind.finished_reason.as_str().to_owned()),
            EventKind::TextBlockStart(kind) => (&*kind.block_id, String::new()),
            EventKind::TextBlockDelta(kind) => (&*kind.block_id, kind.delta.to_string()),
            EventKind::TextBlockEnd(kind) => (&*kind.block_id, String::new()),
            EventKind::ThinkingBlockStart(kind) => (&*kind.block_id, String::new()),
            EventKind::ThinkingBlockDelta(kind) => (&*kind.block_id, kind.delta.to_string()),
            EventKind::ThinkingBlockEnd(kind) => (&*kind.block_id, String::new()),
            EventKind::ToolCallStart(kind) => (&*kind.tool_call_id, kind.tool_call_name.to_string()),
            EventKind::ToolCallDelta(kind) => (&*kind.tool_call_id, kind.delta.to_string()),
            EventKind::ToolCallEnd(kind) => (&*kind.tool_call_id, String::new()),
            EventKind::ToolResultStart(kind) => (&*kind.tool_call_id, String::new()),
            EventKind::ToolResultTextDelta(kind) => (&*kind.tool_call_id, kind.delta.to_string()),
            EventKind::ToolResultEnd(kind) => (&*kind.tool_call_id, kind.state.as_str().to_owned()),
            EventKind::RequireUserConfirm(kind) => ("", ids(kind.tool_calls.iter().map(|call| &*call.id))),
            EventKind::RequireExternalExecution(kind) => ("", ids(kind.tool_calls.iter().map(|call| &*call.id))),
            EventKind::Custom(kind) => {
                (&*kind.name, kind.value.get("state").and_then(Json::as_str).map(str::to_owned).unwrap_or_default())
            }
            _ => ("", String::new()),
        };
        let inserted = if is_inserted(event) { "+" } else { "" };
        let words = [event.type_name(), id, &more];
        format!("{inserted}{}", words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" "))
    };
    events.iter().map(summary).collect()
}

fn ids<'e>(ids: impl Iterator<Item = &'e str>) -> String {
    ids.collect::<Vec<_>>().join(",")
}

/// Returns a short form of the blocks of a message.
fn blocks(message: &Msg) -> Vec<String> {
    use recount_message::ContentBlock as Block;
    let block = |block: &Block| match block {
        Block::Text(block) => format!("text {}", block.text),
        Block::Thinking(block) => format!("thinking {}", block.thinking),
        Block::ToolCall(block) => format!("call {} {} {} {}", block.id, block.name, block.input, block.state.as_str()),
        Block::ToolResult(block) => {
            format!("result {} {} {}", block.id, block.state.as_str(), block.output.text().unwrap_or_default())
        }
        other => other.type_name().to_owned(),
    };
    message.content().iter().map(block).collect()
}
