//! Arbitrary text, and envelopes in any order.

use std::path::Path;
use std::sync::LazyLock;

use pretty_assertions::assert_eq;
use proptest::collection::vec;
use proptest::prelude::*;
use recount_message::check::{Checker, Severity};
use recount_message::{AgentEvent, Fold, Msg};

use super::{sorted, text_of};
use crate::java1::{
    Java1Stream, frames, read_block, read_event, read_message, write_block, write_event, write_message,
};

/// Checks that every value that can be parsed survives a round trip, and that lines give a valid stream.
fn check_round_trip(text: &str) {
    if let Ok(message) = read_message(text) {
        let mut written = String::new();
        write_message(&message, &mut written);
        let again = read_message(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(sorted(&again.to_json()), sorted(&message.to_json()), "{}", written);
    }
    if let Ok(block) = read_block(text) {
        let mut written = String::new();
        write_block(&block, &mut written);
        let again = read_block(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(sorted(&again.to_json()), sorted(&block.to_json()), "{}", written);
    }
    if let Ok(event) = read_event(text) {
        let mut written = String::new();
        write_event(&event, &mut written);
        let again = read_event(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(sorted(&again.to_json()), sorted(&event.to_json()), "{}", written);
    }
    let lines: Vec<&str> = text.lines().collect();
    let _ = native_events(&lines);
}

/// Returns the native events of some lines. Invalid lines must not change the state of the stream.
fn native_events(lines: &[&str]) -> Vec<AgentEvent> {
    let mut stream = Java1Stream::new();
    let mut events = Vec::new();
    for line in lines {
        let before = stream.clone();
        match stream.push(line) {
            Ok(events_of_turn) => events.extend(events_of_turn),
            Err(_) => assert_eq!(stream, before),
        }
        assert_eq!(Java1Stream::from_state(&stream.state()).as_ref(), Ok(&stream));
    }
    events.extend(stream.finish());
    events.extend(stream.user_turn(""));
    events
}

#[test]
fn fuzz_corpus_round_trips() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/dialect_java1");
    let files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 30, "{}", files.len());
    for file in files {
        check_round_trip(&std::fs::read_to_string(file).unwrap());
    }
}

#[test]
fn accepted_texts_round_trip() {
    TEXTS.iter().for_each(|text| check_round_trip(text));
}

/// The texts that were tested with 1.0.9.
static TEXTS: LazyLock<Vec<String>> =
    LazyLock::new(|| super::recorded("v1/accept.jsonl").iter().map(|line| text_of(line, "text")).collect());

fn blocks() -> impl Strategy<Value = String> {
    let words = prop_oneof![Just(""), Just("a"), Just("ab"), Just("abc"), Just("[ERROR] x"), Just("é")];
    let ids = prop_oneof![Just("null"), Just("\"c1\""), Just("\"c2\""), Just("\"tool_call_1\"")];
    let names = prop_oneof![Just("null"), Just("\"f\""), Just("\"__fragment__\"")];
    let contents = prop_oneof![Just("null"), Just(r#""""#), Just(r#""{\"a\":""#), Just(r#""1}""#), Just(r#""{}""#)];
    let inputs = prop_oneof![Just("{}"), Just(r#"{"a":1}"#)];
    prop_oneof![
        3 => words.clone().prop_map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#)),
        2 => words.clone().prop_map(|text| format!(r#"{{"type":"thinking","thinking":"{text}"}}"#)),
        3 => (ids.clone(), names.clone(), contents, inputs).prop_map(|(id, name, content, input)| {
            format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input},"content":{content}}}"#)
        }),
        3 => (ids, names, vec(words, 0..3), any::<bool>()).prop_map(|(id, name, output, waits)| {
            let output: Vec<String> = output.iter().map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#)).collect();
            let metadata = if waits { r#"{"agentscope_suspended":true}"# } else { "{}" };
            format!(r#"{{"type":"tool_result","id":{id},"name":{name},"output":[{}],"metadata":{metadata}}}"#, output.join(","))
        }),
        1 => Just(r#"{"type":"image","source":{"type":"url","url":"https://files.test/a.png"}}"#.to_owned()),
    ]
}

fn envelopes() -> impl Strategy<Value = String> {
    let types = prop_oneof![
        4 => Just("REASONING"), 3 => Just("TOOL_RESULT"), 1 => Just("HINT"), 2 => Just("AGENT_RESULT"),
        1 => Just("SUMMARY"), 1 => Just("ALL"),
    ];
    let ids = prop_oneof![Just("null"), Just("\"m1\""), Just("\"m2\"")];
    let metadata = prop_oneof![
        4 => Just("{}"),
        1 => Just(r#"{"agentscope_generate_reason":"TOOL_SUSPENDED"}"#),
        1 => Just(r#"{"agentscope_generate_reason":"REASONING_STOP_REQUESTED"}"#),
        1 => Just(r#"{"_chat_usage":{"inputTokens":1,"outputTokens":2},"_structured_output":{"a":1},"k":1}"#),
    ];
    (types, ids, vec(blocks(), 0..3), metadata, any::<bool>()).prop_map(|(kind, id, blocks, metadata, is_last)| {
        let blocks = blocks.join(",");
        format!(
            r#"{{"type":"{kind}","message":{{"id":{id},"name":"Friday","role":"ASSISTANT","content":[{blocks}],"metadata":{metadata},"timestamp":"2026-01-01 00:00:00.001"}},"last":{is_last}}}"#
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn envelopes_in_any_order_give_a_valid_stream(lines in vec(envelopes(), 0..12)) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let events = native_events(&lines);
        let mut checker = Checker::new();
        let mut findings: Vec<_> = events.iter().flat_map(|event| checker.event(event)).collect();
        findings.extend(checker.finish());
        findings.retain(|finding| finding.severity == Severity::Error || finding.code != "reused_id");
        assert_eq!(findings, []);
        assert!(events.iter().collect::<Fold>().messages().all(|reply: &Msg| reply.finished_at().is_some()));
    }

    /// Joins parts of texts that Java accepts.
    #[test]
    fn spliced_texts_round_trip(texts in vec(any::<prop::sample::Index>(), 2), cuts in vec(any::<prop::sample::Index>(), 2)) {
        let parts: Vec<Vec<char>> = texts.iter().map(|index| index.get(&TEXTS).chars().collect()).collect();
        let [one, other] = parts.as_slice() else { return Ok(()) };
        let (head, tail) = (cuts[0].index(one.len() + 1), cuts[1].index(other.len() + 1));
        check_round_trip(&one[..head].iter().chain(&other[tail..]).collect::<String>());
    }

    /// The stream written for Java 1 gives exactly the same events when parsed, including repeated envelopes.
    #[test]
    fn written_stream_round_trips(lines in vec(envelopes(), 0..8)) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (mut fold, mut stream) = (Fold::new(), Java1Stream::new());
        for event in native_events(&lines) {
            let mut read = Vec::new();
            for frame in frames(&fold, &event) {
                read.extend(stream.push(&frame).unwrap());
            }
            let _ = fold.apply(&event);
            assert_eq!(read, [event]);
        }
        assert_eq!(stream.finish(), []);
    }
}
