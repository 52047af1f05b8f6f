//! Telemetry of the service: logs, metrics and spans, with a real collector.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AttributeValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use pretty_assertions::assert_eq;
use prost::Message as _;
use serde_json::{Value, json};

use crate::run::{directory, recount};
use crate::serve::{Service, TIMEOUT};

#[test]
fn logs_contain_lifecycle_events_and_no_secrets() {
    let data = directory("watched-logs");
    let path = data.join("stderr");
    let service = Service::start_with(
        &data,
        &[("RECOUNT_TELEMETRY_FORMAT", "json"), ("RECOUNT_TELEMETRY_LOG", "debug")],
        Stdio::from(File::create(&path).unwrap()),
    );
    service.request("PUT", "/v1/sessions/s", &[], "{}");
    let words = "A sentence that nobody else has to know";
    let (status, body) =
        service.request("POST", "/v1/sessions/s/messages", &[], &json!({ "content": words }).to_string());
    assert_eq!(status, 202, "{body}");
    service.wait_for_status("s", "idle");
    let token = recount(&format!("token create --tenant acme --scope read --data {}", data.display()), b"").stdout;
    let header = format!("authorization: Bearer {}", token.trim());
    assert_eq!(service.request("GET", "/v1/sessions", &[&header], "").0, 200);
    let wrong = "authorization: Bearer rct_wrong-and-secret";
    assert_eq!(service.request("GET", "/v1/sessions?ticket=secret-ticket", &[wrong], "").0, 401);
    assert_eq!(service.request("GET", "/v1/sessions?ticket=secret-ticket", &[], "").0, 401);
    assert_eq!(service.terminate(), Some(0));

    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |message: &str| {
        let found = lines.iter().find(|line| line["fields"]["message"] == message);
        found.unwrap_or_else(|| panic!("no {message:?} in {text}"))["fields"].clone()
    };
    for message in ["listening", "shutting down", "stopped"] {
        find(message);
    }
    assert_eq!(find("run started")["session"], "s");
    assert_eq!(find("run ended")["outcome"], "completed");
    let login = find("login failed");
    assert_eq!((&login["path"], &login["remote"]), (&json!("/v1/sessions"), &json!("127.0.0.1")));
    for secret in [token.trim(), "rct_wrong", "secret-ticket", words] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[test]
fn metrics_match_the_requests_and_the_documentation() {
    let data = directory("watched-counts");
    let service = Service::start_with(&data, &[("RECOUNT_LIMITS_BODY", "2000")], Stdio::null());
    service.request("PUT", "/v1/sessions/one", &[], "{}");
    service.request("PUT", "/v1/sessions/two", &[], "{}");
    assert_eq!(service.request("GET", "/v1/sessions/three", &[], "").0, 404);
    let (status, _) = service.request("POST", "/v1/sessions/one/events", &[], &"x".repeat(3_000));
    assert_eq!(status, 413);
    service.request("POST", "/v1/sessions/two/messages", &[], r#"{"content":"use a tool"}"#);
    service.wait_for_status("two", "waiting");
    let mut reader = TcpStream::connect(&service.address).unwrap();
    write!(reader, "GET /v1/sessions/one/stream HTTP/1.1\r\nhost: {}\r\n\r\n", service.address).unwrap();
    reader.read_exact(&mut [0; 12]).unwrap();
    // The status changes to `waiting` before the run stops, so the metric can lag behind.
    let until = Instant::now() + TIMEOUT;
    let mut text = service.get("/metrics");
    while !text.contains("recount_replies_waiting 1\n") {
        assert!(Instant::now() < until, "{text}");
        thread::sleep(Duration::from_millis(20));
        text = service.get("/metrics");
    }
    for line in [
        "recount_sessions 2",
        "recount_replies_running 0",
        r#"recount_readers{transport="sse"} 1"#,
        "recount_messages_posted_total 1",
        "recount_failed_logins_total 0",
        r#"recount_limited_total{limit="size"} 1"#,
        r#"recount_http_requests_total{method="PUT",route="/v1/sessions/{id}",status="201"} 2"#,
        r#"recount_http_requests_total{method="GET",route="/v1/sessions/{id}",status="404"} 1"#,
        r#"recount_http_request_duration_seconds_count{method="PUT",route="/v1/sessions/{id}"} 2"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    let number = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    };
    assert!(number("recount_log_entries_total") >= 5.0);
    assert!(number("recount_log_commit_seconds_count") >= 3.0);
    assert!(number("recount_log_bytes") > 0.0);
    // The documented metrics are exactly the exported ones.
    let documented = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/service.md")).unwrap();
    let names = text.lines().filter_map(|line| line.strip_prefix("# TYPE recount_")?.split(' ').next());
    let names: HashSet<String> = names.map(|name| format!("`recount_{name}`")).collect();
    let table = documented.lines().filter(|line| line.starts_with("| `recount_"));
    let table: HashSet<String> = table.map(|line| line.split('|').nth(1).unwrap().trim().to_owned()).collect();
    assert_eq!(names, table);
    assert_eq!(service.terminate(), Some(0));
}

/// A collector that receives spans by OTLP over HTTP.
struct Collector {
    address: String,
    spans: Arc<Mutex<Vec<Span>>>,
    services: Arc<Mutex<HashSet<String>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (spans, services) = (Arc::default(), Arc::default());
        let collector = Self { address, spans: Arc::clone(&spans), services: Arc::clone(&services) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let (spans, services) = (Arc::clone(&spans), Arc::clone(&services));
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    while let Some(body) = read_request(&mut reader) {
                        let request = ExportTraceServiceRequest::decode(&*body).unwrap();
                        for resource in request.resource_spans {
                            let about = resource.resource.unwrap().attributes;
                            let name = about.iter().find(|about| about.key == "service.name");
                            let name = name.and_then(|name| name.value.clone()?.value).unwrap();
                            services.lock().unwrap().insert(text_of_value(name));
                            spans
                                .lock()
                                .unwrap()
                                .extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
                        }
                        let response =
                            "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
                        (&stream).write_all(response.as_bytes()).unwrap();
                    }
                });
            }
        });
        collector
    }
}

/// Returns the body of the next request. `None` at the end of the connection.
fn read_request(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = 0;
    let mut first = String::new();
    if reader.read_line(&mut first).ok()? == 0 {
        return None;
    }
    assert_eq!(first.trim_end(), "POST /v1/traces HTTP/1.1");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            return Some(body);
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let value = span.attributes.iter().find(|attribute| attribute.key == key)?.value.clone()?.value?;
    Some(text_of_value(value))
}

fn text_of_value(value: AttributeValue) -> String {
    match value {
        AttributeValue::StringValue(text) => text,
        AttributeValue::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn spans_cover_requests_runs_calls_and_commits() {
    let data = directory("watched-spans");
    let collector = Collector::start();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str()), ("OTEL_SERVICE_NAME", "here")];
    let service = Service::start_with(&data, &variables, Stdio::null());
    service.request("PUT", "/v1/sessions/s", &[], "{}");
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = format!("traceparent: 00-{trace}-b7ad6b7169203331-01");
    let words = "use a tool that nobody knows";
    let message = json!({ "content": words }).to_string();
    assert_eq!(service.request("POST", "/v1/sessions/s/messages", &[&parent], &message).0, 202);
    service.wait_for_status("s", "waiting");
    service.confirm("s");
    service.wait_for_status("s", "idle");
    // The remaining spans are exported at shutdown.
    assert_eq!(service.terminate(), Some(0));

    let spans = collector.spans.lock().unwrap();
    assert_eq!(*collector.services.lock().unwrap(), HashSet::from(["here".to_owned()]));
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    let find = |name: &str| {
        let found = spans.iter().find(|span| span.name == name);
        found.unwrap_or_else(|| panic!("no {name:?} in {names:?}"))
    };
    let request = find("POST /v1/sessions/{id}/messages");
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(
        (hex(&request.trace_id), hex(&request.parent_span_id)),
        (trace.to_owned(), "b7ad6b7169203331".to_owned())
    );
    assert_eq!(attribute(request, "http.response.status_code").as_deref(), Some("202"));
    assert_eq!(attribute(request, "url.path").as_deref(), Some("/v1/sessions/s/messages"));
    // Both runs of the reply, before and after the confirmation, are children of the request.
    let runs: Vec<&Span> = spans.iter().filter(|span| span.name == "invoke_agent assistant").collect();
    let outcomes: Vec<_> = runs.iter().filter_map(|run| attribute(run, "recount.outcome")).collect();
    assert_eq!(outcomes, ["waiting", "completed"]);
    for run in &runs {
        assert_eq!((&run.trace_id, &run.parent_span_id), (&request.trace_id, &request.span_id));
        assert_eq!(attribute(run, "gen_ai.conversation.id").as_deref(), Some("s"));
    }
    let within = |span: &Span| runs.iter().any(|run| run.span_id == span.parent_span_id);
    let calls: Vec<&Span> = spans.iter().filter(|span| span.name.starts_with("chat ")).collect();
    assert!(!calls.is_empty() && calls.iter().all(|call| within(call)), "{names:?}");
    assert_eq!(attribute(calls[0], "gen_ai.operation.name").as_deref(), Some("chat"));
    let tool = find("execute_tool shell");
    assert!(within(tool));
    assert!(attribute(tool, "gen_ai.tool.call.id").is_some());
    let commits: Vec<&Span> = spans.iter().filter(|span| span.name == "log commit").collect();
    assert!(commits.iter().any(|commit| within(commit)), "{names:?}");
    assert!(commits.iter().any(|commit| commit.parent_span_id == request.span_id), "{names:?}");
    let all = format!("{spans:?}");
    assert!(!all.contains(words), "a span contains the user's message");
}
