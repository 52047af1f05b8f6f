//! Compares Recount with recorded results of AgentScope Python 2.0.10.
//!
//! The results were recorded by `conformance/python/record.py`. Intended differences are listed here under a heading of
//! `conformance/DEVIATIONS.md`. A listed case without a difference is also a failure.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "python/compare.rs"]
mod compare;
#[path = "python/deviations.rs"]
mod deviations;

use std::collections::BTreeSet;
use std::path::PathBuf;

use compare::{difference, ordered_difference};
use deviations::{DEVIATIONS, Deviation};
use recount_message::{Event, Fold, Json, Msg};
use serde_json::Value;

fn vectors(name: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.split_terminator('\n').map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Compares all cases of a file. Fails on unlisted differences, and on listed cases without a difference.
fn check_all(file: &str, cases: impl IntoIterator<Item = (String, Option<String>)>) {
    let listed: Vec<&Deviation> = DEVIATIONS.iter().filter(|deviation| deviation.file == file).collect();
    let mut used = BTreeSet::new();
    let mut failures = Vec::new();
    let mut count = 0;
    for (case, difference) in cases {
        count += 1;
        let listing = listed.iter().find(|deviation| deviation.covers(&case));
        match (difference, listing) {
            (None, None) => {}
            (Some(_), Some(deviation)) => {
                used.insert(deviation.cases);
            }
            (Some(difference), None) => failures.push(format!("{case}: {difference}")),
            (None, Some(deviation)) if deviation.is_exact(&case) => {
                failures.push(format!("{case}: listed as a deviation ({}), but there is none", deviation.heading));
            }
            (None, Some(_)) => {}
        }
    }
    for deviation in listed {
        if !used.contains(deviation.cases) {
            failures.push(format!(
                "{}: listed as a deviation ({}), but nothing differs",
                deviation.cases, deviation.heading
            ));
        }
    }
    assert!(failures.is_empty(), "{} of {count} differ:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 0, "{file} has no cases");
}

/// Compares whether a text is accepted, and how it is encoded.
fn check_texts(file: &str, rewrite: impl Fn(&str) -> Result<String, String>) {
    check_all(
        file,
        vectors(&format!("vectors/python/{file}")).iter().map(|case| {
            let text = case["json"].as_str().unwrap();
            let ours = rewrite(text);
            let difference = match (&ours, case["dumped"].as_str()) {
                (Ok(ours), Some(theirs)) => text_difference(ours, theirs)
                    .map(|difference| format!("{difference}\n  ours:   {ours}\n  theirs: {theirs}")),
                (Ok(_), None) => Some(format!("taken, and refused by the reference: {text}")),
                (Err(error), Some(_)) => Some(format!("refused ({error}), and taken by the reference: {text}")),
                (Err(_), None) => None,
            };
            (case["case"].as_str().unwrap().to_owned(), difference)
        }),
    );
}

fn text_difference(ours: &str, theirs: &str) -> Option<String> {
    match (Json::parse(ours), Json::parse(theirs)) {
        (Ok(ours), Ok(theirs)) => ordered_difference(&ours, &theirs),
        // A message that contains a value of maximum depth exceeds the depth of arbitrary JSON itself.
        _ => (ours != theirs).then(|| "another text".to_owned()),
    }
}

#[test]
fn events_match_python() {
    check_texts("events.jsonl", |text| match Event::from_json(text) {
        Ok(event) if event.event_type().is_none() => Err("unknown type".to_owned()),
        Ok(event) => Ok(event.to_json()),
        Err(error) => Err(error.to_string()),
    });
}

#[test]
fn messages_match_python() {
    check_texts("messages.jsonl", |text| {
        Msg::from_json(text).map(|message| message.to_json()).map_err(|e| e.to_string())
    });
}

/// Compares the fold of a stream with the messages of the reference.
fn fold_difference(events: &[Value], answer: &Value) -> Option<String> {
    // The reference stops at an event for which it raises an exception, and so does the comparison.
    let end = answer["raised"]["index"].as_u64().map_or(events.len(), |index| usize::try_from(index).unwrap());
    let mut fold = Fold::new();
    let mut steps = answer["after"].as_array().map(|steps| steps.iter()).unwrap_or_default();
    for (index, event) in events[..end].iter().enumerate() {
        let text = event.to_string();
        match Event::from_json(&text) {
            Ok(event) => drop(fold.apply(&event)),
            Err(error) => return Some(format!("event {index} is refused: {error}")),
        }
        if let Some(step) = steps.next() {
            let ours = fold.messages().next().map_or(Value::Null, to_value);
            if let Some(difference) = difference(&ours, &step["message"]) {
                return Some(format!("after event {index}: {difference}"));
            }
        }
    }
    match answer["replies"].as_object() {
        None => difference(&fold.messages().next().map_or(Value::Null, to_value), &answer["folded"]),
        Some(replies) => {
            replies.iter().find_map(|(id, theirs)| difference(&fold.message(id).map_or(Value::Null, to_value), theirs))
        }
    }
}

fn to_value(message: &Msg) -> Value {
    serde_json::to_value(message).unwrap()
}

#[test]
fn folds_match_python() {
    check_all(
        "folds.jsonl",
        vectors("vectors/python/folds.jsonl").iter().map(|case| {
            let name = case["case"].as_str().unwrap().to_owned();
            (name, fold_difference(case["events"].as_array().unwrap(), case))
        }),
    );
}

#[test]
fn folds_of_agent_traces_match_python() {
    let traces = vectors("traces/agent.jsonl");
    let answers = vectors("vectors/python/traces.jsonl");
    let events = |case: &str| {
        let name = case.trim_end_matches("/wire");
        let trace = traces.iter().find(|trace| trace["case"] == name).unwrap();
        trace[if case.ends_with("/wire") { "wire" } else { "events" }].as_array().unwrap()
    };
    check_all(
        "traces.jsonl",
        answers.iter().map(|answer| {
            let name = answer["case"].as_str().unwrap();
            (name.to_owned(), fold_difference(events(name), answer))
        }),
    );
}

#[test]
fn every_deviation_has_a_reason() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/DEVIATIONS.md");
    let page = std::fs::read_to_string(path).unwrap();
    let headings: BTreeSet<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let listed: BTreeSet<&str> = DEVIATIONS.iter().map(|deviation| deviation.heading).collect();
    assert_eq!(headings, listed);
}
