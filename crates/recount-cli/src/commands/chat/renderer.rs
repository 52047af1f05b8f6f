//! Renders a conversation: to a terminal, as plain text, or as JSON events.

use std::io::{self, IsTerminal, Stdout, Write};

use anyhow::{Context, Result};
use recount_message::{CustomName, Event, EventKind, Fold, Json, Msg, TextBlock, ToolCallState};

use super::terminal::{Paint, ReplyView, Screen, size};
use crate::visible::{visible, visible_line};

/// The output of a conversation.
pub(super) enum Renderer {
    Terminal {
        view: Box<ReplyView>,
        screen: Screen<Stdout>,
    },
    /// The reply on standard output, everything else on standard error.
    Plain {
        at_line_start: bool,
        is_terminal: bool,
    },
    /// One JSON event per line.
    Json,
}

impl Renderer {
    pub(super) fn terminal(paint: Paint) -> Self {
        let view = ReplyView::new(paint, size().columns);
        Self::Terminal { view: Box::new(view), screen: Screen::new(io::stdout()) }
    }

    pub(super) fn plain() -> Self {
        Self::Plain { at_line_start: true, is_terminal: io::stdout().is_terminal() }
    }

    /// Renders an entry of the log. `fold` holds the entries before it.
    pub(super) fn entry(&mut self, bytes: &[u8], event: &Event<'_>, fold: &Fold) -> Result<()> {
        match self {
            Self::Terminal { view, .. } => view.event(event),
            Self::Json => {
                let mut out = io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.write_all(b"\n")).context(WRITE_ERROR)?;
            }
            Self::Plain { at_line_start, is_terminal } => plain(event, fold, at_line_start, *is_terminal)?,
        }
        Ok(())
    }

    /// Renders a message of the history. `parts` are the replies of sub-agents.
    pub(super) fn message(&mut self, message: &Msg, parts: &[&Msg]) {
        if let Self::Terminal { view, .. } = self {
            view.message(message, parts);
        }
    }

    /// Shows a notice that is not in the log.
    pub(super) fn note(&mut self, text: &str) {
        match self {
            Self::Terminal { view, .. } => view.note(text),
            Self::Plain { .. } | Self::Json => print_notice(text),
        }
    }

    /// Writes pending output. On a terminal, shows `placeholder` if no other line is changing.
    pub(super) fn draw(&mut self, placeholder: Option<String>) -> Result<()> {
        match self {
            Self::Terminal { view, screen } => {
                let size = size();
                let (done, mut live) = view.lines(size.columns);
                if live.is_empty() {
                    live.extend(placeholder);
                }
                screen.draw(done, live, size).context(WRITE_ERROR)
            }
            Self::Plain { .. } | Self::Json => io::stdout().flush().context(WRITE_ERROR),
        }
    }

    /// Completes all pending output, so that other text such as a prompt can follow.
    pub(super) fn settle(&mut self) -> Result<()> {
        match self {
            Self::Terminal { view, screen } => {
                let size = size();
                let (mut done, live) = view.lines(size.columns);
                done.extend(live);
                done.extend(view.start_section().then(String::new));
                screen.draw(done, Vec::new(), size).context(WRITE_ERROR)
            }
            Self::Plain { at_line_start, .. } => {
                let mut out = io::stdout().lock();
                if !std::mem::replace(at_line_start, true) {
                    out.write_all(b"\n").context(WRITE_ERROR)?;
                }
                out.flush().context(WRITE_ERROR)
            }
            Self::Json => io::stdout().flush().context(WRITE_ERROR),
        }
    }
}

const WRITE_ERROR: &str = "cannot write to standard output";

fn plain(event: &Event<'_>, fold: &Fold, at_line_start: &mut bool, is_terminal: bool) -> Result<()> {
    let message = event.reply_id().and_then(|id| fold.message(id));
    // The text of a sub-agent is not part of the reply.
    let prefix = message.filter(|message| message.parent().is_some()).map(|message| format!("{}: ", message.name()));
    let print_notice = |text: &str| print_notice(&format!("{}{text}", prefix.as_deref().unwrap_or_default()));
    match &event.kind {
        EventKind::TextBlockEnd(end) if prefix.is_some() => {
            let blocks = message.into_iter().flat_map(Msg::blocks::<TextBlock>);
            let lines = blocks.filter(|block| block.id == end.block_id).flat_map(|block| block.text.lines());
            lines.filter(|line| !line.trim().is_empty()).for_each(print_notice);
        }
        EventKind::TextBlockDelta(text) if !text.delta.is_empty() && prefix.is_none() => {
            *at_line_start = text.delta.ends_with('\n');
            // Escape control characters on a terminal. A file receives the text unchanged.
            let shown = if is_terminal { visible(&text.delta) } else { text.delta.as_ref().into() };
            return io::stdout().lock().write_all(shown.as_bytes()).context(WRITE_ERROR);
        }
        // Separate the text blocks of a reply by a newline.
        EventKind::TextBlockEnd(_) if !*at_line_start => {
            *at_line_start = true;
            return io::stdout().lock().write_all(b"\n").context(WRITE_ERROR);
        }
        EventKind::ToolResultStart(result) => {
            // A call that was denied or cannot run has a result too, but it is not running.
            let call = message.and_then(|message| message.call(&result.tool_call_id));
            if call.is_some_and(|call| call.state == ToolCallState::Allowed) {
                print_notice(&format!("running {}", result.tool_call_name));
            }
        }
        EventKind::ToolResultEnd(end) => {
            let name = message.and_then(|message| message.call(&end.tool_call_id)).map(|call| call.name.as_str());
            print_notice(&format!("{} ended: {}", name.unwrap_or("the tool"), end.state));
        }
        EventKind::DataBlockStart(data) => {
            print_notice(&format!("the model answers with {}, which --json shows", data.media_type));
        }
        EventKind::ReplyEnd(end) => {
            if let Some(error) = &end.error {
                print_notice(&format!("{}: {}", error.kind, error.message));
            }
        }
        EventKind::Custom(signal) => {
            let field = |key: &str| signal.value.get(key).and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
            match signal.recount_name() {
                Some(CustomName::Retry) => {
                    print_notice(&format!("{}: {}, trying again", field("model"), field("class")));
                }
                Some(CustomName::Fallback) => {
                    print_notice(&format!("{} failed, asking {}", field("from"), field("to")));
                }
                _ => {}
            }
        }
        _ => {}
    }
    Ok(())
}

/// Prints a line to standard error.
pub(super) fn print_notice(text: &str) {
    // Ignore the error: there is no other place to report it.
    let _ = writeln!(io::stderr(), "{}", visible_line(text));
}
