//! Requests and responses of the routes.

use pretty_assertions::assert_eq;
use recount_message::{Event, Fold};
use serde_json::{Value, json};

use crate::support::{Service, lines_of, reply, seq, user_message};

#[tokio::test]
async fn repeated_events_are_written_once_for_any_batch_boundaries() {
    let service = Service::with_session("s").await;
    let events: Vec<_> = [user_message("Hi")].into_iter().chain(reply(&["Hello, ", "Alice"])).collect();
    let first = service.lines("/v1/sessions/s/events", &lines_of(&events[..3])).await;
    assert_eq!((first.status, &first.value()["written"], &first.value()["duplicates"]), (200, &json!(3), &json!(0)));
    let again = service.lines("/v1/sessions/s/events", &lines_of(&events)).await.value();
    assert_eq!((&again["written"], &again["duplicates"]), (&json!(events.len() - 3), &json!(3)));
    assert_eq!(seq(again["cursor"].as_str().unwrap()), events.len() as u64);
    let array = format!("[{}]", events.iter().map(Event::to_json).collect::<Vec<_>>().join(","));
    let third = service.json("POST", "/v1/sessions/s/events", &array).await.value();
    assert_eq!((&third["written"], &third["cursor"], &third["ignored"]), (&json!(0), &again["cursor"], &json!([])));

    let caught = service.get("/v1/sessions/s/events").await;
    assert_eq!((caught.status, caught.text()), (200, lines_of(&events)));
    assert_eq!(caught.header("recount-cursor").as_deref(), again["cursor"].as_str());
    assert_eq!(caught.header("content-type").as_deref(), Some("application/x-ndjson"));
    let fold: Fold = events.iter().collect();
    let expected: Vec<String> = fold.messages().map(recount_message::Msg::to_json).collect();
    let page = service.get("/v1/sessions/s/messages").await;
    let cursor = again["cursor"].as_str().unwrap();
    assert_eq!(page.text(), format!(r#"{{"messages":[{}],"cursor":"{cursor}","before":null}}"#, expected.join(",")));
}

#[tokio::test]
async fn invalid_line_rejects_whole_batch() {
    let service = Service::with_session("s").await;
    let body =
        format!("{}\n{{\"type\":\"REPLY_START\"}}\n{}", user_message("one").to_json(), user_message("two").to_json());
    let problem = service.lines("/v1/sessions/s/events", &body).await.problem(400);
    assert_eq!(problem["line"], 2);
    assert!(problem["field"].is_string(), "{problem}");
    let problem =
        service.json("POST", "/v1/sessions/s/events", r#"[{"type":"USER_INTERRUPT","reply_id":7}]"#).await.problem(400);
    assert_eq!((&problem["line"], &problem["field"]), (&json!(1), &json!("reply_id")));
    let mut bad = user_message("x").to_json().into_bytes();
    bad.extend_from_slice(b"\n{\"type\":\"\xff\"}\n");
    let headers = [("content-type", "application/x-ndjson")];
    let problem = service.request("POST", "/v1/sessions/s/events", &headers, &bad).await.problem(400);
    assert_eq!(problem["line"], 2);
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
}

#[tokio::test]
async fn truncated_array_reports_element_number() {
    let service = Service::with_session("s").await;
    let event = user_message("a, [b] and \"c\"").to_json();
    for (body, line) in [
        (format!("[{event},{event}"), 2),
        (format!("[{event},{{\"type\":"), 2),
        (format!("[{event},"), 2),
        ("[".to_owned(), 1),
        (format!("[{event},{{bad}},{event}]"), 2),
        (format!("[{event},{event}] and more"), 2),
    ] {
        let problem = service.json("POST", "/v1/sessions/s/events", &body).await.problem(400);
        assert_eq!(problem["line"], line, "{body}");
    }
    let mut bad = format!("[{event},{event},{{\"type\":\"").into_bytes();
    bad.extend_from_slice(b"\xff\"}]");
    let headers = [("content-type", "application/json")];
    assert_eq!(service.request("POST", "/v1/sessions/s/events", &headers, &bad).await.problem(400)["line"], 3);
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
}

#[tokio::test]
async fn unknown_fields_and_parameters_are_named() {
    let service = Service::with_session("s").await;
    for (method, path, body) in [
        ("POST", "/v1/sessions", r#"{"bogus":1}"#),
        ("PUT", "/v1/sessions/t", r#"{"bogus":1}"#),
        ("PATCH", "/v1/sessions/s", r#"{"bogus":1}"#),
        ("POST", "/v1/sessions/s/messages", r#"{"content":"x","bogus":1}"#),
        ("POST", "/v1/sessions/s/interrupt", r#"{"bogus":1}"#),
        ("POST", "/v1/sessions/s/fork", r#"{"bogus":1}"#),
        ("POST", "/v1/tickets", r#"{"bogus":1}"#),
        ("GET", "/v1/sessions?bogus=1", ""),
        ("GET", "/v1/sessions/s?bogus", ""),
        ("GET", "/v1/sessions/s/messages?bogus=1", ""),
        ("GET", "/v1/sessions/s/events?after=start&bogus=1", ""),
        ("GET", "/v1/sessions/s/stream?bogus=1", ""),
        ("GET", "/v1/sessions/s/ws?bogus=1", ""),
        ("GET", "/v1/ws?bogus=1", ""),
        ("GET", "/v1/agents?bogus=1", ""),
        ("POST", "/v1/sessions/s/events?bogus=1", "[]"),
        ("POST", "/v1/sessions/s/messages?bogus=1", r#"{"content":"x"}"#),
    ] {
        let problem = service.json(method, path, body).await.problem(400);
        assert_eq!(problem["field"], "bogus", "{method} {path}");
    }
    assert_eq!(service.get("/v1/sessions").await.value()["sessions"].as_array().unwrap().len(), 1);
    // The page accepts any parameter.
    assert_eq!(service.get("/s/s?utm_source=mail").await.status, 200);
}

#[tokio::test]
async fn append_rejects_stale_cursor() {
    let service = Service::with_session("s").await;
    let start = service.get("/v1/sessions/s").await.value()["cursor"].as_str().unwrap().to_owned();
    let first = service.lines(&format!("/v1/sessions/s/events?after={start}"), &lines_of(&[user_message("one")])).await;
    assert_eq!(first.status, 200);
    let late = service
        .lines(&format!("/v1/sessions/s/events?after={start}"), &lines_of(&[user_message("two")]))
        .await
        .problem(409);
    assert_eq!(late["head"], first.value()["cursor"]);
    assert_eq!(service.get("/v1/sessions/s/events?after=soon").await.problem(400)["field"], "after");
}

#[tokio::test]
async fn unresumable_cursor_is_410() {
    let service = Service::with_session("s").await;
    let head = service.lines("/v1/sessions/s/events", &lines_of(&[user_message("one")])).await.value();
    let head = head["cursor"].as_str().unwrap();
    let at_head = service.get(&format!("/v1/sessions/s/events?after={head}")).await;
    assert_eq!((at_head.status, at_head.text().as_str()), (200, ""));
    assert_eq!(at_head.header("recount-cursor").as_deref(), Some(head));
    let (epoch, _) = head.split_once('.').unwrap();
    let problem = service.get(&format!("/v1/sessions/s/events?after={epoch}.9")).await.problem(410);
    assert_eq!((&problem["reason"], &problem["type"]), (&json!("future"), &json!("urn:recount:problem:gap")));
    let problem = service.get("/v1/sessions/s/events?after=1.1").await.problem(410);
    assert_eq!(problem["reason"], "epoch");
}

/// A client stops reading at an empty page.
#[tokio::test]
async fn excluded_events_do_not_count_towards_a_page() {
    let service = Service::with_session("s").await;
    let signals: Vec<_> = (0..7).map(|number| user_message(&number.to_string())).collect();
    let events = reply(&["Hello"]);
    service.lines("/v1/sessions/s/events", &lines_of(&signals)).await;
    let head = service.lines("/v1/sessions/s/events", &lines_of(&events)).await.value();
    let page = service.get("/v1/sessions/s/events?signals=false&limit=2").await;
    assert_eq!(page.text(), lines_of(&events[..2]));
    let next = page.header("recount-cursor").unwrap();
    let rest = service.get(&format!("/v1/sessions/s/events?signals=false&after={next}")).await;
    assert_eq!(rest.text(), lines_of(&events[2..]));
    assert_eq!(rest.header("recount-cursor").as_deref(), head["cursor"].as_str());
}

#[tokio::test]
async fn rejected_inputs_report_their_line() {
    let service = Service::with_session("s").await;
    let input = r#"{"type":"USER_INTERRUPT","id":"i1","reply_id":"nobody"}"#;
    let body = format!("{}\n{input}\n", user_message("one").to_json());
    let problem = service.lines("/v1/sessions/s/events", &body).await.problem(409);
    assert_eq!((&problem["line"], &problem["reason"], &problem["id"]), (&json!(2), &json!("foreign"), &json!("i1")));
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
    let events = reply(&["Hello"]);
    service.lines("/v1/sessions/s/events", &lines_of(&events)).await;
    let id = events[0].reply_id().unwrap();
    let late = format!(r#"{{"type":"USER_INTERRUPT","reply_id":"{id}"}}"#);
    assert_eq!(service.lines("/v1/sessions/s/events", &late).await.problem(409)["reason"], "late");
}

#[tokio::test]
async fn messages_are_listed_in_pages() {
    let service = Service::with_session("s").await;
    let events: Vec<_> = (1..=5).map(|number| user_message(&format!("message {number}"))).collect();
    service.lines("/v1/sessions/s/events", &lines_of(&events)).await;
    let newest = service.get("/v1/sessions/s/messages?limit=2").await.value();
    let texts = |page: &Value| -> Vec<String> {
        let messages = page["messages"].as_array().unwrap().iter();
        messages.map(|message| message["content"][0]["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&newest), ["message 4", "message 5"]);
    let before = newest["before"].as_str().unwrap();
    assert_eq!(newest["messages"][0]["id"], before);
    let rest = service.get(&format!("/v1/sessions/s/messages?limit=3&before={before}")).await.value();
    assert_eq!((texts(&rest).len(), &rest["before"]), (3, &Value::Null));
    service.get("/v1/sessions/s/messages?before=nobody").await.problem(404);
}

#[tokio::test]
async fn blobs_are_stored_and_returned() {
    let service = Service::with_session("s").await;
    let png = b"\x89PNG\r\n\x1a\n";
    let kept = service.request("POST", "/v1/sessions/s/blobs", &[("content-type", "image/png")], png).await;
    assert_eq!(kept.status, 201);
    let answer = kept.value();
    let digest = answer["digest"].as_str().unwrap();
    assert_eq!((&answer["url"], &answer["size"]), (&json!(format!("recount-blob:sha256:{digest}")), &json!(8)));
    let back = service.get(&format!("/v1/sessions/s/blobs/{digest}")).await;
    assert_eq!((back.status, back.body.as_slice()), (200, png.as_slice()));
    assert_eq!(back.header("content-type").as_deref(), Some("image/png"));
    assert_eq!(back.header("x-content-type-options").as_deref(), Some("nosniff"));
    service.get(&format!("/v1/sessions/s/blobs/{}", "0".repeat(64))).await.problem(404);
    service.get("/v1/sessions/s/blobs/xyz").await.problem(400);
    for media_type in ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"] {
        service.request("POST", "/v1/sessions/s/blobs", &[("content-type", media_type)], b"x").await.problem(415);
    }
}

#[tokio::test]
async fn all_errors_are_problem_json() {
    let service = Service::with_session("s").await;
    service.get("/v1/nowhere").await.problem(404);
    service.get("/nowhere").await.problem(404);
    let wrong = service.request("DELETE", "/v1/sessions", &[], b"").await;
    wrong.problem(405);
    assert!(wrong.header("allow").is_some_and(|allow| allow.contains("GET")), "{}", wrong.head);
    service.get("/v1/sessions/%ff").await.problem(400);
    service.get("/v1/sessions/..%2f..").await.problem(400);
    service.get("/v1/sessions/nobody").await.problem(404);
    service.get("/v1/sessions/nobody/stream").await.problem(404);
    service.get("/v1/sessions/s/stream?after=x").await.problem(400);
    service.get("/v1/sessions/s/stream?dialect=perl").await.problem(400);
    service.get("/v1/ws").await.problem(426);
    assert_eq!(service.get("/v1/sessions/s/events?limit=1&limit=2").await.problem(400)["field"], "limit");
    service.json("POST", "/v1/sessions", "{").await.problem(400);
    service.json("POST", "/v1/sessions", "[]").await.problem(400);
    service.request("POST", "/v1/sessions", &[("content-type", "text/plain")], b"{}").await.problem(415);
    service.request("POST", "/v1/sessions/s/interrupt", &[("content-type", "text/plain")], b"x").await.problem(415);
    service
        .request("POST", "/v1/sessions/s/fork", &[("content-type", "application/x-www-form-urlencoded")], b"")
        .await
        .problem(415);
    service.lines("/v1/sessions/nobody/events", "this is no event").await.problem(404);
}

#[tokio::test]
async fn page_is_served_or_explains_how_to_build_it() {
    let service = Service::start().await;
    let page = service.get("/").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-security-policy").is_some());
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/")));

    // If the page was built, its assets are sent compressed to clients that accept gzip.
    let page = page.text();
    let Some(script) = page.split('"').find(|part| part.starts_with("/assets/")) else { return };
    let plain = service.get(script).await;
    let compressed = service.request("GET", script, &[("accept-encoding", "br, gzip")], b"").await;
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(compressed.header("content-encoding").as_deref(), Some("gzip"));
    assert_eq!(plain.header("content-type"), compressed.header("content-type"));
    assert_eq!(plain.header("vary").as_deref(), Some("accept-encoding"));
    assert!(compressed.body.starts_with(&[0x1f, 0x8b]) && compressed.body.len() < plain.body.len() / 2);
}

#[tokio::test]
async fn health_and_metrics() {
    let service = Service::with_session("s").await;
    assert_eq!(service.get("/healthz").await.text(), r#"{"status":"ok"}"#);
    assert_eq!(service.get("/readyz").await.text(), r#"{"status":"ready"}"#);
    service.lines("/v1/sessions/s/events", &lines_of(&[user_message("one")])).await;
    let metrics = service.get("/metrics").await.text();
    assert!(metrics.contains("recount_events_written_total 1\n"), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"));
    assert_eq!(service.json("POST", "/v1/tickets", "{}").await.text(), r#"{"ticket":null}"#);
}
