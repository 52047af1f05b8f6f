//! Kills a service at random times under load. Afterwards, acknowledged events exist exactly once and in order, interrupted
//! replies continue, and readers resume at their cursor.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use recount_message::{AgentEvent, Event, Fold, Msg, ReplyEnd, ReplyWriter, Stamps};
use recount_testkit::random::Random;
use serde_json::{Value, json};

use crate::run::{directory, recount};
use crate::serve::{Service, TIMEOUT, send_request, text_of};

const SESSIONS: usize = 3;
/// The number of concurrent external writers per session.
const WRITERS: usize = 2;
/// The maximum number of acknowledged batches before the service is killed.
const BATCHES: usize = 120;

#[test]
fn interrupted_reply_continues_after_a_crash() {
    let data = directory("serve-continues");
    let service = Service::start(&data);
    service.request("PUT", "/v1/sessions/s", &[], "{}");
    let (_, posted) = service.request("POST", "/v1/sessions/s/messages", &[], r#"{"content":"a long story, please"}"#);
    let reply = text_of(&posted, "reply_id");
    let until = Instant::now() + TIMEOUT;
    while !service.get("/v1/sessions/s/events").contains("TEXT_BLOCK_DELTA") {
        assert!(Instant::now() < until);
        thread::sleep(Duration::from_millis(20));
    }
    service.kill();
    let service = Service::start(&data);
    // New events show that the reply continues. It need not finish.
    let head = || service.get("/v1/sessions/s/events?limit=10000").lines().count();
    let before = head();
    while head() == before {
        assert!(Instant::now() < until);
        thread::sleep(Duration::from_millis(20));
    }
    service.request("POST", "/v1/sessions/s/interrupt", &[], "{}");
    service.wait_for_status("s", "idle");
    let events = service.get("/v1/sessions/s/events?limit=10000");
    let events: Vec<Event<'_>> = events.lines().map(|line| Event::from_json(line).unwrap()).collect();
    let fold: Fold = events.iter().collect();
    let folded = fold.message(&reply).unwrap().to_json();
    assert!(service.get("/v1/sessions/s/messages").contains(&folded));
    service.kill();
}

#[test]
fn waiting_reply_still_waits_after_a_crash() {
    let data = directory("serve-waits");
    let mut service = Service::start(&data);
    service.request("PUT", "/v1/sessions/s", &[], "{}");
    let (_, posted) = service.request("POST", "/v1/sessions/s/messages", &[], r#"{"content":"use a tool"}"#);
    service.wait_for_status("s", "waiting");
    let before = service.get("/v1/sessions/s/events");
    for _ in 0..2 {
        service.kill();
        service = Service::start(&data);
        assert_eq!(text_of(&service.get("/v1/sessions/s"), "status"), "waiting");
        assert_eq!(service.get("/v1/sessions/s/events"), before, "a restart appends no events");
    }
    service.confirm("s");
    service.wait_for_status("s", "idle");
    let messages: Value = serde_json::from_str(&service.get("/v1/sessions/s/messages")).unwrap();
    let reply = &messages["messages"][1];
    assert_eq!((&reply["id"], &reply["finished_reason"]), (&json!(text_of(&posted, "reply_id")), &json!("completed")));
    service.kill();
}

/// Kills a service under load repeatedly. `RECOUNT_CRASHES` is the number of rounds; the default is 4.
#[test]
fn acknowledged_events_survive_crashes() {
    let rounds = std::env::var("RECOUNT_CRASHES").ok().and_then(|text| text.parse().ok());
    let (rounds, shows_progress): (usize, bool) = (rounds.unwrap_or(4), rounds.is_some());
    let data = directory("serve-crashes");
    let mut random = Random::new(1);
    let (mut writers, mut readers): (Vec<Writer>, Vec<Reader>) = (Vec::new(), Vec::new());
    for session in 0..SESSIONS {
        readers.push(Reader { session, seen: Vec::new(), cursor: None });
        writers.extend((0..WRITERS).map(|number| Writer::new(session, number)));
    }
    let mut posted = Vec::new();
    for round in 0..rounds {
        let service = Service::start(&data);
        let (address, count) = (service.address.clone(), AtomicUsize::new(0));
        let wanted = random.below(BATCHES);
        let pause = Duration::from_micros(random.below(3_000) as u64);
        thread::scope(|scope| {
            for writer in &mut writers {
                scope.spawn(|| writer.write(&address, &count));
            }
            for reader in &mut readers {
                scope.spawn(|| reader.read(&address));
            }
            // Not in every round: the service replies to all of them at the end.
            if round % 5 == 0 {
                posted.extend(post_message(&address, round));
            }
            let until = Instant::now() + TIMEOUT;
            while count.load(Ordering::Acquire) < wanted {
                assert!(Instant::now() < until, "no batch was acknowledged in time");
                thread::sleep(Duration::from_micros(200));
            }
            thread::sleep(pause);
            service.kill();
        });
        if shows_progress && (round + 1) % 10 == 0 {
            let count: usize = writers.iter().map(|writer| writer.acknowledged).sum();
            let _ = writeln!(std::io::stderr(), "killed {} of {rounds} times, {count} events acknowledged", round + 1);
        }
    }
    let service = Service::start(&data);
    check_sessions(&service, &mut writers, &readers);
    check_answers(&service, &posted);
    assert_eq!(service.terminate(), Some(0));
    let doctor = recount(&format!("doctor --deep --data {}", data.display()), b"");
    assert_eq!(doctor.exit, Some(0), "{}", doctor.stdout);
}

/// An external agent that appends replies to a session across restarts of the service.
struct Writer {
    session: usize,
    random: Random,
    /// The generated events, up to the end of a reply.
    generated: Vec<AgentEvent>,
    /// The number of acknowledged events.
    acknowledged: usize,
}

impl Writer {
    fn new(session: usize, number: usize) -> Self {
        let random = Random::new((session * WRITERS + number) as u64 + 10);
        Self { session, random, generated: Vec::new(), acknowledged: 0 }
    }

    /// Writes batches until the service is killed.
    fn write(&mut self, address: &str, count: &AtomicUsize) {
        let path = format!("/v1/sessions/c{}", self.session);
        // The service may be killed before the session is created.
        if send_request(address, "PUT", &path, &[], "{}").is_none() {
            return;
        }
        while self.write_batch(address, &path) {
            count.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Writes a batch and returns whether it was acknowledged. Batches can overlap, because an unacknowledged batch may have
    /// been committed.
    fn write_batch(&mut self, address: &str, path: &str) -> bool {
        let first = self.acknowledged.saturating_sub(self.random.below(5));
        let end = self.acknowledged + self.random.between(1, 6);
        while self.generated.len() < end {
            self.generate_reply();
        }
        let events: Vec<String> = self.generated[first..end].iter().map(Event::to_json).collect();
        let answer = send_request(address, "POST", &format!("{path}/events"), &[], &format!("[{}]", events.join(",")));
        let Some((status, answer)) = answer else { return false };
        assert_eq!(status, 200, "{answer}");
        // A truncated response is not an acknowledgement.
        let Ok(answer) = serde_json::from_str::<Value>(&answer) else { return false };
        let count = answer["written"].as_u64().unwrap() + answer["duplicates"].as_u64().unwrap();
        assert_eq!((count as usize, &answer["ignored"]), (end - first, &json!([])), "{answer}");
        self.acknowledged = end;
        true
    }

    fn generate_reply(&mut self) {
        let generated = &mut self.generated;
        let mut reply = ReplyWriter::start(|event| generated.push(event), Stamps::default(), "elsewhere", "Friday");
        reply.model_call("m");
        for word in 0..self.random.between(1, 40) {
            reply.text(format!("word {word} \u{1f600} "));
        }
        reply.end_model_call(None);
        reply.end(ReplyEnd::completed());
    }
}

/// A reader that resumes at its cursor when the connection breaks.
struct Reader {
    session: usize,
    seen: Vec<String>,
    cursor: Option<String>,
}

impl Reader {
    /// Reads until the service is killed.
    fn read(&mut self, address: &str) {
        // The session may not exist yet. The next round reads it.
        let _ = self.try_read(address);
    }

    fn try_read(&mut self, address: &str) -> std::io::Result<()> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let place = match &self.cursor {
            Some(cursor) => format!(" HTTP/1.1\r\nlast-event-id: {cursor}"),
            None => "?after=start HTTP/1.1".to_owned(),
        };
        write!(stream, "GET /v1/sessions/c{}/stream{place}\r\nhost: {address}\r\n\r\n", self.session)?;
        let mut id = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line?;
            assert!(!line.starts_with("event: "), "unexpected gap: {line}");
            if let Some(cursor) = line.strip_prefix("id: ") {
                cursor.clone_into(&mut id);
            } else if let Some(data) = line.strip_prefix("data: ") {
                let seq: usize = id.split_once('.').unwrap().1.parse().unwrap();
                assert_eq!(seq, self.seen.len() + 1, "no duplicate and no missing events");
                self.seen.push(data.to_owned());
                self.cursor = Some(id.clone());
            }
        }
        Ok(())
    }
}

/// Posts a message to the service's own agent. Returns the ids of the message and the reply if it was acknowledged.
fn post_message(address: &str, round: usize) -> Option<(String, String)> {
    send_request(address, "PUT", "/v1/sessions/asked", &[], "{}")?;
    let id = format!("m{round}");
    let message = json!({"content": "Hello", "id": id, "on_busy": "queue"}).to_string();
    let (status, answer) = send_request(address, "POST", "/v1/sessions/asked/messages", &[], &message)?;
    assert_eq!(status, 202, "{answer}");
    let answer: Value = serde_json::from_str(&answer).ok()?;
    Some((id, answer["reply_id"].as_str()?.to_owned()))
}

/// Compares the log with the acknowledged events and with the events that readers received.
fn check_sessions(service: &Service, writers: &mut [Writer], readers: &[Reader]) {
    for reader in readers {
        let path = format!("/v1/sessions/c{}", reader.session);
        let mut own: Vec<&mut Writer> = writers.iter_mut().filter(|writer| writer.session == reader.session).collect();
        for writer in &mut own {
            while writer.acknowledged < writer.generated.len() {
                assert!(writer.write_batch(&service.address, &path));
            }
        }
        let log = all_events(service, &path);
        assert!(log.starts_with(&reader.seen), "events that were read must still exist");
        let kept: Vec<String> = log.iter().map(|line| text_of(line, "id")).collect();
        let mut expected: HashMap<String, String> = HashMap::new();
        for writer in own {
            let ids: HashSet<&str> = writer.generated.iter().map(|event| &*event.id).collect();
            let own = kept.iter().filter(|id| ids.contains(id.as_str()));
            assert!(own.eq(writer.generated.iter().map(|event| &event.id)), "each event exists once and in order");
            let fold: Fold = writer.generated.iter().collect();
            expected.extend(fold.messages().map(|message| (message.id().to_owned(), message.to_json())));
        }
        let messages = all_messages(service, &path);
        assert_eq!(messages.len(), expected.len());
        for message in messages {
            let id = Msg::from_json(&message).unwrap().id().to_owned();
            assert!(expected.get(&id) == Some(&message), "{message}");
        }
    }
}

/// Checks that each acknowledged message exists once and has one reply.
fn check_answers(service: &Service, posted: &[(String, String)]) {
    if posted.is_empty() {
        return;
    }
    service.wait_for_status("asked", "idle");
    let messages = all_messages(service, "/v1/sessions/asked");
    let messages: Vec<Msg> = messages.iter().map(|text| Msg::from_json(text).unwrap()).collect();
    for (message, reply) in posted {
        let count = |id: &str| messages.iter().filter(|message| message.id() == id).count();
        assert_eq!((count(message), count(reply)), (1, 1));
        let reply = messages.iter().find(|message| message.id() == reply).unwrap();
        assert!(reply.finished_at().is_some(), "{}", reply.to_json());
    }
}

fn all_events(service: &Service, path: &str) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    let epoch = text_of(&service.get(path), "cursor").split('.').next().unwrap().to_owned();
    loop {
        let page = service.get(&format!("{path}/events?limit=10000&after={epoch}.{}", events.len()));
        if page.is_empty() {
            return events;
        }
        events.extend(page.lines().map(str::to_owned));
    }
}

fn all_messages(service: &Service, path: &str) -> Vec<String> {
    let (mut messages, mut before) = (Vec::new(), String::new());
    loop {
        let page = service.get(&format!("{path}/messages?limit=200&before={before}"));
        let page = recount_message::Object::parse(&page).unwrap();
        let list = page.get("messages").and_then(recount_message::Json::to_array).unwrap();
        messages.extend(list.iter().map(|message| message.as_raw().to_owned()));
        match page.get("before").and_then(recount_message::Json::as_str).map(str::to_owned) {
            Some(id) => before = id,
            None => return messages,
        }
    }
}
