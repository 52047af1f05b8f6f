//! The throughput of appends over HTTP and to a log in this process.

use std::sync::Arc;
use std::time::Instant;

use recount_log::{Durability, Events, Log, Options, SessionKey};
use tokio::task::JoinSet;

use super::process::Server;
use super::wire::{Client, request};
use crate::streams;

/// Batches of events, the same for each session.
#[derive(Debug, Clone)]
pub struct Batches {
    sessions: usize,
    events: usize,
    bodies: Arc<Vec<String>>,
}

impl Batches {
    /// Creates a reply with `deltas` deltas for each session, in batches of `batch` events.
    pub fn new(sessions: usize, deltas: usize, batch: usize) -> Self {
        let stream = streams::text(deltas);
        let bodies = stream.lines().chunks(batch).map(|lines| lines.join("\n")).collect();
        Self { sessions, events: stream.events * sessions, bodies: Arc::new(bodies) }
    }

    /// Returns the events per second over HTTP. Each session has a connection, which waits for each response.
    ///
    /// # Errors
    ///
    /// Returns an error if a request is rejected.
    pub async fn over_http(&self, server: &Server) -> anyhow::Result<f64> {
        let mut writers = Vec::new();
        for session in 0..self.sessions {
            let mut writer = Client::connect(server.address).await?;
            writer.request(&request("PUT", &format!("/v1/sessions/s{session}"), b"")).await?.success()?;
            writers.push((writer, server.publish_path(session)));
        }
        let started = Instant::now();
        let mut writing = JoinSet::new();
        for (mut writer, path) in writers {
            let bodies = Arc::clone(&self.bodies);
            writing.spawn(async move {
                for body in &*bodies {
                    writer.request(&request("POST", &path, body.as_bytes())).await?.success()?;
                }
                anyhow::Ok(())
            });
        }
        while let Some(done) = writing.join_next().await {
            done??;
        }
        Ok(self.events as f64 / started.elapsed().as_secs_f64())
    }

    /// Returns the events per second of a log in this process. Each session has a task, which parses the same text and waits for
    /// each commit.
    ///
    /// # Errors
    ///
    /// Returns an error if the log fails.
    pub async fn in_process(&self) -> anyhow::Result<f64> {
        let directory = tempfile::tempdir()?;
        let log = Log::open(directory.path(), Options::default().durability(Durability::Process))?;
        let mut sessions = Vec::new();
        for session in 0..self.sessions {
            sessions.push(log.create(SessionKey::new(&format!("s{session}"))?).await?);
        }
        let started = Instant::now();
        let mut writing = JoinSet::new();
        for session in sessions {
            let bodies = Arc::clone(&self.bodies);
            writing.spawn(async move {
                for body in &*bodies {
                    session.append(Events::from_lines(body.as_bytes())?).await?;
                }
                anyhow::Ok(())
            });
        }
        while let Some(done) = writing.join_next().await {
            done??;
        }
        let rate = self.events as f64 / started.elapsed().as_secs_f64();
        log.close().await?;
        Ok(rate)
    }
}
