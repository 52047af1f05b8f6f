//! Sessions: create, change, list, fork and delete.

use pretty_assertions::assert_eq;
use recount_message::{ReplyEnd, ReplyWriter, Stamps, Usage};
use serde_json::{Value, json};

use crate::support::{Service, lines_of, reply, user_message};

#[tokio::test]
async fn sessions_are_created_changed_and_deleted() {
    let service = Service::start().await;
    let made = service.json("POST", "/v1/sessions", r#"{"title":"Holidays","metadata":{"a":1.0}}"#).await;
    assert_eq!(made.status, 201);
    let session = made.value();
    let id = session["id"].as_str().unwrap();
    assert_eq!(made.header("location"), Some(format!("/v1/sessions/{id}")));
    assert_eq!(
        (&session["title"], &session["status"], &session["open"]),
        (&json!("Holidays"), &json!("idle"), &json!([]))
    );
    assert!(made.text().contains(r#""metadata":{"a":1.0}"#), "numbers stay as they came: {}", made.text());

    let changed = service.json("PATCH", &format!("/v1/sessions/{id}"), r#"{"title":null,"retention":"7d"}"#).await;
    assert_eq!(
        (changed.status, &changed.value()["title"], &changed.value()["retention"]),
        (200, &Value::Null, &json!("7d"))
    );
    let one = service.get(&format!("/v1/sessions/{id}")).await.value();
    assert_eq!((&one["metadata"], &one["usage"]["input_tokens"]), (&json!({"a": 1.0}), &json!(0)));

    let problem = service.json("PATCH", &format!("/v1/sessions/{id}"), r#"{"colour":"red"}"#).await.problem(400);
    assert_eq!(problem["field"], "colour");
    let problem = service.json("PATCH", &format!("/v1/sessions/{id}"), r#"{"retention":"soon"}"#).await.problem(400);
    assert_eq!(problem["field"], "retention");

    assert_eq!(service.request("DELETE", &format!("/v1/sessions/{id}"), &[], b"").await.status, 204);
    service.get(&format!("/v1/sessions/{id}")).await.problem(404);
    service.request("DELETE", &format!("/v1/sessions/{id}"), &[], b"").await.problem(404);
}

#[tokio::test]
async fn updated_at_is_the_completion_of_the_last_message() {
    let service = Service::start().await;
    let made = service.json("PUT", "/v1/sessions/chat", "{}").await.value();
    assert_eq!(made["updated_at"], made["created_at"]);
    let lines = lines_of(&reply(&["Hello"]));
    let (begin, end) = lines.trim_end().rsplit_once('\n').unwrap();
    service.lines("/v1/sessions/chat/events", begin).await;
    let one = service.get("/v1/sessions/chat").await.value();
    assert_eq!(one["updated_at"], made["created_at"], "the reply is still open");
    service.lines("/v1/sessions/chat/events", end).await;
    let one = service.get("/v1/sessions/chat").await.value();
    assert!(one["updated_at"].as_str() > made["created_at"].as_str(), "{one}");
    assert_eq!(service.get("/v1/sessions").await.value()["sessions"][0]["updated_at"], one["updated_at"]);
}

#[tokio::test]
async fn put_creates_session_with_chosen_name() {
    let service = Service::start().await;
    let first = service.json("PUT", "/v1/sessions/chat-7", r#"{"title":"One"}"#).await;
    assert_eq!((first.status, &first.value()["id"]), (201, &json!("chat-7")));
    let again = service.json("PUT", "/v1/sessions/chat-7", "{}").await;
    assert_eq!((again.status, &again.value()["title"]), (200, &json!("One")));
    assert_eq!(again.value()["cursor"], first.value()["cursor"]);
    let problem = service.json("PUT", "/v1/sessions/no%20spaces", "{}").await.problem(400);
    assert_eq!(problem["field"], "id");
}

#[tokio::test]
async fn concurrent_puts_create_one_session() {
    let service = Service::start().await;
    let put = || service.json("PUT", "/v1/sessions/same", r#"{"title":"One"}"#);
    let mut statuses: Vec<u16> =
        futures_util::future::join_all((0..16).map(|_| put())).await.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!((statuses[0], statuses[14], statuses[15]), (200, 200, 201));
}

#[tokio::test]
async fn sessions_are_listed_in_pages() {
    let service = Service::start().await;
    for name in ["a", "b", "c"] {
        service.json("PUT", &format!("/v1/sessions/{name}"), "{}").await;
    }
    let first = service.get("/v1/sessions?limit=2").await.value();
    assert_eq!((first["sessions"].as_array().unwrap().len(), &first["next"]), (2, &json!("b")));
    let second = service.get("/v1/sessions?limit=2&after=b").await.value();
    assert_eq!((&second["sessions"][0]["id"], &second["next"]), (&json!("c"), &Value::Null));
    let problem = service.get("/v1/sessions?limit=0").await.problem(400);
    assert_eq!(problem["field"], "limit");
    // `after` need not be an existing session: the last one of a page may be deleted before the next request.
    assert_eq!(service.request("DELETE", "/v1/sessions/b", &[], b"").await.status, 204);
    assert_eq!(service.get("/v1/sessions?limit=2&after=b").await.value()["sessions"], second["sessions"]);
    assert_eq!(service.get("/v1/sessions?after=zzz").await.value(), json!({"sessions": [], "next": null}));
    for bad in ["no%20name", "1.2", "%ff", "x".repeat(65).as_str()] {
        let problem = service.get(&format!("/v1/sessions?after={bad}")).await.problem(400);
        assert_eq!(problem["field"], "after", "{bad}");
    }
}

#[tokio::test]
async fn all_routes_return_the_same_session_object() {
    let service = Service::start().await;
    let made = service.json("PUT", "/v1/sessions/s", r#"{"title":"One"}"#).await.value();
    assert_eq!(made["usage"]["output_tokens"], 0);
    let mut events = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "s", "Friday");
    reply.model_call("m");
    reply.text("Hello");
    reply.end_model_call(Some(Usage::new(20, 3)));
    reply.end(ReplyEnd::completed());
    service.lines("/v1/sessions/s/events", &lines_of(&events)).await;
    let one = service.get("/v1/sessions/s").await.value();
    assert_eq!((&one["usage"]["input_tokens"], &one["usage"]["output_tokens"]), (&json!(20), &json!(3)));
    assert_eq!(service.json("PUT", "/v1/sessions/s", "{}").await.value(), one);
    assert_eq!(service.json("PATCH", "/v1/sessions/s", r#"{"title":"One"}"#).await.value(), one);
    let fork = service.json("POST", "/v1/sessions/s/fork", r#"{"id":"copy"}"#).await;
    assert_eq!(fork.header("location").as_deref(), Some("/v1/sessions/copy"));
    assert_eq!((&fork.value()["usage"], &fork.value()["title"]), (&one["usage"], &one["title"]));
}

#[tokio::test]
async fn concurrent_changes_of_different_fields_are_both_kept() {
    let service = Service::with_session("s").await;
    for round in 0..20 {
        let title = json!({"title": format!("title {round}")}).to_string();
        let metadata = json!({"metadata": {"round": round}}).to_string();
        let change = |body: String| {
            let service = &service;
            async move { service.json("PATCH", "/v1/sessions/s", &body).await }
        };
        let answers = tokio::join!(change(title), change(metadata));
        assert_eq!((answers.0.status, answers.1.status), (200, 200));
        let session = service.get("/v1/sessions/s").await.value();
        let expected = (json!(format!("title {round}")), json!({"round": round}));
        assert_eq!((session["title"].clone(), session["metadata"].clone()), expected);
    }
}

#[tokio::test]
async fn fork_copies_events_up_to_cursor() {
    let service = Service::with_session("s").await;
    let first = service.lines("/v1/sessions/s/events", &lines_of(&[user_message("one")])).await.value();
    service.lines("/v1/sessions/s/events", &lines_of(&[user_message("two")])).await;
    let body = json!({"after": first["cursor"], "id": "copy"}).to_string();
    let fork = service.json("POST", "/v1/sessions/s/fork", &body).await;
    assert_eq!((fork.status, &fork.value()["id"]), (201, &json!("copy")));
    assert_eq!(service.get("/v1/sessions/copy/messages").await.value()["messages"].as_array().unwrap().len(), 1);
    service.json("POST", "/v1/sessions/s/fork", &body).await.problem(409);
    service.json("POST", "/v1/sessions/s/fork", r#"{"after":"1.1"}"#).await.problem(410);
}

#[tokio::test]
async fn fork_ends_before_a_message() {
    let service = Service::with_session("s").await;
    let (one, events) = (user_message("one"), reply(&["Hello, ", "Alice"]));
    let (open, rest) = events.split_at(4);
    let id = events[0].reply_id().unwrap();
    service.lines("/v1/sessions/s/events", &lines_of(&[one])).await;
    service.lines("/v1/sessions/s/events", &lines_of(open)).await;
    let texts = async |body: Value| {
        let fork = service.json("POST", "/v1/sessions/s/fork", &body.to_string()).await;
        assert_eq!(fork.status, 201);
        let path = format!("/v1/sessions/{}/messages", fork.value()["id"].as_str().unwrap());
        let messages = service.get(&path).await.value()["messages"].take();
        messages.as_array().unwrap().iter().map(|message| message["role"].clone()).collect::<Vec<_>>()
    };
    // The fork point is the same while the reply is open and after it has ended.
    assert_eq!(texts(json!({"before": id})).await, ["user"]);
    service.lines("/v1/sessions/s/events", &lines_of(rest)).await;
    assert_eq!(texts(json!({"before": id})).await, ["user"]);
    assert_eq!(texts(json!({"before": null, "after": null})).await, ["user", "assistant"]);
    let problem = service.json("POST", "/v1/sessions/s/fork", r#"{"before":"nobody"}"#).await.problem(404);
    assert_eq!(problem["field"], "before");
    let both = json!({"before": id, "after": "1.1"}).to_string();
    let problem = service.json("POST", "/v1/sessions/s/fork", &both).await.problem(400);
    assert_eq!(problem["field"], "before");
}
