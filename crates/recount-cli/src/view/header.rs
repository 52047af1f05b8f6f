//! Renders the header line of a message.

use anstyle::{AnsiColor, Style};
use recount_message::{FinishedReason, Msg, Role, ToolCallState};

use super::bubble::Bubble;
use super::{BAD, DIMMED, GOOD, WARNING, awaited, is_open};
use crate::visible::visible_line;

/// Starts the bubble of a message with its role and name, start time, duration and outcome.
pub(super) fn start<'o>(out: &'o mut String, message: &Msg) -> Bubble<'o> {
    let style = role_style(message.role());
    let mut parts = vec![(author(message), style.bold())];
    parts.extend(time(message).map(|time| (time, DIMMED)));
    parts.extend(duration(message).map(|duration| (duration, DIMMED)));
    if message.parent().is_some() {
        parts.push(("sub-agent".to_owned(), DIMMED));
    }
    parts.extend(ending(message).map(|(word, style)| (word.to_owned(), style)));
    let waits_for = |state| awaited(message).any(|call| call.state == state);
    for (state, words) in [
        (ToolCallState::Asking, "waits for a confirmation"),
        (ToolCallState::Submitted, "waits for a result from outside"),
    ] {
        parts.extend(waits_for(state).then(|| (words.to_owned(), WARNING.bold())));
    }
    Bubble::start(out, style, &parts)
}

fn role_style(role: Role) -> Style {
    match role {
        Role::User => AnsiColor::Blue.on_default(),
        Role::Assistant => AnsiColor::Cyan.on_default(),
        _ => AnsiColor::Magenta.on_default(),
    }
}

fn author(message: &Msg) -> String {
    match message.name() {
        "" => message.role().to_string(),
        name => format!("{} {}", message.role(), visible_line(name)),
    }
}

/// Returns the start time of the message, to the second. An invalid time is returned unchanged.
fn time(message: &Msg) -> Option<String> {
    let Some(created) = message.created() else {
        let text = message.created_at();
        return (!text.is_empty()).then(|| visible_line(text).into_owned());
    };
    let text = created.to_string();
    let seconds = text.split(['.', 'Z']).next().unwrap_or(&text);
    Some(format!("{} UTC", seconds.replace('T', " ")))
}

fn duration(message: &Msg) -> Option<String> {
    let seconds = message.finished()?.duration_since(message.created()?).as_secs_f64();
    (seconds > 0.0).then(|| format!("{seconds:.1} s"))
}

/// Returns the finish reason, or `open` for an open reply.
fn ending(message: &Msg) -> Option<(&'static str, Style)> {
    match message.finished_reason() {
        Some(FinishedReason::Completed) => Some((FinishedReason::Completed.as_str(), GOOD)),
        Some(FinishedReason::Error) => Some((FinishedReason::Error.as_str(), BAD)),
        Some(other) => Some((other.as_str(), WARNING)),
        None => is_open(message).then_some(("open", WARNING)),
    }
}
