//! What AgentScope Java 2.0.0 answered, as `conformance/java` wrote it down.

use pretty_assertions::assert_eq;
use recount_dialect::{Dialect, with_duplicate_type_key};
use recount_message::{ContentBlock, Event, Json, Msg};
use serde_json::Value;

use crate::support::sorted_without;

const JAVA: Dialect = Dialect::Java;

fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/../../conformance/vectors/java/v2/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a text is on the native side, and what that is in Java again.
fn there_and_back(kind: &str, text: &str) -> Result<(String, String), String> {
    let fail = |error: recount_message::DecodeError| error.to_string();
    Ok(match kind {
        "message" => {
            let native = JAVA.read_message(text).map_err(fail)?.to_json();
            let back = JAVA.write_message(&Msg::from_json(&native).unwrap());
            (native, back)
        }
        "block" => {
            let native = JAVA.read_block(text).map_err(fail)?.to_json();
            let back = JAVA.write_block(&ContentBlock::from_json(&native, "", "").unwrap());
            (native, back)
        }
        "event" => {
            let native = JAVA.read_event(text).map_err(fail)?.to_json();
            let back = JAVA.write_event(&Event::from_json(&native).unwrap());
            (native, with_duplicate_type_key(&back))
        }
        other => panic!("no such kind: {other}"),
    })
}

#[test]
fn every_value_comes_back_byte_for_byte() {
    for kind in ["message", "block", "event"] {
        for case in cases(kind) {
            let (name, text) = (case["case"].as_str().unwrap(), case["text"].as_str().unwrap());
            let (_, back) = there_and_back(kind, text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(back, text, "{name}");
        }
    }
}

/// What a native text says, apart from what is kept for Java. Java forgets fields that it does not know (`z`).
fn meaning(native: &str) -> String {
    sorted_without(&Json::parse(native).unwrap(), &["recount", "z"]).to_string()
}

/// Where more is understood than Java understands, or what only Java has stays as it came.
fn is_listed(case: &str) -> bool {
    // Events that only Java has are kept as they are, with their numbers for strings and without Java's defaults.
    let only_java = ["REQUEST_STOP/", "SUBAGENT_EXPOSED/"].iter().any(|event| case.starts_with(event));
    // Java makes up an id, which is another one each time.
    let random_id = ["data/id-empty", "data/id-missing", "data/id-null"].contains(&case);
    only_java || random_id || MORE.contains(&case)
}

const MORE: &[&str] = &[
    // What the native side has and what documents show is understood; Java passes over it.
    "data/native",
    "text/native",
    "event/documented-data",
    "event/documented-media-type",
    "event/documented-model-name",
    "event/documented-tokens",
    "tool_result/documented-result",
    "tool_result/documented-toolUseId",
    "tool_use/documented-arguments",
    "thinking/signature-beside",
    // Fields that nobody knows are kept.
    "message/derived-fields",
    "message/extra",
    "tool_result/is_error",
    // Numbers keep their text.
    "event/custom-numbers",
    "message/metadata-float-exponent",
    "message/metadata-float-huge",
    "message/metadata-float-long",
    "message/metadata-float-tiny",
    "message/metadata-negative-zero",
];

/// What Java accepts and is refused here.
const REFUSED: &[&str] = &[
    // It nests deeper than anything may that Recount holds.
    "message/json-deep-900",
    // It is no message, or more than one.
    "message/json-garbage-behind",
    "message/json-null",
    "message/json-two",
    // It is no text.
    "text/surrogate",
];

#[test]
fn whatever_java_accepts_is_accepted_and_means_the_same() {
    let mut differing = Vec::new();
    let mut count = 0;
    for case in cases("accept") {
        let kind = case["kind"].as_str().unwrap();
        if !["message", "block", "event"].contains(&kind) || case["accepted"] != true {
            continue;
        }
        count += 1;
        let (name, text) = (case["case"].as_str().unwrap(), case["text"].as_str().unwrap());
        let native = match there_and_back(kind, text) {
            Ok((native, _)) => native,
            Err(_) if REFUSED.contains(&name) => continue,
            Err(error) => panic!("{name}: {error}: {text}"),
        };
        // What Java reads and cannot write again says nothing.
        let Some(written) = case["written"].as_str() else { continue };
        let (java, _) = there_and_back(kind, written).unwrap_or_else(|error| panic!("{name}: {error}: {written}"));
        if !is_listed(name) && meaning(&native) != meaning(&java) {
            differing.push(format!("{name}\n  {text}\n  {written}\n  {native}\n  {java}"));
        }
    }
    assert!(count > 500, "only {count} cases");
    assert_eq!(differing, Vec::<String>::new());
}
