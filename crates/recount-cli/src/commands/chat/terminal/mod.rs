//! Renders a conversation on a terminal.

mod markdown;
mod notices;
mod paint;
mod prose;
mod reply;
mod screen;
mod size;
mod wrap;

pub(super) use notices::{format_list, format_notice};
pub(super) use paint::{BOLD, DIMMED, ERROR, PLAIN, Paint, WARNING};
pub(super) use reply::{ReplyView, data_label, token_counts};
pub(super) use screen::Screen;
pub(super) use size::{EchoGuard, discard_typeahead, size};
