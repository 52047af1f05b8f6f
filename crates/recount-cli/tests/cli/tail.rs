//! `recount tail` and `recount sessions` with a running service.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::run::{Run, command, directory, recount};
use crate::serve::{Service, TIMEOUT, text_of};

/// A running `recount tail`. It is killed on drop.
struct Tail {
    process: Child,
    lines: Receiver<String>,
    seen: String,
}

impl Tail {
    fn start(service: &Service, session: &str, args: &str) -> Self {
        let mut command = command(&format!("tail http://{}/s/{session} {args}", service.address));
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { process, lines, seen: String::new() }
    }

    /// Returns the output since the last call, up to the end of the message that contains `text`.
    #[track_caller]
    fn message_with(&mut self, text: &str) -> String {
        self.seen.clear();
        while !(self.seen.contains(text) && self.seen.ends_with("╰─\n")) {
            let line = self.lines.recv_timeout(TIMEOUT);
            assert!(line.is_ok(), "{text:?} missing after {}", self.seen);
            self.seen.push_str(&line.unwrap());
            self.seen.push('\n');
        }
        self.seen.clone()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const ASKING: &str = " · open · waits for a confirmation\n";

/// Creates a session in which the agent waits for a confirmation.
fn create_waiting_session(service: &Service, session: &str) {
    service.request("PUT", &format!("/v1/sessions/{session}"), &[], "{}");
    service.request("POST", &format!("/v1/sessions/{session}/messages"), &[], r#"{"content":"use a tool"}"#);
    service.wait_for_status(session, "waiting");
}

/// Returns the events of a reply that waits for a tool call.
pub(crate) fn waiting_reply(reply: &str, name: &str, call: &str, asking: &str, state: &str, metadata: &Value) -> Value {
    let block = json!({"type": "tool_call", "id": call, "name": "open", "input": "{}", "state": state});
    json!([
        {"type": "REPLY_START", "session_id": "s", "reply_id": reply, "name": name, "metadata": metadata},
        {"type": "TOOL_CALL_START", "reply_id": reply, "tool_call_id": call, "tool_call_name": "open"},
        {"type": "TOOL_CALL_DELTA", "reply_id": reply, "tool_call_id": call, "delta": "{}"},
        {"type": "TOOL_CALL_END", "reply_id": reply, "tool_call_id": call},
        {"type": asking, "reply_id": reply, "tool_calls": [block]},
    ])
}

pub(crate) fn append(service: &Service, session: &str, events: &Value) {
    let (status, body) = service.request("POST", &format!("/v1/sessions/{session}/events"), &[], &events.to_string());
    assert_eq!((status, body.contains(r#""ignored":[]"#)), (200, true), "{body}");
}

fn tail(service: &Service, session: &str, args: &str) -> Run {
    recount(&format!("tail http://{}/s/{session} {args}", service.address), b"")
}

#[test]
fn waiting_call_is_shown_from_every_start_position() {
    let service = Service::start(&directory("tail-waiting"));
    create_waiting_session(&service, "s");
    let cursor = text_of(&service.get("/v1/sessions/s"), "cursor");
    let mut all = Tail::start(&service, "s", "");
    let shown = all.message_with(ASKING);
    assert!(shown.contains("use a tool") && shown.contains("├─ call shell · asking\n"), "{shown}");
    let mut now = Tail::start(&service, "s", "--after now");
    let shown = now.message_with(ASKING);
    assert!(!shown.contains("use a tool") && shown.contains("├─ call shell · asking\n"), "{shown}");
    // The reply started before this cursor.
    let mut later = Tail::start(&service, "s", &format!("--after {cursor}"));
    let shown = later.message_with(ASKING);
    assert!(!shown.contains("use a tool") && shown.contains("├─ call shell · asking\n"), "{shown}");
    service.confirm("s");
    for tail in [&mut all, &mut now, &mut later] {
        let shown = tail.message_with(" · completed\n");
        assert!(shown.contains("├─ call shell · finished\n") && !shown.contains(ASKING), "{shown}");
    }
    service.kill();
}

#[test]
fn reply_is_shown_when_it_starts_to_wait() {
    let service = Service::start(&directory("tail-begins-to-wait"));
    service.request("PUT", "/v1/sessions/s", &[], r#"{"title":"foreign"}"#);
    let mut tail = Tail::start(&service, "s", "");
    append(&service, "s", &waiting_reply("r1", "Friday", "c1", "REQUIRE_EXTERNAL_EXECUTION", "submitted", &json!({})));
    let shown = tail.message_with(" · open · waits for a result from outside\n");
    assert!(shown.contains("├─ call open · submitted\n"), "{shown}");
    // A complete message is shown although an earlier reply is open.
    let message = json!({"name": "Alice", "role": "user", "content": [{"type": "text", "text": "Hurry"}], "id": "m1"});
    append(&service, "s", &json!([{"type": "CUSTOM", "name": "recount.message", "value": message}]));
    let shown = tail.message_with("Hurry");
    assert!(shown.contains("user Alice") && !shown.contains("assistant"), "{shown}");
    // Messages of sub-agents are hidden without `--all`, but their waiting calls are shown.
    let metadata = json!({"recount": {"parent": "r1"}});
    append(&service, "s", &waiting_reply("r2", "Monday", "c2", "REQUIRE_USER_CONFIRM", "asking", &metadata));
    let shown = tail.message_with(ASKING);
    assert!(shown.contains("assistant Monday · "), "{shown}");
    assert!(shown.contains(" · sub-agent · open · waits") && !shown.contains("assistant Friday"), "{shown}");
    append(
        &service,
        "s",
        &json!([
            {"type": "REPLY_END", "session_id": "s", "reply_id": "r2", "finished_reason": "interrupted"},
            {"type": "REPLY_END", "session_id": "s", "reply_id": "r1", "finished_reason": "interrupted"},
        ]),
    );
    let shown = tail.message_with(" · interrupted\n");
    assert!(shown.contains("assistant Friday") && !shown.contains("Monday"), "{shown}");
    service.kill();
}

#[test]
fn no_follow_shows_open_replies_and_exits() {
    let service = Service::start(&directory("tail-no-follow"));
    create_waiting_session(&service, "s");
    let all = tail(&service, "s", "--no-follow");
    assert_eq!((all.exit, all.stderr.as_str()), (Some(0), ""));
    assert!(all.stdout.contains("use a tool"), "{}", all.stdout);
    assert_eq!(all.stdout.matches(ASKING).count(), 1, "{}", all.stdout);
    let now = tail(&service, "s", "--no-follow --after now");
    assert_eq!((now.exit, now.stdout.matches("╭─").count()), (Some(0), 1), "{}", now.stdout);
    assert!(now.stdout.contains(ASKING), "{}", now.stdout);
    assert_eq!(tail(&service, "s", "--no-follow --after now --json").stdout, "");
    service.kill();
}

#[test]
fn invalid_cursor_is_explained() {
    let service = Service::start(&directory("tail-gap"));
    create_waiting_session(&service, "s");
    let people = tail(&service, "s", "--no-follow --after 7.3");
    let told =
        "the cursor cannot be continued: it is of another session, or of this one before it was restored or replaced";
    assert_eq!((people.exit, people.stderr), (Some(0), format!("{told}; this is how the session is now\n")));
    assert!(people.stdout.contains("use a tool") && people.stdout.contains(ASKING), "{}", people.stdout);
    let json = tail(&service, "s", "--no-follow --json --after 7.3");
    let hint = "hint: `--after start` prints all events that there are";
    assert_eq!((json.exit, json.stdout.as_str()), (Some(2), ""));
    assert_eq!(json.stderr, format!("error: {told}\n{hint}\n"));
    let cursor = text_of(&service.get("/v1/sessions/s"), "cursor");
    let epoch = cursor.split('.').next().unwrap();
    let future = tail(&service, "s", &format!("--no-follow --json --after {epoch}.9999"));
    assert!(future.stderr.contains("it is beyond the end of the session"), "{}", future.stderr);
    let nonsense = tail(&service, "s", "--no-follow --after yesterday");
    assert!(nonsense.stderr.contains("invalid cursor \"yesterday\": expected"), "{}", nonsense.stderr);
    service.kill();
}

#[test]
fn url_path_selects_sessions_or_one_session() {
    let service = Service::start(&directory("tail-urls"));
    service.request("PUT", "/v1/sessions/s", &[], "{}");
    let url = format!("http://{}", service.address);
    let sessions = |path: &str| recount(&format!("sessions {url}{path}"), b"");
    let listed = sessions("");
    assert_eq!(listed.exit, Some(0), "{}", listed.stderr);
    assert_eq!(sessions("/v1/sessions"), listed);
    let other = sessions("/some/path");
    assert_eq!((other.exit, other.stdout.as_str()), (Some(2), ""));
    assert_eq!(
        other.stderr,
        "error: there are no sessions at `/some/path`\n\
         hint: the address of the service is enough, such as http://127.0.0.1:7171\n"
    );
    let one = sessions("/s/chat");
    let told = "error: this is the URL of the session `chat`\nhint: `recount tail";
    assert!(one.exit == Some(2) && one.stderr.starts_with(told), "{}", one.stderr);
    let none = recount(&format!("tail {url}"), b"");
    assert!(
        none.exit == Some(2) && none.stderr.contains("it names no session: expected a name, or"),
        "{}",
        none.stderr
    );
    service.kill();
}

#[test]
fn unreachable_service_is_named() {
    for args in ["sessions 127.0.0.1:1", "tail 127.0.0.1:1/s/chat", "stop 127.0.0.1:1/s/chat"] {
        let run = recount(args, b"");
        assert_eq!(run.exit, Some(2));
        let told = "error: cannot reach the service at http://127.0.0.1:1: Connection refused";
        assert!(run.stderr.starts_with(told), "{}", run.stderr);
        assert!(run.stderr.ends_with("\nhint: `recount serve` starts one\n"), "{}", run.stderr);
    }
}

#[test]
fn invalid_session_name_is_rejected() {
    for (named, told) in [
        ("café", "\"café\" is not a session name: expected 1 to 64 of A-Z a-z 0-9 _ -"),
        ("http://127.0.0.1:7171/", "it names no session: expected a name, or a URL that ends in /s/NAME"),
    ] {
        let run = recount(&format!("tail {named}"), b"");
        assert_eq!(run.exit, Some(2));
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
}
