//! The memory of idle readers, and the start of the service.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::fanout::open_streams;
use super::process::{Kind, Programs, Server};
use super::wire::{Client, request};

/// Returns the KiB of memory per reader of idle sessions.
///
/// # Errors
///
/// Returns an error if the server rejects a connection.
pub async fn kib_per_reader(server: &Server, sessions: usize, readers: usize) -> anyhow::Result<f64> {
    let mut client = Client::connect(server.address).await?;
    if server.kind == Kind::Recount {
        for session in 0..sessions {
            client.request(&request("PUT", &format!("/v1/sessions/s{session}"), b"")).await?.success()?;
        }
    }
    let before = server.resident_kib()?;
    let streams = open_streams(server, sessions, readers).await?;
    // Memory used while connecting may be released.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let after = server.resident_kib()?;
    drop(streams);
    Ok(after.saturating_sub(before) as f64 / readers as f64)
}

/// Returns the time that the service takes to start after a clean shutdown, and its memory a second later in KiB.
///
/// # Errors
///
/// Returns an error if the service does not start.
pub fn start(programs: &Programs) -> anyhow::Result<(Duration, u64)> {
    let directory = Arc::new(tempfile::tempdir()?);
    drop(programs.start_recount_in(&directory)?);
    let started = Instant::now();
    let server = programs.start_recount_in(&directory)?;
    let took = started.elapsed();
    std::thread::sleep(Duration::from_secs(1));
    Ok((took, server.resident_kib()?))
}
