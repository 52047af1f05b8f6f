//! The output: standard output, written in large pieces.

use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::AutoStream;
use anyhow::{Context, Result};
use indicatif::ProgressBar;

use crate::input::Lines;

const BUFFER: usize = 64 * 1024;

/// Standard output, locked and buffered.
pub(crate) struct Output {
    writer: BufWriter<Box<dyn Write>>,
    /// Whether somebody may be waiting for each piece.
    live: bool,
    /// A bar that has to make room for what is written to the same terminal.
    bar: Option<ProgressBar>,
}

impl Output {
    /// An output for programs.
    pub(crate) fn plain(lines: &Lines) -> Self {
        Self::new(Box::new(io::stdout().lock()), lines)
    }

    /// An output for people. Styles are taken out again where nobody can see them.
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
            live: lines.is_live(),
            bar: io::stdout().is_terminal().then(|| lines.progress_bar().clone()),
        }
    }

    /// Writes a piece that a reader can use by itself.
    pub(crate) fn write(&mut self, text: &str) -> Result<()> {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        self.writer.write_all(text.as_bytes()).context("cannot write to standard output")?;
        if self.live { self.flush() } else { Ok(()) }
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        self.writer.flush().context("cannot write to standard output")
    }
}

/// Whether an error means that nobody reads the output any more, as with `recount fold x | head -1`.
pub(crate) fn is_closed(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
