//! The progress bar on standard error.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Inputs above this size, in bytes, show the bar at once.
const LARGE_BYTES: u64 = 8 * 1024 * 1024;
/// Smaller inputs show the bar after this time.
const SLOW: Duration = Duration::from_secs(1);
/// The bytes between two updates of the bar, so that a line costs only an addition.
const UPDATE_BYTES: u64 = 128 * 1024;

/// More entries than this show the bar at once.
const LARGE_ENTRIES: u64 = 100_000;
/// The entries between two updates of the bar.
const UPDATE_ENTRIES: u64 = 1_000;

const ENTRIES_TEMPLATE: &str = "{bar:24} {human_pos} of {human_len} entries, {eta} left";
const BYTES_TEMPLATE: &str = "{bar:24} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// Shows the progress of reading on standard error, if it is a terminal and the input is large or slow.
pub(crate) struct Progress {
    bar: ProgressBar,
    template: &'static str,
    total: Option<u64>,
    large: u64,
    step: u64,
    started: Instant,
    shown: bool,
    read: u64,
    last_update: u64,
}

impl Progress {
    /// Creates a progress bar for an input of `size` bytes. It stays hidden if the size is unknown.
    pub(crate) fn counting_bytes(size: Option<u64>) -> Self {
        Self::new(size, BYTES_TEMPLATE, LARGE_BYTES, UPDATE_BYTES)
    }

    /// Creates a progress bar for a number of log entries. It stays hidden if the number is unknown.
    pub(crate) fn counting_entries(count: Option<u64>) -> Self {
        Self::new(count, ENTRIES_TEMPLATE, LARGE_ENTRIES, UPDATE_ENTRIES)
    }

    fn new(size: Option<u64>, template: &'static str, large: u64, step: u64) -> Self {
        Self {
            bar: ProgressBar::hidden(),
            template,
            large,
            step,
            total: size.filter(|_| io::stderr().is_terminal()),
            started: Instant::now(),
            shown: false,
            read: 0,
            last_update: 0,
        }
    }

    #[inline]
    pub(crate) fn advance(&mut self, amount: usize) {
        self.read += amount as u64;
        if self.read - self.last_update >= self.step {
            self.last_update = self.read;
            self.update();
        }
    }

    fn update(&mut self) {
        let Some(total) = self.total else { return };
        if !self.shown && (total > self.large || self.started.elapsed() > SLOW) {
            self.shown = true;
            if let Ok(style) = ProgressStyle::with_template(self.template) {
                self.bar.set_style(style);
            }
            self.bar.set_length(total);
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        if self.shown {
            self.bar.set_position(self.read);
        }
    }

    pub(crate) fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
