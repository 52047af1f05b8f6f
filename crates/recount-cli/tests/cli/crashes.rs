//! A service that is killed, at any moment and under load: what it had acknowledged is there, once and in its place, whoever
//! was at work goes on, and whoever read goes on reading where they were.

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
use crate::serve::{PATIENCE, Service, ask, text_of};

const SESSIONS: usize = 3;
/// How many agents elsewhere speak in each session at the same time.
const WRITERS: usize = 2;
/// How many batches are acknowledged before the service is killed, at most.
const BATCHES: usize = 120;

#[test]
fn a_reply_goes_on_after_a_crash() {
    let data = directory("serve-continues");
    let service = Service::start(&data);
    service.ask("PUT", "/v1/sessions/s", &[], "{}");
    let (_, posted) = service.ask("POST", "/v1/sessions/s/messages", &[], r#"{"content":"a long story, please"}"#);
    let reply = text_of(&posted, "reply_id");
    let until = Instant::now() + PATIENCE;
    while !service.get("/v1/sessions/s/events").contains("TEXT_BLOCK_DELTA") {
        assert!(Instant::now() < until);
        thread::sleep(Duration::from_millis(20));
    }
    service.kill();
    let service = Service::start(&data);
    // It need not come to its end: that it goes on is seen.
    let head = || service.get("/v1/sessions/s/events?limit=10000").lines().count();
    let before = head();
    while head() == before {
        assert!(Instant::now() < until);
        thread::sleep(Duration::from_millis(20));
    }
    service.ask("POST", "/v1/sessions/s/interrupt", &[], "{}");
    service.wait_for("s", "idle");
    let events = service.get("/v1/sessions/s/events?limit=10000");
    let events: Vec<Event<'_>> = events.lines().map(|line| Event::from_json(line).unwrap()).collect();
    let fold: Fold = events.iter().collect();
    let folded = fold.message(&reply).unwrap().to_json();
    assert!(service.get("/v1/sessions/s/messages").contains(&folded));
    service.kill();
}

#[test]
fn a_reply_that_waits_still_waits_after_a_crash() {
    let data = directory("serve-waits");
    let mut service = Service::start(&data);
    service.ask("PUT", "/v1/sessions/s", &[], "{}");
    let (_, posted) = service.ask("POST", "/v1/sessions/s/messages", &[], r#"{"content":"use a tool"}"#);
    service.wait_for("s", "waiting");
    let before = service.get("/v1/sessions/s/events");
    for _ in 0..2 {
        service.kill();
        service = Service::start(&data);
        assert_eq!(text_of(&service.get("/v1/sessions/s"), "status"), "waiting");
        assert_eq!(service.get("/v1/sessions/s/events"), before, "nothing was said meanwhile");
    }
    service.confirm("s");
    service.wait_for("s", "idle");
    let messages: Value = serde_json::from_str(&service.get("/v1/sessions/s/messages")).unwrap();
    let reply = &messages["messages"][1];
    assert_eq!((&reply["id"], &reply["finished_reason"]), (&json!(text_of(&posted, "reply_id")), &json!("completed")));
    service.kill();
}

/// Kills a service under load again and again.
#[test]
fn what_was_acknowledged_survives_crashes() {
    let rounds = std::env::var("RECOUNT_CRASHES").ok().and_then(|text| text.parse().ok());
    let (rounds, shows_progress): (usize, bool) = (rounds.unwrap_or(4), rounds.is_some());
    let data = directory("serve-crashes");
    let mut random = Random::new(1);
    let (mut writers, mut readers): (Vec<Writer>, Vec<Reader>) = (Vec::new(), Vec::new());
    for session in 0..SESSIONS {
        readers.push(Reader { session, seen: Vec::new(), cursor: None });
        writers.extend((0..WRITERS).map(|number| Writer::new(session, number)));
    }
    let mut asked = Vec::new();
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
            // Not each time: they are all answered in the end.
            if round % 5 == 0 {
                asked.extend(ask_something(&address, round));
            }
            let until = Instant::now() + PATIENCE;
            while count.load(Ordering::Acquire) < wanted {
                assert!(Instant::now() < until, "nothing is acknowledged");
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
    check_answers(&service, &asked);
    assert_eq!(service.end(), Some(0));
    let doctor = recount(&format!("doctor --deep --data {}", data.display()), b"");
    assert_eq!(doctor.exit, Some(0), "{}", doctor.stdout);
}

/// An agent elsewhere that speaks in a session, reply after reply, whatever becomes of the service.
struct Writer {
    session: usize,
    random: Random,
    /// Everything that it has to say so far, to the end of a reply.
    said: Vec<AgentEvent>,
    /// How much of it was acknowledged.
    acknowledged: usize,
}

impl Writer {
    fn new(session: usize, number: usize) -> Self {
        let random = Random::new((session * WRITERS + number) as u64 + 10);
        Self { session, random, said: Vec::new(), acknowledged: 0 }
    }

    /// Writes until the service is gone.
    fn write(&mut self, address: &str, count: &AtomicUsize) {
        let path = format!("/v1/sessions/c{}", self.session);
        // It may have been killed before the session was there.
        if ask(address, "PUT", &path, &[], "{}").is_none() {
            return;
        }
        while self.write_some(address, &path) {
            count.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Writes a batch, which need not begin where the last one ended: what got no answer may be there or not.
    fn write_some(&mut self, address: &str, path: &str) -> bool {
        let first = self.acknowledged.saturating_sub(self.random.below(5));
        let end = self.acknowledged + self.random.between(1, 6);
        while self.said.len() < end {
            self.say_more();
        }
        let events: Vec<String> = self.said[first..end].iter().map(Event::to_json).collect();
        let answer = ask(address, "POST", &format!("{path}/events"), &[], &format!("[{}]", events.join(",")));
        let Some((status, answer)) = answer else { return false };
        assert_eq!(status, 200, "{answer}");
        // One that breaks off is none.
        let Ok(answer) = serde_json::from_str::<Value>(&answer) else { return false };
        let told = answer["written"].as_u64().unwrap() + answer["duplicates"].as_u64().unwrap();
        assert_eq!((told as usize, &answer["ignored"]), (end - first, &json!([])), "{answer}");
        self.acknowledged = end;
        true
    }

    fn say_more(&mut self) {
        let said = &mut self.said;
        let mut reply = ReplyWriter::start(|event| said.push(event), Stamps::default(), "elsewhere", "Friday");
        reply.model_call("m");
        for word in 0..self.random.between(1, 40) {
            reply.text(format!("word {word} \u{1f600} "));
        }
        reply.end_model_call(None);
        reply.end(ReplyEnd::completed());
    }
}

/// Somebody who reads a session and comes back whenever the connection breaks.
struct Reader {
    session: usize,
    seen: Vec<String>,
    cursor: Option<String>,
}

impl Reader {
    /// Reads until the service is gone.
    fn read(&mut self, address: &str) {
        // What is not there yet is there the next time.
        let _ = self.try_read(address);
    }

    fn try_read(&mut self, address: &str) -> std::io::Result<()> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let place = match &self.cursor {
            Some(cursor) => format!(" HTTP/1.1\r\nlast-event-id: {cursor}"),
            None => "?after=start HTTP/1.1".to_owned(),
        };
        write!(stream, "GET /v1/sessions/c{}/stream{place}\r\nhost: {address}\r\n\r\n", self.session)?;
        let mut id = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line?;
            assert!(!line.starts_with("event: "), "what was read is there: {line}");
            if let Some(cursor) = line.strip_prefix("id: ") {
                cursor.clone_into(&mut id);
            } else if let Some(data) = line.strip_prefix("data: ") {
                let seq: usize = id.split_once('.').unwrap().1.parse().unwrap();
                assert_eq!(seq, self.seen.len() + 1, "nothing twice, and no hole");
                self.seen.push(data.to_owned());
                self.cursor = Some(id.clone());
            }
        }
        Ok(())
    }
}

/// Says something to the service's own agent, and gives the message's id and the reply's if that was acknowledged.
fn ask_something(address: &str, round: usize) -> Option<(String, String)> {
    ask(address, "PUT", "/v1/sessions/asked", &[], "{}")?;
    let id = format!("m{round}");
    let message = json!({"content": "Hello", "id": id, "on_busy": "queue"}).to_string();
    let (status, answer) = ask(address, "POST", "/v1/sessions/asked/messages", &[], &message)?;
    assert_eq!(status, 202, "{answer}");
    let answer: Value = serde_json::from_str(&answer).ok()?;
    Some((id, answer["reply_id"].as_str()?.to_owned()))
}

/// Holds the log to what was said and acknowledged, and to what was read.
fn check_sessions(service: &Service, writers: &mut [Writer], readers: &[Reader]) {
    for reader in readers {
        let path = format!("/v1/sessions/c{}", reader.session);
        let mut own: Vec<&mut Writer> = writers.iter_mut().filter(|writer| writer.session == reader.session).collect();
        for writer in &mut own {
            while writer.acknowledged < writer.said.len() {
                assert!(writer.write_some(&service.address, &path));
            }
        }
        let log = all_events(service, &path);
        assert!(log.starts_with(&reader.seen), "whatever was read is there");
        let kept: Vec<String> = log.iter().map(|line| text_of(line, "id")).collect();
        let mut expected: HashMap<String, String> = HashMap::new();
        for writer in own {
            let ids: HashSet<&str> = writer.said.iter().map(|event| &*event.id).collect();
            let own = kept.iter().filter(|id| ids.contains(id.as_str()));
            assert!(own.eq(writer.said.iter().map(|event| &event.id)), "each is there once, in its place");
            let fold: Fold = writer.said.iter().collect();
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

/// Each message that was taken is there once and has one answer.
fn check_answers(service: &Service, asked: &[(String, String)]) {
    if asked.is_empty() {
        return;
    }
    service.wait_for("asked", "idle");
    let messages = all_messages(service, "/v1/sessions/asked");
    let messages: Vec<Msg> = messages.iter().map(|text| Msg::from_json(text).unwrap()).collect();
    for (message, reply) in asked {
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
