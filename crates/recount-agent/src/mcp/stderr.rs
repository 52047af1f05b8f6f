//! The standard error of a server process.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tokio::time::timeout;

/// The maximum length of a line in bytes. Longer lines are truncated.
const MAX_LINE: usize = 2_000;
/// The number of last lines that are kept for error messages.
const MAX_LINES: usize = 5;

/// The maximum wait for the end of the stream after the exit of the server. A child process can keep it open.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// The last lines of standard error.
#[derive(Debug)]
pub(super) struct StderrTail {
    lines: Mutex<VecDeque<String>>,
    is_closed: watch::Sender<bool>,
}

impl Default for StderrTail {
    fn default() -> Self {
        Self { lines: Mutex::default(), is_closed: watch::Sender::new(true) }
    }
}

impl StderrTail {
    /// Returns the last lines. Waits up to [`END_TIMEOUT`] for the end of the stream.
    pub(super) async fn last_lines(&self) -> String {
        let _ = timeout(END_TIMEOUT, self.is_closed.subscribe().wait_for(|is_closed| *is_closed)).await;
        let lines = self.lock();
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// Clears the lines for a new process.
    pub(super) fn reset(&self) {
        self.lock().clear();
        self.is_closed.send_replace(false);
    }

    /// Reads the stream to its end, and logs each line.
    pub(super) async fn read(&self, server: &str, mut stderr: impl AsyncRead + Unpin) {
        let mut line = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let count = match stderr.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(count) => count,
            };
            for &byte in buffer.get(..count).unwrap_or_default() {
                if byte == b'\n' {
                    self.push(server, &line);
                    line.clear();
                } else if line.len() < MAX_LINE {
                    line.push(byte);
                }
            }
        }
        self.push(server, &line);
        self.is_closed.send_replace(true);
    }

    fn push(&self, server: &str, line: &[u8]) {
        let line = String::from_utf8_lossy(line).trim_end().to_owned();
        if line.is_empty() {
            return;
        }
        tracing::info!(server, "{line}");
        let mut lines = self.lock();
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn last_lines_are_kept_and_long_lines_truncated() {
        let tail = StderrTail::default();
        tail.reset();
        let mut text: String = (0..20).map(|line| format!("line {line}\n")).collect();
        text.push_str(&"x".repeat(10_000));
        tail.read("s", text.as_bytes()).await;
        let kept = tail.last_lines().await;
        assert!(kept.starts_with("line 16\nline 17\nline 18\nline 19\nxxx"), "{kept}");
        assert_eq!(kept.lines().last().unwrap().len(), MAX_LINE);
    }
}
