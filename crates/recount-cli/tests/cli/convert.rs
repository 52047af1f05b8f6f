//! `recount convert`, and the other commands with `--dialect`.

use std::fs;

use pretty_assertions::assert_eq;

use crate::run::{cases, check_run, command, directory, finish, recount};

const JAVA_STREAM: &str = include_str!("../../samples/java-confirm.jsonl");

/// A turn in Java: the tool call, its result, and the answer.
const JAVA_TURN: &str = r#"{"id":"m1","name":"Friday","role":"ASSISTANT","content":[{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Rome"},"content":"{\"city\":\"Rome\"}","metadata":{},"state":"allowed"}],"metadata":{},"timestamp":"2026-08-22 10:30:00.123","usage":null}
{"id":"m2","name":"Friday","role":"TOOL","content":[{"type":"tool_result","id":"c1","name":"weather","output":[{"type":"text","text":"Sunny"}],"metadata":{},"state":"success"}],"metadata":{},"timestamp":"2026-08-22 10:30:01.123","usage":null}
{"id":"m3","name":"Friday","role":"ASSISTANT","content":[{"type":"text","text":"It is sunny."}],"metadata":{"agentscope_generate_reason":"MODEL_STOP"},"timestamp":"2026-08-22 10:30:02.123","usage":{"inputTokens":7,"outputTokens":2,"cachedTokens":0,"time":0.5,"totalTokens":9}}
"#;

const BAD_JAVA: &str = r#"{"id":"m1","name":"Alice","role":"USER","content":[{"type":"text","text":"Hello"}],"metadata":{},"timestamp":null,"usage":null}
{"name":"Alice","role":"user","content":[],"id":"m2","created_at":"2026-01-01T00:00:00Z"}
{"role":"USER","content":[{"type":"image","source":{"type":"file","path":"a.png"}}]}
hello
"#;

cases! {
    a_stream: "convert --from java --to native samples/java-confirm.jsonl";
    a_turn: "convert --from java --to native" < JAVA_TURN;
    a_message_to_java: "convert --from native --to java" < r#"{"name":"Alice","role":"user","content":[{"type":"text","text":"Hello","id":"t"}],"id":"m","created_at":"2026-01-01T00:00:00.000000+00:00"}"#;
    a_block: "convert --from java --to native" < r#"{"type":"image","source":{"type":"url","url":"file:///a.png"},"minPixels":3136}"#;
    an_event: "convert --from java --to native --kind event" < r#"{"type":"TOOL_CALL_DELTA","id":"e","createdAt":"2026-01-01T00:00:00Z","replyId":"r","toolCallId":"c","toolCallName":"__fragment__","delta":"{"}"#;
    exact: "convert --from java --to java --kind event --exact" < r#"{"type":"AGENT_END","id":"e","createdAt":"2026-01-01T00:00:00Z","replyId":"r"}"#;
    exact_requires_java_target: "convert --from java --to native --exact" < "";
    bad_lines: "convert --from java --to native" < BAD_JAVA;
    bad_lines_strict: "convert --from java --to native --strict" < BAD_JAVA;
    unknown_dialect: "convert --from perl --to native";
    for_ag_ui: "convert --from java --to ag-ui samples/java-confirm.jsonl";
    for_the_ai_sdk: "convert --from java --to ai-sdk samples/java-confirm.jsonl";
    a_message_for_ag_ui: "convert --from java --to ag-ui" < r#"{"id":"m","role":"USER","content":[{"type":"text","text":"Hi"}]}"#;
    a_block_for_ag_ui: "convert --from java --to ag-ui" < r#"{"type":"text","text":"Hi"}"#;
    native_events_read_as_java: "convert --from java --to native --kind event" < r#"{"type":"REPLY_END","id":"e","created_at":"2026-01-01T00:00:00Z","session_id":"s","reply_id":"r"}"#;
    folded: "fold --dialect java samples/java-confirm.jsonl";
    checked: "check --dialect java samples/java-confirm.jsonl";
    shown: "show --dialect java --color never samples/java-confirm.jsonl";
}

#[track_caller]
fn check_round_trip(args: &str, back: &str, stdin: &str) {
    let there = recount(args, stdin.as_bytes());
    assert_eq!(there.stderr, "");
    let again = recount(back, there.stdout.as_bytes());
    assert_eq!((again.stdout.as_str(), again.stderr.as_str()), (stdin, ""));
}

#[test]
fn java_messages_of_a_turn_round_trip() {
    check_round_trip("convert --from java --to native", "convert --from native --to java", JAVA_TURN);
}

#[test]
fn java_events_round_trip_byte_for_byte() {
    check_round_trip(
        "convert --from java --to native --kind event",
        "convert --from native --to java --kind event --exact",
        JAVA_STREAM,
    );
}

#[test]
fn stream_folds_the_same_in_every_dialect() {
    let native = recount("convert --from java --to native", JAVA_STREAM.as_bytes()).stdout;
    let folded = recount("fold", native.as_bytes()).stdout;
    for dialect in ["native", "java", "java1", "typescript"] {
        let written = recount(&format!("convert --from native --to {dialect}"), native.as_bytes()).stdout;
        let again = recount(&format!("fold --dialect {dialect}"), written.as_bytes());
        assert_eq!((again.stdout, again.stderr.as_str()), (folded.clone(), ""), "{dialect}");
    }
}

#[test]
fn java_stream_folds_the_same_in_two_pieces() {
    let directory = directory("a_java_stream_in_pieces");
    let whole = recount("fold --dialect java", JAVA_STREAM.as_bytes());
    let lines: Vec<&str> = JAVA_STREAM.split_inclusive('\n').collect();
    for at in 0..lines.len() {
        let state = directory.join(format!("{at}.json"));
        let state = state.to_str().unwrap();
        let first = recount(&format!("fold --dialect java --checkpoint {state}"), lines[..at].concat().as_bytes());
        let rest = recount(&format!("fold --dialect java --resume {state}"), lines[at..].concat().as_bytes());
        assert_eq!(first.stdout + &rest.stdout, whole.stdout, "cut at {at}");
        assert_eq!((first.stderr + &rest.stderr).as_str(), "");
    }
}

#[test]
fn checkpoint_of_another_dialect_is_rejected() {
    let directory = directory("the_checkpoint_of_another_dialect");
    let state = directory.join("state.json");
    fs::write(&state, r#"{"version":1,"cursor":"1","replies":[],"reader":{"agents":7}}"#).unwrap();
    let mut command = command("fold --dialect java --resume state.json");
    command.current_dir(&directory);
    check_run("convert_other_checkpoint", "fold --dialect java --resume state.json", &finish(command, b""));
}
