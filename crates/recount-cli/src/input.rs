//! The input: JSON lines from a file or from standard input.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use indicatif::ProgressBar;
use recount_message::DecodeError;

use crate::hint::{BadLine, hint};
use crate::progress::Progress;
use crate::visible::visible_line;

const BUFFER: usize = 256 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What every command is told about its input.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// The file to read; standard input where it is `-` or left out
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Stop at the first line that cannot be read, instead of going on with the next
    #[arg(long)]
    pub(crate) strict: bool,
}

impl InputArgs {
    /// Returns the path of the file. `None` for standard input.
    fn path(&self) -> Option<&Path> {
        unless_dash(self.file.as_deref())
    }

    /// Whether a path refers to the input file.
    pub(crate) fn is_file(&self, path: &Path) -> bool {
        let Some(own) = self.path() else { return false };
        match (fs::canonicalize(own), fs::canonicalize(path)) {
            (Ok(own), Ok(other)) => own == other,
            _ => false,
        }
    }
}

/// The bytes of a file or of standard input.
pub(crate) struct Source {
    pub(crate) name: String,
    /// The size of a regular file, in bytes. `None` for pipes, terminals and devices.
    pub(crate) size: Option<u64>,
    pub(crate) reader: Box<dyn Read>,
}

impl Source {
    /// Opens a file, or standard input if the path is `-` or `None`.
    pub(crate) fn open(file: Option<&Path>) -> Result<Self> {
        if let Some(path) = unless_dash(file) {
            let name = path.display().to_string();
            let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
            return Ok(Self { name, size: regular_size(&file), reader: Box::new(file) });
        }
        if file.is_none() && io::stdin().is_terminal() {
            let _ = writeln!(io::stderr(), "reading from the terminal; Ctrl-D ends the input");
        }
        Ok(Self { name: "<stdin>".to_owned(), size: stdin_size(), reader: Box::new(io::stdin().lock()) })
    }
}

fn unless_dash(file: Option<&Path>) -> Option<&Path> {
    file.filter(|path| *path != Path::new("-"))
}

/// Reads lines and reports invalid ones on standard error.
pub(crate) struct Lines {
    name: String,
    reader: BufReader<Box<dyn Read>>,
    number: u64,
    /// Whether the current line has no line break.
    is_unterminated: bool,
    is_live: bool,
    bad_lines: u64,
    /// The hints that were printed.
    hints: Vec<&'static str>,
    progress: Progress,
}

impl Lines {
    pub(crate) fn open(args: &InputArgs) -> Result<Self> {
        let Source { name, size, reader } = Source::open(args.file.as_deref())?;
        Ok(Self {
            name,
            reader: BufReader::with_capacity(BUFFER, reader),
            number: 0,
            is_unterminated: false,
            is_live: size.is_none(),
            bad_lines: 0,
            hints: Vec::new(),
            progress: Progress::counting_bytes(size),
        })
    }

    /// Reads the next line that is not blank, without trailing white space. Returns `false` at the end of the input.
    pub(crate) fn read(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        loop {
            line.clear();
            let length = self.reader.read_until(b'\n', line).with_context(|| format!("cannot read {}", self.name))?;
            if length == 0 {
                return Ok(false);
            }
            self.number += 1;
            self.is_unterminated = line.last() != Some(&b'\n');
            self.progress.advance(length);
            if self.number == 1 && line.starts_with(BYTE_ORDER_MARK) {
                line.drain(..BYTE_ORDER_MARK.len());
            }
            line.truncate(line.trim_ascii_end().len());
            if !line.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Returns the number of the current line. The first line is 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the number of lines that were reported as invalid.
    pub(crate) fn bad_lines(&self) -> u64 {
        self.bad_lines
    }

    /// Whether the input may still be growing, so that output must not be held back in a buffer.
    pub(crate) fn is_live(&self) -> bool {
        self.is_live
    }

    pub(crate) fn progress_bar(&self) -> &ProgressBar {
        self.progress.bar()
    }

    /// Reports on standard error that the current line is invalid.
    pub(crate) fn report_bad(&mut self, line: &[u8], error: &DecodeError) {
        self.report_bad_as(line, error, &error.to_string());
    }

    /// Reports an invalid line with another message than that of the error.
    pub(crate) fn report_bad_as(&mut self, line: &[u8], error: &DecodeError, message: &str) {
        self.bad_lines += 1;
        self.report(message);
        if let Some(hint) = self.hint(line, error) {
            self.write_stderr(&format!("hint: {hint}"));
        }
    }

    /// Returns a hint for an invalid line. Each hint is returned only once.
    pub(crate) fn hint(&mut self, line: &[u8], error: &DecodeError) -> Option<&'static str> {
        let hint = hint(&BadLine { line, error, is_unterminated: self.is_unterminated })?;
        if self.hints.contains(&hint) {
            return None;
        }
        self.hints.push(hint);
        Some(hint)
    }

    /// Prints a message about the current line on standard error.
    pub(crate) fn report(&self, text: &str) {
        self.write_stderr(&format!("{}:{}: {text}", self.name, self.number));
    }

    /// Removes the progress bar and prints a message about the whole input on standard error.
    pub(crate) fn report_end(&self, text: &str) {
        self.progress.finish();
        self.write_stderr(text);
    }

    /// Write errors are ignored: a failure of standard error cannot be reported.
    fn write_stderr(&self, text: &str) {
        self.progress.bar().suspend(|| {
            let _ = writeln!(io::stderr(), "{}", visible_line(text));
        });
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.progress.finish();
    }
}

/// Returns the size of a regular file, in bytes. `None` for pipes, terminals and devices.
fn regular_size(file: &File) -> Option<u64> {
    file.metadata().ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
}

#[cfg(unix)]
fn stdin_size() -> Option<u64> {
    use std::os::fd::AsFd;
    let handle = io::stdin().as_fd().try_clone_to_owned().ok()?;
    regular_size(&File::from(handle))
}

#[cfg(not(unix))]
fn stdin_size() -> Option<u64> {
    None
}
