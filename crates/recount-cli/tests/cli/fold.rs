//! `recount fold`.

use std::fs;

use pretty_assertions::assert_eq;

use crate::run::{SAMPLE, cases, check_run, command, directory, finish, recount};

const BAD_LINES: &str = r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday","created_at":"2026-01-01T00:00:00Z"}
hello

{"type":"TEXT_BLOCK_START","reply_id":"r","block_id":7}
data: {"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t"}
{"name":"Alice","role":"user","content":[]}
{"type":"REPLY_END","session_id":"s","reply_id":"r","created_at":"2026-01-01T00:00:01Z"}
{"type":"REPLY_END","session_id":"s","rep"#;

/// Events that are ignored, entirely or in part.
const UNAPPLIED: &str = r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday","created_at":"2026-01-01T00:00:00Z"}
{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t","delta":"x"}
{"type":"TOOL_CALL_START","reply_id":"r","tool_call_id":"c","tool_call_name":"search","created_at":"2026-01-01T00:00:01Z"}
{"type":"REQUIRE_USER_CONFIRM","reply_id":"r","tool_calls":[{"type":"tool_call","id":"c","name":"search","input":""},{"type":"tool_call","id":"d\u001b[2J","name":"search","input":""}]}
{"type":"WHAT_IS_THIS"}
{"type":"CUSTOM","name":"progress","value":{"percent":5}}
"#;

cases! {
    sample: "fold samples/weather.jsonl";
    pretty: "fold --pretty samples/weather.jsonl";
    verbose: "fold -v" < UNAPPLIED;
    not_verbose: "fold" < UNAPPLIED;
    bad_lines: "fold" < BAD_LINES;
    bad_lines_strict: "fold --strict -" < BAD_LINES;
    the_same_hint_once: "fold" < "data: 1\ndata: 2\n{\n";
    not_utf8: "fold" < b"\xff\xfe{\x00";
    missing_file: "fold no/such/file.jsonl";
    directory_as_file: "fold samples";
    missing_checkpoint: "fold --resume no/such/checkpoint.json samples/weather.jsonl";
    bad_checkpoint: "fold --resume samples/weather.jsonl samples/weather.jsonl";
    checkpoint_in_no_directory: "fold --checkpoint no/such/checkpoint.json samples/weather.jsonl";
    checkpoint_over_directory: "fold --checkpoint samples samples/weather.jsonl";
    empty: "fold" < "";
}

#[track_caller]
fn same_as_sample(args: &str, stdin: &str) {
    assert_eq!(recount(args, stdin.as_bytes()), recount("fold samples/weather.jsonl", b""));
}

#[test]
fn standard_input_folds_like_a_file() {
    same_as_sample("fold", SAMPLE);
    same_as_sample("fold -", SAMPLE);
}

#[test]
fn crlf_blank_lines_and_byte_order_mark_are_accepted() {
    same_as_sample("fold", &SAMPLE.replace('\n', "\r\n"));
    same_as_sample("fold", &SAMPLE.replace('\n', "\n \t\n\r\n"));
    same_as_sample("fold", SAMPLE.trim_end());
    same_as_sample("fold", &format!("\u{feff}{SAMPLE}"));
}

#[test]
fn prints_canonical_messages() {
    for line in recount("fold samples/weather.jsonl", b"").stdout.lines() {
        assert_eq!(recount_message::Msg::from_json(line).unwrap().to_json(), line);
    }
}

#[test]
fn sample_is_canonical() {
    for line in SAMPLE.lines() {
        assert_eq!(recount_message::Event::from_json(line).unwrap().to_json(), line);
    }
}

#[test]
fn strict_writes_a_checkpoint_of_the_events_before_the_bad_line() {
    let directory = directory("strict_checkpoint");
    let args = "fold --strict --checkpoint state.json";
    let mut command = command(args);
    command.current_dir(&directory);
    let run = finish(command, BAD_LINES.as_bytes());
    check_run("fold_strict_checkpoint", args, &run);
    let checkpoint = fs::read_to_string(directory.join("state.json")).unwrap();
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("fold_strict_checkpoint_file", checkpoint);
    });
    let files: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["state.json"], "no temporary file remains");
}

#[test]
fn checkpoint_must_not_replace_the_input() {
    let directory = directory("replace_input");
    let stream = directory.join("stream.jsonl");
    fs::write(&stream, SAMPLE).unwrap();
    let run = recount(&format!("fold {0} --checkpoint {0}", stream.display()), b"");
    assert_eq!((run.exit, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("would replace the input"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(&stream).unwrap(), SAMPLE);
}
