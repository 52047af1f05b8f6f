//! The line editor of the terminal.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use recount_message::jiff::Timestamp;
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

use super::terminal::discard_typeahead;

/// The result of reading a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D.
    End,
    /// The deadline of the answer has passed.
    Expired,
}

/// Reads lines from the terminal, with a persistent history.
pub(super) struct Editor {
    /// `None` while a line is read.
    inner: Option<DefaultEditor>,
    history: PathBuf,
}

impl Editor {
    pub(super) fn new(history: &Path) -> Result<Self> {
        let mut inner = editor()?;
        // The history file does not exist on the first run.
        let _ = inner.load_history(history);
        Ok(Self { inner: Some(inner), history: history.to_owned() })
    }

    /// Reads a message. A line that ends in a backslash continues on the next line.
    pub(super) async fn message(&mut self, prompt: &str) -> Result<Line> {
        let mut message = String::new();
        let mut prompt = prompt.to_owned();
        loop {
            let line = match self.line(&prompt).await? {
                Line::Text(line) => line,
                other => return Ok(other),
            };
            match line.strip_suffix('\\') {
                Some(start) => {
                    message.push_str(start);
                    message.push('\n');
                    prompt = "… ".to_owned();
                }
                None => {
                    message.push_str(&line);
                    self.add_to_history(&message);
                    return Ok(Line::Text(message));
                }
            }
        }
    }

    /// Reads an answer, with `initial` as the editable text. Discards input that was typed before the prompt.
    pub(super) async fn answer(&mut self, prompt: &str, initial: &str) -> Result<Line> {
        discard_typeahead();
        // Use a separate editor: this one may hold typeahead for the next message.
        let (_, line) = read(editor()?, prompt, initial).await?;
        Ok(line)
    }

    /// Reads an answer, or returns `Line::Expired` at the deadline. Uses the terminal's own line editing, so that no
    /// blocking read remains after the deadline.
    pub(super) async fn answer_until(&mut self, prompt: &str, time: Timestamp) -> Result<Line> {
        discard_typeahead();
        let mut interrupts = signal(SignalKind::interrupt()).context(READ_ERROR)?;
        #[expect(deprecated, reason = "standard input stays open while it is polled, and there is no other safe way")]
        let terminal = AsyncFd::with_interest(io::stdin(), Interest::READABLE).context(READ_ERROR)?;
        write(prompt)?;
        let timeout = Duration::try_from(time.duration_since(Timestamp::now())).unwrap_or_default();
        let deadline = sleep(timeout);
        tokio::pin!(deadline);
        let mut bytes = Vec::new();
        loop {
            tokio::select! {
                // Prefer input that arrived before the deadline.
                biased;
                ready = terminal.readable() => {
                    ready.context(READ_ERROR)?.clear_ready();
                    let mut chunk = [0; 4096];
                    let length = rustix::io::read(terminal.get_ref(), &mut chunk).context(READ_ERROR)?;
                    bytes.extend_from_slice(chunk.get(..length).unwrap_or_default());
                    if length == 0 && bytes.is_empty() {
                        write("\n")?;
                        return Ok(Line::End);
                    }
                    if length == 0 || bytes.ends_with(b"\n") {
                        return Ok(Line::Text(String::from_utf8_lossy(&bytes).trim_end().to_owned()));
                    }
                }
                _ = interrupts.recv() => {
                    write("\n")?;
                    return Ok(Line::Interrupted);
                }
                () = &mut deadline => {
                    // Discard a partial answer: it must not become part of the next message.
                    discard_typeahead();
                    write("\n")?;
                    return Ok(Line::Expired);
                }
            }
        }
    }

    async fn line(&mut self, prompt: &str) -> Result<Line> {
        let inner = self.inner.take().context("a line is being read already")?;
        let (inner, line) = read(inner, prompt, "").await?;
        self.inner = Some(inner);
        Ok(line)
    }

    fn add_to_history(&mut self, message: &str) {
        let Some(editor) = &mut self.inner else { return };
        if !message.trim().is_empty() && editor.add_history_entry(message).unwrap_or(false) {
            // Continue if the history cannot be written.
            let _ = editor.append_history(&self.history);
        }
    }
}

fn editor() -> Result<DefaultEditor> {
    let config = Config::builder().auto_add_history(false).history_ignore_space(true).build();
    DefaultEditor::with_config(config).context(READ_ERROR)
}

const READ_ERROR: &str = "cannot read from the terminal";

fn write(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to the terminal")
}

/// Reads a line on a blocking thread.
async fn read(mut editor: DefaultEditor, prompt: &str, initial: &str) -> Result<(DefaultEditor, Line)> {
    let (prompt, initial) = (prompt.to_owned(), initial.to_owned());
    let task = tokio::task::spawn_blocking(move || {
        let line = editor.readline_with_initial(&prompt, (&initial, ""));
        (editor, line)
    });
    let (editor, line) = task.await.context(READ_ERROR)?;
    let line = match line {
        Ok(text) => Line::Text(text),
        Err(ReadlineError::Interrupted) => Line::Interrupted,
        Err(ReadlineError::Eof) => Line::End,
        Err(error) => return Err(error).context(READ_ERROR),
    };
    Ok((editor, line))
}
