//! Streams of front-end protocols, from every cursor of a session.

use pretty_assertions::assert_eq;
use recount_dialect::FrontEnd;
use recount_message::{AgentEvent, Fold};

use crate::sockets::Socket;
use crate::support::{Service, lines_of, reply, user_message};

/// Returns two concurrent replies, with messages before, between and after them.
fn session() -> Vec<AgentEvent> {
    let (first, second) = (reply(&["Hello, ", "Alice"]), reply(&["And ", "more"]));
    let mut events = vec![user_message("Hi")];
    events.extend_from_slice(&first[..4]);
    events.push(user_message("Are you there?"));
    events.extend_from_slice(&second[..3]);
    events.extend_from_slice(&first[4..]);
    events.push(user_message("Never mind"));
    events.extend_from_slice(&second[3..]);
    events.push(user_message("Bye"));
    events
}

/// Returns the fold at a position of a session, and the frames of the events after it.
fn frames_after(front_end: FrontEnd, events: &[AgentEvent], place: usize) -> (Fold, Vec<String>) {
    let before: Fold = events[..place].iter().collect();
    let mut fold = before.clone();
    let mut frames = Vec::new();
    for event in &events[place..] {
        frames.extend(front_end.frames("s", &fold, event));
        let _ = fold.apply(event);
    }
    (before, frames)
}

async fn epoch_of(service: &Service) -> String {
    let cursor = service.get("/v1/sessions/s").await.value()["cursor"].as_str().unwrap().to_owned();
    cursor.split_once('.').unwrap().0.to_owned()
}

async fn take(service: &Service, query: &str, count: usize) -> Vec<String> {
    let mut stream = service.stream(&format!("/v1/sessions/s/stream?{query}"), &[]).await;
    stream.take(count).await.into_iter().map(|frame| frame.data).collect()
}

#[tokio::test]
async fn resumed_stream_continues_after_every_cursor() {
    let service = Service::with_session("s").await;
    let events = session();
    service.lines("/v1/sessions/s/events", &lines_of(&events)).await;
    let epoch = epoch_of(&service).await;
    for place in 0..events.len() {
        let (before, frames) = frames_after(FrontEnd::AgUi, &events, place);
        let mut expected = FrontEnd::AgUi.resume_frames("s", &before);
        expected.extend(frames);
        let found = take(&service, &format!("dialect=ag-ui&after={epoch}.{place}"), expected.len()).await;
        assert_eq!(found, expected, "after {place}");
    }
}

#[tokio::test]
async fn new_stream_includes_all_messages() {
    let service = Service::with_session("s").await;
    let mut fold = Fold::new();
    for event in session() {
        service.lines("/v1/sessions/s/events", &lines_of(std::slice::from_ref(&event))).await;
        let _ = fold.apply(&event);
        let expected = FrontEnd::AgUi.prelude("s", &fold);
        assert_eq!(take(&service, "dialect=ag-ui", expected.len()).await, expected);
    }
}

#[tokio::test]
async fn event_pages_form_one_stream() {
    let service = Service::with_session("s").await;
    let events = session();
    service.lines("/v1/sessions/s/events", &lines_of(&events)).await;
    let epoch = epoch_of(&service).await;
    for front_end in FrontEnd::ALL {
        for place in 0..events.len() {
            let path = format!("/v1/sessions/s/events?dialect={front_end}&after={epoch}.{place}");
            let found = service.get(&path).await.text();
            assert_eq!(found.lines().collect::<Vec<_>>(), frames_after(front_end, &events, place).1, "{front_end}");
        }
    }
}

#[tokio::test]
async fn socket_frames_equal_stream_frames() {
    let service = Service::with_session("s").await;
    let events = session();
    service.lines("/v1/sessions/s/events", &lines_of(&events)).await;
    let epoch = epoch_of(&service).await;
    for front_end in FrontEnd::ALL {
        let place = 4;
        let (before, frames) = frames_after(front_end, &events, place);
        let mut expected = front_end.resume_frames("s", &before);
        expected.extend(frames);
        let path = format!("/v1/sessions/s/ws?dialect={front_end}&after={epoch}.{place}");
        let mut socket = Socket::open(&service, &path).await;
        for frame in &expected {
            let expected: serde_json::Value = serde_json::from_str(frame).unwrap();
            assert_eq!(socket.next().await["event"], expected, "{front_end}");
        }
    }
}

#[tokio::test]
async fn ai_sdk_stream_ends_with_its_reply() {
    let service = Service::with_session("s").await;
    let events = session();
    let id = events[1].reply_id().unwrap().to_owned();
    let own: Vec<AgentEvent> = events.iter().filter(|event| event.reply_id() == Some(&*id)).cloned().collect();
    let mut whole = frames_after(FrontEnd::AiSdk, &own, 0).1;
    whole.push("[DONE]".to_owned());
    let epoch = epoch_of(&service).await;
    // From before the reply starts, while it is in progress, and after it has ended.
    let mut early = service.stream(&format!("/v1/sessions/s/stream?dialect=ai-sdk&reply={id}"), &[]).await;
    let mut next = service.stream("/v1/sessions/s/stream?dialect=ai-sdk&after=now", &[]).await;
    assert!(early.head.contains("x-vercel-ai-ui-message-stream: v1"), "{}", early.head);
    let (begun, rest) = events.split_at(4);
    service.lines("/v1/sessions/s/events", &lines_of(begun)).await;
    let mut running = service.stream("/v1/sessions/s/stream?dialect=ai-sdk", &[]).await;
    service.lines("/v1/sessions/s/events", &lines_of(rest)).await;
    for stream in [&mut early, &mut next] {
        let found: Vec<String> = stream.take(whole.len()).await.into_iter().map(|frame| frame.data).collect();
        assert_eq!(found, whole);
        assert_eq!(stream.next().await, None);
    }
    let (before, frames) = frames_after(FrontEnd::AiSdk, &own, 3);
    let mut expected = FrontEnd::AiSdk.resume_frames("s", &before);
    expected.extend(frames);
    expected.push("[DONE]".to_owned());
    let found: Vec<String> = running.take(expected.len()).await.into_iter().map(|frame| frame.data).collect();
    assert_eq!(found, expected);
    assert_eq!(take(&service, &format!("dialect=ai-sdk&after={epoch}.4"), expected.len()).await, expected);
    let late = take(&service, &format!("dialect=ai-sdk&reply={id}"), 3).await;
    assert!(late[0].contains(&id) && late[2].contains("Hello, Alice"), "{late:?}");
    // No reply is in progress.
    let nothing = service.get("/v1/sessions/s/stream?dialect=ai-sdk").await;
    assert_eq!((nothing.status, nothing.body.len()), (204, 0));
    service.get(&format!("/v1/sessions/s/stream?reply={id}")).await.problem(400);
}

/// The client libraries parse every frame as an event of their protocol.
#[tokio::test]
async fn front_end_streams_have_no_gap_frames() {
    let service = Service::with_session("s").await;
    service.lines("/v1/sessions/s/events", &lines_of(&[user_message("one")])).await;
    let mut stream = service.stream("/v1/sessions/s/stream?dialect=ag-ui", &[("last-event-id", "1.1")]).await;
    let frame = stream.next().await.unwrap();
    assert_eq!((frame.event, frame.data.contains("RUN_STARTED")), (None, true));
}

/// In the log, a message is a CUSTOM event, but it is not a signal.
#[tokio::test]
async fn excluding_signals_keeps_messages() {
    let service = Service::with_session("s").await;
    service.lines("/v1/sessions/s/events", &lines_of(&[user_message("one")])).await;
    let told = service.get("/v1/sessions/s/events?dialect=ag-ui&signals=false").await.text();
    assert!(told.contains(r#""content":"one""#), "{told}");
}

#[tokio::test]
async fn front_end_dialects_are_rejected_for_posted_events() {
    let service = Service::with_session("s").await;
    let problem = service.lines("/v1/sessions/s/events?dialect=ag-ui", "{}").await.problem(400);
    assert_eq!(problem["field"], "dialect");
}
