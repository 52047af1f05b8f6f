//! Readers of sessions: what each is shown, encoded once for all who are shown the same.

mod chunk;
mod encoder;
mod feed;
mod follow;
mod state;

pub(crate) use chunk::ChunkBuilder;
pub(crate) use feed::Feeds;
pub(crate) use follow::{Follow, From, Next};
pub(crate) use state::encoder_at;

use recount_dialect::Dialect;

/// What a reader is shown, and how it is put on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Style {
    pub(crate) dialect: Dialect,
    /// Whether CUSTOM events are shown.
    pub(crate) signals: bool,
    /// Whether the replies of sub-agents are shown.
    pub(crate) all: bool,
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
    pub(crate) fn is_plain(self) -> bool {
        self.dialect == Dialect::Native && self.signals && self.all
    }

    /// Whether a frame follows from more than its own event.
    pub(crate) fn needs_fold(self) -> bool {
        self.dialect != Dialect::Native
    }
}
