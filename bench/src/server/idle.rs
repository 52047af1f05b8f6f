//! What a reader takes that hears nothing.

use std::time::Duration;

use super::fanout::open_streams;
use super::process::{Kind, Server};
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
