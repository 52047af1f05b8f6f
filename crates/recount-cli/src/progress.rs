//! The progress bar.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// An input of this size is worth a bar from the start.
const LARGE: u64 = 8 * 1024 * 1024;
/// Any other is worth one when it takes this long.
const LONG: Duration = Duration::from_secs(1);
/// How many bytes go by unnoticed, so that lines cost nothing.
const STEP: u64 = 128 * 1024;

/// So many entries are worth a bar from the start.
const MANY: u64 = 100_000;
/// How many of them go by unnoticed.
const FEW: u64 = 1_000;

const COUNT_TEMPLATE: &str = "{bar:24} {human_pos} of {human_len} entries, {eta} left";
const TEMPLATE: &str = "{bar:24} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// Tells how far the reading has come, on standard error, if that is a terminal and the input is large or slow.
pub(crate) struct Progress {
    bar: ProgressBar,
    template: &'static str,
    total: Option<u64>,
    large: u64,
    step: u64,
    started: Instant,
    shown: bool,
    read: u64,
    noticed: u64,
}

impl Progress {
    /// Over an input of some size. Where the size is not known there is nothing to tell.
    pub(crate) fn over(size: Option<u64>) -> Self {
        Self::new(size, TEMPLATE, LARGE, STEP)
    }

    /// Over a number of entries.
    pub(crate) fn counting_entries(count: Option<u64>) -> Self {
        Self::new(count, COUNT_TEMPLATE, MANY, FEW)
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
            noticed: 0,
        }
    }

    #[inline]
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.read += bytes as u64;
        if self.read - self.noticed >= self.step {
            self.noticed = self.read;
            self.notice();
        }
    }

    fn notice(&mut self) {
        let Some(total) = self.total else { return };
        if !self.shown && (total > self.large || self.started.elapsed() > LONG) {
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
