//! Readers of sessions: what each is shown, encoded once for all who are shown the same.

mod chunk;
mod direct_write;
mod encoder;
mod encoder_state;
mod feed;
mod reply_reader;
mod signals;
mod subscriber;

pub(crate) use chunk::ChunkBuilder;
pub(crate) use encoder_state::encoder_at;
pub(crate) use feed::Feeds;
pub(crate) use reply_reader::{ReplyReader, ReplySelector};
pub(crate) use signals::{MAX_NAMES_LEN, SignalFilter};
pub(crate) use subscriber::{Delivery, SseDelivery, StartPosition, Subscriber};

use recount_dialect::{Dialect, Target};

use crate::media::Media;

/// What a reader is shown, and how it is put on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct StreamFormat {
    pub(crate) target: Target,
    /// ReplySelector CUSTOM events are shown.
    pub(crate) signals: SignalFilter,
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

impl StreamFormat {
    /// Whether an entry goes through as it is.
    pub(crate) fn is_passthrough(&self) -> bool {
        self.is_native() && self.signals == SignalFilter::All && self.all && self.media == Media::Inline
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
    pub(crate) fn is_sequential(&self) -> bool {
        matches!(self.target, Target::FrontEnd(_))
    }
}
