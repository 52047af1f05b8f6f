//! The binary in a pipeline.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};

use crate::run::{SAMPLE, command, directory, spawn};

/// Returns more messages than a pipe buffers.
fn many_messages() -> String {
    let line = r#"{"type":"CUSTOM","name":"recount.message","value":{"name":"Alice","role":"user","content":[],"id":"#;
    (0..5_000).map(|number| format!("{line}\"m{number}\"}}}}\n")).collect()
}

/// Runs a command, reads one line of its output and closes the output. Returns the exit status and standard error.
fn read_one_line(args: &str) -> (Option<i32>, String) {
    let mut command = command(args);
    let mut child = spawn(&mut command);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(!line.is_empty());
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn closed_output_ends_the_command_without_an_error() {
    let stream = directory("closed_output").join("stream.jsonl");
    fs::write(&stream, many_messages()).unwrap();
    for command in ["fold", "fold --pretty", "show", "show --color always"] {
        assert_eq!(read_one_line(&format!("{command} {}", stream.display())), (Some(0), String::new()), "{command}");
    }
}

#[test]
fn closed_output_writes_no_checkpoint() {
    let directory = directory("closed_output_checkpoint");
    let (stream, state) = (directory.join("stream.jsonl"), directory.join("state.json"));
    fs::write(&stream, many_messages()).unwrap();
    let (exit, stderr) = read_one_line(&format!("fold {} --checkpoint {}", stream.display(), state.display()));
    assert_eq!(exit, Some(2));
    assert!(stderr.contains("the output was closed"), "{stderr}");
    assert!(!state.exists());
}

/// Writes the first line of the sample to a command and waits for its first line of output, while the input is open.
#[track_caller]
fn check_streams(args: &str, expected_start: &str) {
    let mut command = command(args);
    let mut child = spawn(&mut command);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let (first, rest) = SAMPLE.split_once('\n').unwrap();
    writeln!(stdin, "{first}").unwrap();
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.starts_with(expected_start), "{line}");
    stdin.write_all(rest.as_bytes()).unwrap();
    drop(stdin);
    stdout.read_to_string(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn messages_are_flushed_while_the_input_is_open() {
    check_streams("fold", r#"{"name":"Alice","#);
    check_streams("fold --pretty", "{\n");
    check_streams("show", "╭─ user Alice");
}
