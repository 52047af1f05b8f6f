//! How long an event is on its way to many readers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::task::JoinSet;

use super::process::{Kind, Server};
use super::wire::{Client, Stream, request};
use crate::streams;

/// How many connections are opened at a time.
const AT_ONCE: usize = 16;
/// Nothing arrives for so long: it never will.
const PATIENCE: Duration = Duration::from_secs(10);
/// What stands before the time in an event.
const MARK: &[u8] = b"\"delta\":\"@";

/// Sessions, each with a writer and readers who are there already.
#[derive(Debug)]
pub struct Crowd {
    server: Server,
    writers: Vec<Client>,
    readers: usize,
    seen: Arc<Seen>,
    _reading: JoinSet<()>,
    /// How many events each session has got.
    written: usize,
}

/// How long each event took to each reader.
#[derive(Debug)]
struct Seen {
    began: Instant,
    microseconds: Mutex<Vec<u32>>,
}

impl Seen {
    fn lock(&self) -> MutexGuard<'_, Vec<u32>> {
        self.microseconds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Now, as it stands in events.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn note(&self, line: &[u8]) {
        let Some(at) = memchr::memmem::find(line, MARK) else { return };
        let digits = line.iter().skip(at + MARK.len()).take_while(|byte| byte.is_ascii_digit());
        let sent = digits.fold(0_u64, |number, digit| number * 10 + u64::from(digit - b'0'));
        let took = self.now().saturating_sub(sent) / 1_000;
        self.lock().push(u32::try_from(took).unwrap_or(u32::MAX));
    }
}

/// The events that a session begins with, and those that follow.
#[derive(Debug)]
pub struct Script {
    /// The reply's beginning, up to its text.
    opening: String,
    /// The event around its id, the time of sending, and the rest.
    delta: [String; 3],
}

impl Script {
    /// The text of a reply.
    ///
    /// # Errors
    ///
    /// When the stream that it is taken from is another one than it should be.
    pub fn new() -> anyhow::Result<Self> {
        let stream = streams::text(1);
        let place =
            stream.text.find("{\"id\":\"").filter(|at| *at == 0).context("an event does not begin with its id")?;
        let lines = stream.lines();
        let index = lines.iter().position(|line| line.contains("TEXT_BLOCK_DELTA")).context("there is no delta")?;
        let delta = lines.get(index).copied().unwrap_or_default();
        let (_, after_id) = delta.split_at_checked(place + 7).context("the delta has no id")?;
        let (_, middle) = after_id.split_once('"').context("the id has no end")?;
        let (middle, rest) = middle.split_once("\"delta\":\"").context("the delta has no text")?;
        let opening = lines.get(..index).unwrap_or_default().join("\n");
        let delta = ["{\"id\":\"".to_owned(), format!("\"{middle}\"delta\":\"@"), format!(" {rest}")];
        Ok(Self { opening, delta })
    }

    fn event(&self, number: usize, sent: u64) -> String {
        let [first, middle, last] = &self.delta;
        format!("{first}e{number}{middle}{sent}{last}")
    }
}

impl Crowd {
    /// Makes sessions, and lets readers come.
    ///
    /// # Errors
    ///
    /// When the server does not do as it should.
    pub async fn gather(server: Server, script: &Script, sessions: usize, readers: usize) -> anyhow::Result<Self> {
        let mut writers = Vec::new();
        for session in 0..sessions {
            let mut writer = Client::connect(server.address).await?;
            if server.kind == Kind::Recount {
                writer.ask(&request("PUT", &format!("/v1/sessions/s{session}"), b"")).await?.success()?;
                let opening = request("POST", &server.publish_path(session), script.opening.as_bytes());
                writer.ask(&opening).await?.success()?;
            }
            writers.push(writer);
        }
        let seen = Arc::new(Seen { began: Instant::now(), microseconds: Mutex::default() });
        let mut reading = JoinSet::new();
        for stream in open_streams(&server, sessions, readers).await? {
            let seen = Arc::clone(&seen);
            // Who is cut off is missed at the end of a round.
            reading.spawn(async move {
                let mut stream = stream;
                while stream.lines(|line| seen.note(line)).await.unwrap_or(false) {}
            });
        }
        Ok(Self { server, writers, readers, seen, _reading: reading, written: 0 })
    }

    /// How much of the processor the server has used so far.
    ///
    /// # Errors
    ///
    /// When the system does not say.
    pub fn cpu_time(&self) -> anyhow::Result<Duration> {
        self.server.cpu_time()
    }

    /// Lets each session say so many events, evenly, and gives how long each took to each of its readers, in order.
    ///
    /// # Errors
    ///
    /// When an event is refused or does not arrive.
    pub async fn round(&mut self, script: &Arc<Script>, count: usize, rate: u32) -> anyhow::Result<Vec<Duration>> {
        let sessions = self.writers.len();
        let pause = Duration::from_secs(1) / rate;
        let start = tokio::time::Instant::now() + Duration::from_millis(20);
        let mut writing = JoinSet::new();
        for (session, mut writer) in std::mem::take(&mut self.writers).into_iter().enumerate() {
            let (script, seen) = (Arc::clone(script), Arc::clone(&self.seen));
            let (path, written) = (self.server.publish_path(session), self.written);
            let first = start + pause * u32::try_from(session)? / u32::try_from(sessions)?;
            writing.spawn(async move {
                for number in 0..count {
                    tokio::time::sleep_until(first + pause * u32::try_from(number)?).await;
                    let event = script.event(written + number, seen.now());
                    writer.ask(&request("POST", &path, event.as_bytes())).await?.success()?;
                }
                anyhow::Ok((session, writer))
            });
        }
        let mut writers = Vec::new();
        while let Some(done) = writing.join_next().await {
            writers.push(done??);
        }
        writers.sort_by_key(|(session, _)| *session);
        self.writers = writers.into_iter().map(|(_, writer)| writer).collect();
        self.written += count;
        self.arrived(self.readers * count).await
    }

    /// Waits until all events have arrived.
    async fn arrived(&self, expected: usize) -> anyhow::Result<Vec<Duration>> {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            let now = self.seen.lock().len();
            if now == expected {
                break;
            }
            if now > last {
                (last, since) = (now, Instant::now());
            }
            anyhow::ensure!(since.elapsed() < PATIENCE, "{now} events have arrived, and not {expected}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let mut times = std::mem::take(&mut *self.seen.lock());
        times.sort_unstable();
        Ok(times.into_iter().map(|microseconds| Duration::from_micros(microseconds.into())).collect())
    }
}

/// Opens streams of sessions in turn.
pub(super) async fn open_streams(server: &Server, sessions: usize, readers: usize) -> anyhow::Result<Vec<Stream>> {
    let mut opening = JoinSet::new();
    for lane in 0..AT_ONCE.min(readers) {
        let address = server.address;
        let paths: Vec<String> =
            (lane..readers).step_by(AT_ONCE).map(|reader| server.stream_path(reader % sessions)).collect();
        opening.spawn(async move {
            let mut streams = Vec::new();
            for path in paths {
                streams.push(Stream::open(address, &path).await?);
            }
            anyhow::Ok(streams)
        });
    }
    let mut streams = Vec::new();
    while let Some(opened) = opening.join_next().await {
        streams.extend(opened??);
    }
    Ok(streams)
}
