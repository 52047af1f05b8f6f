//! Crash tests: a writing process is killed at random times.
//!
//! The child process appends to many sessions concurrently and prints each acknowledgement immediately. The parent kills it,
//! opens the log, and checks that every acknowledged entry exists exactly once, at its position.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use recount_log::storage::{PageLimit, Views};
use recount_log::{Durability, Error, Events, Log, Options, SessionKey, SqliteReaders};
use recount_message::{CountingIds, CustomEvent, Event, Msg, ReplyEnd, ReplyWriter, Stamps, SystemClock};
use recount_testkit::laws::Broken;
use recount_testkit::random::Random;

const SESSIONS: usize = 8;

/// The totals of all rounds.
#[derive(Debug, Default, Clone, Copy)]
pub struct Tally {
    /// The number of killed processes.
    pub killed: usize,
    /// The number of acknowledged entries, all of which were found.
    pub acknowledged: usize,
    /// The number of entries that were written but not acknowledged.
    pub unacknowledged: usize,
}

/// Kills a writing process a number of times, and verifies the log each time.
///
/// # Errors
///
/// If an acknowledged entry is missing, an entry exists twice, or the process cannot be started.
pub fn kill_repeatedly(
    program: &Path,
    directory: &Path,
    rounds: usize,
    seed: u64,
    mut tell: impl FnMut(usize, &Tally),
) -> Result<Tally, Broken> {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    let mut acknowledged = BTreeMap::new();
    for round in 0..rounds {
        let durability = random.pick(&[Durability::Disk, Durability::Process, Durability::Process]);
        let mut child = spawn(program, directory, round, durability)?;
        let output = child.stdout.take().ok_or_else(|| Broken::new("the child has no output"))?;
        // Most processes are killed while they write, and some while they start.
        let is_early = random.chance(20);
        let patience = Duration::from_micros(random.between(1, 60_000) as u64);
        let (begun, has_begun) = mpsc::channel();
        let killer = std::thread::spawn(move || {
            if !is_early {
                // A process that never starts to write is killed too.
                let _ = has_begun.recv_timeout(Duration::from_secs(20));
            }
            std::thread::sleep(patience);
            child.kill().and_then(|()| child.wait())
        });
        note(output, &mut acknowledged, &begun)?;
        let status = killer.join().map_err(|_| Broken::new("the killer panicked"))?.map_err(failed)?;
        if status.code().is_some() {
            return Err(Broken::new(format!("the child ended before it was killed: {status}")));
        }
        tally.killed += 1;
        check(directory, &acknowledged, &mut tally)
            .map_err(|broken| Broken::new(format!("round {round} of the seed {seed}, {durability}: {broken}")))?;
        tell(round, &tally);
    }
    Ok(tally)
}

fn spawn(program: &Path, directory: &Path, round: usize, durability: Durability) -> Result<Child, Broken> {
    Command::new(program)
        .args(["load", "--round", &round.to_string(), "--durability", durability.as_str(), "--data"])
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> Broken {
    Broken::new(error.to_string())
}

/// The session and number of acknowledged entries, by event id.
type Acknowledged = BTreeMap<String, (String, u64)>;

/// Reads acknowledgements, `session id number`, until the pipe is closed. An incomplete line is ignored.
fn note(output: impl Read, acknowledged: &mut Acknowledged, begun: &mpsc::Sender<()>) -> Result<(), Broken> {
    let mut lines = BufReader::new(output);
    let mut line = String::new();
    while lines.read_line(&mut line).map_err(failed)? > 0 {
        if let Some(line) = line.strip_suffix('\n') {
            let mut words = line.split(' ');
            let (Some(session), Some(id), Some(seq)) = (words.next(), words.next(), words.next()) else {
                return Err(Broken::new(format!("the child says {line:?}")));
            };
            acknowledged.insert(id.to_owned(), (session.to_owned(), seq.parse().map_err(failed)?));
            // The receiver only waits for the first line.
            let _ = begun.send(());
        }
        line.clear();
    }
    Ok(())
}

/// Checks that every acknowledged entry exists once, at its position.
fn check(directory: &Path, acknowledged: &Acknowledged, tally: &mut Tally) -> Result<(), Broken> {
    let mut found: HashMap<String, (String, u64)> = HashMap::new();
    if directory.join("log.sqlite").exists() {
        let readers = match SqliteReaders::open(directory) {
            // The process was killed before it created the log.
            Err(error) if acknowledged.is_empty() && error.to_string().contains("it is empty") => return Ok(()),
            readers => readers.map_err(failed)?,
        };
        let view = readers.view().map_err(failed)?;
        for row in view.sessions(None, None, usize::MAX).map_err(failed)? {
            let rows = view.entries(&row.key, 0, PageLimit { count: usize::MAX, bytes: usize::MAX }).map_err(failed)?;
            for (entry, expected) in rows.iter().zip(1..) {
                if entry.last != expected {
                    return Err(Broken::new(format!(
                        "the entry {} of {} follows {}",
                        entry.last,
                        row.key,
                        expected - 1
                    )));
                }
                let event = Event::from_slice(&entry.body).map_err(failed)?;
                if let Some((session, seq)) = found.insert(event.id.to_string(), (row.key.to_string(), entry.last)) {
                    return Err(Broken::new(format!(
                        "{} is at {seq} of {session} and at {} of {}",
                        event.id, entry.last, row.key
                    )));
                }
            }
        }
        for key in view.sessions(None, None, usize::MAX).map_err(failed)? {
            let faults = recount_log::verify::session(&*view, &key.key).map_err(failed)?;
            if let Some(fault) = faults.first() {
                return Err(Broken::new(format!("{}: {fault}", key.key)));
            }
        }
    }
    for (id, place) in acknowledged {
        if found.get(id) != Some(place) {
            return Err(Broken::new(format!(
                "{id} was acknowledged at {} of {}, and found at {:?}",
                place.1,
                place.0,
                found.get(id)
            )));
        }
    }
    tally.acknowledged = acknowledged.len();
    tally.unacknowledged = found.len() - acknowledged.len();
    Ok(())
}

/// Writes until it is killed, and prints acknowledgements.
///
/// # Errors
///
/// If the log cannot be opened or written.
pub fn load(directory: &Path, round: usize, durability: Durability) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .map_err(|error| recount_log::StorageError::Failed(error.to_string()))?;
    runtime.block_on(async {
        let log = Log::open(directory, Options::default().durability(durability))?;
        let output = Arc::new(std::sync::Mutex::new(std::io::stdout()));
        let mut tasks = Vec::new();
        for number in 0..SESSIONS {
            let (log, output) = (log.clone(), Arc::clone(&output));
            tasks.push(tokio::spawn(async move { write_forever(&log, number, round, &output).await }));
        }
        for task in tasks {
            task.await.map_err(|_| Error::Closed)??;
        }
        Ok(())
    })
}

async fn write_forever(
    log: &Log,
    number: usize,
    round: usize,
    output: &std::sync::Mutex<std::io::Stdout>,
) -> Result<(), Error> {
    let Ok(key) = SessionKey::new(&format!("session-{number}")) else { return Ok(()) };
    let session = match log.create(key.clone()).await {
        Ok(session) => session,
        Err(Error::SessionExists(_)) => log.session(key.clone()),
        Err(error) => return Err(error),
    };
    for turn in 0_u64.. {
        let prefix = format!("{round}.{number}.{turn}.");
        let mut events = vec![Event::stamped(
            format!("{prefix}user"),
            "2026-01-01T00:00:00Z",
            CustomEvent::message(&Msg::user("Alice", "Hello").with_id(format!("{prefix}message"))),
        )];
        let stamps = Stamps::new(CountingIds::new(&*prefix), SystemClock);
        let mut reply = ReplyWriter::start(|event| events.push(event), stamps, "s", "Friday");
        for word in 0..turn % 40 {
            reply.text(format!("word {word} "));
        }
        reply.end(ReplyEnd::completed());
        let appender = session.appender(None);
        let Some((last, before)) = events.split_last() else { continue };
        for piece in before.chunks(3) {
            appender.send(piece).await?;
        }
        let cursor = appender.append(Events::of([last])).await?.cursor;
        // The last event is durable, so all events that were sent before it are too.
        let first = cursor.seq + 1 - events.len() as u64;
        let lines: String =
            events.iter().zip(first..).map(|(event, seq)| format!("{key} {} {seq}\n", event.id)).collect();
        let mut output = output.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if output.write_all(lines.as_bytes()).and_then(|()| output.flush()).is_err() {
            return Ok(());
        }
    }
    Ok(())
}
