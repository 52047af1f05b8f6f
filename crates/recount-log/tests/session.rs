//! The public API of a session: inputs, leases, readers, uploads, forks.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_log::storage::{StateChange, Visibility};
use recount_log::{
    Appended, Cursor, Error, Events, ForkPoint, Frame, GapReason, LeaseRequest, Log, Options, Refusal, RefusalReason,
    SNAPSHOT_MESSAGES, Session, Start,
};
use recount_message::{
    AgentEvent, ConfirmResult, CustomEvent, DataBlock, Event, ExternalExecutionResultEvent, Fold, Msg, Object,
    ReplyEnd, ReplyWriter, Stamps, ToolCallBlock, UrlSource, UserConfirmResultEvent, UserInterruptEvent,
};

async fn session(name: &str) -> (Log, Session) {
    let log = Log::in_memory();
    let session = log.create(name.parse().unwrap()).await.unwrap();
    (log, session)
}

fn message(id: &str) -> AgentEvent {
    let message = Msg::user("Alice", "Hello").with_id(id);
    Event::stamped(id.to_owned(), "2026-01-01T00:00:00Z", CustomEvent::message(&message))
}

fn call(id: &str) -> ToolCallBlock {
    ToolCallBlock::new(id, "shell", "{}")
}

fn confirm(event_id: &str, reply_id: &str, calls: &[&str]) -> AgentEvent {
    let answers: Vec<ConfirmResult> = calls.iter().map(|id| ConfirmResult::allow(call(id))).collect();
    Event::stamped(event_id.to_owned(), "2026-01-01T00:00:00Z", UserConfirmResultEvent::new(reply_id, answers))
}

fn result(event_id: &str, reply_id: &str, calls: &[&str]) -> AgentEvent {
    let results: Vec<_> = calls.iter().map(|id| call(id).success("done")).collect();
    Event::stamped(event_id.to_owned(), "2026-01-01T00:00:00Z", ExternalExecutionResultEvent::new(reply_id, results))
}

fn interrupt(event_id: &str, reply_id: &str) -> AgentEvent {
    Event::stamped(event_id.to_owned(), "2026-01-01T00:00:00Z", UserInterruptEvent::new(reply_id))
}

/// A reply that waits for the confirmation of `c1` and the external result of `c2`, but not for `c3`, and the events that
/// end it.
fn waiting() -> (String, Vec<AgentEvent>, Vec<AgentEvent>) {
    let mut events = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "s", "Friday");
    let id = reply.reply_id().to_owned();
    reply.model_call("some-model");
    let calls = ["c1", "c2", "c3"].map(|id| {
        let call = reply.tool_call(id, "shell");
        reply.tool_input(&call, "{}");
        call
    });
    reply.end_model_call(None);
    reply.ask(&calls[0], Vec::new());
    reply.submit(&[&calls[1]]);
    std::mem::forget(reply);
    let open = events.clone();
    let fold: Fold = open.iter().collect();
    let mut rest = Vec::new();
    let writer =
        ReplyWriter::resume(|event| rest.push(event), Stamps::default(), "s", fold.reply(&id).unwrap().clone());
    writer.end(ReplyEnd::completed());
    (id, open, rest)
}

#[track_caller]
fn check_refused(answer: Result<Appended, Error>, index: usize, event_id: &str, reason: RefusalReason) {
    match answer {
        Err(Error::Refused(refusal)) => {
            assert_eq!(refusal, Refusal { index, event_id: event_id.to_owned(), reason });
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn append_accepts_only_the_first_input() {
    let (_log, session) = session("chat").await;
    let (id, open, rest) = waiting();
    session.append(&open).await.unwrap();

    check_refused(session.append(&confirm("x1", &id, &["c3"])).await, 0, "x1", RefusalReason::NotWaiting);
    check_refused(session.append(&confirm("x2", &id, &["c9"])).await, 0, "x2", RefusalReason::Foreign);
    check_refused(session.append(&confirm("x3", "nobody", &["c1"])).await, 0, "x3", RefusalReason::Foreign);
    check_refused(session.append(&confirm("x4", &id, &["c1", "c1"])).await, 0, "x4", RefusalReason::Duplicate);
    // One invalid answer rejects the whole batch, including the events before it.
    check_refused(session.append(&confirm("x5", &id, &["c1", "c3"])).await, 0, "x5", RefusalReason::NotWaiting);
    let batch = [message("m1"), confirm("x6", &id, &["c2"])];
    check_refused(session.append(&batch[..]).await, 1, "x6", RefusalReason::NotWaiting);

    let first = session.append(&confirm("yes", &id, &["c1"])).await.unwrap();
    assert_eq!(first.cursor.seq, open.len() as u64 + 1, "nothing was written in between");
    let again = session.append(&confirm("yes", &id, &["c1"])).await.unwrap();
    assert_eq!((again.duplicates, again.cursor), (1, first.cursor), "the same again gets the first answer");
    check_refused(session.append(&confirm("no", &id, &["c1"])).await, 0, "no", RefusalReason::Duplicate);

    session.append(&result("done", &id, &["c2"])).await.unwrap();
    check_refused(session.append(&result("also", &id, &["c2"])).await, 0, "also", RefusalReason::Duplicate);
    session.append(&interrupt("stop", &id)).await.unwrap();
    check_refused(session.append(&interrupt("stop!", &id)).await, 0, "stop!", RefusalReason::Duplicate);

    session.append(&rest).await.unwrap();
    check_refused(session.append(&interrupt("late", &id)).await, 0, "late", RefusalReason::Late);
    let late = session.append(&Event::new(UserInterruptEvent::new("nobody"))).await;
    assert!(matches!(late, Err(Error::Refused(Refusal { reason: RefusalReason::Foreign, .. }))));
    assert_eq!(session.append(&interrupt("stop", &id)).await.unwrap().duplicates, 1, "known is known, late or not");
}

#[tokio::test]
async fn interrupted_reply_rejects_confirmations_until_it_asks_again() {
    let session = Log::in_memory().create("chat".parse().unwrap()).await.unwrap();
    let (id, open, _) = waiting();
    session.append(&open).await.unwrap();
    let batch = [interrupt("stop", &id), confirm("yes", &id, &["c1"])];
    check_refused(session.append(&batch[..]).await, 1, "yes", RefusalReason::Late);
    session.append(&batch[..1]).await.unwrap();
    check_refused(session.append(&confirm("yes", &id, &["c1"])).await, 0, "yes", RefusalReason::Late);
    check_refused(session.append(&result("done", &id, &["c2"])).await, 0, "done", RefusalReason::Late);
    // The agent has not received the interrupt yet.
    let asked =
        open.iter().find(|event| matches!(event.kind, recount_message::EventKind::RequireUserConfirm(_))).unwrap();
    session.append(&Event::stamped("again".to_owned(), asked.created_at.clone(), asked.kind.clone())).await.unwrap();
    session.append(&confirm("yes", &id, &["c1"])).await.unwrap();
}

#[tokio::test]
async fn external_result_is_remembered_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let session = log.create("chat".parse().unwrap()).await.unwrap();
    let (id, open, _) = waiting();
    session.append(&open).await.unwrap();
    let start =
        format!(r#"{{"type":"TOOL_RESULT_START","reply_id":"{id}","tool_call_id":"c2","tool_call_name":"shell"}}"#);
    session.append(&Event::from_json(&start).unwrap()).await.unwrap();
    session.append(&result("ahead", &id, &["c2"])).await.unwrap();
    check_refused(session.append(&result("second", &id, &["c2"])).await, 0, "second", RefusalReason::Duplicate);
    log.close().await.unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let session = log.session("chat".parse().unwrap());
    check_refused(session.append(&result("third", &id, &["c2"])).await, 0, "third", RefusalReason::Duplicate);
    log.close().await.unwrap();
}

#[tokio::test]
async fn ended_reply_ignores_further_events() {
    let (_log, session) = session("chat").await;
    let (id, open, rest) = waiting();
    session.append(&open).await.unwrap();
    let head = session.append(&rest).await.unwrap().cursor;
    let text = format!(r#"{{"type":"TEXT_BLOCK_START","reply_id":"{id}","block_id":"b"}}"#);
    let late = session.append(&Event::from_json(&text).unwrap()).await.unwrap();
    assert_eq!((late.written, late.cursor), (0, head));
    assert_eq!((late.ignored[0].reason, late.ignored[0].is_written), ("reply_ended", false));
    let unknown = session.append(&Event::from_json(&text.replace(&id, "other")).unwrap()).await.unwrap();
    assert_eq!((unknown.written, unknown.ignored[0].reason, unknown.ignored[0].is_written), (1, "unknown_reply", true));
}

#[tokio::test]
async fn empty_events_are_written_and_reported() {
    let (_log, session) = session("chat").await;
    let (id, open, _) = waiting();
    session.append(&open).await.unwrap();
    for (text, reason) in [
        (r#"{"type":"TEXT_BLOK_START","id":"e1","block_id":"b"}"#.to_owned(), "unknown_type"),
        (format!(r#"{{"type":"TEXT_BLOK_START","id":"e2","reply_id":"{id}"}}"#), "unknown_type"),
        (format!(r#"{{"type":"USER_CONFIRM_RESULT","id":"e3","reply_id":"{id}","confirm_results":[]}}"#), "empty"),
        (
            format!(r#"{{"type":"EXTERNAL_EXECUTION_RESULT","id":"e4","reply_id":"{id}","execution_results":[]}}"#),
            "empty",
        ),
    ] {
        let event = Event::from_json(&text).unwrap();
        let told = session.append(&event).await.unwrap();
        assert_eq!((told.written, told.ignored.len()), (1, 1), "{text}");
        assert_eq!((told.ignored[0].reason, told.ignored[0].is_written), (reason, true), "{text}");
        let again = session.append(&event).await.unwrap();
        assert_eq!((again.written, again.duplicates, again.ignored), (0, 1, Vec::new()));
    }
    let signal = Event::from_json(r#"{"type":"CUSTOM","name":"progress","value":{"done":3}}"#).unwrap();
    assert_eq!(session.append(&signal).await.unwrap().ignored, Vec::new());
}

#[tokio::test]
async fn append_under_a_lost_lease_fails() {
    let (_log, session) = session("chat").await;
    let first = session.lease(LeaseRequest::new("reply", "run 1")).await.unwrap();
    let old = session.appender(Some(first.clone()));
    old.append(&message("m1")).await.unwrap();
    session.renew(&first, Duration::from_secs(60)).await.unwrap();

    let second = session.lease(LeaseRequest::new("reply", "run 2").force()).await.unwrap();
    let lost = old.append(&message("m2")).await.unwrap_err();
    assert!(matches!(lost, Error::LeaseLost { .. }), "{lost}");
    let after = old.send(&message("m3")).await.unwrap_err();
    assert!(matches!(after, Error::Broken(_)), "{after}");
    session.appender(Some(second.clone())).append(&message("m4")).await.unwrap();

    let mut reader = session.subscribe(Start::Beginning).unwrap();
    let mut ids = Vec::new();
    while let Some(Frame::Entry(entry)) = reader.try_next().await.unwrap() {
        let event = Event::from_slice(&entry.event).unwrap().into_owned();
        ids.push(event.kind.recount_name().map_or_else(String::new, |name| name.as_str().to_owned()));
    }
    assert_eq!(ids, ["recount.message", "recount.taken_over", "recount.message"]);
    session.release(second).await.unwrap();
    session.lease(LeaseRequest::new("reply", "run 3")).await.unwrap();
}

#[tokio::test]
async fn lagging_reader_receives_every_entry() {
    let (_log, session) = session("chat").await;
    let mut lagging = session.subscribe(Start::Now).unwrap();
    assert_eq!(lagging.try_next().await.unwrap(), None);
    let count = 5_000;
    let events: Vec<AgentEvent> = (1..=count).map(|number| message(&format!("m{number}"))).collect();
    for piece in events.chunks(700) {
        session.append(piece).await.unwrap();
    }
    let last = session.append(&message("last")).await.unwrap().cursor;
    for seq in 1..=last.seq {
        let Frame::Entry(entry) = lagging.next().await.unwrap() else { panic!("no entry") };
        assert_eq!(entry.cursor.seq, seq);
    }
    assert_eq!(lagging.try_next().await.unwrap(), None);
}

#[tokio::test]
async fn reader_notices_replaced_and_deleted_sessions() {
    let (log, session) = session("chat").await;
    let cursor = session.append(&message("m1")).await.unwrap().cursor;
    let mut reader = session.subscribe(Start::After(cursor)).unwrap();
    assert_eq!(reader.try_next().await.unwrap(), None);
    let copy = log.fork(session.key(), None, "copy".parse().unwrap()).await.unwrap();
    assert_ne!(copy.info().await.unwrap().epoch, cursor.epoch);

    session.delete().await.unwrap();
    assert!(matches!(reader.try_next().await, Err(Error::UnknownSession(_))));
    let session = log.create("chat".parse().unwrap()).await.unwrap();
    session.append(&message("m1")).await.unwrap();
    assert_eq!(reader.next().await.unwrap(), Frame::Gap(GapReason::Epoch));
    assert!(matches!(reader.next().await.unwrap(), Frame::Snapshot(_)));
    assert!(matches!(log.create("chat".parse().unwrap()).await, Err(Error::SessionExists(_))));
}

#[tokio::test]
async fn sweep_keeps_uploads_that_the_tenant_references() {
    let log = Log::in_memory();
    let session = log.create("acme/chat".parse().unwrap()).await.unwrap();
    let named = log.upload("acme", "image/png", &b"named"[..]).await.unwrap();
    let other = log.upload("acme", "image/png", &b"other"[..]).await.unwrap();
    let image = DataBlock::new(UrlSource::unchecked(named.url(), "image/png"));
    session.append(&Event::new(CustomEvent::message(&Msg::user("Alice", image)))).await.unwrap();
    log.sweep(Duration::ZERO).await.unwrap();
    assert!(log.uploaded("acme", named).await.unwrap().is_some());
    assert_eq!(log.uploaded("acme", other).await.unwrap(), None);
    session.delete().await.unwrap();
    log.sweep(Duration::ZERO).await.unwrap();
    assert_eq!(log.uploaded("acme", named).await.unwrap(), None);
}

#[tokio::test]
async fn fork_to_another_tenant_copies_referenced_uploads() {
    let log = Log::in_memory();
    let session = log.create("acme/chat".parse().unwrap()).await.unwrap();
    let image = log.upload("acme", "image/png", &b"image"[..]).await.unwrap();
    let shown = DataBlock::new(UrlSource::unchecked(image.url(), "image/png"));
    session.append(&Event::new(CustomEvent::message(&Msg::user("Alice", shown)))).await.unwrap();
    log.fork(session.key(), None, "zeta/chat".parse().unwrap()).await.unwrap();
    session.delete().await.unwrap();
    log.sweep(Duration::ZERO).await.unwrap();
    assert_eq!(log.uploaded("acme", image).await.unwrap(), None);
    let copied = log.uploaded("zeta", image).await.unwrap().unwrap();
    assert_eq!((copied.media_type.as_str(), &copied.bytes[..]), ("image/png", &b"image"[..]));
}

#[tokio::test]
async fn open_replies_at_returns_an_earlier_state() {
    let (_log, session) = session("chat").await;
    let (id, open, rest) = waiting();
    let middle = session.append(&open).await.unwrap().cursor;
    let then = session.snapshot().await.unwrap().open;
    session.append(&rest).await.unwrap();
    let (now, was) = (session.snapshot().await.unwrap(), session.open_replies_at(middle).await.unwrap());
    assert_eq!((now.open.len(), was.len(), was[0].id.as_str()), (0, 1, id.as_str()));
    assert_eq!(was[0].fold, then[0].fold);
    let future = Cursor { seq: 1_000, ..middle };
    assert!(matches!(session.open_replies_at(future).await, Err(Error::Gap { reason: GapReason::Future, .. })));
}

#[tokio::test]
async fn documents_are_stored_only_with_a_successful_append() {
    let (_log, session) = session("chat").await;
    let note = |body: &str| vec![StateChange { name: "note".to_owned(), body: Some(body.to_owned()) }];
    let before = session.append(&message("m1")).await.unwrap().cursor;
    let first = session.append_if_with(before, &message("m2"), note("first")).await.unwrap();
    session.append_if_with(first.cursor, &message("m3"), note("second")).await.unwrap();

    // Without events, only the head shows that another append was faster.
    let alone = session.append_if_with(first.cursor, Events::default(), note("late")).await;
    assert!(matches!(alone, Err(Error::Moved { head, .. }) if head.seq == 3), "{alone:?}");
    assert_eq!(session.state("note").await.unwrap().as_deref(), Some("second"));
    // A repeated append gets the first result and does not overwrite newer documents.
    let again = session.append_if_with(before, &message("m2"), note("first")).await.unwrap();
    assert_eq!((again.duplicates, again.cursor), (1, first.cursor));
    assert_eq!(session.state("note").await.unwrap().as_deref(), Some("second"));
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_reader_fails_when_the_log_is_closed() {
    let (log, session) = session("chat").await;
    session.append(&message("m1")).await.unwrap();
    let mut reader = session.subscribe(Start::Beginning).unwrap();
    assert!(matches!(reader.next().await.unwrap(), Frame::Entry(_)));
    let waiting = tokio::spawn(async move { reader.next().await });
    log.clone().close().await.unwrap();
    assert!(matches!(waiting.await.unwrap(), Err(Error::Closed)));
    assert!(matches!(session.subscribe(Start::Now), Err(Error::Closed)));
}

fn start(reply_id: &str) -> AgentEvent {
    let text = format!(r#"{{"type":"REPLY_START","session_id":"s","reply_id":"{reply_id}","name":"Friday"}}"#);
    Event::from_json(&text).unwrap().into_owned()
}

fn end(reply_id: &str) -> AgentEvent {
    let text = format!(r#"{{"type":"REPLY_END","session_id":"s","reply_id":"{reply_id}"}}"#);
    Event::from_json(&text).unwrap().into_owned()
}

#[tokio::test]
async fn snapshot_contains_positions_of_open_replies() {
    let (_log, session) = session("chat").await;
    let places = async || {
        let snapshot = Object::parse(&session.snapshot().await.unwrap().to_json()).unwrap();
        snapshot.get("places").map(ToString::to_string).unwrap_or_default()
    };
    // Without open replies, or with one that is the newest item, no positions are written.
    assert_eq!(places().await, "");
    session.append([&message("m0"), &start("0")]).await.unwrap();
    assert_eq!(places().await, "");
    session.append([&message("m1")]).await.unwrap();
    assert_eq!(places().await, r#"{"0":1}"#);
    session.append([&end("0")]).await.unwrap();
    assert_eq!(places().await, "");
    // JavaScript objects would reorder these ids.
    session.append([&start("9"), &message("m2"), &start("3"), &start("7"), &message("m3")]).await.unwrap();
    assert_eq!(places().await, r#"{"9":3,"3":5,"7":6}"#);
    session.append([&end("3"), &message("m4"), &start("1")]).await.unwrap();
    assert_eq!(places().await, r#"{"9":3,"7":6,"1":9}"#);
    // Replies that started before all messages of the snapshot come first.
    let more: Vec<AgentEvent> = (0..SNAPSHOT_MESSAGES).map(|number| message(&format!("more-{number}"))).collect();
    session.append(&more).await.unwrap();
    assert_eq!(places().await, r#"{"9":0,"7":1,"1":2}"#);
}

#[tokio::test]
async fn fork_before_a_message_copies_the_entries_before_it() {
    let (log, session) = session("chat").await;
    let events = [&message("m1"), &start("r1"), &start("r2"), &end("r1"), &message("m2"), &start("r3"), &end("r2")];
    session.append(events).await.unwrap();
    let before = async |id: &str, name: &str| {
        let until = ForkPoint::Before(id.to_owned());
        let copy = log.fork(session.key(), until, name.parse().unwrap()).await?;
        let page = copy.messages(None, Visibility::All, 10).await?.unwrap();
        let messages = page.messages.iter().map(|message| message.decode().unwrap());
        Ok::<_, Error>(messages.map(|message| message.id().to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(before("m1", "a").await.unwrap(), [""; 0]);
    // Complete, open, and started while other replies were open.
    assert_eq!(before("r2", "b").await.unwrap(), ["m1", "r1"]);
    assert_eq!(before("m2", "c").await.unwrap(), ["m1", "r1", "r2"]);
    assert_eq!(before("r3", "d").await.unwrap(), ["m1", "r1", "r2", "m2"]);
    session.compact(Duration::ZERO).await.unwrap();
    assert_eq!(before("m2", "e").await.unwrap(), ["m1", "r1", "r2"]);
    let unknown = before("nobody", "f").await.unwrap_err();
    assert_eq!(unknown.to_string(), r#"there is no message "nobody" in the session chat"#);
    assert!(log.session("f".parse().unwrap()).info().await.is_err());
}

#[tokio::test]
async fn hosted_replies_are_listed_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    for (name, is_hosted) in [("hosted", true), ("foreign", false)] {
        let session = log.create(name.parse().unwrap()).await.unwrap();
        let lease = session.lease(LeaseRequest::new("reply", "run 1")).await.unwrap();
        let (_, open, _) = waiting();
        session.appender(is_hosted.then_some(lease)).append(&open).await.unwrap();
    }
    log.close().await.unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let hosting: Vec<String> = log.hosted_sessions().await.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(hosting, ["hosted"]);
    let open = log.session("hosted".parse().unwrap()).snapshot().await.unwrap().open;
    assert!(open[0].hosted);
    // The lease of the earlier process is void.
    log.session("hosted".parse().unwrap()).lease(LeaseRequest::new("reply", "run 2")).await.unwrap();
    log.close().await.unwrap();
}

#[tokio::test]
async fn top_level_visibility_excludes_sub_agents() {
    let (_log, session) = session("chat").await;
    for (id, parent) in [("top", None), ("sub", Some("top"))] {
        let mut start = start(id);
        if let Some(parent) = parent {
            start = start.with_extension("parent", parent);
        }
        session.append([&start, &end(id)]).await.unwrap();
    }
    let count = async |show| session.messages(None, show, 10).await.unwrap().unwrap().messages.len();
    assert_eq!((count(Visibility::All).await, count(Visibility::TopLevel).await), (2, 1));
    let Frame::Snapshot(snapshot) =
        session.subscribe_with(Start::Snapshot, Visibility::TopLevel).unwrap().next().await.unwrap()
    else {
        panic!("no snapshot")
    };
    assert_eq!(snapshot.messages.len(), 1);
    let about = Object::from([("title", "Holidays")]);
    session.set_properties(&about).await.unwrap();
    assert_eq!(session.info().await.unwrap().properties, about.to_json());
}
