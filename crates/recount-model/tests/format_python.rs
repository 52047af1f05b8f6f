//! Comparison of formatted messages with AgentScope Python 2.0.10.
//!
//! The expected results were recorded by `conformance/python/formatters.py`. Intended differences are listed under a
//! heading of `conformance/DEVIATIONS.md`. A listing without a difference fails too.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "how many cases agree is worth knowing")]

#[path = "format/deviations.rs"]
mod deviations;
#[path = "format/placeholders.rs"]
mod placeholders;
#[path = "format/vectors.rs"]
mod vectors;

use std::collections::{BTreeMap, BTreeSet};

use deviations::{DEVIATIONS, Deviation, REQUEST_DEVIATIONS};
use placeholders::{Taken, plain};
use recount_message::Msg;
use recount_model::Provider;
use recount_model::format::{Formatter, Media, MultiAgent};
use serde_json::Value;
use vectors::vectors;

/// Returns the content of a URL or file in the vectors: its own name, or nothing if the name marks it as missing.
fn bring(formatter: &Formatter, messages: &[Msg]) -> Media {
    let mut media = Media::new();
    for wanted in formatter.required_media(messages) {
        if wanted.url.contains("missing") {
            continue;
        }
        let content = wanted.path().map_or_else(|| wanted.url.clone(), |path| format!("file://{path}"));
        media.insert(wanted.url, content);
    }
    media
}

fn ours(provider: Provider, case: &Value, messages: &[Msg]) -> Value {
    let mut formatter = Formatter::new(provider);
    if case["case"].as_str().unwrap().starts_with("multi") {
        formatter = formatter.multi_agent(MultiAgent::History);
    }
    if let Some(patterns) = case["input_types"].as_array() {
        formatter = formatter.input_types(patterns.iter().map(|pattern| pattern.as_str().unwrap()));
    }
    let formatted = formatter.format(messages, &bring(&formatter, messages));
    serde_json::from_str(formatted.to_value().as_raw()).unwrap()
}

#[test]
fn messages_match_agentscope() {
    let histories: BTreeMap<String, Vec<Msg>> = vectors("histories.jsonl")
        .iter()
        .map(|history| {
            let messages = history["messages"].as_array().unwrap();
            let messages = messages.iter().map(|message| Msg::from_json(&message.to_string()).unwrap()).collect();
            (history["case"].as_str().unwrap().to_owned(), messages)
        })
        .collect();
    let mut failures = Vec::new();
    let mut used: BTreeSet<*const Deviation> = BTreeSet::new();
    let mut count = 0;
    let mut taken = Taken::default();
    for provider in Provider::ALL.into_iter().filter(|provider| *provider != Provider::Xai) {
        let (mut alike, mut deviating) = (0, 0);
        for case in vectors(&format!("format-{provider}.jsonl")) {
            let name = case["case"].as_str().unwrap();
            let (_, history) = name.split_once('/').unwrap();
            let ours = ours(provider, &case, &histories[history]);
            count += 1;
            if case.get("output") == Some(&ours) {
                alike += 1;
                continue;
            }
            deviating += 1;
            let mut seen = Taken::default();
            if case.get("output").map(|theirs| plain(theirs, &mut seen)) == Some(plain(&ours, &mut seen)) {
                taken.stand_ins |= seen.stand_ins;
                taken.files |= seen.files;
                continue;
            }
            match DEVIATIONS.iter().find(|deviation| deviation.covers(provider.name(), name)) {
                Some(deviation) => {
                    used.insert(std::ptr::from_ref(deviation));
                }
                None => failures.push(format!("{provider} {name}\n  ours:   {ours}\n  theirs: {case}")),
            }
        }
        println!("{provider}: {alike} alike, {deviating} deviate");
    }
    for unused in DEVIATIONS.iter().filter(|deviation| !used.contains(&std::ptr::from_ref(*deviation))) {
        failures.push(format!("{} ({}) is listed, but nothing differs", unused.cases, unused.heading));
    }
    assert!(failures.is_empty(), "{} of {count} cases:\n{}", failures.len(), failures.join("\n"));
    // These two deviations are recognized by their text, not by their cases.
    assert_eq!(taken, Taken { stand_ins: true, files: true });
}

#[test]
fn deviations_are_documented() {
    let page = std::fs::read_to_string(vectors::conformance().join("DEVIATIONS.md")).unwrap();
    let part = page.split("\n# ").find(|part| part.starts_with("Requests to models\n")).unwrap();
    let headings: BTreeSet<&str> = part.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let listed = DEVIATIONS.iter().chain(REQUEST_DEVIATIONS).map(|deviation| deviation.heading);
    // Recognized by its text in `placeholders`.
    let listed: BTreeSet<&str> = listed.chain(["No temporary files"]).collect();
    assert_eq!(headings, listed);
}
