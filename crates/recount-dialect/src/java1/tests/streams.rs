//! Recorded streams of agents of 1.0.9, and streams that 2.0.0 writes for readers of 1.x.

use pretty_assertions::assert_eq;
use recount_message::check::{Checker, Severity};
use recount_message::{AgentEvent, ContentBlock, Fold, Json, Msg, Object, TextBlock, ThinkingBlock, ToolCallBlock};

use super::{recorded, text_of};
use crate::java1::{Java1Stream, frames, read_message};

const FILES: [&str; 3] = ["v1/stream.jsonl", "v1/stream-cumulative.jsonl", "v2/stream1.jsonl"];

fn list_of(object: &Object, name: &str) -> Vec<Json> {
    object.get(name).and_then(Json::to_array).unwrap_or_default()
}

/// A recorded scenario with its native events.
struct Scenario {
    case: String,
    turns: Vec<Turn>,
    context: Vec<Msg>,
}

struct Turn {
    events: Vec<AgentEvent>,
    result: Option<Msg>,
    /// Whether the turn begins with a user message, rather than an external result.
    is_new: bool,
}

fn scenario(line: &Object) -> Scenario {
    let mut stream = Java1Stream::new();
    let mut events = list_of(line, "events").into_iter();
    let mut turns: Vec<Turn> = Vec::new();
    let message = |json: &Json| read_message(json.as_raw()).unwrap();
    for turn in list_of(line, "turns") {
        let turn = turn.to_object().unwrap();
        let input: Vec<Msg> = list_of(&turn, "input").iter().map(message).collect();
        let is_new = input.iter().any(|message| message.role() == recount_message::Role::User);
        let mut events_of_turn = Vec::new();
        let count: usize = turn.get("events").unwrap().as_raw().parse().unwrap();
        if is_new && !turns.is_empty() && count > 0 {
            let time = input.last().unwrap().created_at();
            turns.last_mut().unwrap().events.extend(stream.user_turn(time));
        }
        for event in events.by_ref().take(count) {
            events_of_turn.extend(stream.push(event.as_raw()).unwrap());
            assert_eq!(Java1Stream::from_state(&stream.state()).as_ref(), Ok(&stream));
        }
        let result = turn.get("result").filter(|result| !result.is_null()).map(message);
        turns.push(Turn { events: events_of_turn, result, is_new });
    }
    assert_eq!(events.next(), None);
    turns.last_mut().unwrap().events.extend(stream.finish());
    Scenario { case: text_of(line, "case"), turns, context: list_of(line, "context").iter().map(message).collect() }
}

fn scenarios() -> Vec<Scenario> {
    let all: Vec<Scenario> = FILES.iter().flat_map(|file| recorded(file)).map(|line| scenario(&line)).collect();
    assert!(all.len() > 130, "{}", all.len());
    all
}

impl Scenario {
    fn events(&self) -> impl Iterator<Item = &AgentEvent> {
        self.turns.iter().flat_map(|turn| &turn.events)
    }

    fn messages(&self) -> Vec<Msg> {
        self.events().collect::<Fold>().into_messages().collect()
    }
}

#[test]
fn recorded_streams_are_valid() {
    for scenario in scenarios() {
        let mut checker = Checker::new();
        let mut findings: Vec<_> = scenario.events().flat_map(|event| checker.event(event)).collect();
        findings.extend(checker.finish());
        // In Java, text continues in the same block after thinking, so the block is reopened.
        findings.retain(|finding| finding.severity == Severity::Error || finding.code != "reused_id");
        assert_eq!(findings, [], "{}", scenario.case);
    }
}

#[test]
fn turns_end_with_their_result() {
    for scenario in scenarios() {
        let mut fold = Fold::new();
        for turn in &scenario.turns {
            fold.extend(&turn.events);
            let Some(result) = &turn.result else { continue };
            let reply = fold.messages().last().unwrap();
            assert!(reply.text_or_empty().ends_with(&result.text_or_empty()), "{}: {}", scenario.case, reply.to_json());
            for call in result.blocks::<ToolCallBlock>() {
                assert!(reply.call(&call.id).is_some(), "{}: {}", scenario.case, reply.to_json());
            }
            assert_eq!(reply.structured_output(), result.structured_output(), "{}", scenario.case);
            let waits = reply.blocks::<ToolCallBlock>().any(|call| call.state.as_str() == "submitted");
            assert_eq!(reply.finished_at().is_some(), !waits, "{}", scenario.case);
        }
        let started = scenario.turns.iter().filter(|turn| turn.is_new && !turn.events.is_empty()).count();
        assert_eq!(fold.messages().count(), started, "{}", scenario.case);
    }
}

/// The replies contain everything in the agents' memory: each text and thinking as one block, each call with its
/// arguments, and each result with its text.
#[test]
fn replies_match_agent_memory() {
    for scenario in scenarios() {
        let replies = scenario.messages();
        let blocks: Vec<&ContentBlock> = replies.iter().flat_map(Msg::content).collect();
        let case = &scenario.case;
        for message in &scenario.context {
            let is_agents = message.name() == "Friday";
            for block in message.content().iter().filter(|_| is_agents) {
                let assert_contains = |is_same: &dyn Fn(&ContentBlock) -> bool| {
                    assert!(blocks.iter().any(|block| is_same(block)), "{case}: {} in {replies:#?}", block.to_json());
                };
                match block {
                    ContentBlock::Text(TextBlock { text: expected, .. }) => {
                        assert_contains(&|block| matches!(block, ContentBlock::Text(block) if block.text == *expected));
                    }
                    ContentBlock::Thinking(ThinkingBlock { thinking: expected, .. }) => {
                        assert_contains(
                            &|block| matches!(block, ContentBlock::Thinking(block) if block.thinking == *expected),
                        );
                    }
                    ContentBlock::ToolCall(expected) => assert_contains(&|block| {
                        let arguments = |input: &str| Object::parse(input).unwrap_or_default();
                        matches!(block, ContentBlock::ToolCall(block)
                            if (block.id == expected.id || block.extra.get("provider_id") == Some(&Json::from(expected.id.as_str())))
                                && block.name == expected.name
                                && arguments(&block.input) == arguments(&expected.input))
                    }),
                    ContentBlock::ToolResult(expected) => assert_contains(&|block| {
                        matches!(block, ContentBlock::ToolResult(block) if block.id == expected.id
                            && block.output.text() == expected.output.text()
                            && block.state == expected.state)
                    }),
                    other => panic!("{case}: {}", other.to_json()),
                }
            }
        }
    }
}

/// The stream written for Java 1 gives exactly the same events when parsed.
#[test]
fn recorded_streams_round_trip() {
    for scenario in scenarios() {
        let (mut fold, mut stream) = (Fold::new(), Java1Stream::new());
        for event in scenario.events() {
            let mut read = Vec::new();
            for frame in frames(&fold, event) {
                read.extend(stream.push(&frame).unwrap());
            }
            assert_eq!(read, std::slice::from_ref(event), "{}", scenario.case);
            let _ = fold.apply(event);
        }
        assert_eq!(stream.finish(), []);
    }
}
