//! Server-sent event streams.

use pretty_assertions::{assert_eq, assert_ne};
use recount_dialect::{Dialect, StreamReader};
use recount_message::{CustomEvent, DataBlock, Event, Fold, ReplyWriter, Stamps};
use serde_json::{Value, json};

use crate::support::{Service, lines_of, reply, user_message};

#[tokio::test]
async fn stream_contains_all_events_of_the_log() {
    let service = Service::with_session("s").await;
    let before: Vec<_> = [user_message("Hi")].into_iter().chain(reply(&["Hello"])).collect();
    let cursor = service.lines("/v1/sessions/s/events", &lines_of(&before)).await.value();
    let epoch = cursor["cursor"].as_str().unwrap().split('.').next().unwrap().to_owned();

    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    assert!(stream.head.starts_with("HTTP/1.1 200 OK\n"));
    for header in ["content-type: text/event-stream; charset=utf-8", "x-accel-buffering: no", "cache-control: no-store"]
    {
        assert!(stream.head.contains(header), "{}", stream.head);
    }
    let after = reply(&["And ", "more"]);
    service.lines("/v1/sessions/s/events", &lines_of(&after)).await;
    let all: Vec<_> = before.iter().chain(&after).collect();
    for (frame, (event, seq)) in stream.take(all.len()).await.iter().zip(all.iter().zip(1..)) {
        assert_eq!((frame.id.as_deref(), frame.event.as_deref()), (Some(format!("{epoch}.{seq}").as_str()), None));
        assert_eq!(frame.data, event.to_json());
    }
}

#[tokio::test]
async fn stream_has_one_live_comment_after_existing_events() {
    let service = Service::with_session("s").await;
    let events = [user_message("one"), user_message("two"), user_message("three")];
    let first = service.lines("/v1/sessions/s/events", &lines_of(&events[..1])).await.value();
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let told = [
        format!("id: {}", first["cursor"].as_str().unwrap()),
        format!("data: {}", events[0].to_json()),
        String::new(),
        ": live".to_owned(),
        String::new(),
    ];
    for line in told {
        assert_eq!(stream.line().await, Some(line));
    }
    for event in &events[1..] {
        service.lines("/v1/sessions/s/events", &lines_of(std::slice::from_ref(event))).await;
        assert!(stream.line().await.unwrap().starts_with("id: "));
        assert_eq!(stream.line().await, Some(format!("data: {}", event.to_json())));
        assert_eq!(stream.line().await, Some(String::new()));
    }
    let mut stream = service.stream("/v1/sessions/s/stream", &[]).await;
    while stream.line().await.unwrap() != ": live" {}
}

#[tokio::test]
async fn stream_from_now_starts_with_a_cursor() {
    let service = Service::with_session("s").await;
    let events = [user_message("before"), user_message("while nobody reads"), user_message("after")];
    let head = service.lines("/v1/sessions/s/events", &lines_of(&events[..1])).await.value();
    let mut stream = service.stream("/v1/sessions/s/stream?after=now", &[]).await;
    let id = head["cursor"].as_str().unwrap();
    for line in [": live".to_owned(), format!("id: {id}"), String::new()] {
        assert_eq!(stream.line().await, Some(line));
    }
    // A reader that disconnects before the first event resumes from this cursor.
    drop(stream);
    service.lines("/v1/sessions/s/events", &lines_of(&events[1..])).await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=now", &[("last-event-id", id)]).await;
    for event in &events[1..] {
        assert_eq!(stream.next().await.unwrap().data, event.to_json());
    }
}

#[tokio::test]
async fn stream_without_cursor_starts_with_snapshot() {
    let service = Service::with_session("s").await;
    let events = reply(&["Hello, ", "Alice"]);
    let (open, rest) = events.split_at(4);
    let head = service.lines("/v1/sessions/s/events", &lines_of(&[user_message("Hi")])).await;
    assert_eq!(head.status, 200);
    let head = service.lines("/v1/sessions/s/events", &lines_of(open)).await.value();
    let mut stream = service.stream("/v1/sessions/s/stream", &[]).await;
    let snapshot = stream.next().await.unwrap();
    assert_eq!((snapshot.event.as_deref(), snapshot.id.as_deref()), (Some("snapshot"), head["cursor"].as_str()));
    let value: Value = serde_json::from_str(&snapshot.data).unwrap();
    let id = events[0].reply_id().unwrap();
    assert_eq!((value["messages"].as_array().unwrap().len(), &value["before"]), (1, &json!(null)));
    assert_eq!(value["open"][id]["message"]["id"], id);
    assert_eq!(value.as_object().unwrap().keys().collect::<Vec<_>>(), ["before", "messages", "open"]);
    // The fold from the snapshot equals the fold from the beginning.
    let checkpoint = format!(r#"{{"version":1,"cursor":"0","replies":[{}]}}"#, value["open"][id]);
    let mut fold = Fold::resume(recount_message::Checkpoint::from_json(&checkpoint).unwrap());
    service.lines("/v1/sessions/s/events", &lines_of(rest)).await;
    for frame in stream.take(rest.len()).await {
        assert_eq!(fold.apply(&Event::from_json(&frame.data).unwrap()).reason(), None);
    }
    let whole: Fold = events.iter().collect();
    assert!(fold.messages().eq(whole.messages()));
}

#[tokio::test]
async fn stream_resumes_after_cursor() {
    let service = Service::with_session("s").await;
    let events: Vec<_> = (0..10).map(|number| user_message(&number.to_string())).collect();
    service.lines("/v1/sessions/s/events", &lines_of(&events)).await;
    let mut first = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let seen = first.take(4).await;
    drop(first);
    let id = seen[3].id.clone().unwrap();
    let mut second = service.stream("/v1/sessions/s/stream?after=now", &[("last-event-id", &id)]).await;
    let frames = second.take(6).await;
    let data: Vec<_> = frames.iter().map(|frame| frame.data.clone()).collect();
    assert_eq!(data, events[4..].iter().map(Event::to_json).collect::<Vec<_>>());
}

#[tokio::test]
async fn unknown_cursor_gets_gap_and_snapshot() {
    let service = Service::with_session("s").await;
    let head = service.lines("/v1/sessions/s/events", &lines_of(&[user_message("one")])).await.value();
    let head = head["cursor"].as_str().unwrap();
    let (epoch, _) = head.split_once('.').unwrap();
    for (given, reason) in [("1.1", "epoch"), (&*format!("{epoch}.99"), "future"), ("nonsense", "epoch")] {
        let mut stream = service.stream("/v1/sessions/s/stream", &[("last-event-id", given)]).await;
        let frames = stream.take(2).await;
        assert_eq!((frames[0].event.as_deref(), &frames[0].id), (Some("gap"), &None));
        assert_eq!(frames[0].data, format!(r#"{{"reason":"{reason}"}}"#));
        assert_eq!((frames[1].event.as_deref(), frames[1].id.as_deref()), (Some("snapshot"), Some(head)));
    }
    // An empty cursor is treated as absent.
    let mut stream = service.stream("/v1/sessions/s/stream?after=", &[("last-event-id", "")]).await;
    assert_eq!(stream.next().await.unwrap().event.as_deref(), Some("snapshot"));
}

#[tokio::test]
async fn sub_agent_replies_are_excluded_by_default() {
    let service = Service::with_session("s").await;
    let outer = reply(&["outer"]);
    let id = outer[0].reply_id().unwrap().to_owned();
    let mut inner = reply(&["inner"]);
    inner[0] = inner[0].clone().with_extension("parent", id.as_str());
    let mut events = outer[..3].to_vec();
    events.extend(inner.iter().cloned());
    events.extend(outer[3..].iter().cloned());
    service.lines("/v1/sessions/s/events", &lines_of(&events)).await;
    service.lines("/v1/sessions/s/events", &lines_of(&[user_message("end")])).await;

    let mut shown = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let data: Vec<_> = shown.take(outer.len() + 1).await.into_iter().map(|frame| frame.data).collect();
    assert_eq!(data[..outer.len()], outer.iter().map(Event::to_json).collect::<Vec<_>>());
    let mut all = service.stream("/v1/sessions/s/stream?after=start&all=true", &[]).await;
    let data: Vec<_> = all.take(events.len()).await.into_iter().map(|frame| frame.data).collect();
    assert_eq!(data, events.iter().map(Event::to_json).collect::<Vec<_>>());
    // The same from a cursor in the middle.
    let fourth = 5;
    let cursor = service.get("/v1/sessions/s").await.value()["cursor"].as_str().unwrap().to_owned();
    let (epoch, _) = cursor.split_once('.').unwrap();
    let rest = service.get(&format!("/v1/sessions/s/events?after={epoch}.{fourth}")).await.text();
    assert!(!rest.contains("inner") && rest.contains("end"));
    let quiet = service.get("/v1/sessions/s/events?signals=false").await.text();
    assert!(!quiet.contains("CUSTOM"));
    assert_eq!(service.get("/v1/sessions/s/messages").await.value()["messages"].as_array().unwrap().len(), 2);
    assert_eq!(service.get("/v1/sessions/s/messages?all=true").await.value()["messages"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn signals_are_filtered_by_name() {
    let service = Service::with_session("s").await;
    let signal = |name: &'static str| Event::new(CustomEvent::signal(name, recount_message::Object::new()));
    let events =
        [user_message("Hi"), signal("build.progress"), signal("other"), signal("build.done"), user_message("Bye")];
    let answer = service.lines("/v1/sessions/s/events", &lines_of(&events)).await;
    assert_eq!(answer.value()["written"], 5);
    let wanted: Vec<_> = [0, 1, 3, 4].into_iter().map(|index| events[index].to_json()).collect();
    let path = "/v1/sessions/s/events?signals=build.progress,build.done";
    assert_eq!(service.get(path).await.text().lines().collect::<Vec<_>>(), wanted);
    let mut stream =
        service.stream("/v1/sessions/s/stream?signals=build.done,,build.progress,unheard&after=start", &[]).await;
    let mut socket = crate::sockets::Socket::open(&service, "/v1/ws").await;
    socket.send(json!({"subscribe": "s", "after": "start", "signals": ["build.progress", "build.done"]})).await;
    for event in &wanted {
        assert_eq!(stream.next().await.unwrap().data, *event);
        assert_eq!(socket.next().await["event"], serde_json::from_str::<Value>(event).unwrap());
    }
    service.get(&format!("{path},{}", "x".repeat(5_000))).await.problem(400);
    socket.send(json!({"subscribe": "s", "signals": [7]})).await;
    assert!(socket.next().await["live"].is_string());
    assert_eq!(socket.next().await["problem"]["field"], "signals");
}

#[tokio::test]
async fn every_dialect_folds_into_the_same_messages() {
    let service = Service::with_session("s").await;
    let events = reply(&["Hello, ", "Alice"]);
    let (before, after) = events.split_at(3);
    service.lines("/v1/sessions/s/events", &lines_of(before)).await;
    for dialect in [Dialect::Java, Dialect::Java1, Dialect::TypeScript] {
        let session = format!("fork-{dialect}");
        let mut fold = Fold::new();
        let mut reader = StreamReader::new(dialect);
        service.json("PUT", &format!("/v1/sessions/{session}"), "").await;
        service.lines(&format!("/v1/sessions/{session}/events"), &lines_of(before)).await;
        let mut stream = service.stream(&format!("/v1/sessions/{session}/stream?dialect={dialect}"), &[]).await;
        service.lines(&format!("/v1/sessions/{session}/events"), &lines_of(after)).await;
        let end = format!(".{}", events.len());
        loop {
            let frame = stream.next().await.unwrap();
            if !frame.data.is_empty() {
                for event in reader.push(&frame.data).unwrap() {
                    let _ = fold.apply(&event);
                }
            }
            if frame.id.is_some_and(|id| id.ends_with(&end)) {
                break;
            }
        }
        let text = fold.messages().next().unwrap().text();
        assert_eq!(text.as_deref(), Some("Hello, Alice"), "{dialect}");
    }
}

#[tokio::test]
async fn paused_reader_receives_all_events() {
    let service = Service::with_session("s").await;
    let mut slow = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let mut fast = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    for stream in [&mut slow, &mut fast] {
        while stream.line().await.unwrap() != ": live" {}
    }
    // More than the socket buffers hold.
    let text = "x".repeat(100_000);
    let events: Vec<_> = (0..120).map(|number| user_message(&format!("{number} {text}"))).collect();
    for event in &events {
        service.lines("/v1/sessions/s/events", &lines_of(std::slice::from_ref(event))).await;
        assert!(fast.next().await.unwrap().data == event.to_json());
    }
    for event in &events {
        assert!(slow.next().await.unwrap().data == event.to_json());
    }
    let last = user_message("Are you still there?");
    service.lines("/v1/sessions/s/events", &lines_of(std::slice::from_ref(&last))).await;
    for stream in [&mut slow, &mut fast] {
        assert_eq!(stream.next().await.unwrap().data, last.to_json());
    }
}

#[tokio::test]
async fn deleting_a_session_ends_its_streams() {
    let service = Service::with_session("s").await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    service.request("DELETE", "/v1/sessions/s", &[], b"").await;
    assert_eq!(stream.next().await, None);
    service.get("/v1/sessions/s/stream").await.problem(404);
}

#[tokio::test]
async fn shutdown_ends_streams() {
    let service = Service::with_session("s").await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    service.stop.cancel();
    assert_eq!(stream.next().await, None);
    tokio::time::timeout(crate::support::TIMEOUT, service.task).await.unwrap().unwrap();
}

/// Only the first request of a connection is handled without hyper.
#[tokio::test]
async fn stream_as_second_request_of_a_connection() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    let service = Service::with_session("s").await;
    service.lines("/v1/sessions/s/events", &lines_of(&[user_message("one")])).await;
    let mut stream = tokio::net::TcpStream::connect(service.address).await.unwrap();
    let host = service.address;
    let both = format!(
        "GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\nGET /v1/sessions/s/stream?after=start HTTP/1.1\r\nhost: {host}\r\n\r\n"
    );
    stream.write_all(both.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut seen = String::new();
    while !seen.contains("data: ") {
        seen.push_str(&lines.next_line().await.unwrap().unwrap());
        seen.push('\n');
    }
    assert!(seen.contains("transfer-encoding: chunked"), "{seen}");
}

#[tokio::test]
async fn excluding_signals_removes_custom_frames_in_every_dialect() {
    let service = Service::with_session("s").await;
    let mut events = Vec::new();
    let mut image = ReplyWriter::start(|event| events.push(event), Stamps::default(), "s", "Friday");
    image.data_block(DataBlock::from_bytes(b"\x89PNG\r\n\x1a\n")).unwrap();
    image.text("Look.");
    drop(image);
    service.lines("/v1/sessions/s/events", &lines_of(&[vec![user_message("Hi")], events].concat())).await;
    for dialect in ["java", "java1", "typescript"] {
        for from in ["", "&after=start"] {
            let path = format!("/v1/sessions/s/stream?signals=false&dialect={dialect}{from}");
            let mut stream = service.stream(&path, &[]).await;
            let mut told = String::new();
            while let Some(line) = stream.line().await.filter(|line| line != ": live") {
                if let Some(data) = line.strip_prefix("data: ") {
                    let frame: Value = serde_json::from_str(data).unwrap();
                    assert_ne!(frame["type"], "CUSTOM", "{dialect}{from}");
                    told.push_str(data);
                }
            }
            assert!(from.is_empty() || told.contains("Look."), "{dialect}: {told}");
        }
    }
}
