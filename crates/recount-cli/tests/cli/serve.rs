//! `recount serve` as a process: startup, shutdown and access.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use recount_message::{Json, Object};
use serde_json::{Value, json};

use crate::run::{command, directory, recount};

/// The time limit of each wait.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A running service. It is killed on drop.
pub(crate) struct Service {
    process: Child,
    pub(crate) address: String,
    banner: String,
}

impl Service {
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with(data, &[], Stdio::null())
    }

    /// Starts with environment variables and a destination for standard error.
    pub(crate) fn start_with(data: &Path, variables: &[(&str, &str)], logs: Stdio) -> Self {
        let mut command = command("serve --listen 127.0.0.1:0 --model demo");
        command.arg("--data").arg(data).envs(variables.iter().copied());
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(logs).spawn().unwrap();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut banner = String::new();
        while !banner.contains("Data is kept") {
            assert!(out.read_line(&mut banner).unwrap() > 0, "{banner}");
        }
        // Drain the output, so that the service never blocks on a full pipe.
        thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        let address = banner.split("http://").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
        Self { process, address, banner }
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &[&str], body: &str) -> (u16, String) {
        send_request(&self.address, method, path, headers, body).unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let (status, body) = self.request("GET", path, &[], "");
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Waits until a session has a status.
    pub(crate) fn wait_for_status(&self, session: &str, status: &str) {
        let until = Instant::now() + TIMEOUT;
        while text_of(&self.get(&format!("/v1/sessions/{session}")), "status") != status {
            assert!(Instant::now() < until, "the status is never {status}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Confirms the first tool call that waits.
    pub(crate) fn confirm(&self, session: &str) {
        let path = format!("/v1/sessions/{session}/events");
        let events = self.get(&path);
        let event = events.lines().find(|line| line.contains("REQUIRE_USER_CONFIRM")).unwrap();
        let event: Value = serde_json::from_str(event).unwrap();
        let answer = json!([{
            "type": "USER_CONFIRM_RESULT",
            "reply_id": event["reply_id"],
            "confirm_results": [{"confirmed": true, "tool_call": event["tool_calls"][0]}],
        }]);
        let (status, response) = self.request("POST", &path, &[], &answer.to_string());
        assert_eq!(status, 200, "{response}");
    }

    pub(crate) fn kill(self) {
        drop(self);
    }

    /// Sends SIGTERM, waits for the process and returns its exit status.
    pub(crate) fn terminate(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let until = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < until, "the service does not exit");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Fails if the process has already exited.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends a request and returns the status and the body. `None` if the connection fails.
pub(crate) fn send_request(
    address: &str,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &str,
) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    for header in headers {
        head.push_str(&format!("{header}\r\n"));
    }
    if !body.is_empty() {
        head.push_str(&format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len()));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    let (head, body) = response.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

pub(crate) fn text_of(body: &str, field: &str) -> String {
    Object::parse(body).unwrap().get(field).and_then(Json::as_str).map(str::to_owned).unwrap_or_default()
}

#[test]
fn banner_names_address_and_agent_and_sigterm_exits_cleanly() {
    let data = directory("serve-banner");
    let service = Service::start(&data);
    assert!(service.banner.starts_with("Recount is at http://127.0.0.1:"), "{}", service.banner);
    assert!(service.banner.contains("Agent `assistant` answers: the model is demo"), "{}", service.banner);
    assert_eq!(service.get("/healthz"), r#"{"status":"ok"}"#);
    assert_eq!(service.terminate(), Some(0));
}

#[test]
fn serve_fails_if_data_directory_or_address_is_in_use() {
    let data = directory("serve-locked");
    let service = Service::start(&data);
    let mut second = command("serve --listen 127.0.0.1:0 --model demo");
    second.arg("--data").arg(&data);
    let second = crate::run::finish(second, b"");
    assert_eq!(second.exit, Some(2));
    assert!(second.stderr.contains("is in use by the process"), "{}", second.stderr);
    assert!(second.stderr.contains("hint: `--data` names another directory"), "{}", second.stderr);
    let mut third = command(&format!("serve --listen {} --model demo", service.address));
    third.arg("--data").arg(directory("serve-taken"));
    let third = crate::run::finish(third, b"");
    assert_eq!(third.exit, Some(2));
    assert!(third.stderr.contains("hint: `--listen` names another address"), "{}", third.stderr);
    service.kill();
}

#[test]
fn serve_creates_no_data_directory_if_the_address_is_in_use() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let data = directory("serve-busy").join("data");
    let mut busy = command(&format!("serve --model demo --listen {}", taken.local_addr().unwrap()));
    busy.arg("--data").arg(&data);
    let busy = crate::run::finish(busy, b"");
    assert_eq!(busy.exit, Some(2));
    assert!(busy.stderr.contains("cannot listen on 127.0.0.1:"), "{}", busy.stderr);
    assert!(!data.exists());
}

#[test]
fn missing_data_directory_and_unknown_provider_are_reported() {
    let here = directory("serve-wrong");
    let doctor = recount(&format!("doctor --data {}/none", here.display()), b"");
    assert_eq!(doctor.exit, Some(1), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("wrong there is no data directory"), "{}", doctor.stdout);
    assert!(
        doctor.stdout.ends_with("\n      hint: `recount serve` makes it, `--data` names another one\n"),
        "{doctor:?}"
    );
    let mut unknown = command("serve --listen 127.0.0.1:0 --model acme/one");
    unknown.arg("--data").arg(&here);
    let unknown = crate::run::finish(unknown, b"");
    assert_eq!(unknown.exit, Some(2));
    assert!(unknown.stderr.starts_with("error: unknown provider `acme`, expected one of "), "{}", unknown.stderr);
    assert!(unknown.stderr.trim_end().ends_with(", or the model `demo`"), "{}", unknown.stderr);
}

#[test]
fn serve_requires_tokens_for_public_addresses() {
    let data = directory("serve-open");
    let mut open = command("serve --listen 0.0.0.0:0 --model demo");
    open.arg("--data").arg(&data);
    let open = crate::run::finish(open, b"");
    assert_eq!(open.exit, Some(2));
    assert!(open.stderr.contains("hint: `recount token create --tenant '' --scope"), "{}", open.stderr);
}

#[test]
fn config_prints_the_effective_configuration() {
    let path = directory("serve-config").join("recount.toml");
    std::fs::write(&path, "[limits]\nbody = \"1 MiB\"\n[agents.guide]\nmodel = \"demo\"\n").unwrap();
    let mut shown = command("config");
    shown.arg("--config").arg(&path).env("RECOUNT_SERVER_HOSTS", "a.example, b.example");
    let shown = crate::run::finish(shown, b"");
    assert_eq!(shown.exit, Some(0), "{}", shown.stderr);
    for line in
        ["listen = \"127.0.0.1:7171\"", "body = 1048576", "\"a.example\"", "[agents.guide]", "durability = \"disk\""]
    {
        assert!(shown.stdout.contains(line), "{line} in {}", shown.stdout);
    }
    // Derived values are included, and the output is a valid configuration.
    for line in ["\nconnections = ", "\nmodel = \"demo\"", "\ntools = [", "\nprompt = ", "\nmax_iterations = 50"] {
        assert!(shown.stdout.contains(line), "{line} in {}", shown.stdout);
    }
    std::fs::write(&path, &shown.stdout).unwrap();
    let config = |more: &str| {
        let mut again = command(&format!("config {more}"));
        again.arg("--config").arg(&path);
        crate::run::finish(again, b"")
    };
    assert_eq!(config("").stdout, shown.stdout);
    let json = Object::parse(&config("--json").stdout).unwrap();
    assert_eq!(json.get("limits").and_then(Json::to_object).unwrap().get("body").unwrap().as_raw(), "1048576");
    let mut keyed = command("config");
    keyed.current_dir(directory("serve-config-keyed")).env("ANTHROPIC_API_KEY", "sk-secret");
    keyed.env("ANTHROPIC_BASE_URL", "http://localhost:9/v1");
    let keyed = crate::run::finish(keyed, b"").stdout;
    for line in ["[agents.assistant]\n", "model = \"anthropic/", "base_url = \"http://localhost:9/v1\"\n"] {
        assert!(keyed.contains(line), "{line} in {keyed}");
    }
    assert!(!keyed.contains("sk-secret"));
    std::fs::write(&path, "[limits]\nbodies = 1\n").unwrap();
    let mut wrong = command("config");
    wrong.arg("--config").arg(&path);
    let wrong = crate::run::finish(wrong, b"");
    assert_eq!(wrong.exit, Some(2));
    assert!(wrong.stderr.contains("unknown field `bodies`"), "{}", wrong.stderr);
}

#[test]
fn tail_sessions_and_doctor_work_while_the_service_runs() {
    let data = directory("serve-tail");
    let service = Service::start(&data);
    service.request("PUT", "/v1/sessions/chat", &[], r#"{"title":"Holidays"}"#);
    let (status, posted) = service.request("POST", "/v1/sessions/chat/messages", &[], r#"{"content":"Hello there"}"#);
    assert_eq!(status, 202, "{posted}");
    service.wait_for_status("chat", "idle");
    let url = format!("http://{}", service.address);
    let sessions = recount(&format!("sessions {url}"), b"");
    assert_eq!((sessions.exit, sessions.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = sessions.stdout.lines().collect();
    assert!(lines[0].starts_with("ID    STATUS  AGENT      UPDATED  "), "{}", sessions.stdout);
    assert!(lines[1].starts_with("chat  idle    assistant  ") && lines[1].ends_with("  Holidays"), "{}", lines[1]);
    let json = recount(&format!("sessions {url} --json"), b"").stdout;
    assert_eq!((json.lines().count(), text_of(&json, "title").as_str()), (1, "Holidays"));
    let events = recount(&format!("tail {url}/s/chat --json --no-follow"), b"");
    assert_eq!(events.stdout, service.get("/v1/sessions/chat/events"));
    let shown = recount(&format!("tail {url}/v1/sessions/chat --no-follow"), b"");
    assert!(shown.stdout.contains("Hello there"), "{}", shown.stdout);
    let missing = recount(&format!("tail {url}/s/nobody"), b"");
    let expected = "error: unknown session `nobody`\nhint: `recount sessions` lists those that there are, and `recount send --new` makes one\n";
    assert_eq!((missing.exit, missing.stderr.as_str()), (Some(2), expected));
    let doctor = recount(&format!("doctor --deep --data {}", data.display()), b"");
    assert_eq!(doctor.exit, Some(0), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("the log is sound: 1 session, "), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("each message is the fold of its events"), "{}", doctor.stdout);
    service.kill();
}

#[test]
fn offloaded_output_is_deleted_with_its_session() {
    let data = directory("serve-offloaded");
    let service = Service::start(&data);
    let message = json!({"role": "user", "name": "Alice", "content": r#"shell {"command": "seq 20000"}"#});
    let offloaded = |session: &str| data.join("aside").join(session);
    for session in ["one", "two"] {
        let path = format!("/v1/sessions/{session}");
        assert_eq!(service.request("PUT", &path, &[], "{}").0, 201);
        assert_eq!(service.request("POST", &format!("{path}/messages"), &[], &message.to_string()).0, 202);
        let until = Instant::now() + TIMEOUT;
        while !offloaded(session).is_dir() {
            assert!(Instant::now() < until);
            thread::sleep(Duration::from_millis(20));
        }
        // The rest of the reply is not needed.
        service.request("POST", &format!("{path}/interrupt"), &[], "{}");
        service.wait_for_status(session, "idle");
    }
    assert_eq!(service.request("DELETE", "/v1/sessions/one", &[], "").0, 204);
    assert!(!offloaded("one").exists() && offloaded("two").is_dir());
    service.kill();
}
