//! Prints the answer while it is streamed.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use recount_message::{AgentEvent, CustomName, EventKind, Json};
use recount_model::client::CancellationToken;

use super::warn;
use crate::visible::visible;

/// Prints events as they arrive. A write error cancels the call and is returned by [`Self::finish`].
pub(super) struct Printer {
    json: bool,
    is_terminal: bool,
    stop: CancellationToken,
    write_error: Option<io::Error>,
    /// Whether the output is at the start of a line.
    at_line_start: bool,
}

impl Printer {
    pub(super) fn new(json: bool, stop: CancellationToken) -> Self {
        Self { json, is_terminal: io::stdout().is_terminal(), stop, write_error: None, at_line_start: true }
    }

    pub(super) fn print(&mut self, event: &AgentEvent) {
        if self.json {
            let mut line = event.to_json();
            line.push('\n');
            return self.write(&line);
        }
        match &event.kind {
            EventKind::TextBlockDelta(text) => self.write_text(&text.delta),
            // Each text block starts on a new line.
            EventKind::TextBlockEnd(_) => self.end_line(),
            EventKind::DataBlockStart(data) => {
                self.end_line();
                warn(&format!("the model answers with {}, which --json shows", data.media_type));
            }
            EventKind::Custom(signal) => {
                let field =
                    |key: &str| signal.value.get(key).and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
                match signal.recount_name() {
                    Some(CustomName::Retry) => warn(&format!("{}: {}, trying again", field("model"), field("class"))),
                    Some(CustomName::Fallback) => warn(&format!("{} failed, asking {}", field("from"), field("to"))),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn write_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.at_line_start = text.ends_with('\n');
            // Control characters are escaped for a terminal; a file gets the unchanged text.
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
        if self.write_error.is_some() {
            return;
        }
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // The output is closed, so the rest of the answer is not needed.
            self.write_error = Some(error);
            self.stop.cancel();
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        self.write_error.map_or(Ok(()), Err).context("cannot write to standard output")
    }
}
