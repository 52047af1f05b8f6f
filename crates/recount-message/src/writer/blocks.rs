//! Text, thinking, data and hints.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{OpenProse, Prose, ReplyWriter, extra_extension};
use crate::block::{ContentBlock, DataBlock, HintBlock, Source, SourceError};
use crate::event::{
    AgentEvent, CustomEvent, DataBlockDeltaEvent, DataBlockEndEvent, DataBlockStartEvent, HintBlockEvent,
    TextBlockDeltaEvent, TextBlockEndEvent, TextBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
};
use crate::{Json, Object, base64_text};

/// Handle of an open data block. [`ReplyWriter::end_data`] consumes it.
///
/// ```
/// use recount_message::{DataBlock, OpenData, ReplyWriter, Stamps};
///
/// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Painter");
/// let picture: OpenData = reply.data("image/gif", None);
/// reply.data_bytes(&picture, b"GIF");
/// reply.data_bytes(&picture, b"89a");
/// reply.end_data(picture);
/// assert_eq!(reply.message().first::<DataBlock>().unwrap().source, DataBlock::from_bytes(b"GIF89a").source);
/// ```
#[derive(Debug)]
#[must_use]
pub struct OpenData {
    id: String,
    media_type: String,
}

impl<S: FnMut(AgentEvent)> ReplyWriter<S> {
    /// Writes text to the open text block, or starts one.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// for piece in ["Hel", "lo, ", "world"] {
    ///     reply.text(piece);
    /// }
    /// assert_eq!(reply.message().text().as_deref(), Some("Hello, world"));
    /// ```
    pub fn text(&mut self, delta: impl Into<String>) {
        let (reply_id, block_id) = (self.id(), self.open_prose(Prose::Text));
        self.emit(TextBlockDeltaEvent { reply_id, block_id, delta: delta.into().into() });
    }

    /// Writes text to the open thinking block, or starts one.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, ThinkingBlock};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.thinking("The user ");
    /// reply.thinking("greets me.");
    /// reply.text("Hello");
    /// let thought = reply.message().first::<ThinkingBlock>().unwrap();
    /// assert_eq!(thought.thinking, "The user greets me.");
    /// assert!(thought.finished_at.is_some());
    /// ```
    pub fn thinking(&mut self, delta: impl Into<String>) {
        let (reply_id, block_id) = (self.id(), self.open_prose(Prose::Thinking));
        self.emit(ThinkingBlockDeltaEvent { reply_id, block_id, delta: delta.into().into() });
    }

    /// Adds a field of the provider to the open thinking block, such as a signature. Starts a thinking block if none is open.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, ThinkingBlock};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.thinking("Hm.");
    /// reply.thinking_extra("signature", "EqoB…");
    /// reply.end_prose();
    /// assert!(reply.message().first::<ThinkingBlock>().unwrap().extra.contains_key("signature"));
    /// ```
    pub fn thinking_extra(&mut self, key: impl Into<String>, value: impl Into<Json>) {
        self.open_prose(Prose::Thinking);
        if let Some(prose) = &mut self.prose {
            prose.extra.insert(key, value);
        }
    }

    /// Adds a field of the provider to the open text block, such as a signature. Starts a text block if none is open.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, TextBlock};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.text("I cannot help with that.");
    /// reply.text_extra("refusal", true);
    /// reply.end_prose();
    /// assert!(reply.message().first::<TextBlock>().unwrap().extra.contains_key("refusal"));
    /// ```
    pub fn text_extra(&mut self, key: impl Into<String>, value: impl Into<Json>) {
        self.open_prose(Prose::Text);
        if let Some(prose) = &mut self.prose {
            prose.extra.insert(key, value);
        }
    }

    /// Returns whether a thinking block is open.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.thinking("Hm.");
    /// assert!(reply.is_thinking());
    /// reply.text("Yes.");
    /// assert!(!reply.is_thinking());
    /// ```
    pub fn is_thinking(&self) -> bool {
        self.prose.as_ref().is_some_and(|prose| prose.kind == Prose::Thinking)
    }

    /// Adds a field to the open text or thinking block. Has no effect if none is open.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, TextBlock};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.text("Once upon a");
    /// reply.prose_extra("cut", true);
    /// reply.end_prose();
    /// reply.prose_extra("cut", true);
    /// assert_eq!(reply.message().content().len(), 1);
    /// assert!(reply.message().first::<TextBlock>().unwrap().extra.contains_key("cut"));
    /// ```
    pub fn prose_extra(&mut self, key: impl Into<String>, value: impl Into<Json>) {
        if let Some(prose) = &mut self.prose {
            prose.extra.insert(key, value);
        }
    }

    /// Ends the open text or thinking block. Later text starts a new one.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.text("Hello");
    /// reply.end_prose();
    /// reply.text("world");
    /// assert_eq!(reply.message().content().len(), 2);
    /// ```
    pub fn end_prose(&mut self) {
        let Some(OpenProse { kind, id, extra }) = self.prose.take() else { return };
        let (reply_id, block_id) = (self.id(), Cow::Owned(id));
        let extensions = extra_extension(extra);
        match kind {
            Prose::Text => self.emit_with_extensions(TextBlockEndEvent { reply_id, block_id, text: None }, &extensions),
            Prose::Thinking => self.emit_with_extensions(ThinkingBlockEndEvent { reply_id, block_id }, &extensions),
        }
    }

    /// Returns the id of the open block of a kind. Ends an open block of the other kind, and starts a block if none is open.
    fn open_prose(&mut self, kind: Prose) -> Cow<'static, str> {
        if let Some(prose) = &self.prose
            && prose.kind == kind
        {
            return Cow::Owned(prose.id.clone());
        }
        self.end_prose();
        let id = self.stamps.id();
        self.prose = Some(OpenProse::new(kind, id.clone()));
        let reply_id = self.id();
        let block_id: Cow<'static, str> = Cow::Owned(id);
        match kind {
            Prose::Text => self.emit(TextBlockStartEvent { reply_id, block_id: block_id.clone() }),
            Prose::Thinking => self.emit(ThinkingBlockStartEvent { reply_id, block_id: block_id.clone() }),
        }
        block_id
    }

    /// Starts a data block that is written in pieces. Text can be written at the same time.
    ///
    /// ```
    /// use recount_message::{DataBlock, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Painter");
    /// let picture = reply.data("image/png", Some("cat.png".to_owned()));
    /// reply.text("I am painting.");
    /// reply.end_data(picture);
    /// assert_eq!(reply.message().first::<DataBlock>().unwrap().name.as_deref(), Some("cat.png"));
    /// ```
    pub fn data(&mut self, media_type: impl Into<String>, name: Option<String>) -> OpenData {
        let id = self.stamps.id();
        self.begin_data(id, media_type.into(), name)
    }

    fn begin_data(&mut self, id: String, media_type: String, name: Option<String>) -> OpenData {
        self.open_data.push(id.clone());
        let start = DataBlockStartEvent {
            reply_id: self.id(),
            block_id: Cow::Owned(id.clone()),
            media_type: Cow::Owned(media_type.clone()),
            name: name.map(Cow::Owned),
        };
        self.emit(start);
        OpenData { id, media_type }
    }

    /// Appends bytes to a data block.
    ///
    /// ```
    /// use recount_message::{DataBlock, ReplyWriter, Source, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Painter");
    /// let notes = reply.data("text/plain", None);
    /// reply.data_bytes(&notes, b"Hel");
    /// reply.data_bytes(&notes, b"lo");
    /// let Source::Base64(source) = &reply.message().first::<DataBlock>().unwrap().source else { unreachable!() };
    /// assert_eq!(source.bytes()?, b"Hello");
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    pub fn data_bytes(&mut self, data: &OpenData, bytes: &[u8]) {
        self.data_delta(data, Some(STANDARD.encode(bytes)), None);
    }

    fn data_delta(&mut self, data: &OpenData, base64: Option<String>, url: Option<String>) {
        let delta = DataBlockDeltaEvent {
            reply_id: self.id(),
            block_id: Cow::Owned(data.id.clone()),
            media_type: Cow::Owned(data.media_type.clone()),
            data: base64.map(Cow::Owned),
            url: url.map(Cow::Owned),
        };
        if self.open_data.contains(&data.id) {
            self.emit(delta);
        }
    }

    /// Ends a data block.
    ///
    /// ```
    /// use recount_message::{DataBlock, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Painter");
    /// let picture = reply.data("image/png", None);
    /// assert_eq!(reply.message().first::<DataBlock>().unwrap().finished_at, None);
    /// reply.end_data(picture);
    /// assert!(reply.message().first::<DataBlock>().unwrap().finished_at.is_some());
    /// ```
    pub fn end_data(&mut self, data: OpenData) {
        let OpenData { id, .. } = data;
        if self.open_data.contains(&id) {
            self.open_data.retain(|open| *open != id);
            self.write_data_end(id, Object::new());
        }
    }

    pub(super) fn write_data_end(&mut self, id: String, extra: Object) {
        let reply_id = self.id();
        self.emit_with_extensions(DataBlockEndEvent { reply_id, block_id: Cow::Owned(id) }, &extra_extension(extra));
    }

    /// Writes a complete data block. It keeps its id unless other data of this reply uses it.
    ///
    /// ```
    /// use recount_message::{DataBlock, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Painter");
    /// reply.data_block(DataBlock::from_url("https://example.com/cat.png")?.with_id("d1"))?;
    /// assert_eq!(reply.message().images().next().unwrap().id, "d1");
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the data is not base64. Nothing is written then.
    pub fn data_block(&mut self, block: DataBlock) -> Result<(), SourceError> {
        let DataBlock { id, source, name, extra, .. } = block;
        let id = self.unused_id::<DataBlock>(&id);
        let (media_type, base64, url) = source_parts(source)?;
        let data = self.begin_data(id, media_type, name);
        self.data_delta(&data, base64, url);
        self.open_data.retain(|open| *open != data.id);
        self.write_data_end(data.id, extra);
        Ok(())
    }

    /// Writes a hint block.
    ///
    /// ```
    /// use recount_message::{HintBlock, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.hint(HintBlock::reminder("The build is green.").with_source("ci"));
    /// assert_eq!(reply.message().first::<HintBlock>().unwrap().source.as_deref(), Some("ci"));
    /// ```
    pub fn hint(&mut self, hint: HintBlock) {
        let HintBlock { hint, id, source, extra, .. } = hint;
        let event =
            HintBlockEvent { reply_id: self.id(), block_id: Cow::Owned(id), source: source.map(Cow::Owned), hint };
        self.emit_with_extensions(event, &extra_extension(extra));
    }

    /// Writes a complete block without start, delta and end events, such as one of an unknown type.
    ///
    /// ```
    /// use recount_message::{ContentBlock, ReplyWriter, Stamps, UnknownBlock};
    ///
    /// let poll = ContentBlock::from(UnknownBlock::new([("type", "poll"), ("id", "p1")]));
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.block(&poll);
    /// assert_eq!(reply.message().content(), [poll]);
    /// ```
    pub fn block(&mut self, block: &ContentBlock) {
        let reply_id = self.reply_id().to_owned();
        self.emit(CustomEvent::block(reply_id, block));
    }
}

/// Returns the media type of a source, and its base64 or its URL.
pub(super) fn source_parts(source: Source) -> Result<(String, Option<String>, Option<String>), SourceError> {
    match source {
        Source::Base64(source) => {
            base64_text::check_whole(&source.data).map_err(SourceError::Base64)?;
            Ok((source.media_type, Some(source.data), None))
        }
        Source::Url(source) => Ok((source.media_type, None, Some(source.url))),
    }
}
