//! `recount ask` with a local provider.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, channel};
use std::{fs, thread};

use pretty_assertions::assert_eq;
use recount_message::check::Checker;
use recount_message::{Event, FinishedReason, Fold};
use recount_model::Provider;

use crate::run::{Run, check_run, command, directory, finish, recount, spawn};

const KEY: &str = "sk-do-not-show-this";

const HELLO: &str = "\
data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello, \"}}]}

data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Alice\"}}]}

data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}

data: [DONE]

";

/// What the server does after the response body.
#[derive(Clone, Copy)]
enum AfterBody {
    End,
    /// Keeps the connection open until the client closes it.
    Hang,
}

/// Starts a server that sends the same response to each request. Returns its address and the received requests.
fn serve(status: u16, body: &'static str, after: AfterBody) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = BufReader::new(stream);
            if sender.send(read(&mut stream)).is_err() {
                return;
            }
            let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n");
            let mut stream = stream.into_inner();
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).unwrap();
            if matches!(after, AfterBody::Hang) {
                let _ = stream.read_to_end(&mut Vec::new());
            }
        }
    });
    (address, requests)
}

fn read(stream: &mut BufReader<TcpStream>) -> String {
    let mut request = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        request.push_str(&line);
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    request + std::str::from_utf8(&body).unwrap()
}

/// Returns the command with an environment that has only one API key.
fn ask_command(args: &[&str]) -> Command {
    let mut command = command("ask");
    for provider in Provider::ALL {
        for name in provider.api_key_env_vars().iter().copied().chain([provider.base_url_env_var()]) {
            command.env_remove(name);
        }
    }
    for name in ["RECOUNT_MODEL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    command.env("OPENAI_API_KEY", KEY).args(args);
    command
}

#[track_caller]
fn run(args: &[&str], stdin: &str) -> Run {
    let run = finish(ask_command(args), stdin.as_bytes());
    assert!(!run.stdout.contains(KEY) && !run.stderr.contains(KEY));
    run
}

#[test]
fn prints_the_answer() {
    let (address, requests) = serve(200, HELLO, AfterBody::End);
    let run = run(&["--model", "openai/gpt-5", "--base-url", &address, "--system", "Be brief.", "Hello"], "");
    assert_eq!(run, Run { exit: Some(0), stdout: "Hello, Alice\n".to_owned(), stderr: String::new() });
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST /chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("authorization: Bearer {KEY}\r\n")), "{request}");
    assert!(
        request.ends_with(concat!(
            r#""messages":[{"role":"system","name":"system","content":[{"type":"text","text":"Be brief."}]},"#,
            r#"{"role":"user","name":"user","content":[{"type":"text","text":"Hello"}]}],"#,
            r#""stream":true,"stream_options":{"include_usage":true}}"#,
        )),
        "{request}"
    );
}

#[test]
fn question_is_read_from_standard_input_and_model_from_the_variable() {
    let (address, requests) = serve(200, HELLO, AfterBody::End);
    let mut command = ask_command(&["-"]);
    command.env("RECOUNT_MODEL", "openai/gpt-5").env("OPENAI_BASE_URL", &address);
    assert_eq!(finish(command, b"What is this?").exit, Some(0));
    assert!(requests.recv().unwrap().contains("What is this?"));
}

#[test]
fn json_prints_a_complete_reply() {
    let (address, _requests) = serve(200, HELLO, AfterBody::End);
    let run = run(&["--model", "openai/gpt-5", "--base-url", &address, "--json", "Hello"], "");
    assert_eq!(run.exit, Some(0));
    let folded = recount("fold", run.stdout.as_bytes());
    assert!(folded.stdout.contains(r#""text":"Hello, Alice""#), "{}", folded.stdout);
    assert_eq!(recount("check --strict", run.stdout.as_bytes()).exit, Some(0));
}

#[test]
fn images_are_sent_inline_or_by_url() {
    let (address, requests) = serve(200, HELLO, AfterBody::End);
    let path = directory("ask_image").join("cat.png");
    fs::write(&path, b"\x89PNG\r\n\x1a\n").unwrap();
    let image = path.to_str().unwrap();
    run(&["--model", "openai/gpt-5", "--base-url", &address, "--image", image, "Who?"], "");
    assert!(requests.recv().unwrap().contains("data:image/png;base64,iVBORw0KGgo="));
    let url = "https://example.com/dog.png";
    run(&["--model", "openai/gpt-5", "--base-url", &address, "--image", url, "Who?"], "");
    assert!(requests.recv().unwrap().contains(r#"{"url":"https://example.com/dog.png"}"#));
}

#[test]
fn provider_error_is_reported_with_its_class_and_without_the_key() {
    let body = r#"{"error":{"message":"Incorrect API key provided: sk-do-not-show-this"}}"#;
    let (address, _requests) = serve(401, body, AfterBody::End);
    let run = run(&["--model", "openai/gpt-5", "--base-url", &address, "Hello"], "");
    check_run("ask_refused", "ask --model openai/gpt-5 --base-url … Hello", &run);
}

#[test]
fn fallback_is_called_if_the_first_model_fails() {
    let (address, _requests) = serve(200, HELLO, AfterBody::End);
    let mut command = ask_command(&["--model", "anthropic/claude-opus-4-5", "--fallback", "openai/gpt-5", "Hello"]);
    command.env("OPENAI_BASE_URL", &address);
    check_run("ask_fallback", "ask --model … --fallback … Hello", &finish(command, b""));
}

#[test]
fn demo_model_needs_no_key() {
    let run_demo = run(&["--model", "demo/50000", "--json", "think"], "");
    assert_eq!((run_demo.exit, run_demo.stderr.as_str()), (Some(0), ""));
    let folded = recount("fold", run_demo.stdout.as_bytes());
    assert!(folded.stdout.contains("demo model") && folded.stdout.contains("completed"), "{}", folded.stdout);
    assert_eq!(recount("check --strict", run_demo.stdout.as_bytes()).exit, Some(0));
    let plain = run(&["--model", "demo/50000", "Hello"], "");
    assert!(plain.stdout.starts_with("You wrote: “Hello”\n\nThis is Recount's **demo model**"), "{}", plain.stdout);
}

#[test]
fn invalid_model_variable_is_named() {
    let mut command = ask_command(&["Hello"]);
    command.env("RECOUNT_MODEL", "gpt-5");
    let run = finish(command, b"");
    let expected = "error: the variable RECOUNT_MODEL: `gpt-5` is neither `provider/name` nor `demo`\n";
    assert_eq!((run.exit, run.stderr.as_str()), (Some(2), expected));
}

#[test]
fn missing_and_invalid_arguments_are_named() {
    for (name, args) in [
        ("ask_no_key", "--model anthropic/claude-opus-4-5 Hello"),
        ("ask_no_model", "Hello"),
        ("ask_no_provider", "--model gpt-5 Hello"),
        ("ask_unknown_provider", "--model acme/gpt-5 Hello"),
        ("ask_no_image", "--model openai/gpt-5 --image missing.png Hello"),
        ("ask_demo_elsewhere", "--model demo --fallback openai/gpt-5 Hello"),
        ("ask_bad_address", "--model openai/gpt-5 --base-url localhost Hello"),
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        check_run(name, &format!("ask {args}"), &run(&words, ""));
    }
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_the_reply_as_interrupted() {
    let half = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Once upon a\"}}]}\n\n";
    let (address, _requests) = serve(200, half, AfterBody::Hang);
    let mut child = spawn(&mut ask_command(&["--model", "openai/gpt-5", "--base-url", &address, "--json", "Hello"]));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut events: Vec<String> = Vec::new();
    for line in lines.by_ref() {
        let is_delta = line.contains("TEXT_BLOCK_DELTA");
        events.push(line);
        if is_delta {
            break;
        }
    }
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    events.extend(lines);
    let Output { status, .. } = child.wait_with_output().unwrap();
    assert_eq!(status.code(), Some(130));

    let (mut fold, mut checker) = (Fold::new(), Checker::new());
    for line in &events {
        let event = Event::from_json(line).unwrap();
        assert_eq!(checker.event(&event), []);
        let _ = fold.apply(&event);
    }
    assert_eq!(checker.finish(), []);
    let message = fold.messages().next().unwrap();
    assert_eq!(message.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(message.text().as_deref(), Some("Once upon a"));
}
