//! A reader of one reply, for the AI SDK, whose streams end with the reply.

use bytes::Bytes;
use recount_log::{Cursor, Entry, Error, Frame, OpenReply, Reader, Session, Start};
use recount_message::{CustomName, Event, EventKind, Json};

use super::StreamFormat;
use super::chunk::ChunkBuilder;
use super::encoder::{Encoder, EncoderState, fold_of, message_item};
use super::encoder_state::resolve_start;

/// The frame that ends a stream of the AI SDK.
const DONE: &str = "data: [DONE]\n\n";

/// Selects the reply to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplySelector<'r> {
    /// The reply with an id, from its beginning. It may have ended, or not have started yet.
    ById(&'r str),
    /// The reply in progress.
    Running,
    /// The reply that is open at a position, or the next one that starts after it.
    FromPosition(Start),
}

/// Reads one reply until it ends or waits for input.
#[derive(Debug)]
pub(crate) struct ReplyReader {
    reader: Reader,
    encoder: Encoder,
    /// Whether the reply may be that of a sub-agent.
    all: bool,
    /// `None` until the next reply starts.
    id: Option<String>,
    /// Frames that were encoded and not returned yet.
    pending: Option<ChunkBuilder>,
    has_started: bool,
    is_over: bool,
}

impl ReplyReader {
    /// Creates a reader. Returns `None` for [`ReplySelector::Running`] if no reply is in progress.
    ///
    /// # Errors
    ///
    /// Returns an error if the session does not exist.
    pub(crate) async fn open(
        session: &Session,
        format: &StreamFormat,
        selector: ReplySelector<'_>,
    ) -> Result<Option<Self>, Error> {
        let start = match selector {
            ReplySelector::ById(_) | ReplySelector::Running => Start::Snapshot,
            ReplySelector::FromPosition(start) => resolve_start(session, start).await?,
        };
        let (mut open, mut cursor) = (Vec::new(), None);
        let mut reader = session.subscribe_with(start, format.visibility())?;
        match start {
            Start::After(position) => match session.open_replies_at(position).await {
                Ok(replies) => (open, cursor) = (replies, Some(position)),
                // The position is gone. The reply in progress now is the best continuation.
                Err(Error::Gap { .. }) => return Box::pin(Self::open(session, format, ReplySelector::Running)).await,
                Err(error) => return Err(error),
            },
            Start::Snapshot => {
                while let Some(frame) = reader.try_next().await? {
                    if let Frame::Snapshot(snapshot) = frame {
                        (open, cursor) = (snapshot.open, Some(snapshot.cursor));
                        break;
                    }
                }
            }
            _ => {}
        }
        open.retain(|reply| format.all || !reply.nested);
        let reply = match selector {
            ReplySelector::ById(id) => open.into_iter().find(|reply| reply.id == id),
            ReplySelector::Running | ReplySelector::FromPosition(_) => {
                open.into_iter().min_by_key(|reply| reply.start_seq)
            }
        };
        let name = session.key().name();
        let mut out = ChunkBuilder::default();
        let (id, encoder) = match (selector, reply, cursor) {
            (_, Some(OpenReply { id, fold, .. }), Some(cursor)) => {
                let state = EncoderState { fold: fold_of(cursor, [fold].iter()), ..EncoderState::default() };
                let encoder = Encoder::new(format, name, state);
                encoder.resumed(cursor, &mut out);
                (Some(id), encoder)
            }
            (ReplySelector::Running, ..) => return Ok(None),
            (ReplySelector::ById(id), ..) => {
                (Some(id.to_owned()), ended_reply(session, format, id, cursor, &mut out).await?)
            }
            (ReplySelector::FromPosition(_), ..) => (None, Encoder::new(format, name, EncoderState::default())),
        };
        let has_started = !out.is_empty();
        let (pending, is_over) = (has_started.then_some(out), has_started && encoder.is_idle());
        Ok(Some(Self { reader, encoder, all: format.all, id, pending, has_started, is_over }))
    }

    /// Waits for the next frames. Returns `None` when the reply is over. Cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the session was deleted or the log is closed.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            if let Some(out) = self.pending.take() {
                return Ok(Some(self.finish(out)));
            }
            if self.is_over {
                return Ok(None);
            }
            let first = self.reader.next().await?;
            let frames: Vec<Frame> = std::iter::once(first).chain(self.reader.drain_buffered()).collect();
            let mut out = ChunkBuilder::default();
            for frame in frames {
                match frame {
                    Frame::Entry(entry) => self.entry(&entry, &mut out),
                    // The session was replaced.
                    _ => self.is_over = true,
                }
                if self.is_over {
                    break;
                }
            }
            if !out.is_empty() {
                self.pending = Some(out);
            }
        }
    }

    fn entry(&mut self, entry: &Entry, out: &mut ChunkBuilder) {
        let event = std::str::from_utf8(&entry.event).ok().and_then(|text| Event::from_json(text).ok());
        let Some(event) = event else { return };
        if let (None, EventKind::ReplyStart(start)) = (&self.id, &event.kind)
            && (self.all || event.extension("parent").is_none())
        {
            self.id = Some(start.reply_id.to_string());
        }
        let Some(id) = self.id.as_deref().filter(|id| is_relevant(&event, id)) else { return };
        let is_of_reply = event.reply_id() == Some(id) || custom_reply_id(&event).as_deref() == Some(id);
        self.encoder.entry(entry, out);
        self.has_started |= matches!(event.kind, EventKind::ReplyStart(_));
        self.is_over = self.has_started && is_of_reply && self.encoder.is_idle();
    }

    fn finish(&self, mut out: ChunkBuilder) -> Bytes {
        if self.is_over && self.encoder.is_idle() {
            out.text.push_str(DONE);
        }
        out.text.into()
    }
}

/// Whether an event belongs to a reply or to no reply.
fn is_relevant(event: &Event<'_>, id: &str) -> bool {
    match &event.kind {
        EventKind::Custom(custom) => match custom.recount_name() {
            Some(CustomName::Message) => false,
            Some(CustomName::Block | CustomName::Call) => custom_reply_id(event).as_deref() == Some(id),
            _ => custom.reply_id.as_deref().is_none_or(|reply_id| reply_id == id),
        },
        kind => kind.reply_id().is_none_or(|reply_id| reply_id == id),
    }
}

/// Returns the reply id in the value of a CUSTOM event.
fn custom_reply_id(event: &Event<'_>) -> Option<String> {
    match &event.kind {
        EventKind::Custom(custom) => custom.value.get("reply_id").and_then(Json::as_str).map(str::to_owned),
        _ => None,
    }
}

/// Encodes a reply that is not open, and returns the encoder after it. If the reply does not exist yet, it has no frames.
async fn ended_reply(
    session: &Session,
    format: &StreamFormat,
    id: &str,
    cursor: Option<Cursor>,
    out: &mut ChunkBuilder,
) -> Result<Encoder, Error> {
    let (key, reply_id) = (session.key().clone(), id.to_owned());
    let message = session.log().read(move |view| Ok(view.message(&key, &reply_id)?)).await?;
    let name = session.key().name();
    let (Some(message), Some(cursor)) = (message, cursor) else {
        return Ok(Encoder::new(format, name, EncoderState::default()));
    };
    let reply = message_item(message.body.as_str());
    let state = EncoderState { fold: fold_of(cursor, [reply].iter()), ..EncoderState::default() };
    let encoder = Encoder::new(format, name, state);
    encoder.prelude(cursor, out);
    Ok(encoder)
}
