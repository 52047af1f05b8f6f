//! `recount fold --checkpoint` and `--resume`: folding a stream in pieces has the same output as folding it at once.

use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;

use crate::run::{Run, SAMPLE, command, directory, finish, recount};

/// Overlapping replies with messages between them, an open reply, and events that have no effect.
const OVERLAPPING: &str = r#"{"type":"REPLY_START","session_id":"s","reply_id":"r1","name":"Friday","created_at":"2026-01-01T00:00:00Z"}
{"type":"TEXT_BLOCK_START","reply_id":"r1","block_id":"t","created_at":"2026-01-01T00:00:01Z"}
{"type":"REPLY_START","session_id":"s","reply_id":"r2","name":"Saturday","created_at":"2026-01-01T00:00:02Z"}
{"type":"CUSTOM","name":"recount.message","value":{"id":"m1","name":"Alice","role":"user","content":[{"type":"text","text":"Hello"}],"metadata":{"weight":1.50}}}
{"type":"REPLY_END","session_id":"s","reply_id":"r2","created_at":"2026-01-01T00:00:03Z"}
{"type":"TEXT_BLOCK_DELTA","reply_id":"r1","block_id":"t","delta":"one, "}

{"type":"TEXT_BLOCK_DELTA","reply_id":"r2","block_id":"t","delta":"too late"}
{"type":"MODEL_CALL_START","reply_id":"r1","model_name":"m"}
{"type":"DATA_BLOCK_START","reply_id":"r1","block_id":"d","media_type":"image/png","created_at":"2026-01-01T00:00:04Z"}
{"type":"DATA_BLOCK_DELTA","reply_id":"r1","block_id":"d","media_type":"image/png","data":"iVBORw0"}
{"type":"DATA_BLOCK_DELTA","reply_id":"r1","block_id":"d","media_type":"image/png","data":"KGgo="}
{"type":"REPLY_START","session_id":"s","reply_id":"r3","name":"Sunday","created_at":"2026-01-01T00:00:05Z"}
{"type":"TEXT_BLOCK_DELTA","reply_id":"r1","block_id":"t","delta":"two"}
{"type":"REPLY_END","session_id":"s","reply_id":"r1","created_at":"2026-01-01T00:00:06Z"}
{"type":"REPLY_START","session_id":"s","reply_id":"r1","name":"Friday","created_at":"2026-01-01T00:00:07Z"}
{"type":"CUSTOM","name":"recount.message","value":{"id":"m1","name":"Alice","role":"user","content":[]}}
{"type":"THINKING_BLOCK_START","reply_id":"r3","block_id":"h","created_at":"2026-01-01T00:00:08Z"}
{"type":"THINKING_BLOCK_DELTA","reply_id":"r3","block_id":"h","delta":"Hm."}
"#;

/// Folds the pieces in order with one checkpoint file, and returns their concatenated output.
fn fold_pieces(directory: &Path, options: &str, pieces: &[String]) -> String {
    let mut output = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        let resume = if index > 0 { "--resume state.json" } else { "" };
        let checkpoint = if index + 1 < pieces.len() { "--checkpoint state.json" } else { "" };
        let mut command = command(&format!("fold {options} {resume} {checkpoint}"));
        command.current_dir(directory);
        let Run { exit, stdout, stderr } = finish(command, piece.as_bytes());
        assert_eq!((exit, stderr.as_str()), (Some(0), ""));
        output.push_str(&stdout);
    }
    output
}

/// Splits a stream before the given line indexes.
fn cut(stream: &str, at: &[usize]) -> Vec<String> {
    let lines: Vec<&str> = stream.split_inclusive('\n').collect();
    let mut pieces = Vec::new();
    let mut start = 0;
    for &end in at.iter().chain([&lines.len()]) {
        pieces.push(lines[start..end].concat());
        start = end;
    }
    pieces
}

/// Splits a stream into two pieces at each line, and compares the output with that of the whole stream.
fn check_every_cut(name: &str, stream: &str, options: &str) {
    let directory = directory(name);
    let whole = recount(&format!("fold {options}"), stream.as_bytes()).stdout;
    for at in 0..=stream.lines().count() {
        assert_eq!(fold_pieces(&directory, options, &cut(stream, &[at])), whole, "cut before line {}", at + 1);
    }
}

#[test]
fn sample_folds_the_same_in_two_pieces() {
    check_every_cut("two_pieces_of_the_sample", SAMPLE, "");
}

#[test]
fn overlapping_replies_fold_the_same_in_two_pieces() {
    check_every_cut("two_pieces_of_overlapping_replies", OVERLAPPING, "--pretty");
}

#[test]
fn streams_fold_the_same_in_three_pieces() {
    let directory = directory("three_pieces");
    // A fixed seed makes failures reproducible.
    let mut state = 20_260_101_u64;
    let mut random_below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    for stream in [SAMPLE, OVERLAPPING] {
        let whole = recount("fold", stream.as_bytes()).stdout;
        let lines = stream.lines().count();
        for _ in 0..12 {
            let mut at = [random_below(lines + 1), random_below(lines + 1)];
            at.sort_unstable();
            assert_eq!(fold_pieces(&directory, "", &cut(stream, &at)), whole, "cut at {at:?}");
        }
    }
}

#[test]
fn stream_folds_the_same_line_by_line() {
    let directory = directory("one_line_at_a_time");
    let whole = recount("fold", OVERLAPPING.as_bytes()).stdout;
    let everywhere: Vec<usize> = (1..OVERLAPPING.lines().count()).collect();
    assert_eq!(fold_pieces(&directory, "", &cut(OVERLAPPING, &everywhere)), whole);
}

#[test]
fn cursor_counts_only_events() {
    let directory = directory("cursor");
    let mut command = command("fold --checkpoint state.json");
    command.current_dir(&directory);
    let stream = "\n{\"type\":\"A\"}\nnot an event\n\n{\"type\":\"B\"}\n";
    assert_eq!(finish(command, stream.as_bytes()).exit, Some(1));
    let checkpoint = fs::read_to_string(directory.join("state.json")).unwrap();
    assert_eq!(checkpoint, "{\"version\":1,\"cursor\":\"2\",\"replies\":[]}\n");
}

#[test]
fn resume_prints_a_hint_if_the_input_starts_over() {
    let directory = directory("pieces_again");
    let start = cut(OVERLAPPING, &[2]).remove(0);
    let run = |options: &str, input: &str| {
        let mut command = command(options);
        command.current_dir(&directory);
        finish(command, input.as_bytes())
    };
    assert_eq!(run("fold --checkpoint state.json", &start).stderr, "");
    let again = run("fold --resume state.json", OVERLAPPING);
    assert!(again.stderr.contains("hint: the checkpoint has the start of reply `r1` already"), "{}", again.stderr);
}
