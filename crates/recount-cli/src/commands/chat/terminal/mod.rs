//! What a terminal shows of a conversation.

mod markdown;
mod paint;
mod prose;
mod reply;
mod screen;
mod size;
mod wrap;

pub(super) use paint::{BAD, BOLD, CAREFUL, DIMMED, Paint};
pub(super) use reply::{ReplyView, tokens};
pub(super) use screen::Screen;
pub(super) use size::{Quiet, size};
