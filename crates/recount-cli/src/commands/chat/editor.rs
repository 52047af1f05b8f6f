//! The line that the user writes.

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

use super::terminal::forget_typed;

/// What came of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D.
    End,
    /// The time for an answer is over.
    Expired,
}

/// Reads lines from the terminal, with a history that outlives the program.
pub(super) struct Editor {
    /// It is away while a line is read.
    inner: Option<DefaultEditor>,
    history: PathBuf,
}

impl Editor {
    pub(super) fn new(history: &Path) -> Result<Self> {
        let mut inner = editor()?;
        // The first time there is none.
        let _ = inner.load_history(history);
        Ok(Self { inner: Some(inner), history: history.to_owned() })
    }

    /// A message, which may have several lines.
    pub(super) async fn message(&mut self, prompt: &str) -> Result<Line> {
        let mut whole = String::new();
        let mut shown = prompt.to_owned();
        loop {
            let line = match self.line(&shown).await? {
                Line::Text(line) => line,
                ended => return Ok(ended),
            };
            match line.strip_suffix('\\') {
                Some(begun) => {
                    whole.push_str(begun);
                    whole.push('\n');
                    shown = "… ".to_owned();
                }
                None => {
                    whole.push_str(&line);
                    self.remember(&whole);
                    return Ok(Line::Text(whole));
                }
            }
        }
    }

    /// An answer to a question, which begins as `initial` says. What was typed before the question was asked is no part of it.
    pub(super) async fn answer(&mut self, prompt: &str, initial: &str) -> Result<Line> {
        forget_typed();
        // What was typed ahead of the next message waits in the other one.
        let (_, line) = read(editor()?, prompt, initial).await?;
        Ok(line)
    }

    /// An answer that has to come by a time. The terminal itself has it written, so that nothing is left reading when the time
    /// is over.
    pub(super) async fn answer_until(&mut self, prompt: &str, time: Timestamp) -> Result<Line> {
        forget_typed();
        let mut interrupts = signal(SignalKind::interrupt()).context(CANNOT)?;
        #[expect(
            deprecated,
            reason = "standard input is not closed while it is waited for, and there is no other safe way"
        )]
        let terminal = AsyncFd::with_interest(io::stdin(), Interest::READABLE).context(CANNOT)?;
        write(prompt)?;
        let left = Duration::try_from(time.duration_since(Timestamp::now())).unwrap_or_default();
        let over = sleep(left);
        tokio::pin!(over);
        let mut bytes = Vec::new();
        loop {
            tokio::select! {
                // What came in time counts.
                biased;
                ready = terminal.readable() => {
                    ready.context(CANNOT)?.clear_ready();
                    let mut piece = [0; 4096];
                    let length = rustix::io::read(terminal.get_ref(), &mut piece).context(CANNOT)?;
                    bytes.extend_from_slice(piece.get(..length).unwrap_or_default());
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
                () = &mut over => {
                    // What was begun was an answer, and nothing that comes later.
                    forget_typed();
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

    fn remember(&mut self, message: &str) {
        let Some(editor) = &mut self.inner else { return };
        if !message.trim().is_empty() && editor.add_history_entry(message).unwrap_or(false) {
            // A history that cannot be kept is no reason to stop.
            let _ = editor.append_history(&self.history);
        }
    }
}

fn editor() -> Result<DefaultEditor> {
    let config = Config::builder().auto_add_history(false).history_ignore_space(true).build();
    DefaultEditor::with_config(config).context(CANNOT)
}

const CANNOT: &str = "cannot read from the terminal";

fn write(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to the terminal")
}

/// Reads a line where nothing else has to wait for it.
async fn read(mut editor: DefaultEditor, prompt: &str, initial: &str) -> Result<(DefaultEditor, Line)> {
    let (prompt, initial) = (prompt.to_owned(), initial.to_owned());
    let reading = tokio::task::spawn_blocking(move || {
        let line = editor.readline_with_initial(&prompt, (&initial, ""));
        (editor, line)
    });
    let (editor, line) = reading.await.context(CANNOT)?;
    let line = match line {
        Ok(text) => Line::Text(text),
        Err(ReadlineError::Interrupted) => Line::Interrupted,
        Err(ReadlineError::Eof) => Line::End,
        Err(error) => return Err(error).context(CANNOT),
    };
    Ok((editor, line))
}
