//! The answer, as it comes.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use recount_message::{AgentEvent, CustomName, EventKind, Json};
use recount_model::client::CancellationToken;

use super::warn;
use crate::visible::visible;

/// Prints events as they come. What goes wrong in writing stops the call and is told at its end.
pub(super) struct Printer {
    json: bool,
    is_terminal: bool,
    stop: CancellationToken,
    broken: Option<io::Error>,
    /// Whether the last character of the answer was a line break.
    at_line_start: bool,
}

impl Printer {
    pub(super) fn new(json: bool, stop: CancellationToken) -> Self {
        Self { json, is_terminal: io::stdout().is_terminal(), stop, broken: None, at_line_start: true }
    }

    pub(super) fn print(&mut self, event: &AgentEvent) {
        if self.json {
            let mut line = event.to_json();
            line.push('\n');
            return self.write(&line);
        }
        match &event.kind {
            EventKind::TextBlockDelta(text) => self.write_text(&text.delta),
            // Two texts of one answer stand apart.
            EventKind::TextBlockEnd(_) => self.end_line(),
            EventKind::DataBlockStart(data) => {
                self.end_line();
                warn(&format!("the model answers with {}, which --json shows", data.media_type));
            }
            EventKind::Custom(signal) => {
                let said =
                    |key: &str| signal.value.get(key).and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
                match signal.recount_name() {
                    Some(CustomName::Retry) => warn(&format!("{}: {}, trying again", said("model"), said("class"))),
                    Some(CustomName::Fallback) => warn(&format!("{} failed, asking {}", said("from"), said("to"))),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn write_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.at_line_start = text.ends_with('\n');
            // A model's words must not drive the terminal; a file gets them as they are.
            let shown = if self.is_terminal { visible(text) } else { text.into() };
            self.write(&shown);
        }
    }

    fn end_line(&mut self) {
        if !self.at_line_start {
            self.write("\n");
            self.at_line_start = true;
        }
    }

    fn write(&mut self, text: &str) {
        if self.broken.is_some() {
            return;
        }
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // Nobody reads the answer any more.
            self.broken = Some(error);
            self.stop.cancel();
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        self.broken.map_or(Ok(()), Err).context("cannot write to standard output")
    }
}
