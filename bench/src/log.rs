//! The log: throughput relative to a bare insert loop, latency of subscriptions, and size on disk.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use anyhow::Context;
use recount_log::storage::{Storage, Write};
use recount_log::writer::{Pipeline, PlanContext, SessionUpdate, WriterOutput};
use recount_log::{
    AppendRequest, Cursor, Durability, Env, Error, Events, Frame, Log, MemoryStorage, Options, Request, Response,
    SessionKey, SqliteStorage, Start, Writer,
};
use recount_message::Object;
use rusqlite::{Connection, params};

use crate::clock::cpu_time;
use crate::streams;

/// The number of sessions that are written to in turn.
pub const SESSIONS: usize = 1_000;
/// The number of entries per commit: the maximum batch of the log's writer.
pub const BATCH: usize = 2_048;

/// The entries for each session.
#[derive(Debug)]
pub struct Load {
    lines: Vec<String>,
    events: Vec<Events>,
}

impl Load {
    /// Creates a reply with `deltas` text deltas for each session.
    ///
    /// # Errors
    ///
    /// Returns an error if the generated stream is invalid.
    pub fn new(deltas: usize) -> anyhow::Result<Self> {
        let stream = streams::text(deltas);
        let lines: Vec<String> = stream.text.lines().map(str::to_owned).collect();
        let events = lines.iter().map(|line| Events::from_lines(line.as_bytes())).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { lines, events })
    }

    /// Returns the number of entries in all sessions together.
    pub fn entries(&self) -> usize {
        self.lines.len() * SESSIONS
    }
}

/// The time of the bare loop.
#[derive(Debug, Clone, Copy)]
pub struct BareLoopTime {
    /// Wall-clock time.
    pub wall: Duration,
    /// CPU time.
    pub cpu: Duration,
}

/// Measures a loop that only inserts rows into the table of the log.
///
/// # Errors
///
/// Returns an error if the database cannot be written.
pub fn bare_loop(load: &Load, durability: Durability) -> anyhow::Result<BareLoopTime> {
    let directory = tempfile::tempdir()?;
    // Creates the same tables with the same code.
    let mut storage = SqliteStorage::open(directory.path(), &mut Options::default().durability(durability))?;
    storage.close()?;
    drop(storage);
    let mut connection = Connection::open(directory.path().join("log.sqlite"))?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "cache_size", -32_768)?;
    let synchronous = if durability == Durability::Disk { "FULL" } else { "NORMAL" };
    connection.pragma_update(None, "synchronous", synchronous)?;

    // Checkpoints the write-ahead log, as the log's own thread does.
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let checkpoint_connection = Connection::open(directory.path().join("log.sqlite"))?;
    let log = directory.path().join("log.sqlite-wal");
    let checkpointer = std::thread::spawn(move || {
        while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = is_done.recv_timeout(Duration::from_millis(500)) {
            if std::fs::metadata(&log).is_ok_and(|metadata| metadata.len() >= 64 << 20) {
                for mode in ["PASSIVE", "TRUNCATE"] {
                    // Fails if a commit is in progress; the next attempt follows.
                    let _ = checkpoint_connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
                }
            }
        }
    });

    let (started, cpu) = (Instant::now(), cpu_time());
    let mut rows = (1_i64..)
        .zip(&load.lines)
        .flat_map(|(seq, line)| (0..SESSIONS as i64).map(move |session| (session, seq, line)));
    loop {
        let transaction = connection.transaction()?;
        let mut written = 0;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO entries (session, seq, body) VALUES (?1, ?2, ?3)")?;
            for (session, seq, line) in rows.by_ref().take(BATCH) {
                insert.execute(params![session, seq, line])?;
                written += 1;
            }
        }
        transaction.commit()?;
        if written == 0 {
            let cpu = cpu_time().saturating_sub(cpu);
            let spent = BareLoopTime { wall: started.elapsed(), cpu };
            drop(done);
            checkpointer.join().map_err(|_| anyhow::anyhow!("the checkpoint thread panicked"))?;
            return Ok(spent);
        }
    }
}

/// Measures the log's writer with the same entries in the same order, each as one request, with the same batch size. As in a
/// log, one thread plans a batch while another commits the previous one.
///
/// # Errors
///
/// Returns an error if the log fails.
pub fn writer_loop(load: &Load, durability: Durability) -> anyhow::Result<WriterTime> {
    let directory = tempfile::tempdir()?;
    let mut storage = SqliteStorage::open(directory.path(), &mut Options::default().durability(durability))?;
    let mut writer = Writer::new(Env::default());
    let keys =
        (0..SESSIONS).map(|number| SessionKey::new(&format!("session-{number}"))).collect::<Result<Vec<_>, _>>()?;
    let creating: Vec<Request> =
        keys.iter().map(|key| Request::Create { key: key.clone(), properties: "{}".to_owned() }).collect();
    let mut output = Counting::default();
    writer.run(&mut storage, &creating, &mut output);

    // Callers create requests on their own threads, so this is not measured.
    let mut requests = load.events.iter().flat_map(|events| {
        keys.iter().map(move |key| Request::Append(AppendRequest::new(key.clone(), events.clone())))
    });
    let mut batches: Vec<Vec<Request>> = Vec::new();
    loop {
        let batch: Vec<Request> = requests.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            break;
        }
        batches.push(batch);
    }

    let readers = storage.readers();
    let context = PlanContext { views: &*readers, is_shared: storage.is_shared() };
    let (start, pending) = sync_channel::<Vec<Write>>(1);
    let (report, done) = sync_channel(1);
    let committer = std::thread::spawn(move || {
        let cpu = cpu_time();
        for writes in pending {
            let result = storage.commit(&writes);
            if report.send((writes, result)).is_err() {
                break;
            }
        }
        (cpu_time().saturating_sub(cpu), storage)
    });
    let mut pipeline = Pipeline::new(writer);
    // No commit fails, so the fallback storage is not used.
    let mut no_storage = MemoryStorage::default();
    let mut finish = |pipeline: &mut Pipeline, output: &mut Counting| -> anyhow::Result<()> {
        let (writes, result) = done.recv()?;
        result?;
        if let Some(next) = pipeline.finish(writes, Ok(()), &mut no_storage, output) {
            start.send(next)?;
        }
        pipeline.deliver(output);
        Ok(())
    };
    let (started, cpu) = (Instant::now(), cpu_time());
    for batch in batches {
        for request in batch {
            pipeline.push(request);
        }
        if let Some(writes) = pipeline.advance(context, &mut output) {
            start.send(writes)?;
        } else {
            finish(&mut pipeline, &mut output)?;
        }
    }
    while pipeline.is_committing() {
        finish(&mut pipeline, &mut output)?;
    }
    let (wall, planner) = (started.elapsed(), cpu_time().saturating_sub(cpu));
    drop(start);
    let (committer, mut storage) = committer.join().map_err(|_| anyhow::anyhow!("the commit thread panicked"))?;
    anyhow::ensure!(output.done == load.entries() + SESSIONS, "only {} requests succeeded", output.done);
    storage.close()?;
    Ok(WriterTime { wall, planner, committer })
}

/// The times of the log's writer.
#[derive(Debug, Clone, Copy)]
pub struct WriterTime {
    /// Wall-clock time.
    pub wall: Duration,
    /// CPU time of the planning thread.
    pub planner: Duration,
    /// CPU time of the commit thread.
    pub committer: Duration,
}

/// Counts successful requests.
#[derive(Debug, Default)]
struct Counting {
    done: usize,
}

impl WriterOutput for Counting {
    fn respond(&mut self, _: usize, response: Result<Response, Error>) {
        self.done += usize::from(response.is_ok());
    }

    fn publish(&mut self, _: SessionUpdate<'_>) {}
}

/// Measures the wall-clock time for the same entries through [`Appender::send`](recount_log::Appender::send), until all of them
/// are acknowledged. The batch size is the number of entries queued during the previous commit.
///
/// # Errors
///
/// Returns an error if the log fails.
pub async fn appends(load: &Load, durability: Durability) -> anyhow::Result<Duration> {
    let directory = tempfile::tempdir()?;
    let log = Log::open(directory.path(), Options::default().durability(durability))?;
    let mut appenders = Vec::new();
    for number in 0..SESSIONS {
        let key = SessionKey::new(&format!("session-{number}"))?;
        appenders.push(log.create(key).await?.appender(None));
    }
    let started = Instant::now();
    for events in &load.events {
        for appender in &appenders {
            appender.send(events.clone()).await?;
        }
    }
    for appender in &appenders {
        appender.flush().await?;
    }
    let spent = started.elapsed();
    log.close().await?;
    Ok(spent)
}

/// A long session.
#[derive(Debug)]
pub struct LongSession {
    log: Log,
    key: SessionKey,
    head: Cursor,
}

impl LongSession {
    /// Writes `replies` replies of a thousand deltas each.
    ///
    /// # Errors
    ///
    /// Returns an error if the log fails.
    pub async fn write(directory: &Path, replies: usize) -> anyhow::Result<Self> {
        Self::of(directory, &streams::blocks_of_messages(replies, 1, 1_000).text).await
    }

    /// Writes one reply with `deltas` deltas and without an end.
    ///
    /// # Errors
    ///
    /// Returns an error if the log fails.
    pub async fn write_open_reply(directory: &Path, deltas: usize) -> anyhow::Result<Self> {
        let stream = streams::text(deltas);
        let end = stream.text.find("\"TEXT_BLOCK_END\"").context("the stream has no end")?;
        let end = stream.text.get(..end).and_then(|text| text.rfind('\n')).unwrap_or_default();
        Self::of(directory, stream.text.get(..end).unwrap_or_default()).await
    }

    async fn of(directory: &Path, lines: &str) -> anyhow::Result<Self> {
        let log = Log::open(directory, Options::default())?;
        let key = SessionKey::new("long")?;
        let staged = log.stage(key.clone(), &Object::new()).await?;
        let lines: Vec<&str> = lines.lines().collect();
        for piece in lines.chunks(BATCH) {
            staged.append(Events::from_lines(piece.join("\n").as_bytes())?).await?;
        }
        let row = staged.publish().await?;
        Ok(Self { log, key, head: Cursor { epoch: row.epoch, seq: row.head } })
    }

    /// Returns the number of entries.
    pub fn entries(&self) -> u64 {
        self.head.seq
    }

    /// Returns the sorted times from subscribing to the first frame, for `count` cursors one after the other.
    ///
    /// # Errors
    ///
    /// Returns an error if the log fails.
    pub async fn joins(&self, count: u64) -> anyhow::Result<Vec<Duration>> {
        let session = self.log.session(self.key.clone());
        let mut times = Vec::new();
        for number in 0..count {
            // Pseudo-random cursors, far from each other.
            let seq = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % self.head.seq;
            let started = Instant::now();
            let mut reader = session.subscribe(Start::After(Cursor { seq, ..self.head }))?;
            let frame = reader.next().await?;
            times.push(started.elapsed());
            anyhow::ensure!(matches!(&frame, Frame::Entry(entry) if entry.cursor.seq == seq + 1), "found {frame:?}");
        }
        times.sort_unstable();
        Ok(times)
    }

    /// Returns the sorted times from subscribing to the snapshot.
    ///
    /// # Errors
    ///
    /// Returns an error if the log fails.
    pub async fn snapshots(&self, count: usize) -> anyhow::Result<Vec<Duration>> {
        let session = self.log.session(self.key.clone());
        let mut times = Vec::new();
        for _ in 0..count {
            let started = Instant::now();
            let frame = session.subscribe(Start::Snapshot)?.next().await?;
            times.push(started.elapsed());
            anyhow::ensure!(matches!(frame, Frame::Snapshot(_)), "expected a snapshot");
        }
        times.sort_unstable();
        Ok(times)
    }

    /// Compacts all deltas and shrinks the database.
    ///
    /// # Errors
    ///
    /// Returns an error if the log fails.
    pub async fn compact(&self) -> anyhow::Result<()> {
        self.log.compact(None, Duration::ZERO).await?;
        Ok(())
    }

    /// Shrinks the database to the size that it needs.
    ///
    /// # Errors
    ///
    /// Returns an error if the log fails.
    pub async fn shrink(&self) -> anyhow::Result<()> {
        Ok(self.log.shrink().await?)
    }

    /// Closes the log.
    ///
    /// # Errors
    ///
    /// Returns an error if the log fails.
    pub async fn close(self) -> anyhow::Result<()> {
        Ok(self.log.close().await?)
    }

    /// Closes the log and opens it again.
    ///
    /// # Errors
    ///
    /// Returns an error if the log cannot be opened.
    pub async fn reopen(self, directory: &Path) -> anyhow::Result<Self> {
        let Self { log, key, head } = self;
        log.close().await?;
        Ok(Self { log: Log::open(directory, Options::default())?, key, head })
    }
}

/// Returns the size of the database of a log, in bytes.
///
/// # Errors
///
/// Returns an error if the file does not exist.
pub fn size(directory: &Path) -> anyhow::Result<u64> {
    let file = directory.join("log.sqlite");
    Ok(std::fs::metadata(&file).with_context(|| format!("cannot read the size of {}", file.display()))?.len())
}
