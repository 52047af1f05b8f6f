//! `recount send`, `answer` and `stop` with a running service.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::run::{Run, command, directory, finish};
use crate::serve::{Service, text_of};
use crate::tail::{append, waiting_reply};

/// Runs a command on a session. Arguments may contain spaces.
fn run(service: &Service, what: &str, session: &str, args: &[&str]) -> Run {
    let mut command = command(&format!("{what} http://{}/s/{session}", service.address));
    command.args(args);
    finish(command, b"")
}

fn messages(service: &Service, session: &str) -> Value {
    serde_json::from_str(&service.get(&format!("/v1/sessions/{session}/messages"))).unwrap()
}

#[test]
fn send_and_answer_complete_a_reply_with_a_tool_call() {
    let service = Service::start(&directory("take-part"));
    let missing = run(&service, "send", "chat", &["Hello"]);
    assert_eq!(missing.exit, Some(2));
    assert!(missing.stderr.contains("unknown session `chat`"), "{}", missing.stderr);

    let sent = run(&service, "send", "chat", &["--new", "please use a tool", "--id", "m1"]);
    assert_eq!((sent.exit, sent.stderr.as_str()), (Some(0), ""));
    let reply = sent.stdout.trim().to_owned();
    // Resending with the same id has no effect.
    assert_eq!(run(&service, "send", "chat", &["please use a tool", "--id", "m1"]).stdout.trim(), reply);
    service.wait_for_status("chat", "waiting");
    let busy = run(&service, "send", "chat", &["and another thing"]);
    assert_eq!((busy.exit, busy.stderr.contains("is in progress")), (Some(2), true), "{}", busy.stderr);

    let listed = run(&service, "answer", "chat", &[]);
    assert!(listed.stdout.starts_with("CALL ") && listed.stdout.contains("permission"), "{}", listed.stdout);
    let call: Value = serde_json::from_str(&run(&service, "answer", "chat", &["--json"]).stdout).unwrap();
    assert_eq!((&call["reply_id"], &call["tool_call"]["name"]), (&json!(reply), &json!("shell")));
    let wrong = run(&service, "answer", "chat", &["--result", "done"]);
    assert!(wrong.stderr.contains("no call of the session `chat` waits for such an answer"), "{}", wrong.stderr);
    let wrong = run(&service, "answer", "chat", &["--allow", "--call", "nobody"]);
    assert!(wrong.stderr.contains("no call `nobody`"), "{}", wrong.stderr);
    let wrong = run(&service, "answer", "chat", &["--allow", "--input", "[]"]);
    assert!(wrong.stderr.contains("`--input` is no JSON object"), "{}", wrong.stderr);

    let answered = run(&service, "answer", "chat", &["--allow", "--input", r#"{"command": "echo edited"}"#]);
    assert_eq!((answered.stdout.as_str(), answered.stderr.as_str()), ("answered: shell\n", ""));
    service.wait_for_status("chat", "idle");
    let message = messages(&service, "chat")["messages"][1].to_string();
    assert!(message.contains("edited"), "{message}");
    assert_eq!(run(&service, "answer", "chat", &[]).stdout, "nothing waits for an answer\n");
    service.kill();
}

#[test]
fn deny_sends_the_reason_and_always_skips_later_confirmations() {
    let service = Service::start(&directory("take-part-rules"));
    run(&service, "send", "chat", &["--new", "use a tool"]);
    service.wait_for_status("chat", "waiting");
    run(&service, "answer", "chat", &["--deny", "--reason", "Use the other machine."]);
    service.wait_for_status("chat", "idle");
    let message = messages(&service, "chat")["messages"][1].to_string();
    assert!(message.contains("Use the other machine."), "{message}");
    run(&service, "send", "chat", &["use a tool"]);
    service.wait_for_status("chat", "waiting");
    let listed = run(&service, "answer", "chat", &[]).stdout;
    assert!(listed.contains(": --always accepts: shell(for n in 1 2 3; do expr"), "{listed}");
    let answered = run(&service, "answer", "chat", &["--always"]).stdout;
    assert!(answered.starts_with("answered: shell\nalways: shell(for n in 1 2 3; do expr"), "{answered}");
    service.wait_for_status("chat", "idle");
    run(&service, "send", "chat", &["use a tool"]);
    service.wait_for_status("chat", "idle");
    assert_eq!(messages(&service, "chat")["messages"].as_array().unwrap().len(), 6);
    service.kill();
}

/// Returns the events of a reply that waits for permission to call the shell.
fn asking_for_shell(reply: &str, input: &Value, rules: &Value) -> Value {
    let input = input.to_string();
    let block = json!({"type": "tool_call", "id": "c1", "name": "shell", "input": input, "state": "asking", "suggested_rules": rules});
    json!([
        {"type": "REPLY_START", "session_id": "s", "reply_id": reply, "name": "Friday"},
        {"type": "TOOL_CALL_START", "reply_id": reply, "tool_call_id": "c1", "tool_call_name": "shell"},
        {"type": "TOOL_CALL_DELTA", "reply_id": reply, "tool_call_id": "c1", "delta": input},
        {"type": "TOOL_CALL_END", "reply_id": reply, "tool_call_id": "c1"},
        {"type": "REQUIRE_USER_CONFIRM", "reply_id": reply, "tool_calls": [block]},
    ])
}

#[test]
fn answer_shows_and_sends_the_access_of_rules() {
    let service = Service::start(&directory("take-part-access"));
    let input = json!({"command": "npm install", "access": ["write", "network"], "reason": "the build needs it"});
    let rule = json!({"tool_name": "shell", "rule_content": "npm install:*", "behavior": "allow", "source": "suggested", "access": ["write", "network"]});
    service.request("PUT", "/v1/sessions/s", &[], "{}");
    append(&service, "s", &asking_for_shell("r1", &input, &json!([rule])));
    let listed = run(&service, "answer", "s", &[]).stdout;
    let details: Vec<&str> = listed.lines().skip(2).collect();
    let expected = [
        "c1: requests: write to the workspace, network — reason: the build needs it",
        "c1: --always accepts: shell(npm install:*) with write, network",
    ];
    assert_eq!(details, expected);
    let answered = run(&service, "answer", "s", &["--always"]);
    assert_eq!(answered.stdout, "answered: shell\nalways: shell(npm install:*) with write, network\n");
    let events = service.get("/v1/sessions/s/events");
    let answers = events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answers: Vec<Value> = answers.filter(|event| event["type"] == "USER_CONFIRM_RESULT").collect();
    assert_eq!(answers[0]["confirm_results"][0]["rules"], json!([rule]), "{events}");
    service.kill();
}

#[test]
fn answer_rejects_always_for_shell_without_suggested_rules() {
    let service = Service::start(&directory("take-part-no-rules"));
    service.request("PUT", "/v1/sessions/s", &[], "{}");
    append(&service, "s", &asking_for_shell("r1", &json!({"command": "ls"}), &json!([])));
    let rejected = run(&service, "answer", "s", &["--always"]);
    assert_eq!(rejected.exit, Some(2));
    assert!(rejected.stderr.contains("no rule is suggested for `shell`"), "{}", rejected.stderr);
    let edited = run(&service, "answer", "s", &["--always", "--input", r#"{"command": "ls -l"}"#]);
    assert!(edited.stderr.contains("cannot be used with"), "{}", edited.stderr);
    service.kill();
}

#[test]
fn answer_sends_results_of_external_calls() {
    let service = Service::start(&directory("take-part-elsewhere"));
    service.request("PUT", "/v1/sessions/s", &[], "{}");
    for (reply, call) in [("r1", "c1"), ("r2", "c2")] {
        let events = waiting_reply(reply, "Friday", call, "REQUIRE_EXTERNAL_EXECUTION", "submitted", &json!({}));
        append(&service, "s", &events);
    }
    let several = run(&service, "answer", "s", &["--result", "42"]);
    assert_eq!((several.exit, several.stderr.contains("`--call ID` says which one")), (Some(2), true));
    assert_eq!(run(&service, "answer", "s", &["--result", "42", "--call", "c1"]).stdout, "answered: open\n");
    assert_eq!(run(&service, "answer", "s", &["--error", "jammed"]).stdout, "answered: open\n");
    let messages = messages(&service, "s");
    let result = |index: usize| messages["messages"][index]["content"][1].clone();
    assert_eq!((&result(0)["output"], &result(0)["state"]), (&json!("42"), &json!("success")));
    assert_eq!((&result(1)["output"], &result(1)["state"]), (&json!("jammed"), &json!("error")));
    service.kill();
}

#[test]
fn stop_interrupts_the_reply() {
    let service = Service::start(&directory("take-part-stop"));
    run(&service, "send", "chat", &["--new", "a long story"]);
    assert_eq!(run(&service, "stop", "chat", &[]).stdout, "stopped\n");
    service.wait_for_status("chat", "idle");
    assert_eq!(text_of(&messages(&service, "chat")["messages"][1].to_string(), "finished_reason"), "interrupted");
    assert_eq!(run(&service, "stop", "chat", &[]).stdout, "nothing was under way\n");
    service.kill();
}
