//! Runs the fuzz targets over their corpora without a fuzzer.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::{Path, PathBuf};

use recount_testkit::fuzzing::{TARGETS, Target};

fn corpus(target: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable();
    files
}

#[track_caller]
fn check(name: &str) {
    let (name, body): Target = *TARGETS.iter().find(|(target, _)| *target == name).unwrap();
    let files = corpus(name);
    assert!(files.len() > 10, "{} files", files.len());
    for file in files {
        assert_eq!(body(&std::fs::read(&file).unwrap()), Ok(()), "{}", file.display());
    }
}

#[test]
fn event_decode() {
    check("event_decode");
}

#[test]
fn message_decode() {
    check("message_decode");
}

#[test]
fn fold() {
    check("fold");
}

#[test]
fn json_scanner() {
    check("json_scanner");
}

#[test]
fn openai_decode() {
    check("openai_decode");
}

#[test]
fn responses_decode() {
    check("responses_decode");
}

#[test]
fn anthropic_decode() {
    check("anthropic_decode");
}

#[test]
fn gemini_decode() {
    check("gemini_decode");
}

#[test]
fn ollama_decode() {
    check("ollama_decode");
}
