//! Validation of posted messages and events.

use pretty_assertions::assert_eq;
use recount_agent::scripted::ScriptedModel;
use recount_log::Log;
use recount_message::{DataBlock, Msg, Source};
use recount_server::ServerOptions;
use serde_json::{Value, json};

use crate::support::{Response, Service, lines_of, reply, user_message};

async fn post(service: &Service, message: &Value) -> Response {
    service.json("POST", "/v1/sessions/s/messages", &message.to_string()).await
}

/// Returns a data block with a URL.
fn at(url: &str) -> Value {
    json!({"type": "data", "source": {"type": "url", "url": url, "media_type": "image/png"}})
}

async fn check_rejected(service: &Service, message: Value, field: &str) -> String {
    let problem = post(service, &message).await.problem(400);
    assert_eq!(problem["field"], field, "{message}");
    problem["detail"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn empty_message_is_rejected() {
    let service = Service::with_session("s").await;
    for content in [
        json!(""),
        json!(" \n\t"),
        json!([]),
        json!([{"type": "text", "text": ""}]),
        json!([{"type": "text", "text": ""}, {"type": "text", "text": " "}]),
    ] {
        check_rejected(&service, json!({"content": content}), "content").await;
        check_rejected(&service, json!({"content": content, "name": "Alice", "role": "user"}), "content").await;
    }
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
}

#[tokio::test]
async fn unknown_block_is_rejected_unless_message_is_complete() {
    let service = Service::with_session("s").await;
    let blocks = json!([{"type": "text", "text": "See"}, {"type": "imgae", "url": "https://example.com/a.png"}]);
    let detail = check_rejected(&service, json!({"content": blocks}), "content[1].type").await;
    assert_eq!(detail, "unknown block type `imgae`; expected text or data");
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
    let whole = json!({"content": blocks, "name": "Alice", "role": "user"});
    assert_eq!(post(&service, &whole).await.status, 202);
    let messages = service.get("/v1/sessions/s/messages").await.value();
    assert_eq!(messages["messages"][0]["content"][1], blocks[1]);
}

#[tokio::test]
async fn message_with_unknown_blob_is_rejected() {
    let service = Service::with_session("s").await;
    let missing = format!("recount-blob:sha256:{}", "0".repeat(64));
    let foreign = service.log.upload("another", "image/png", &b"\x89PNG"[..]).await.unwrap().url();
    for url in [missing.as_str(), &foreign, "recount-blob:sha256:00", "recount-blob:md5:00", "Recount-Blob:x"] {
        let content = json!([{"type": "text", "text": "See"}, at(url)]);
        let detail = check_rejected(&service, json!({"content": content}), "content[1].source.url").await;
        assert!(detail.contains(url) && detail.contains("/v1/sessions/s/blobs"), "{detail}");
        let whole = json!({"content": content, "name": "Alice", "role": "user"});
        check_rejected(&service, whole, "content[1].source.url").await;
    }
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
    assert_eq!(post(&service, &json!({"content": [at("https://example.com/a.png")]})).await.status, 202);
}

#[tokio::test]
async fn file_urls_are_rejected() {
    let service = Service::with_session("s").await;
    let detail =
        check_rejected(&service, json!({"content": [at("file:///etc/passwd")]}), "content[0].source.url").await;
    assert!(detail.contains("https, http, data, recount-blob"), "{detail}");
}

#[tokio::test]
async fn compressed_bodies_are_rejected() {
    let service = Service::with_session("s").await;
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let problem = service.request("POST", "/v1/sessions/s/messages", &headers, b"\x1f\x8b").await.problem(415);
    assert_eq!(problem["field"], "Content-Encoding");
}

#[tokio::test]
async fn model_receives_the_bytes_of_a_blob() {
    let model = ScriptedModel::new().says("A cat.");
    let service = Service::hosting(Log::in_memory(), model.clone(), ServerOptions::default()).await;
    service.log.create("s".parse().unwrap()).await.unwrap();
    let png = b"\x89PNG\r\n\x1a\n";
    let blob = service.request("POST", "/v1/sessions/s/blobs", &[("content-type", "image/png")], png).await.value();
    let url = blob["url"].as_str().unwrap();
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    assert_eq!(post(&service, &json!({"content": [at(url)]})).await.status, 202);
    while !stream.next().await.unwrap().data.contains("\"REPLY_END\"") {}
    let requests = model.requests();
    let shown: Vec<&DataBlock> = requests[0].messages.iter().flat_map(Msg::blocks::<DataBlock>).collect();
    let Source::Base64(source) = &shown[0].source else { panic!("{shown:?}") };
    assert_eq!((source.bytes().unwrap().as_slice(), source.media_type.as_str()), (png.as_slice(), "image/png"));
    let messages = service.get("/v1/sessions/s/messages").await.value();
    assert_eq!(messages["messages"][0]["content"][0]["source"]["url"], url, "the stored message keeps the URL");
}

#[tokio::test]
async fn ignored_events_are_reported() {
    let service = Service::with_session("s").await;
    let stray = r#"{"type":"TEXT_BLOCK_DELTA","id":"d1","reply_id":"nobody","block_id":"b","delta":"x"}"#;
    let answer =
        service.lines("/v1/sessions/s/events", &format!("{}\n\n{stray}\n", user_message("x").to_json())).await.value();
    let ignored = &answer["ignored"][0];
    assert_eq!(
        (&ignored["line"], &ignored["id"], &ignored["reason"]),
        (&json!(3), &json!("d1"), &json!("unknown_reply"))
    );
    let events = reply(&["Hello"]);
    let id = events[0].reply_id().unwrap();
    service.lines("/v1/sessions/s/events", &lines_of(&events[..1])).await;
    let custom = r#"{"type":"CUSTOM","id":"e1","name":"progress","value":{}}"#;
    let unknown = r#"{"type":"TEXT_BLOK_START","id":"e2","block_id":"b"}"#;
    let empty = format!(r#"{{"type":"USER_CONFIRM_RESULT","id":"e3","reply_id":"{id}","confirm_results":[]}}"#);
    let answer = service.lines("/v1/sessions/s/events", &format!("{custom}\n{unknown}\n{empty}\n")).await.value();
    assert_eq!(answer["written"], 3, "ignored events are stored: {answer}");
    let expected = json!([
        {"line": 2, "id": "e2", "reason": "unknown_type", "message": "the event type \"TEXT_BLOK_START\" is not known"},
        {"line": 3, "id": "e3", "reason": "empty", "message": "`confirm_results` is empty"},
    ]);
    assert_eq!(answer["ignored"], expected);
}

#[tokio::test]
async fn invalid_data_blocks_are_rejected() {
    let service = Service::with_session("s").await;
    let bytes = |data: &str, media_type: &str| json!({"type": "data", "source": {"type": "base64", "data": data, "media_type": media_type}});
    for (block, field) in [
        (bytes("!!!", "image/png"), "data"),
        (bytes("", "image/png"), "data"),
        (bytes("iVBORw==", ""), "media_type"),
        (bytes("iVBORw==", "png"), "media_type"),
        (at(""), "url"),
        (at("a.png"), "url"),
        (at("javascript:alert(1)"), "url"),
    ] {
        check_rejected(&service, json!({"content": [block]}), &format!("content[0].source.{field}")).await;
    }
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
    assert_eq!(post(&service, &json!({"content": [at("https://example.com/a.png")]})).await.status, 202);
}

#[tokio::test]
async fn conflicting_on_busy_values_are_rejected() {
    let service = Service::with_session("s").await;
    let ask = |word: &str| format!("/v1/sessions/s/messages?on_busy={word}");
    let body = json!({"content": "Hi", "on_busy": "queue"}).to_string();
    assert_eq!(service.json("POST", &ask("reject"), &body).await.problem(400)["field"], "on_busy");
    assert_eq!(service.json("POST", &ask("queue"), &body).await.status, 202);
}

#[tokio::test]
async fn message_id_of_another_item_is_rejected() {
    let service = Service::with_session("s").await;
    let note = json!({"type": "CUSTOM", "name": "n", "value": {}, "id": "m1"});
    assert_eq!(service.json("POST", "/v1/sessions/s/events", &json!([note]).to_string()).await.status, 200);
    let rejected = post(&service, &json!({"content": "Hi", "id": "m1"})).await.problem(409);
    assert_eq!((&rejected["field"], &rejected["reason"]), (&json!("id"), &json!("different")));
}

#[tokio::test]
async fn last_upload_determines_media_type() {
    let service = Service::with_session("s").await;
    let upload = async |media_type: &str| {
        let blob =
            service.request("POST", "/v1/sessions/s/blobs", &[("content-type", media_type)], b"abc").await.value();
        service.get(&format!("/v1/sessions/s/blobs/{}", blob["digest"].as_str().unwrap())).await
    };
    assert_eq!(upload("image/png").await.header("content-type").as_deref(), Some("image/png"));
    assert_eq!(upload("application/pdf").await.header("content-type").as_deref(), Some("application/pdf"));
}
