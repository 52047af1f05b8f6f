//! The time to the first event after reconnecting to a long session.

use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::process::Server;
use super::wire::{Client, Stream, request};

/// Returns the sorted times from connecting to the first event, for `count` cursors one after the other.
///
/// # Errors
///
/// Returns an error if a request fails or the first event is not the expected one.
pub async fn joins(server: &Server, session: &str, count: u64) -> anyhow::Result<Vec<Duration>> {
    let mut client = Client::connect(server.address).await?;
    let info = client.request(&request("GET", &format!("/v1/sessions/{session}"), b"")).await?.success()?;
    let info: serde_json::Value = serde_json::from_slice(&info.body)?;
    let head = info.get("cursor").and_then(serde_json::Value::as_str).context("the session has no cursor")?;
    let (epoch, head) = head.split_once('.').context("the cursor has no dot")?;
    let head: u64 = head.parse()?;
    let mut times = Vec::new();
    for number in 0..count {
        // Pseudo-random cursors, far from each other.
        let seq = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % head;
        let expected = format!("id: {epoch}.{}\n", seq + 1);
        let started = Instant::now();
        let path = format!("/v1/sessions/{session}/stream?after={epoch}.{seq}");
        let mut stream = Stream::open(server.address, &path).await?;
        let (mut first, mut has_event) = (None, false);
        while !has_event {
            let is_open = stream
                .lines(|line| {
                    first.get_or_insert_with(|| line.to_vec());
                    has_event |= line.starts_with(b"data: ");
                })
                .await?;
            anyhow::ensure!(is_open, "the stream is closed");
        }
        times.push(started.elapsed());
        anyhow::ensure!(first.as_deref() == Some(expected.as_bytes()), "the first line is {first:?}, not {expected:?}");
    }
    times.sort_unstable();
    Ok(times)
}
