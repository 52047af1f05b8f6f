//! Comparison of requests with the models of AgentScope Python 2.0.10.
//!
//! The requests were recorded by `conformance/python/model_requests.py`. Intended differences are listed under a
//! heading of `conformance/DEVIATIONS.md`. A listing without a difference fails too.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "how many cases agree is worth knowing")]

#[path = "format/deviations.rs"]
mod deviations;
#[path = "format/vectors.rs"]
mod vectors;

use std::collections::BTreeSet;

use deviations::{Deviation, REQUEST_DEVIATIONS};
use recount_message::{Json, Msg};
use recount_model::Provider;
use recount_model::format::{
    Formatter, Media, RequestError, RequestOptions, StructuredMethod, Thinking, Tool, ToolChoice,
};
use serde_json::Value;
use vectors::vectors;

fn options(provider: Provider, case: &Value) -> RequestOptions {
    let parameters = &case["parameters"];
    let mut options = RequestOptions::new("model-x");
    options.max_tokens = parameters["max_tokens"].as_u64();
    options.temperature = parameters["temperature"].as_f64();
    options.top_p = parameters["top_p"].as_f64();
    options.top_k = parameters["top_k"].as_u64();
    options.effort = parameters["reasoning_effort"].as_str().map(str::to_owned);
    options.parallel_tool_calls = parameters["parallel_tool_calls"].as_bool().unwrap_or(true);
    options.thinking = match parameters["thinking_enable"].as_bool() {
        Some(true) => Thinking::On { budget: parameters["thinking_budget"].as_u64() },
        // Only these providers have an option that disables thinking.
        Some(false) | None if switches_thinking_off(provider, case) => Thinking::Off,
        Some(false) | None => Thinking::Default,
    };
    let tools = case["tools"].as_array().into_iter().flatten();
    options.tools = tools.map(|tool| Tool::from_json(&tool.to_string()).unwrap()).collect();
    options.tool_choice = case.get("tool_choice").map(choice);
    options
}

/// Whether the reference disables thinking for a provider although the case does not ask for it.
fn switches_thinking_off(provider: Provider, case: &Value) -> bool {
    match provider {
        Provider::DashScope | Provider::DeepSeek | Provider::Moonshot | Provider::Gemini | Provider::Ollama => true,
        Provider::Volcengine => case["parameters"]["thinking_enable"] == false,
        _ => false,
    }
}

fn choice(choice: &Value) -> ToolChoice {
    let made = match choice["mode"].as_str().unwrap() {
        "auto" => ToolChoice::auto(),
        "none" => ToolChoice::none(),
        "required" => ToolChoice::required(),
        name => ToolChoice::named(name),
    };
    match choice["tools"].as_array() {
        Some(names) => made.restrict_to(names.iter().map(|name| name.as_str().unwrap())),
        None => made,
    }
}

/// Returns the bodies that follow from a case if each is rejected.
fn ours(provider: Provider, case: &Value) -> Result<Vec<Value>, RequestError> {
    let mut messages = vec![Msg::user("Alice", "Hello")];
    if let Some(text) = case["system"].as_str() {
        messages.insert(0, Msg::system("system", text));
    }
    let options = options(provider, case);
    let formatter = Formatter::new(provider);
    let body = |options: &RequestOptions| {
        let request = formatter.request(&messages, &Media::new(), options)?;
        Ok(spelled(serde_json::from_str(request.body.as_raw()).unwrap()))
    };
    match case.get("schema") {
        None => Ok(vec![body(&options)?]),
        Some(schema) => {
            let schema = Json::parse(&schema.to_string()).unwrap();
            let ways = StructuredMethod::fallback_order(provider, options.thinking);
            // The reference has no native method.
            let ways = ways.into_iter().filter(|way| *way != StructuredMethod::Native);
            ways.map(|way| body(&options.clone().structured(schema.clone(), way))).collect()
        }
    }
}

/// Normalizes a value: Gemini accepts field names in both cases, its SDK writes 0 as 0.0, and an empty list of tools
/// equals none.
fn spelled(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(key, value)| !(key == "tools" && value == &serde_json::json!([])));
            kept.map(|(key, value)| (snake_case(&key), spelled(value))).collect::<serde_json::Map<_, _>>().into()
        }
        Value::Array(list) => list.into_iter().map(spelled).collect(),
        Value::Number(number) => number.as_f64().into(),
        other => other,
    }
}

fn snake_case(key: &str) -> String {
    key.chars()
        .flat_map(|c| c.is_ascii_uppercase().then_some('_').into_iter().chain([c.to_ascii_lowercase()]))
        .collect()
}

/// Returns the recorded requests. Identical repetitions count once.
fn theirs(case: &Value) -> Vec<Value> {
    let mut sent: Vec<Value> = Vec::new();
    for request in case["requests"].as_array().into_iter().flatten() {
        let request = spelled(request.clone());
        if !sent.contains(&request) {
            sent.push(request);
        }
    }
    sent
}

#[test]
fn requests_match_agentscope() {
    let mut failures = Vec::new();
    let mut used: BTreeSet<*const Deviation> = BTreeSet::new();
    for provider in Provider::ALL.into_iter().filter(|provider| *provider != Provider::Xai) {
        let (mut alike, mut deviating) = (0, 0);
        for case in vectors(&format!("request-{provider}.jsonl")) {
            let name = case["case"].as_str().unwrap();
            let difference = match (ours(provider, &case), case.get("raised")) {
                (Err(_), Some(_)) => None,
                (Err(error), None) => Some(error.to_string()),
                (Ok(_), Some(error)) => Some(format!("made, and the reference raises {error}")),
                (Ok(ours), None) => {
                    let theirs = theirs(&case);
                    // The reference gives up after the first request for some providers.
                    let same = !theirs.is_empty() && theirs == ours[..theirs.len().min(ours.len())];
                    (!same).then(|| format!("\n  ours:   {ours:?}\n  theirs: {theirs:?}"))
                }
            };
            let Some(difference) = difference else {
                alike += 1;
                continue;
            };
            deviating += 1;
            match REQUEST_DEVIATIONS.iter().find(|deviation| deviation.covers(provider.name(), name)) {
                Some(deviation) => {
                    used.insert(std::ptr::from_ref(deviation));
                }
                None => failures.push(format!("{provider} {name}: {difference}")),
            }
        }
        println!("{provider}: {alike} alike, {deviating} deviate");
    }
    for unused in REQUEST_DEVIATIONS.iter().filter(|deviation| !used.contains(&std::ptr::from_ref(*deviation))) {
        failures.push(format!("{} ({}) is listed, but nothing differs", unused.cases, unused.heading));
    }
    assert!(failures.is_empty(), "{} cases:\n{}", failures.len(), failures.join("\n"));
}
