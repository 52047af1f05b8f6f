//! Readers that disconnect and resume during concurrent writes. Each ends up with the frames of an uninterrupted reader.

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_log::storage::Visibility;
use recount_log::{Durability, EncodedMessage, Log, Options};
use recount_message::{AgentEvent, Checkpoint, Event, Fold, ReplyEnd, ReplyWriter, Stamps, ToolResultState, Usage};
use recount_testkit::random::Random;
use serde_json::{Value, json};

use crate::sockets::Socket;
use crate::support::{self, Service, lines_of};

/// The query parameters of the readers.
const FORMATS: [&str; 7] =
    ["", "dialect=java", "dialect=java1", "dialect=typescript", "dialect=ag-ui", "all=true", "signals=false&all=true"];
const TRANSPORTS: [Transport; 3] = [Transport::Stream, Transport::Socket, Transport::Pages];
const SESSIONS: usize = 4;
/// The number of concurrent writers per session.
const WRITERS: usize = 2;
/// The maximum number of disconnects per round. A test with more runs several rounds, each with sessions of its own.
const DISCONNECTS: usize = 5_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    Stream,
    Socket,
    Pages,
}

struct Round {
    service: Service,
    seed: u64,
    /// The number of disconnects of each reader.
    disconnects: [AtomicUsize; TRANSPORTS.len() * FORMATS.len()],
    /// The number of disconnects of all visitors.
    visits: AtomicUsize,
    target: usize,
    /// The last cursor of each session, once all writers have finished.
    heads: OnceLock<Vec<String>>,
}

impl Round {
    fn disconnects(&self) -> usize {
        let disconnects = self.disconnects.iter().chain([&self.visits]);
        disconnects.map(|count| count.load(Ordering::Acquire)).sum()
    }

    /// Whether there were enough disconnects, and each reader had its share of them.
    fn has_enough(&self) -> bool {
        let share = self.target / (4 * self.disconnects.len());
        self.disconnects() >= self.target && self.disconnects.iter().all(|count| count.load(Ordering::Acquire) >= share)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_resume_without_loss_or_duplicates() {
    let target = std::env::var("RECOUNT_DISCONNECTS").ok().and_then(|count| count.parse().ok());
    let (mut disconnects, target, shows_progress) = (0, target.unwrap_or(DISCONNECTS), target.is_some());
    for seed in 0.. {
        disconnects += run_round(seed, (target - disconnects).min(DISCONNECTS)).await;
        if shows_progress {
            let _ = writeln!(std::io::stderr(), "{disconnects} of {target} disconnects without loss");
        }
        if disconnects >= target {
            break;
        }
    }
}

/// Disconnects readers of all formats and transports during writes, and compares their frames with those of an uninterrupted
/// reader.
async fn run_round(seed: u64, target: usize) -> usize {
    // Alternates between storage on disk and in memory, which differ in timing.
    let directory = tempfile::tempdir().unwrap();
    let log = match seed % 2 {
        0 => Log::open(directory.path(), Options::default().durability(Durability::Process)).unwrap(),
        _ => Log::in_memory(),
    };
    let service = Service::with(log, recount_server::ServerOptions::default()).await;
    for number in 0..SESSIONS {
        service.log.create(format!("s{number}").parse().unwrap()).await.unwrap();
    }
    let (disconnects, visits, heads) = (Default::default(), AtomicUsize::new(0), OnceLock::new());
    let round = Round { service, seed, disconnects, visits, target, heads };
    let round = Arc::new(round);
    let mut readers = Vec::new();
    for (number, format) in FORMATS.iter().cycle().take(round.disconnects.len()).enumerate() {
        let transport = TRANSPORTS[number / FORMATS.len()];
        let session = number % SESSIONS;
        readers.push((
            session,
            *format,
            transport,
            tokio::spawn(read(Arc::clone(&round), session, format, transport, number)),
        ));
    }
    let visitors: Vec<_> = (0..SESSIONS).map(|session| tokio::spawn(visit(Arc::clone(&round), session))).collect();
    let writers = (0..SESSIONS * WRITERS).map(|number| tokio::spawn(write(Arc::clone(&round), number)));
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let mut heads = Vec::new();
    for session in 0..SESSIONS {
        // The last event of this reply is visible in all formats.
        append(&round.service, session, &support::reply(&["The end."])).await;
        heads.push(head_of(&round.service, session).await);
    }
    round.heads.set(heads).unwrap();
    for (session, format, transport, reader) in readers {
        let expected = uninterrupted(&round.service, session, format).await;
        let seen = reader.await.unwrap();
        assert_eq!(seen.len(), expected.len(), "{transport:?} of s{session} with {format:?}, seed {seed}");
        assert!(seen == expected, "{transport:?} of s{session} with {format:?}, seed {seed}");
    }
    for (session, visitor) in visitors.into_iter().enumerate() {
        let entries = uninterrupted(&round.service, session, "all=true").await;
        check_visits(&entries, &visitor.await.unwrap());
        let fold = folded(&entries);
        let stored = round.service.log.session(format!("s{session}").parse().unwrap());
        let stored = stored.messages(None, Visibility::All, usize::MAX - 1).await.unwrap().unwrap();
        assert!(fold.messages().map(EncodedMessage::from).eq(stored.messages), "s{session}, seed {seed}");
    }
    assert!(round.has_enough());
    round.disconnects()
}

/// Writes replies, two at a time, until there were enough disconnects.
async fn write(round: Arc<Round>, number: usize) {
    let session = number % SESSIONS;
    let mut random = Random::new(round.seed * 10_000 + number as u64);
    let mut open: Vec<Vec<AgentEvent>> = Vec::new();
    while !round.has_enough() {
        if open.len() < 2 {
            let parent = open.first().and_then(|events| events.first()?.reply_id().map(str::to_owned));
            let parent = parent.filter(|_| random.chance(40));
            let mut events = reply(&mut random, parent.as_deref());
            events.reverse();
            open.push(events);
        }
        let at = random.below(open.len());
        let count = random.between(1, 6).min(open[at].len());
        let batch: Vec<AgentEvent> = (0..count).filter_map(|_| open[at].pop()).collect();
        append(&round.service, session, &batch).await;
        open.retain(|events| !events.is_empty());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    for mut events in open {
        events.reverse();
        append(&round.service, session, &events).await;
    }
}

async fn append(service: &Service, session: usize, events: &[AgentEvent]) {
    let answer = service.lines(&format!("/v1/sessions/s{session}/events"), &lines_of(events)).await;
    assert_eq!((answer.status, &answer.value()["written"]), (200, &json!(events.len())));
}

/// Returns the events of a random reply with all kinds of blocks.
fn reply(random: &mut Random, parent: Option<&str>) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "s", "Friday");
    for round in 0..random.between(1, 3) {
        reply.model_call("demo");
        for _ in 0..random.below(4) {
            reply.thinking("hm, ");
        }
        for number in 0..random.between(1, 6) {
            reply.text(format!("word{number} \u{1f600} "));
        }
        let call = random.chance(60).then(|| {
            let call = reply.tool_call(&format!("call-{round}"), "search");
            reply.tool_input(&call, r#"{"query":"#);
            reply.tool_input(&call, r#""weather"}"#);
            reply.end_tool_call(&call);
            call
        });
        reply.end_model_call(Some(Usage::new(10, 3)));
        if let Some(call) = call {
            let result = reply.tool_result(call);
            reply.result_text(&result, "It ");
            reply.result_text(&result, "rains");
            reply.end_result(result, ToolResultState::Success);
        }
    }
    reply.end(ReplyEnd::completed());
    if let Some(parent) = parent {
        events[0] = events[0].clone().with_extension("parent", parent);
    }
    events
}

/// Reads a session to its end and disconnects after a few frames each time.
async fn read(
    round: Arc<Round>,
    session: usize,
    format: &'static str,
    transport: Transport,
    number: usize,
) -> Vec<String> {
    let mut random = Random::new(round.seed * 10_000 + number as u64 + 1_000);
    let (mut seen, mut cursor) = (Vec::new(), "start".to_owned());
    loop {
        // Many readers disconnect before the first frame.
        let count = if random.chance(20) { 0 } else { random.between(1, 40) };
        let head = round.heads.get().map(|heads| &heads[session]);
        match transport {
            Transport::Stream => read_stream(&round.service, session, format, count, &mut cursor, &mut seen).await,
            Transport::Socket => read_socket(&round.service, session, format, count, &mut cursor, &mut seen).await,
            Transport::Pages => read_pages(&round.service, session, format, count, &mut cursor, &mut seen).await,
        }
        round.disconnects[number].fetch_add(1, Ordering::AcqRel);
        if head.is_some_and(|head| cursor == *head) {
            return seen;
        }
    }
}

async fn head_of(service: &Service, session: usize) -> String {
    service.get(&format!("/v1/sessions/s{session}")).await.value()["cursor"].as_str().unwrap().to_owned()
}

/// The time without a frame after which a reader checks whether the writers have finished.
const QUIET: Duration = Duration::from_millis(100);

async fn read_stream(
    service: &Service,
    session: usize,
    format: &str,
    count: usize,
    cursor: &mut String,
    seen: &mut Vec<String>,
) {
    // As a browser does on the first connection and on later ones.
    let mut stream = if cursor == "start" {
        service.stream(&format!("/v1/sessions/s{session}/stream?{format}&after=start"), &[]).await
    } else {
        service.stream(&format!("/v1/sessions/s{session}/stream?{format}"), &[("last-event-id", cursor)]).await
    };
    let mut pending = Vec::new();
    for _ in 0..count {
        let Ok(frame) = tokio::time::timeout(QUIET, stream.next()).await else { return };
        let frame = frame.expect("a frame");
        assert_eq!(frame.event, None, "{frame:?}");
        pending.push(frame.data);
        // A frame without an id is sent again.
        if let Some(id) = frame.id {
            take(id, &mut pending, cursor, seen);
        }
    }
}

async fn read_socket(
    service: &Service,
    session: usize,
    format: &str,
    count: usize,
    cursor: &mut String,
    seen: &mut Vec<String>,
) {
    let mut socket = Socket::open(service, "/v1/ws").await;
    let mut target = json!({"subscribe": format!("s{session}"), "after": cursor});
    for (name, value) in format.split('&').filter_map(|pair| pair.split_once('=')) {
        target[name] = if name == "dialect" { json!(value) } else { json!(value == "true") };
    }
    socket.send(target).await;
    let mut pending = Vec::new();
    for _ in 0..count {
        let Ok(frame) = tokio::time::timeout(QUIET, socket.text()).await else { return };
        let frame = frame.expect("a frame");
        let Some((head, event)) = frame.split_once("\"event\":") else {
            assert!(frame.contains("\"live\":"), "{frame}");
            continue;
        };
        pending.push(event.strip_suffix('}').unwrap().to_owned());
        if let Some((_, id)) = head.split_once("\"id\":\"") {
            take(id.split('"').next().unwrap().to_owned(), &mut pending, cursor, seen);
        }
    }
}

/// Takes the frames of an entry. A front-end protocol starts each connection with the replies that are open at the cursor;
/// these frames are not entries.
fn take(id: String, pending: &mut Vec<String>, cursor: &mut String, seen: &mut Vec<String>) {
    if id == *cursor {
        pending.clear();
        return;
    }
    seen.append(pending);
    *cursor = id;
}

async fn read_pages(
    service: &Service,
    session: usize,
    format: &str,
    count: usize,
    cursor: &mut String,
    seen: &mut Vec<String>,
) {
    let limit = count.max(1);
    let path = format!("/v1/sessions/s{session}/events?{format}&after={cursor}&limit={limit}");
    let answer = service.get(&path).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    if count == 0 {
        return;
    }
    seen.extend(answer.text().lines().map(str::to_owned));
    *cursor = answer.header("recount-cursor").unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// Returns the frames of a reader that never disconnects.
async fn uninterrupted(service: &Service, session: usize, format: &str) -> Vec<String> {
    let head = head_of(service, session).await;
    let mut stream = service.stream(&format!("/v1/sessions/s{session}/stream?{format}&after=start"), &[]).await;
    let mut seen = Vec::new();
    loop {
        let frame = stream.next().await.expect("a frame");
        seen.push(frame.data);
        if frame.id.is_some_and(|id| id == head) {
            return seen;
        }
    }
}

/// The frames of a reader without a cursor: a snapshot, and some entries after it.
struct Visit {
    snapshot: Value,
    entries: Vec<String>,
    /// The sequence number of the last entry.
    seq: u64,
}

/// Connects repeatedly without a cursor.
async fn visit(round: Arc<Round>, session: usize) -> Vec<Visit> {
    let mut random = Random::new(round.seed * 10_000 + session as u64 + 2_000);
    let mut visits = Vec::new();
    while round.heads.get().is_none() {
        let mut stream = round.service.stream(&format!("/v1/sessions/s{session}/stream?all=true"), &[]).await;
        let first = stream.next().await.unwrap();
        assert_eq!(first.event.as_deref(), Some("snapshot"));
        let mut visit = Visit {
            snapshot: serde_json::from_str(&first.data).unwrap(),
            entries: Vec::new(),
            seq: support::seq(&first.id.unwrap()),
        };
        for _ in 0..random.below(30) {
            let Ok(frame) = tokio::time::timeout(QUIET, stream.next()).await else { break };
            let frame = frame.unwrap();
            let seq = support::seq(&frame.id.unwrap());
            assert_eq!(seq, visit.seq + 1, "gap or duplicate");
            visit.seq = seq;
            visit.entries.push(frame.data);
        }
        if visits.len() < 40 {
            visits.push(visit);
        }
        round.visits.fetch_add(1, Ordering::AcqRel);
    }
    visits
}

fn folded(entries: &[String]) -> Fold {
    let events: Vec<Event<'_>> = entries.iter().map(|entry| Event::from_json(entry).unwrap()).collect();
    events.iter().collect()
}

/// Compares the folds of visitors with the fold of the log.
fn check_visits(entries: &[String], visits: &[Visit]) {
    for visit in visits {
        let expected = folded(&entries[..usize::try_from(visit.seq).unwrap()]);
        let open = visit.snapshot["open"].as_object().unwrap().values().cloned().collect::<Vec<Value>>();
        let checkpoint = json!({"version": 1, "cursor": "0", "replies": open}).to_string();
        let mut fold = Fold::resume(Checkpoint::from_json(&checkpoint).unwrap());
        for entry in &visit.entries {
            let _ = fold.apply(&Event::from_json(entry).unwrap());
        }
        for message in fold.messages() {
            assert_eq!(Some(message.to_json()), expected.message(message.id()).map(recount_message::Msg::to_json));
        }
        for message in visit.snapshot["messages"].as_array().unwrap() {
            let known = expected.message(message["id"].as_str().unwrap()).unwrap().to_json();
            assert_eq!(*message, serde_json::from_str::<Value>(&known).unwrap());
        }
    }
}
