//! Values recorded from AgentScope Java 2.0.0 by `conformance/java`.

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

/// Converts a text to native JSON and back to Java.
fn round_trip(kind: &str, text: &str) -> Result<(String, String), String> {
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
fn recorded_values_round_trip_byte_for_byte() {
    for kind in ["message", "block", "event"] {
        for case in cases(kind) {
            let (name, text) = (case["case"].as_str().unwrap(), case["text"].as_str().unwrap());
            let (_, back) = round_trip(kind, text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(back, text, "{name}");
        }
    }
}

/// Returns the native JSON without round-trip data. Java drops the unknown field `z`.
fn meaning(native: &str) -> String {
    sorted_without(&Json::parse(native).unwrap(), &["recount", "z"]).to_string()
}

/// Returns whether the case may differ: Recount understands more than Java, or stores a Java-only value unchanged.
fn is_listed(case: &str) -> bool {
    // Java-only events are stored unchanged, including numbers in place of strings and without Java's defaults.
    let only_java = ["REQUEST_STOP/", "SUBAGENT_EXPOSED/"].iter().any(|event| case.starts_with(event));
    // Java generates a random id.
    let random_id = ["data/id-empty", "data/id-missing", "data/id-null"].contains(&case);
    only_java || random_id || UNDERSTOOD_ONLY_HERE.contains(&case)
}

const UNDERSTOOD_ONLY_HERE: &[&str] = &[
    // Native fields and forms from the documentation are understood, while Java ignores them.
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
    // Unknown fields are preserved.
    "message/derived-fields",
    "message/extra",
    "tool_result/is_error",
    // Numbers keep their digits.
    "event/custom-numbers",
    "message/metadata-float-exponent",
    "message/metadata-float-huge",
    "message/metadata-float-long",
    "message/metadata-float-tiny",
    "message/metadata-negative-zero",
];

/// Texts that Java accepts and Recount rejects.
const REJECTED: &[&str] = &[
    // Nested beyond the limit of Recount.
    "message/json-deep-900",
    // Not exactly one message.
    "message/json-garbage-behind",
    "message/json-null",
    "message/json-two",
    // Not valid Unicode.
    "text/surrogate",
];

#[test]
fn texts_accepted_by_java_have_the_same_meaning() {
    let mut differing = Vec::new();
    let mut count = 0;
    for case in cases("accept") {
        let kind = case["kind"].as_str().unwrap();
        if !["message", "block", "event"].contains(&kind) || case["accepted"] != true {
            continue;
        }
        count += 1;
        let (name, text) = (case["case"].as_str().unwrap(), case["text"].as_str().unwrap());
        let native = match round_trip(kind, text) {
            Ok((native, _)) => native,
            Err(_) if REJECTED.contains(&name) => continue,
            Err(error) => panic!("{name}: {error}: {text}"),
        };
        // Java can parse this text but not write it again.
        let Some(written) = case["written"].as_str() else { continue };
        let (java, _) = round_trip(kind, written).unwrap_or_else(|error| panic!("{name}: {error}: {written}"));
        if !is_listed(name) && meaning(&native) != meaning(&java) {
            differing.push(format!("{name}\n  {text}\n  {written}\n  {native}\n  {java}"));
        }
    }
    assert!(count > 500, "only {count} cases");
    assert_eq!(differing, Vec::<String>::new());
}
