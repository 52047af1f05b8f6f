//! What a server process says on its standard error.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tokio::time::timeout;

/// A line is cut here, so that one without an end takes no memory.
const LONGEST_LINE: usize = 2_000;
/// So many lines are kept to be told when the server dies.
const KEPT: usize = 5;

/// A server that has died has said its last words by now, unless a child of its own still holds the line.
const PATIENCE: Duration = Duration::from_millis(500);

/// The last words of a server.
#[derive(Debug)]
pub(super) struct StderrTail {
    lines: Mutex<VecDeque<String>>,
    is_over: watch::Sender<bool>,
}

impl Default for StderrTail {
    fn default() -> Self {
        Self { lines: Mutex::default(), is_over: watch::Sender::new(true) }
    }
}

impl StderrTail {
    /// What it said last. Waits a little where it might not be over yet.
    pub(super) async fn told(&self) -> String {
        let _ = timeout(PATIENCE, self.is_over.subscribe().wait_for(|is_over| *is_over)).await;
        let lines = self.lock();
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// Another server begins.
    pub(super) fn begin(&self) {
        self.lock().clear();
        self.is_over.send_replace(false);
    }

    /// Reads until the end. Each line goes to the log.
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
                    self.take(server, &line);
                    line.clear();
                } else if line.len() < LONGEST_LINE {
                    line.push(byte);
                }
            }
        }
        self.take(server, &line);
        self.is_over.send_replace(true);
    }

    fn take(&self, server: &str, line: &[u8]) {
        let line = String::from_utf8_lossy(line).trim_end().to_owned();
        if line.is_empty() {
            return;
        }
        tracing::info!(server, "{line}");
        let mut lines = self.lock();
        if lines.len() == KEPT {
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
    async fn the_last_lines_are_kept_and_long_ones_cut() {
        let words = StderrTail::default();
        words.begin();
        let mut text: String = (0..20).map(|line| format!("line {line}\n")).collect();
        text.push_str(&"x".repeat(10_000));
        words.read("s", text.as_bytes()).await;
        let kept = words.told().await;
        assert!(kept.starts_with("line 16\nline 17\nline 18\nline 19\nxxx"), "{kept}");
        assert_eq!(kept.lines().last().unwrap().len(), LONGEST_LINE);
    }
}
