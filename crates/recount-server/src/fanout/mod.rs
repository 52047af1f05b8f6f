//! Fan-out: each session is encoded once per stream format, and all subscribers share the bytes.

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
use recount_log::storage::Visibility;

use crate::media::Media;

/// The format in which a reader receives a session. Readers with the same format share the encoded frames.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct StreamFormat {
    pub(crate) target: Target,
    /// The CUSTOM events that are included.
    pub(crate) signals: SignalFilter,
    /// Whether the replies of sub-agents are included.
    pub(crate) all: bool,
    pub(crate) media: Media,
    pub(crate) framing: Framing,
}

/// The framing of events on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Framing {
    /// Server-sent events.
    Sse,
    /// WebSocket: a JSON object per event, which names its session.
    Ws,
    /// JSON Lines.
    Lines,
}

impl StreamFormat {
    /// Whether entries are sent without being parsed.
    pub(crate) fn is_passthrough(&self) -> bool {
        self.is_native() && self.signals == SignalFilter::All && self.all && self.media == Media::Inline
    }

    /// Whether the frames of an event depend on the events before it.
    pub(crate) fn needs_fold(&self) -> bool {
        !self.is_native() || self.media == Media::Url
    }

    /// Whether readers receive Recount's own events.
    pub(crate) fn is_native(&self) -> bool {
        self.target == Target::Dialect(Dialect::Native)
    }

    /// Whether the protocol has one reply after the other, so that a message is held back until the open reply ends.
    pub(crate) fn is_sequential(&self) -> bool {
        matches!(self.target, Target::FrontEnd(_))
    }

    /// The entries of the log that readers receive.
    fn visibility(&self) -> Visibility {
        if self.all { Visibility::All } else { Visibility::TopLevel }
    }
}
