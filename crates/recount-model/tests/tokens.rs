//! What AgentScope Python 2.0.10 takes conversations for, in tokens, and whether Recount takes them for the same.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;

use recount_message::Msg;
use recount_model::estimate_tokens;
use recount_model::format::Tool;
use serde_json::Value;

#[test]
fn conversations_are_taken_for_as_many_tokens() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors/python/tokens.jsonl");
    let mut cases = 0;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let list = |key: &str| case[key].as_array().cloned().unwrap_or_default();
        let messages: Vec<Msg> =
            list("messages").iter().map(|message| Msg::from_json(&message.to_string()).unwrap()).collect();
        let tools: Vec<Tool> = list("tools").iter().map(|tool| Tool::from_json(&tool.to_string()).unwrap()).collect();
        assert_eq!(Some(estimate_tokens(&messages, &tools)), case["tokens"].as_u64(), "{}", case["case"]);
        cases += 1;
    }
    assert_eq!(cases, 81);
}
