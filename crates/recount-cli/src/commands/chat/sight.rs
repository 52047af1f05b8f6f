//! Where a conversation is shown: on a terminal, as plain text, or as events for a program.

use std::io::{self, IsTerminal, Stdout, Write};

use anyhow::{Context, Result};
use recount_message::{CustomName, Event, EventKind, Json, Msg};

use super::terminal::{Paint, ReplyView, Screen, size};
use crate::visible::{visible, visible_line};

/// Where a conversation is shown.
pub(super) enum Sight {
    Terminal {
        view: Box<ReplyView>,
        screen: Screen<Stdout>,
    },
    /// The answer on standard output, everything else on standard error.
    Plain {
        at_line_start: bool,
        is_terminal: bool,
    },
    /// The events, one per line.
    Json,
}

impl Sight {
    pub(super) fn terminal(paint: Paint) -> Self {
        Self::Terminal { view: Box::new(ReplyView::new(paint)), screen: Screen::new(io::stdout()) }
    }

    pub(super) fn plain() -> Self {
        Self::Plain { at_line_start: true, is_terminal: io::stdout().is_terminal() }
    }

    /// Takes an entry of the log.
    pub(super) fn entry(&mut self, bytes: &[u8], event: &Event<'_>) -> Result<()> {
        match self {
            Self::Terminal { view, .. } => view.event(event),
            Self::Json => {
                let mut out = io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.write_all(b"\n")).context(CANNOT)?;
            }
            Self::Plain { at_line_start, is_terminal } => plain(event, at_line_start, *is_terminal)?,
        }
        Ok(())
    }

    /// Shows a message that was there before.
    pub(super) fn message(&mut self, message: &Msg) {
        if let Self::Terminal { view, .. } = self {
            view.message(message);
        }
    }

    /// Says something that is not in the log.
    pub(super) fn note(&mut self, text: &str) {
        match self {
            Self::Terminal { view, .. } => view.note(text),
            Self::Plain { .. } | Self::Json => tell(text),
        }
    }

    /// Shows what was taken.
    pub(super) fn draw(&mut self) -> Result<()> {
        match self {
            Self::Terminal { view, screen } => {
                let (columns, rows) = size();
                let (done, live) = view.lines(columns);
                screen.draw(done, live, rows).context(CANNOT)
            }
            Self::Plain { .. } | Self::Json => io::stdout().flush().context(CANNOT),
        }
    }

    /// Makes room for something else, such as a question.
    pub(super) fn settle(&mut self) -> Result<()> {
        match self {
            Self::Terminal { view, screen } => {
                let (columns, rows) = size();
                let (mut done, live) = view.lines(columns);
                done.extend(live);
                done.extend(view.begin().then(String::new));
                screen.draw(done, Vec::new(), rows).context(CANNOT)
            }
            Self::Plain { at_line_start, .. } => {
                let mut out = io::stdout().lock();
                if !std::mem::replace(at_line_start, true) {
                    out.write_all(b"\n").context(CANNOT)?;
                }
                out.flush().context(CANNOT)
            }
            Self::Json => io::stdout().flush().context(CANNOT),
        }
    }
}

const CANNOT: &str = "cannot write to standard output";

fn plain(event: &Event<'_>, at_line_start: &mut bool, is_terminal: bool) -> Result<()> {
    match &event.kind {
        EventKind::TextBlockDelta(text) if !text.delta.is_empty() => {
            *at_line_start = text.delta.ends_with('\n');
            // A model's words must not drive the terminal; a file gets them as they are.
            let shown = if is_terminal { visible(&text.delta) } else { text.delta.as_ref().into() };
            return io::stdout().lock().write_all(shown.as_bytes()).context(CANNOT);
        }
        // Two texts of one answer stand apart.
        EventKind::TextBlockEnd(_) if !*at_line_start => {
            *at_line_start = true;
            return io::stdout().lock().write_all(b"\n").context(CANNOT);
        }
        EventKind::ToolResultStart(result) => tell(&format!("running {}", result.tool_call_name)),
        EventKind::ToolResultEnd(result) => tell(&format!("the tool ended: {}", result.state)),
        EventKind::DataBlockStart(data) => {
            tell(&format!("the model answers with {}, which --json shows", data.media_type));
        }
        EventKind::ReplyEnd(end) => {
            if let Some(error) = &end.error {
                tell(&format!("{}: {}", error.kind, error.message));
            }
        }
        EventKind::Custom(signal) => {
            let said = |key: &str| signal.value.get(key).and_then(Json::to_text).unwrap_or_default();
            match signal.own_name() {
                Some(CustomName::Retry) => tell(&format!("{}: {}, trying again", said("model"), said("class"))),
                Some(CustomName::Fallback) => tell(&format!("{} failed, asking {}", said("from"), said("to"))),
                _ => {}
            }
        }
        _ => {}
    }
    Ok(())
}

fn tell(text: &str) {
    // Nobody is left to tell when even this cannot be written.
    let _ = writeln!(io::stderr(), "{}", visible_line(text));
}
