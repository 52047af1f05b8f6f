//! What a terminal shows of a conversation.

mod markdown;
mod paint;
mod prose;
mod reply;
mod screen;
mod size;
mod told;
mod wrap;

pub(super) use paint::{BAD, BOLD, CAREFUL, DIMMED, PLAIN, Paint};
pub(super) use reply::{ReplyView, described, tokens};
pub(super) use screen::Screen;
pub(super) use size::{Quiet, forget_typed, size};
pub(super) use told::{listed, told};
