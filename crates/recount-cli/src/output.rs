//! Buffered standard output.

use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::AutoStream;
use anyhow::{Context, Result};
use indicatif::ProgressBar;

use crate::input::Lines;

const BUFFER: usize = 64 * 1024;

/// Standard output, locked and buffered.
pub(crate) struct Output {
    writer: BufWriter<Box<dyn Write>>,
    /// Whether each write is flushed at once, because the input may still be growing.
    is_live: bool,
    /// The progress bar to remove before the first write. `None` if standard output is not a terminal.
    bar: Option<ProgressBar>,
}

impl Output {
    /// Creates an output without styles, for programs.
    pub(crate) fn plain(lines: &Lines) -> Self {
        Self::new(Box::new(io::stdout().lock()), lines)
    }

    /// Creates an output with styles. They are removed if the terminal or `color` does not allow them.
    pub(crate) fn styled(lines: &Lines, color: clap::ColorChoice) -> Self {
        let choice = match color {
            clap::ColorChoice::Auto => AutoStream::choice(&io::stdout()),
            clap::ColorChoice::Always => anstream::ColorChoice::Always,
            clap::ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self::new(Box::new(AutoStream::new(io::stdout().lock(), choice)), lines)
    }

    fn new(writer: Box<dyn Write>, lines: &Lines) -> Self {
        Self {
            writer: BufWriter::with_capacity(BUFFER, writer),
            is_live: lines.is_live(),
            bar: io::stdout().is_terminal().then(|| lines.progress_bar().clone()),
        }
    }

    /// Writes a complete item, such as a line or a message. Flushes it if the input is live.
    pub(crate) fn write(&mut self, text: &str) -> Result<()> {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        self.writer.write_all(text.as_bytes()).context("cannot write to standard output")?;
        if self.is_live { self.flush() } else { Ok(()) }
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        self.writer.flush().context("cannot write to standard output")
    }
}

/// Whether an error means that the reader closed the output, as with `recount fold x | head -1`.
pub(crate) fn is_closed(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
