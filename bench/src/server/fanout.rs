//! The latency of events to many readers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::task::JoinSet;

use super::process::{Kind, Server};
use super::wire::{Client, Stream, request};
use crate::streams;

/// The number of connections that are opened concurrently.
const CONCURRENCY: usize = 16;
/// The time without a new event after which a round fails.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The text before the timestamp in an event.
const MARK: &[u8] = b"\"delta\":\"@";

/// Sessions, each with a writer and connected readers.
#[derive(Debug)]
pub struct Fleet {
    server: Server,
    writers: Vec<Client>,
    readers: usize,
    latencies: Arc<Latencies>,
    _reading: JoinSet<()>,
    /// The number of events written to each session.
    written: usize,
}

/// The latency of each event to each reader.
#[derive(Debug)]
struct Latencies {
    epoch: Instant,
    microseconds: Mutex<Vec<u32>>,
}

impl Latencies {
    fn lock(&self) -> MutexGuard<'_, Vec<u32>> {
        self.microseconds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the timestamp for an event, in nanoseconds.
    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn record(&self, line: &[u8]) {
        let Some(at) = memchr::memmem::find(line, MARK) else { return };
        let digits = line.iter().skip(at + MARK.len()).take_while(|byte| byte.is_ascii_digit());
        let sent = digits.fold(0_u64, |number, digit| number * 10 + u64::from(digit - b'0'));
        let took = self.now().saturating_sub(sent) / 1_000;
        self.lock().push(u32::try_from(took).unwrap_or(u32::MAX));
    }
}

/// The first events of a session, and a template for the deltas that follow.
#[derive(Debug)]
pub struct Script {
    /// The events of the reply up to its first delta.
    opening: String,
    /// The parts of a delta around its id and timestamp.
    delta: [String; 3],
}

impl Script {
    /// Creates a script from a generated stream.
    ///
    /// # Errors
    ///
    /// Returns an error if the generated stream has an unexpected format.
    pub fn new() -> anyhow::Result<Self> {
        let stream = streams::text(1);
        let start =
            stream.text.find("{\"id\":\"").filter(|at| *at == 0).context("an event does not begin with its id")?;
        let lines = stream.lines();
        let index =
            lines.iter().position(|line| line.contains("TEXT_BLOCK_DELTA")).context("the stream has no delta")?;
        let delta = lines.get(index).copied().unwrap_or_default();
        let (_, after_id) = delta.split_at_checked(start + 7).context("the delta has no id")?;
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

impl Fleet {
    /// Creates sessions and connects readers.
    ///
    /// # Errors
    ///
    /// Returns an error if a request or connection fails.
    pub async fn connect(server: Server, script: &Script, sessions: usize, readers: usize) -> anyhow::Result<Self> {
        let mut writers = Vec::new();
        for session in 0..sessions {
            let mut writer = Client::connect(server.address).await?;
            if server.kind == Kind::Recount {
                writer.request(&request("PUT", &format!("/v1/sessions/s{session}"), b"")).await?.success()?;
                let opening = request("POST", &server.publish_path(session), script.opening.as_bytes());
                writer.request(&opening).await?.success()?;
            }
            writers.push(writer);
        }
        let latencies = Arc::new(Latencies { epoch: Instant::now(), microseconds: Mutex::default() });
        let mut reading = JoinSet::new();
        for stream in open_streams(&server, sessions, readers).await? {
            let latencies = Arc::clone(&latencies);
            // Events that a disconnected reader misses are detected at the end of the round.
            reading.spawn(async move {
                let mut stream = stream;
                while stream.lines(|line| latencies.record(line)).await.unwrap_or(false) {}
            });
        }
        Ok(Self { server, writers, readers, latencies, _reading: reading, written: 0 })
    }

    /// Returns the CPU time that the server has used.
    ///
    /// # Errors
    ///
    /// Returns an error if `/proc` cannot be read.
    pub fn cpu_time(&self) -> anyhow::Result<Duration> {
        self.server.cpu_time()
    }

    /// Writes `count` events to each session at a constant rate. Returns the sorted latencies of all events to all readers.
    ///
    /// # Errors
    ///
    /// Returns an error if an event is rejected or does not arrive.
    pub async fn round(&mut self, script: &Arc<Script>, count: usize, rate: u32) -> anyhow::Result<Vec<Duration>> {
        let sessions = self.writers.len();
        let pause = Duration::from_secs(1) / rate;
        let start = tokio::time::Instant::now() + Duration::from_millis(20);
        let mut writing = JoinSet::new();
        for (session, mut writer) in std::mem::take(&mut self.writers).into_iter().enumerate() {
            let (script, latencies) = (Arc::clone(script), Arc::clone(&self.latencies));
            let (path, written) = (self.server.publish_path(session), self.written);
            let first = start + pause * u32::try_from(session)? / u32::try_from(sessions)?;
            writing.spawn(async move {
                for number in 0..count {
                    tokio::time::sleep_until(first + pause * u32::try_from(number)?).await;
                    let event = script.event(written + number, latencies.now());
                    writer.request(&request("POST", &path, event.as_bytes())).await?.success()?;
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
        self.wait_for_arrival(self.readers * count).await
    }

    /// Waits until all events have arrived, and returns their sorted latencies.
    async fn wait_for_arrival(&self, expected: usize) -> anyhow::Result<Vec<Duration>> {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            let now = self.latencies.lock().len();
            if now == expected {
                break;
            }
            if now > last {
                (last, since) = (now, Instant::now());
            }
            anyhow::ensure!(since.elapsed() < TIMEOUT, "received {now} of {expected} events");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let mut times = std::mem::take(&mut *self.latencies.lock());
        times.sort_unstable();
        Ok(times.into_iter().map(|microseconds| Duration::from_micros(microseconds.into())).collect())
    }
}

/// Opens streams, distributed over the sessions round-robin.
pub(super) async fn open_streams(server: &Server, sessions: usize, readers: usize) -> anyhow::Result<Vec<Stream>> {
    let mut opening = JoinSet::new();
    for lane in 0..CONCURRENCY.min(readers) {
        let address = server.address;
        let paths: Vec<String> =
            (lane..readers).step_by(CONCURRENCY).map(|reader| server.stream_path(reader % sessions)).collect();
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
