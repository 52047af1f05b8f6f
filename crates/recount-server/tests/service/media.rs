//! Media by URL.

use pretty_assertions::assert_eq;
use recount_message::{Checkpoint, Event, Fold, Msg};
use serde_json::{Value, json};

use crate::sockets::Socket;
use crate::support::{Service, lines_of, user_message};

const EVENTS: &str = "/v1/sessions/s/events";

/// Returns a conversation with media in all possible places, streamed in pieces.
fn conversation() -> Vec<String> {
    let event = |number: usize, fields: Value| {
        let mut event = fields;
        event["id"] = json!(format!("e{number}"));
        event["created_at"] = json!(format!("2026-01-01T00:00:00.{number:06}+00:00"));
        if event["type"] != "CUSTOM" {
            event["reply_id"] = json!("r1");
        }
        Event::from_json(&event.to_string()).unwrap().to_json()
    };
    let png = |data: &str| json!({"type": "base64", "data": data, "media_type": "image/png"});
    let data = |id: &str, text: &str, finished: Value| {
        let time = "2026-01-01T00:00:00.000001+00:00";
        json!({"type": "data", "id": id, "source": png(text), "name": null, "created_at": time, "finished_at": finished})
    };
    let user = json!({"id": "m1", "name": "Alice", "role": "user", "created_at": "2026-01-01T00:00:00.000001+00:00",
        "content": [{"type": "text", "text": "See"}, data("b0", "cGljdHVyZQ==", Value::Null)]});
    let delta = |block: Value, data: Value, url: Value| {
        json!({"type": "TOOL_RESULT_DATA_DELTA", "tool_call_id": "c1", "block_id": block, "media_type": "image/png",
            "data": data, "url": url})
    };
    let text = |delta: &str| json!({"type": "TOOL_RESULT_TEXT_DELTA", "tool_call_id": "c1", "delta": delta});
    let whole =
        |block: Value| json!({"type": "CUSTOM", "name": "recount.block", "value": {"reply_id": "r1", "block": block}});
    let block_delta = |id: &str, data: &str| json!({"type": "DATA_BLOCK_DELTA", "block_id": id, "media_type": "image/png", "data": data});
    let all = [
        json!({"type": "CUSTOM", "name": "recount.message", "value": user}),
        json!({"type": "REPLY_START", "session_id": "s", "name": "Friday"}),
        json!({"type": "MODEL_CALL_START", "model_name": "m"}),
        json!({"type": "DATA_BLOCK_START", "block_id": "d1", "media_type": "image/png"}),
        block_delta("d1", "aGVs"),
        block_delta("d1", "bG8"),
        block_delta("d1", "="),
        json!({"type": "DATA_BLOCK_END", "block_id": "d1"}),
        json!({"type": "TOOL_CALL_START", "tool_call_id": "c1", "tool_call_name": "draw"}),
        json!({"type": "TOOL_CALL_END", "tool_call_id": "c1"}),
        json!({"type": "MODEL_CALL_END", "input_tokens": 1, "output_tokens": 1}),
        json!({"type": "TOOL_RESULT_START", "tool_call_id": "c1", "tool_call_name": "draw"}),
        text("One: "),
        delta(json!("x1"), json!("Zmly"), Value::Null),
        delta(json!("x1"), json!("c3Q="), Value::Null),
        text("Two: "),
        delta(Value::Null, json!("c2Vjb25k"), Value::Null),
        delta(json!("x3"), Value::Null, json!("https://example.com/map.png")),
        json!({"type": "TOOL_RESULT_END", "tool_call_id": "c1", "state": "success"}),
        json!({"type": "HINT_BLOCK", "block_id": "h1", "hint": [{"type": "text", "text": "Look"}, data("h2", "aGludA==", Value::Null)]}),
        whole(data("w1", "d2hvbGU=", json!("2026-01-01T00:00:00.000002+00:00"))),
        whole(data("w2", "bm90IHlldA==", Value::Null)),
        json!({"type": "DATA_BLOCK_START", "block_id": "d2", "media_type": "image/png"}),
        block_delta("d2", "cmVzdA=="),
        // Invalid base64 stays as it is.
        json!({"type": "DATA_BLOCK_START", "block_id": "d3", "media_type": "image/png"}),
        block_delta("d3", "YWJjZ"),
        json!({"type": "REPLY_END", "session_id": "s", "finished_reason": "completed"}),
    ];
    all.into_iter().enumerate().map(|(number, fields)| event(number, fields)).collect()
}

fn folded<'e>(fold: &mut Fold, lines: impl IntoIterator<Item = &'e str>) -> Vec<String> {
    for line in lines {
        let outcome = fold.apply(&Event::from_json(line).unwrap());
        assert_eq!(outcome.reason(), None, "{line}");
    }
    fold.messages().map(Msg::to_json).collect()
}

async fn messages(service: &Service, session: &str) -> Vec<String> {
    let page = service.get(&format!("/v1/sessions/{session}/messages?media=url")).await.value();
    page["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| Msg::from_json(&message.to_string()).unwrap().to_json())
        .collect()
}

/// At every cursor, the frames so far fold into the current messages, and they can be continued from a snapshot and from the
/// cursor.
#[tokio::test]
async fn fold_with_media_urls_equals_linked_fold() {
    let service = Service::with_session("s").await;
    let events = conversation();
    service.lines(EVENTS, &events.join("\n")).await;
    let all = service.get(&format!("{EVENTS}?media=url")).await.text();
    let last = messages(&service, "s").await;
    assert_eq!(folded(&mut Fold::new(), all.lines()), last);
    for count in 1..events.len() {
        let name = format!("s{count}");
        let path = format!("/v1/sessions/{name}");
        service.json("PUT", &path, "").await;
        let posted = service.lines(&format!("{path}/events"), &events[..count].join("\n")).await;
        assert_eq!(posted.status, 200, "{}", posted.text());
        let cursor = posted.value()["cursor"].as_str().unwrap().to_owned();
        let so_far = service.get(&format!("{path}/events?media=url")).await.text();
        let mut fold = Fold::new();
        assert_eq!(folded(&mut fold, so_far.lines()), messages(&service, &name).await, "after {}", events[count - 1]);

        let mut stream = service.stream(&format!("{path}/stream?media=url"), &[]).await;
        let snapshot: Value = serde_json::from_str(&stream.next().await.unwrap().data).unwrap();
        let open: Vec<&Value> = snapshot["open"].as_object().unwrap().values().collect();
        let checkpoint = json!({"version": 1, "cursor": "0", "replies": open}).to_string();
        let mut from_snapshot = Fold::resume(Checkpoint::from_json(&checkpoint).unwrap());
        service.lines(&format!("{path}/events"), &events[count..].join("\n")).await;
        let rest = service.get(&format!("{path}/events?media=url&after={cursor}")).await.text();
        assert_eq!(folded(&mut fold, rest.lines()), last, "from the cursor after {}", events[count - 1]);
        let mut live = Vec::new();
        while live.len() < rest.lines().count() {
            live.push(stream.next().await.unwrap().data);
        }
        assert_eq!(live, rest.lines().collect::<Vec<_>>());
        for message in folded(&mut from_snapshot, live.iter().map(String::as_str)) {
            assert!(last.contains(&message), "from the snapshot after {}", events[count - 1]);
        }
    }
}

#[tokio::test]
async fn every_media_url_is_downloadable_and_no_base64_remains() {
    let service = Service::with_session("s").await;
    let all = conversation();
    service.lines(EVENTS, &all.join("\n")).await;
    let page = service.get("/v1/sessions/s/messages?media=url").await.text();
    let mut socket = Socket::open(&service, "/v1/ws").await;
    socket.send(json!({"subscribe": "s", "media": "url"})).await;
    let snapshot = socket.next().await["snapshot"].to_string();
    let java = service.get(&format!("{EVENTS}?media=url&dialect=java")).await.text();
    for (text, what) in [(&page, "messages"), (&snapshot, "snapshot"), (&java, "java")] {
        for bytes in ["picture", "hello", "first", "second", "hint", "whole", "not yet", "rest"] {
            let digest = recount_log::Digest::of(bytes.as_bytes());
            // Java receives replies as events, and a complete message in a signal.
            assert!(text.contains(&digest.url()), "{bytes} in {what}: {text}");
            let blob = service.get(&format!("/v1/sessions/s/blobs/{digest}")).await;
            assert_eq!((blob.status, blob.text().as_str()), (200, bytes));
            assert_eq!(blob.header("content-type").as_deref(), Some("image/png"));
        }
    }
    for data in ["cGljdHVyZQ==", "aGVs", "Zmly", "c2Vjb25k", "aGludA==", "d2hvbGU=", "cmVzdA=="] {
        assert!(!page.contains(data) && !snapshot.contains(data), "{data}");
    }
    // Readers with inline media still receive base64.
    assert_eq!(service.get(EVENTS).await.text(), all.join("\n") + "\n");
    assert_eq!(service.get(&format!("{EVENTS}?media=base64")).await.problem(400)["field"], "media");
    socket.send(json!({"subscribe": "s", "media": "none"})).await;
    assert_eq!(socket.next().await["live"].is_string(), true);
    assert_eq!(socket.next().await["problem"]["field"], "media");
}

#[tokio::test]
async fn events_without_media_are_unchanged() {
    let service = Service::with_session("s").await;
    let lines = lines_of(&[user_message("one"), user_message("two")]);
    service.lines(EVENTS, &lines).await;
    assert_eq!(service.get(&format!("{EVENTS}?media=url")).await.text(), lines);
}
