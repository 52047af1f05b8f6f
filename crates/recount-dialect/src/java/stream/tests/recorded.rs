//! Recorded streams of AgentScope Java 2.0.0 agents, compared with the memory of these agents.

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use recount_message::{AgentEvent, ContentBlock, Fold, Json, Object, Role, ToolCallBlock, ToolResultBlock};

use super::{JavaStream, Msg, ResumingStream, errors, findings, folded, summarize};
use crate::java::{frames, read_message};

/// Cases in which the memory of the agent differs from its stream, with the reason.
const NOT_STREAMED: &[(&str, &str)] = &[
    ("call-bad-arguments", "the agent drops arguments that are not JSON"),
    ("call-id-reused", "the agent does not run it, and natively each call has an id and a result"),
    ("call-id-reused-in-next-turn", "the agent does not run it, and natively each call has a result"),
    ("call-whole", "the arguments are not in the stream"),
    ("confirm-edited", "the user's edit is not streamed"),
    ("confirm-missing", "the agent keeps waiting, and natively the user's message ends the wait"),
    ("error-in-call", "the agent drops the output of a failed model call"),
    ("error-in-thinking", "the agent drops the output of a failed model call"),
    ("error-midway", "the agent drops the output of a failed model call"),
    ("error-then-turn", "the agent drops the output of a failed model call"),
    ("external", "the caller's result is not streamed"),
    ("external-beside-own", "the caller's result is not streamed"),
    ("external-failed", "the caller's result is not streamed"),
    ("external-missing", "the agent keeps waiting, and natively the user's message ends the wait"),
    ("external-recovered", "the text that the agent stores instead of a result is not streamed"),
    ("interrupt-call", "the agent drops arguments that are not JSON, and natively each call has a result"),
    ("result-chunks", "the chunks are streamed, and only the return value of the tool is stored"),
    ("result-chunks-in-turn", "the chunks are streamed, and only the return value of the tool is stored"),
    ("result-chunks-parallel", "the chunks are streamed, and only the return value of the tool is stored"),
    ("stop-requested", "the agent drops the result"),
    ("structured-after-tool", "the agent drops the call, and its answer is the structured output natively"),
    ("structured-fragments", "the agent drops the call, and its answer is the structured output natively"),
    ("structured-tool", "the agent drops the call, and its answer is the structured output natively"),
    ("structured-wrong", "the agent drops the calls, and its answer is the structured output natively"),
    ("subagent-forwarded", "the events of the sub-agent are streamed, and only its answer is stored"),
    ("suspended", "the caller's result is not streamed"),
];

/// A recorded case.
struct Case {
    name: String,
    fields: Object,
}

impl Case {
    fn list(&self, name: &str) -> Vec<Json> {
        self.fields.get(name).and_then(Json::to_array).unwrap_or_default()
    }

    fn turns(&self) -> Vec<Turn> {
        self.list("turns").iter().map(|turn| Turn(turn.to_object().unwrap())).collect()
    }

    /// Returns the messages of each user turn in the memory of the agent.
    fn remembered(&self) -> Vec<Vec<Msg>> {
        let mut remembered: Vec<Vec<Msg>> = Vec::new();
        for message in self.list("context") {
            let message = read_message(message.as_raw()).unwrap();
            if message.role() == Role::User {
                remembered.push(Vec::new());
            } else if let Some(turn) = remembered.last_mut() {
                turn.push(message);
            }
        }
        remembered
    }
}

struct Turn(Object);

impl Turn {
    /// Returns whether the turn begins with a user message, rather than a decision about a call.
    fn is_users(&self) -> bool {
        let inputs = self.0.get("input").and_then(Json::to_array).unwrap_or_default();
        inputs.is_empty()
            || inputs
                .iter()
                .map(|input| read_message(input.as_raw()).unwrap())
                .any(|message| message.role() == Role::User && !message.content().is_empty())
    }

    fn events(&self) -> usize {
        self.0.get("events").unwrap().as_raw().parse().unwrap()
    }

    fn result(&self) -> Option<Msg> {
        let result = self.0.get("result").filter(|result| !result.is_null())?;
        Some(read_message(result.as_raw()).unwrap())
    }
}

fn cases() -> Vec<Case> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/java/v2/stream.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let case = |line: &str| {
        let fields = Object::parse(line).unwrap();
        Case { name: fields.get("case").and_then(Json::as_str).map(str::to_owned).unwrap(), fields }
    };
    text.lines().map(case).collect()
}

fn read(case: &Case) -> Vec<AgentEvent> {
    let (mut resumed, events) = (ResumingStream::default(), case.list("events"));
    let mut rest = events.as_slice();
    for turn in case.turns() {
        if turn.is_users() {
            resumed.user_turn();
        }
        let (events, following) = rest.split_at(turn.events());
        events.iter().for_each(|event| resumed.push(event.as_raw()));
        rest = following;
    }
    assert_eq!(rest, []);
    resumed.finish()
}

/// The text, calls and results of a reply.
#[derive(Debug, Default, PartialEq)]
struct ReplyContent {
    texts: Vec<String>,
    thinking: Vec<String>,
    calls: Vec<String>,
    results: BTreeMap<String, String>,
}

impl ReplyContent {
    fn of<'m>(messages: impl IntoIterator<Item = &'m Msg>) -> Self {
        let mut content = Self::default();
        for block in messages.into_iter().flat_map(Msg::content) {
            match block {
                ContentBlock::Text(block) if !block.text.is_empty() => content.texts.push(block.text.clone()),
                ContentBlock::Thinking(block) => content.thinking.push(block.thinking.clone()),
                ContentBlock::ToolCall(ToolCallBlock { id, name, input, .. }) => {
                    content.calls.push(format!("{id} {name} {input}"));
                }
                ContentBlock::ToolResult(ToolResultBlock { id, output, state, .. }) => {
                    let text = output.text().unwrap_or_default().replace('\n', "");
                    content.results.insert(id.clone(), format!("{} {text}", state.as_str()));
                }
                _ => {}
            }
        }
        content
    }
}

#[test]
fn recorded_streams_are_valid() {
    for case in cases() {
        let events = read(&case);
        assert_eq!(errors(&events), [], "{}: {:#?}", case.name, summarize(&events));
        // A block that Java reopens keeps its id.
        assert!(findings(&events).iter().all(|finding| finding.code == "reused_id"), "{}", case.name);
    }
}

#[test]
fn recorded_streams_fold_into_agent_replies() {
    for case in cases() {
        let messages = folded(&read(&case));
        let turns = case.turns();
        let mut replies: Vec<Vec<&Turn>> = Vec::new();
        for turn in &turns {
            match replies.last_mut().filter(|_| !turn.is_users()) {
                Some(reply) => reply.push(turn),
                None => replies.push(vec![turn]),
            }
        }
        assert_eq!(messages.len(), replies.len(), "{}", case.name);
        for (message, reply) in messages.iter().zip(replies) {
            let Some(result) = reply.last().and_then(|turn| turn.result()) else { continue };
            if result.structured_output().is_some() {
                assert_eq!(message.structured_output(), result.structured_output(), "{}", case.name);
            } else if let Some(text) = result.text() {
                let last = message.content().iter().rev().find_map(|block| match block {
                    ContentBlock::Text(block) => Some(block.text.clone()),
                    _ => None,
                });
                assert_eq!(last, Some(text), "{}", case.name);
            }
        }
    }
}

#[test]
fn replies_match_agent_memory() {
    let mut different = Vec::new();
    for case in cases() {
        let messages = folded(&read(&case));
        let remembered = case.remembered();
        let same = remembered.len() == messages.len()
            && messages
                .iter()
                .zip(&remembered)
                .all(|(message, turn)| ReplyContent::of([message]) == ReplyContent::of(turn));
        if !same {
            different.push(case.name);
        }
    }
    let known: Vec<&str> = NOT_STREAMED.iter().map(|(name, _)| *name).collect();
    assert_eq!(different, known);
}

#[test]
fn recorded_streams_round_trip() {
    for case in cases() {
        let events = read(&case);
        let (mut fold, mut stream, mut read) = (Fold::new(), JavaStream::new(), Vec::new());
        for event in &events {
            for frame in frames(&fold, event) {
                read.extend(stream.push(&frame).unwrap());
            }
            let _ = fold.apply(event);
        }
        let json = |events: &[AgentEvent]| events.iter().map(AgentEvent::to_json).collect::<Vec<_>>();
        assert_eq!(json(&read), json(&events), "{}", case.name);
    }
}
