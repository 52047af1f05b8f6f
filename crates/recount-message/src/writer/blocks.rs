//! Text, thinking, data and hints.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{OpenProse, Prose, ReplyWriter, carrying_extra};
use crate::block::{ContentBlock, DataBlock, HintBlock, Source, SourceError};
use crate::event::{
    AgentEvent, CustomEvent, DataBlockDeltaEvent, DataBlockEndEvent, DataBlockStartEvent, HintBlockEvent,
    TextBlockDeltaEvent, TextBlockEndEvent, TextBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
};
use crate::{Json, Object, base64_text};

/// A data block that has begun. Giving it back ends it.
#[derive(Debug)]
#[must_use]
pub struct OpenData {
    id: String,
    media_type: String,
}

impl<S: FnMut(AgentEvent)> ReplyWriter<S> {
    /// Says more in the text block that is open, or begins one.
    pub fn text(&mut self, delta: impl Into<String>) {
        let (reply_id, block_id) = (self.id(), self.open_prose(Prose::Text));
        self.emit(TextBlockDeltaEvent { reply_id, block_id, delta: delta.into().into() });
    }

    /// Thinks on in the thinking block that is open, or begins one.
    pub fn thinking(&mut self, delta: impl Into<String>) {
        let (reply_id, block_id) = (self.id(), self.open_prose(Prose::Thinking));
        self.emit(ThinkingBlockDeltaEvent { reply_id, block_id, delta: delta.into().into() });
    }

    /// Adds something that the provider says about the thinking, such as a signature. Begins a thinking block where none
    /// is open.
    pub fn thinking_extra(&mut self, key: impl Into<String>, value: impl Into<Json>) {
        self.open_prose(Prose::Thinking);
        if let Some(prose) = &mut self.prose {
            prose.extra.insert(key, value);
        }
    }

    /// Ends the text or thinking block that is open. What is said next begins a new one.
    pub fn end_prose(&mut self) {
        let Some(OpenProse { kind, id, extra }) = self.prose.take() else { return };
        let (reply_id, block_id) = (self.id(), Cow::Owned(id));
        let carried = carrying_extra(extra);
        match kind {
            Prose::Text => self.emit_carrying(TextBlockEndEvent { reply_id, block_id, text: None }, &carried),
            Prose::Thinking => self.emit_carrying(ThinkingBlockEndEvent { reply_id, block_id }, &carried),
        }
    }

    /// The open block of a kind; the other kind ends first.
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

    /// Begins data that comes piece by piece. Text may go on beside it.
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

    /// Appends bytes to data.
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

    /// Ends data.
    pub fn end_data(&mut self, data: OpenData) {
        let OpenData { id, .. } = data;
        if self.open_data.contains(&id) {
            self.open_data.retain(|open| *open != id);
            self.write_data_end(id, Object::new());
        }
    }

    pub(super) fn write_data_end(&mut self, id: String, extra: Object) {
        let reply_id = self.id();
        self.emit_carrying(DataBlockEndEvent { reply_id, block_id: Cow::Owned(id) }, &carrying_extra(extra));
    }

    /// Gives a whole data block. It keeps its id, unless other data of this reply has it.
    ///
    /// # Errors
    ///
    /// When the data is not base64. Nothing is written then.
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

    /// Something is said to the model from outside.
    pub fn hint(&mut self, hint: HintBlock) {
        let HintBlock { hint, id, source, extra, .. } = hint;
        let event =
            HintBlockEvent { reply_id: self.id(), block_id: Cow::Owned(id), source: source.map(Cow::Owned), hint };
        self.emit_carrying(event, &carrying_extra(extra));
    }

    /// Gives a whole block that no start, delta and end can carry, such as one of an unknown type.
    pub fn block(&mut self, block: &ContentBlock) {
        let reply_id = self.reply_id().to_owned();
        self.emit(CustomEvent::block(reply_id, block));
    }
}

/// The media type of a source, and its base64 or its URL.
pub(super) fn source_parts(source: Source) -> Result<(String, Option<String>, Option<String>), SourceError> {
    match source {
        Source::Base64(source) => {
            base64_text::check_whole(&source.data).map_err(SourceError::Base64)?;
            Ok((source.media_type, Some(source.data), None))
        }
        Source::Url(source) => Ok((source.media_type, None, Some(source.url))),
    }
}
