//! Where a conversation is shown: on a terminal, as plain text, or as events for a program.

use std::io::{self, IsTerminal, Stdout, Write};

use anyhow::{Context, Result};
use recount_message::{CustomName, Event, EventKind, Fold, Json, Msg, TextBlock, ToolCallState};

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
        let view = ReplyView::new(paint, size().columns);
        Self::Terminal { view: Box::new(view), screen: Screen::new(io::stdout()) }
    }

    pub(super) fn plain() -> Self {
        Self::Plain { at_line_start: true, is_terminal: io::stdout().is_terminal() }
    }

    /// Takes an entry of the log. The fold is of those before it.
    pub(super) fn entry(&mut self, bytes: &[u8], event: &Event<'_>, fold: &Fold) -> Result<()> {
        match self {
            Self::Terminal { view, .. } => view.event(event),
            Self::Json => {
                let mut out = io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.write_all(b"\n")).context(CANNOT)?;
            }
            Self::Plain { at_line_start, is_terminal } => plain(event, fold, at_line_start, *is_terminal)?,
        }
        Ok(())
    }

    /// Shows a message that was there before. `parts` are the replies of agents that have worked for others.
    pub(super) fn message(&mut self, message: &Msg, parts: &[&Msg]) {
        if let Self::Terminal { view, .. } = self {
            view.message(message, parts);
        }
    }

    /// Says something that is not in the log.
    pub(super) fn note(&mut self, text: &str) {
        match self {
            Self::Terminal { view, .. } => view.note(text),
            Self::Plain { .. } | Self::Json => tell(text),
        }
    }

    /// Shows what was taken. On a terminal, `meanwhile` stands where nothing else is changing.
    pub(super) fn draw(&mut self, meanwhile: Option<String>) -> Result<()> {
        match self {
            Self::Terminal { view, screen } => {
                let size = size();
                let (done, mut live) = view.lines(size.columns);
                if live.is_empty() {
                    live.extend(meanwhile);
                }
                screen.draw(done, live, size).context(CANNOT)
            }
            Self::Plain { .. } | Self::Json => io::stdout().flush().context(CANNOT),
        }
    }

    /// Makes room for something else, such as a question.
    pub(super) fn settle(&mut self) -> Result<()> {
        match self {
            Self::Terminal { view, screen } => {
                let size = size();
                let (mut done, live) = view.lines(size.columns);
                done.extend(live);
                done.extend(view.begin().then(String::new));
                screen.draw(done, Vec::new(), size).context(CANNOT)
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

fn plain(event: &Event<'_>, fold: &Fold, at_line_start: &mut bool, is_terminal: bool) -> Result<()> {
    let message = event.reply_id().and_then(|id| fold.message(id));
    // What is said by an agent that works for the one that was asked is no part of its answer.
    let helper = message.filter(|message| message.parent().is_some()).map(|message| format!("{}: ", message.name()));
    let tell = |text: &str| tell(&format!("{}{text}", helper.as_deref().unwrap_or_default()));
    match &event.kind {
        EventKind::TextBlockEnd(end) if helper.is_some() => {
            let blocks = message.into_iter().flat_map(Msg::blocks::<TextBlock>);
            let said = blocks.filter(|block| block.id == end.block_id).flat_map(|block| block.text.lines());
            said.filter(|line| !line.trim().is_empty()).for_each(tell);
        }
        EventKind::TextBlockDelta(text) if !text.delta.is_empty() && helper.is_none() => {
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
        EventKind::ToolResultStart(result) => {
            // What is denied or cannot be run has a result too.
            let call = message.and_then(|message| message.call(&result.tool_call_id));
            if call.is_some_and(|call| call.state == ToolCallState::Allowed) {
                tell(&format!("running {}", result.tool_call_name));
            }
        }
        EventKind::ToolResultEnd(end) => {
            let name = message.and_then(|message| message.call(&end.tool_call_id)).map(|call| call.name.as_str());
            tell(&format!("{} ended: {}", name.unwrap_or("the tool"), end.state));
        }
        EventKind::DataBlockStart(data) => {
            tell(&format!("the model answers with {}, which --json shows", data.media_type));
        }
        EventKind::ReplyEnd(end) => {
            if let Some(error) = &end.error {
                tell(&format!("{}: {}", error.kind, error.message));
            }
        }
        EventKind::Custom(signal) => {
            let said = |key: &str| signal.value.get(key).and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
            match signal.recount_name() {
                Some(CustomName::Retry) => tell(&format!("{}: {}, trying again", said("model"), said("class"))),
                Some(CustomName::Fallback) => tell(&format!("{} failed, asking {}", said("from"), said("to"))),
                _ => {}
            }
        }
        _ => {}
    }
    Ok(())
}

/// Says something beside the answer.
pub(super) fn tell(text: &str) {
    // Nobody is left to tell when even this cannot be written.
    let _ = writeln!(io::stderr(), "{}", visible_line(text));
}
