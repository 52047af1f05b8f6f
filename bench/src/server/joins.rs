//! How soon somebody has something who comes back to a long session.

use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::process::Server;
use super::wire::{Client, Stream, request};

/// From connecting to the first event, for each of some cursors in turn.
///
/// # Errors
///
/// When the service does not do as it should.
pub async fn joins(server: &Server, session: &str, count: u64) -> anyhow::Result<Vec<Duration>> {
    let mut client = Client::connect(server.address).await?;
    let info = client.ask(&request("GET", &format!("/v1/sessions/{session}"), b"")).await?.success()?;
    let info: serde_json::Value = serde_json::from_slice(&info.body)?;
    let head = info.get("cursor").and_then(serde_json::Value::as_str).context("the session has no cursor")?;
    let (epoch, head) = head.split_once('.').context("the cursor has no dot")?;
    let head: u64 = head.parse()?;
    let mut times = Vec::new();
    for number in 0..count {
        // Far from each other, and in no order.
        let seq = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % head;
        let expected = format!("id: {epoch}.{}\n", seq + 1);
        let began = Instant::now();
        let path = format!("/v1/sessions/{session}/stream?after={epoch}.{seq}");
        let mut stream = Stream::open(server.address, &path).await?;
        let (mut first, mut has_event) = (None, false);
        while !has_event {
            let goes_on = stream
                .lines(|line| {
                    first.get_or_insert_with(|| line.to_vec());
                    has_event |= line.starts_with(b"data: ");
                })
                .await?;
            anyhow::ensure!(goes_on, "the stream is closed");
        }
        times.push(began.elapsed());
        anyhow::ensure!(first.as_deref() == Some(expected.as_bytes()), "the first line is {first:?}, not {expected:?}");
    }
    times.sort_unstable();
    Ok(times)
}
