//! Readers of sessions: what each is shown, encoded once for all who are shown the same.

mod chunk;
mod encoder;
mod feed;
mod follow;
mod lent;
mod one_reply;
mod signals;
mod state;

pub(crate) use chunk::ChunkBuilder;
pub(crate) use feed::Feeds;
pub(crate) use follow::{Follow, From, Next, ToSend};
pub(crate) use one_reply::{OneReply, Which};
pub(crate) use signals::{LONGEST_NAMES, Signals};
pub(crate) use state::encoder_at;

use recount_dialect::{Dialect, Target};

use crate::media::Media;

/// What a reader is shown, and how it is put on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Style {
    pub(crate) target: Target,
    /// Which CUSTOM events are shown.
    pub(crate) signals: Signals,
    /// Whether the replies of sub-agents are shown.
    pub(crate) all: bool,
    pub(crate) media: Media,
    pub(crate) framing: Framing,
}

/// How frames are put on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Framing {
    /// Server-sent events.
    Sse,
    /// One JSON object for each, which names its session.
    Ws,
    /// One event per line.
    Lines,
}

impl Style {
    /// Whether an entry goes through as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_native() && self.signals == Signals::All && self.all && self.media == Media::Inline
    }

    /// Whether a frame follows from more than its own event.
    pub(crate) fn needs_fold(&self) -> bool {
        !self.is_native() || self.media == Media::Url
    }

    /// Whether readers get Recount's own events.
    pub(crate) fn is_native(&self) -> bool {
        self.target == Target::Dialect(Dialect::Native)
    }

    /// Whether readers are told one reply after the other, so that a message may wait for another to end.
    pub(crate) fn is_in_line(&self) -> bool {
        matches!(self.target, Target::FrontEnd(_))
    }
}
