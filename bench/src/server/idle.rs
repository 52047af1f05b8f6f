//! What the service takes that does nothing, and what a reader takes that hears nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::fanout::open_streams;
use super::process::{Kind, Programs, Server};
use super::wire::{Client, request};

/// KiB of memory for each of so many readers of idle sessions.
///
/// # Errors
///
/// When the server does not let them in.
pub async fn kib_per_reader(server: &Server, sessions: usize, readers: usize) -> anyhow::Result<f64> {
    let mut client = Client::connect(server.address).await?;
    if server.kind == Kind::Recount {
        for session in 0..sessions {
            client.ask(&request("PUT", &format!("/v1/sessions/s{session}"), b"")).await?.success()?;
        }
    }
    let before = server.resident_kib()?;
    let streams = open_streams(server, sessions, readers).await?;
    // What it took to begin may be given back.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let after = server.resident_kib()?;
    drop(streams);
    Ok(after.saturating_sub(before) as f64 / readers as f64)
}

/// How long the service takes to start where one has ended in good order, and how many KiB it has then.
///
/// # Errors
///
/// When it does not start.
pub fn start(programs: &Programs) -> anyhow::Result<(Duration, u64)> {
    let directory = Arc::new(tempfile::tempdir()?);
    drop(programs.start_recount_in(&directory)?);
    let began = Instant::now();
    let server = programs.start_recount_in(&directory)?;
    let took = began.elapsed();
    std::thread::sleep(Duration::from_secs(1));
    Ok((took, server.resident_kib()?))
}
