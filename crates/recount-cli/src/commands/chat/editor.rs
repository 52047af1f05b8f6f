//! The line that the user writes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};

/// What came of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D.
    End,
}

/// Reads lines from the terminal, with a history that outlives the program.
pub(super) struct Editor {
    /// It is away while a line is read.
    inner: Option<DefaultEditor>,
    history: PathBuf,
}

impl Editor {
    pub(super) fn new(history: &Path) -> Result<Self> {
        let config = Config::builder().auto_add_history(false).history_ignore_space(true).build();
        let mut inner = DefaultEditor::with_config(config).context("cannot read from the terminal")?;
        // The first time there is none.
        let _ = inner.load_history(history);
        Ok(Self { inner: Some(inner), history: history.to_owned() })
    }

    /// A message, which may have several lines.
    pub(super) async fn message(&mut self, prompt: &str) -> Result<Line> {
        let mut whole = String::new();
        let mut shown = prompt.to_owned();
        loop {
            let line = match self.line(&shown, "").await? {
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

    /// One line, which begins as `initial` says.
    pub(super) async fn line(&mut self, prompt: &str, initial: &str) -> Result<Line> {
        let mut editor = self.inner.take().context("a line is being read already")?;
        let (prompt, initial) = (prompt.to_owned(), initial.to_owned());
        // The terminal is waited for where nothing else has to wait.
        let read = tokio::task::spawn_blocking(move || {
            let line = editor.readline_with_initial(&prompt, (&initial, ""));
            (editor, line)
        });
        let (editor, line) = read.await.context("cannot read from the terminal")?;
        self.inner = Some(editor);
        match line {
            Ok(text) => Ok(Line::Text(text)),
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(error) => Err(error).context("cannot read from the terminal"),
        }
    }

    fn remember(&mut self, message: &str) {
        let Some(editor) = &mut self.inner else { return };
        if !message.trim().is_empty() && editor.add_history_entry(message).unwrap_or(false) {
            // A history that cannot be kept is no reason to stop.
            let _ = editor.append_history(&self.history);
        }
    }
}
