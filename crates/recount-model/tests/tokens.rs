//! Comparison of token estimates with AgentScope Python 2.0.10.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::path::Path;

use recount_message::Msg;
use recount_model::estimate_tokens;
use recount_model::format::Tool;
use serde_json::Value;

fn lines(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors/python").join(file);
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn estimates_match_agentscope() {
    let histories = lines("model/histories.jsonl").into_iter();
    let histories: HashMap<String, Value> =
        histories.map(|history| (format!("history/{}", history["case"].as_str().unwrap()), history)).collect();
    let cases = lines("tokens.jsonl");
    for case in &cases {
        let history = histories.get(case["case"].as_str().unwrap()).unwrap_or(case);
        let messages: Vec<Msg> = of(history, "messages", |text| Msg::from_json(text).unwrap());
        let tools: Vec<Tool> = of(case, "tools", |text| Tool::from_json(text).unwrap());
        assert_eq!(Some(estimate_tokens(&messages, &tools)), case["tokens"].as_u64(), "{}", case["case"]);
    }
    assert_eq!(cases.len(), 372);
}

fn of<T>(case: &Value, key: &str, read: impl Fn(&str) -> T) -> Vec<T> {
    case[key].as_array().into_iter().flatten().map(|item| read(&item.to_string())).collect()
}
