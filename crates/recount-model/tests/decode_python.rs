//! Comparison of decoded responses with AgentScope Python 2.0.10.
//!
//! The expected results were recorded by `conformance/python/streams.py`. Intended differences are listed under a
//! heading of `conformance/DEVIATIONS.md`. A listed case without a difference fails too.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "decode_python/deviations.rs"]
mod deviations;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use deviations::{DEVIATIONS, Deviation};
use recount_message::check::Checker;
use recount_message::{AgentEvent, ContentBlock, Json, Msg, Object, ReplyEnd, ReplyWriter, Source, Stamps};
use recount_model::Provider;
use recount_model::decode::{CallEnd, DecodeOptions, Decoder};
use serde_json::{Value, json};

/// Decodes a response in chunks of a size, and returns the message, the end of the call and the events.
fn decode(provider: Provider, body: &str, piece: usize) -> (Msg, CallEnd, Vec<AgentEvent>) {
    let mut events = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s1", "Friday");
    reply.model_call("model-x");
    let mut decoder = Decoder::new(provider, DecodeOptions::default());
    for bytes in body.as_bytes().chunks(piece) {
        if decoder.push(bytes, &mut reply).is_err() {
            break;
        }
    }
    let end = decoder.finish(&mut reply);
    end.end_model_call(&mut reply);
    let message = reply.end(ReplyEnd::completed());
    (message, end, events)
}

/// Returns a block as in the vectors: without times and without generated ids.
fn essence(block: &ContentBlock) -> Option<Value> {
    match block {
        ContentBlock::Text(block) => Some(with_extra(json!({"type": "text", "text": block.text}), &block.extra)),
        ContentBlock::Thinking(block) => {
            Some(with_extra(json!({"type": "thinking", "thinking": block.thinking}), &block.extra))
        }
        ContentBlock::ToolCall(block) => {
            let id = if block.id.starts_with("id-") { "$generated" } else { &block.id };
            let call = json!({"type": "tool_call", "id": id, "name": block.name, "input": block.input});
            Some(with_extra(call, &block.extra))
        }
        ContentBlock::Data(block) => {
            let source = match &block.source {
                Source::Base64(source) => {
                    json!({"type": "base64", "data": source.data, "media_type": source.media_type})
                }
                Source::Url(source) => json!({"type": "url", "url": source.url(), "media_type": source.media_type}),
                _ => panic!("a new kind of source"),
            };
            Some(json!({"type": "data", "source": source}))
        }
        // The vectors do not run tools.
        ContentBlock::ToolResult(_) | ContentBlock::Hint(_) | ContentBlock::Unknown(_) => None,
        _ => panic!("a new kind of block"),
    }
}

/// Adds the extra fields of a block. The reference has them for thinking only.
fn with_extra(mut block: Value, extra: &Object) -> Value {
    for (key, value) in extra.iter() {
        if !["cut", "item_id"].contains(&key) {
            block[key] = serde_json::from_str(value.as_raw()).unwrap();
        }
    }
    block
}

fn differences(provider: Provider, record: &Value) -> Vec<String> {
    let body = record["body"].as_str().unwrap();
    let (message, end, _) = decode(provider, body, usize::MAX);
    let content: Vec<Value> = message.content().iter().filter_map(essence).collect();
    let usage = end.usage.as_ref().map(|usage| {
        json!({
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_input_tokens": usage.cache_input_tokens,
            "cache_creation_input_tokens": usage.cache_creation_input_tokens,
        })
    });
    let error = end.error.as_ref().map(|error| error.class().as_str());
    let found = [
        ("content", json!(content), record["content"].clone()),
        ("usage", json!(usage), record["usage"].clone()),
        ("error", json!(error), record["error"]["class"].clone()),
    ];
    let different = found.into_iter().filter(|(_, ours, theirs)| ours != theirs);
    different.map(|(what, ours, theirs)| format!("{what}\n    ours   {ours}\n    theirs {theirs}")).collect()
}

fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

fn vectors(provider: Provider) -> Vec<Value> {
    let path = conformance().join(format!("vectors/python/model/stream-{provider}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.split_terminator('\n').map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn check(provider: Provider, at_least: usize) {
    let mut failures = Vec::new();
    let records = vectors(provider);
    assert!(records.len() >= at_least, "{} cases", records.len());
    for record in &records {
        let case = format!("{provider}/{}", record["case"].as_str().unwrap());
        let listed: Vec<&Deviation> = DEVIATIONS.iter().filter(|deviation| deviation.covers(&case)).collect();
        match (differences(provider, record).as_slice(), listed.as_slice()) {
            ([], []) | ([_, ..], [_, ..]) => {}
            (different, []) => failures.push(format!("{case}: {}", different.join("\n  "))),
            ([], [deviation, ..]) if deviation.is_exact() => {
                failures.push(format!("{case}: listed under {:?}, but nothing differs", deviation.heading));
            }
            ([], _) => {}
        }
    }
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), records.len(), failures.join("\n"));
}

#[test]
fn openai() {
    check(Provider::OpenAi, 70);
}

#[test]
fn openai_responses() {
    check(Provider::OpenAiResponses, 30);
}

#[test]
fn anthropic() {
    check(Provider::Anthropic, 40);
}

#[test]
fn dashscope() {
    check(Provider::DashScope, 70);
}

#[test]
fn gemini() {
    check(Provider::Gemini, 40);
}

#[test]
fn ollama() {
    check(Provider::Ollama, 25);
}

#[test]
fn deepseek() {
    check(Provider::DeepSeek, 70);
}

#[test]
fn moonshot() {
    check(Provider::Moonshot, 70);
}

#[test]
fn minimax() {
    check(Provider::MiniMax, 40);
}

#[test]
fn volcengine() {
    check(Provider::Volcengine, 70);
}

/// xAI has no vectors, because the reference uses gRPC. Its chunks are those of OpenAI.
fn asked() -> impl Iterator<Item = Provider> {
    Provider::ALL.into_iter().filter(|provider| *provider != Provider::Xai)
}

#[test]
fn listed_deviations_differ() {
    let mut used = BTreeSet::new();
    for provider in asked() {
        for record in vectors(provider) {
            let case = format!("{provider}/{}", record["case"].as_str().unwrap());
            if !differences(provider, &record).is_empty() {
                used.extend(DEVIATIONS.iter().filter(|deviation| deviation.covers(&case)).map(|found| found.cases));
            }
        }
    }
    let unused: Vec<&str> =
        DEVIATIONS.iter().map(|deviation| deviation.cases).filter(|cases| !used.contains(cases)).collect();
    assert_eq!(unused, [""; 0]);
}

#[test]
fn deviations_are_documented() {
    let page = std::fs::read_to_string(conformance().join("DEVIATIONS.md")).unwrap();
    let part = page.split("\n# ").find(|part| part.starts_with("Responses of models\n")).unwrap();
    let headings: BTreeSet<&str> = part.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let listed: BTreeSet<&str> = DEVIATIONS.iter().map(|deviation| deviation.heading).collect();
    assert_eq!(headings, listed);
}

#[test]
fn responses_decode_to_legal_streams_in_any_chunks() {
    for provider in asked() {
        for record in vectors(provider) {
            let body = record["body"].as_str().unwrap();
            let (message, end, events) = decode(provider, body, usize::MAX);
            let mut checker = Checker::new();
            let mut findings: Vec<_> = events.iter().flat_map(|event| checker.event(event)).collect();
            findings.extend(checker.finish());
            assert_eq!(findings, [], "{provider}/{}", record["case"]);
            for piece in [1, 2, 7, 64] {
                assert_eq!(decode(provider, body, piece), (message.clone(), end.clone(), events.clone()));
            }
        }
    }
}

/// A JSON array of the chunks decodes like their stream.
#[test]
fn json_array_decodes_like_its_stream() {
    for provider in asked() {
        for record in vectors(provider).iter().filter(|record| record["streamed"] == true) {
            let body = record["body"].as_str().unwrap();
            let data = body.lines().filter_map(|line| match line.strip_prefix("data:") {
                Some(data) => Some(data.trim()),
                None => line.starts_with('{').then_some(line),
            });
            let chunks: Vec<Json> = data.map(|data| Json::parse(data).unwrap_or_else(|_| Json::from(data))).collect();
            if record["case"] == "error/not-json" {
                continue;
            }
            let array = Json::from(chunks);
            let (message, end, _) = decode(provider, body, usize::MAX);
            let (from_array, end_of_array, _) = decode(provider, array.as_raw(), usize::MAX);
            assert_eq!((from_array, end_of_array), (message, end), "{provider}/{}", record["case"]);
        }
    }
}
