//! Somebody who reads one reply, and then nothing more.

use bytes::Bytes;
use recount_log::storage::Visibility;
use recount_log::{Cursor, Entry, Error, Frame, OpenReply, Reader, Session, Start};
use recount_message::{CustomName, Event, EventKind, Json};

use super::StreamFormat;
use super::chunk::ChunkBuilder;
use super::encoder::{Encoder, EncoderState, finished_reply, fold_of};
use super::encoder_state::settled;

/// What ends a stream of the AI SDK.
const DONE: &str = "data: [DONE]\n\n";

/// ReplySelector reply is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplySelector<'r> {
    /// The one with an id: from its beginning, also when it is over or has not begun.
    ById(&'r str),
    /// The one that is going on.
    Running,
    /// The one that was open at a place, or the next that begins after it.
    FromPosition(Start),
}

/// Reads one reply until it has ended or waits for somebody.
#[derive(Debug)]
pub(crate) struct ReplyReader {
    reader: Reader,
    encoder: Encoder,
    /// Whether it may be a sub-agent's.
    all: bool,
    /// Nothing as long as it is the next one that begins.
    id: Option<String>,
    /// What is to be sent first.
    first: Option<ChunkBuilder>,
    has_begun: bool,
    is_over: bool,
}

impl ReplyReader {
    /// Begins to read; nothing where no reply is going on.
    ///
    /// # Errors
    ///
    /// When there is no such session.
    pub(crate) async fn begin(
        session: &Session,
        style: &StreamFormat,
        which: ReplySelector<'_>,
    ) -> Result<Option<Self>, Error> {
        let show = if style.all { Visibility::All } else { Visibility::TopLevel };
        let start = match which {
            ReplySelector::ById(_) | ReplySelector::Running => Start::Snapshot,
            ReplySelector::FromPosition(start) => settled(session, start).await?,
        };
        let (mut open, mut cursor) = (Vec::new(), None);
        let mut reader = session.subscribe_with(start, show)?;
        match start {
            Start::After(at) => match session.open_at(at).await {
                Ok(replies) => (open, cursor) = (replies, Some(at)),
                // Where it was cannot be found any more. What is going on now is what is left of it.
                Err(Error::Gap { .. }) => return Box::pin(Self::begin(session, style, ReplySelector::Running)).await,
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
        open.retain(|reply| style.all || !reply.nested);
        let reply = match which {
            ReplySelector::ById(id) => open.into_iter().find(|reply| reply.id == id),
            ReplySelector::Running | ReplySelector::FromPosition(_) => {
                open.into_iter().min_by_key(|reply| reply.start_seq)
            }
        };
        let name = session.key().name();
        let mut out = ChunkBuilder::default();
        let (id, encoder) = match (which, reply, cursor) {
            (_, Some(OpenReply { id, fold, .. }), Some(cursor)) => {
                let encoder = Encoder::new(
                    style,
                    name,
                    EncoderState { fold: fold_of(cursor, [fold].iter()), ..EncoderState::default() },
                );
                encoder.resumed(cursor, &mut out);
                (Some(id), encoder)
            }
            (ReplySelector::Running, ..) => return Ok(None),
            (ReplySelector::ById(id), ..) => (Some(id.to_owned()), whole(session, style, id, cursor, &mut out).await?),
            (ReplySelector::FromPosition(_), ..) => (None, Encoder::new(style, name, EncoderState::default())),
        };
        let has_begun = !out.is_empty();
        let (first, is_over) = (has_begun.then_some(out), has_begun && encoder.rests());
        Ok(Some(Self { reader, encoder, all: style.all, id, first, has_begun, is_over }))
    }

    /// What comes next; nothing means that the reply is over. To give up waiting loses nothing.
    ///
    /// # Errors
    ///
    /// When the session is gone or the log is closed.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            if let Some(out) = self.first.take() {
                return Ok(Some(self.sent(out)));
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
                    // The session is another one now.
                    _ => self.is_over = true,
                }
                if self.is_over {
                    break;
                }
            }
            if !out.is_empty() {
                self.first = Some(out);
            }
        }
    }

    fn entry(&mut self, entry: &Entry, out: &mut ChunkBuilder) {
        let event = std::str::from_utf8(&entry.event).ok().and_then(|text| Event::from_json(text).ok());
        let Some(event) = event else { return };
        if let (None, EventKind::ReplyStart(start)) = (&self.id, &event.kind)
            && (self.all || event.carried("parent").is_none())
        {
            self.id = Some(start.reply_id.to_string());
        }
        let Some(id) = self.id.as_deref().filter(|id| is_for(&event, id)) else { return };
        let is_of_reply = event.reply_id() == Some(id) || named_by(&event).as_deref() == Some(id);
        self.encoder.entry(entry, out);
        self.has_begun |= matches!(event.kind, EventKind::ReplyStart(_));
        self.is_over = self.has_begun && is_of_reply && self.encoder.rests();
    }

    fn sent(&self, mut out: ChunkBuilder) -> Bytes {
        if self.is_over && self.encoder.rests() {
            out.text.push_str(DONE);
        }
        out.text.into()
    }
}

/// Whether an event is of a reply, or of nobody's.
fn is_for(event: &Event<'_>, id: &str) -> bool {
    match &event.kind {
        EventKind::Custom(custom) => match custom.own_name() {
            Some(CustomName::Message) => false,
            Some(CustomName::Block | CustomName::Call) => named_by(event).as_deref() == Some(id),
            _ => custom.reply_id.as_deref().is_none_or(|named| named == id),
        },
        kind => kind.reply_id().is_none_or(|named| named == id),
    }
}

fn named_by(event: &Event<'_>) -> Option<String> {
    match &event.kind {
        EventKind::Custom(custom) => custom.value.get("reply_id").and_then(Json::as_str).map(str::to_owned),
        _ => None,
    }
}

/// What there is of a reply that is not open: all of it, or nothing yet.
async fn whole(
    session: &Session,
    style: &StreamFormat,
    id: &str,
    cursor: Option<Cursor>,
    out: &mut ChunkBuilder,
) -> Result<Encoder, Error> {
    let (key, wanted) = (session.key().clone(), id.to_owned());
    let message = session.log().read(move |view| Ok(view.message(&key, &wanted)?)).await?;
    let name = session.key().name();
    let (Some(message), Some(cursor)) = (message, cursor) else {
        return Ok(Encoder::new(style, name, EncoderState::default()));
    };
    let reply = finished_reply(&message.body);
    let encoder =
        Encoder::new(style, name, EncoderState { fold: fold_of(cursor, [reply].iter()), ..EncoderState::default() });
    encoder.prelude(cursor, out);
    Ok(encoder)
}
