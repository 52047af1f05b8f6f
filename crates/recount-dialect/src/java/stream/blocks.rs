//! Text, thinking and data blocks.
//!
//! Java reuses the same block ids in every model call, reopens blocks, and leaves text open while the model thinks.
//! Natively every block has an id of its own, and only one text or thinking block is open at a time.

use std::borrow::Cow;

use recount_message::wire::Fnv1a;
use recount_message::{
    AgentEvent, DataBlockEndEvent, DataBlockStartEvent, EventKind, TextBlockDeltaEvent, TextBlockEndEvent,
    TextBlockStartEvent, ThinkingBlockEndEvent, ThinkingBlockStartEvent,
};

use super::output::{self, Output};
use super::reply::Reply;

/// The kind of a block's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentKind {
    Text,
    Thinking,
    Data,
}

impl ContentKind {
    pub(super) const ALL: [Self; 3] = [Self::Text, Self::Thinking, Self::Data];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Thinking => "thinking",
            Self::Data => "data",
        }
    }

    /// Returns whether at most one block of these kinds can be open.
    fn is_prose(self) -> bool {
        matches!(self, Self::Text | Self::Thinking)
    }
}

/// A block that began in the current model call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JavaBlock {
    pub(super) kind: ContentKind,
    /// The Java id of the model call.
    pub(super) java_reply: String,
    /// The Java id of the block.
    pub(super) java_block: String,
    /// The native id.
    pub(super) id: String,
    /// The media type of data.
    pub(super) media_type: String,
    /// Whether the block is open natively.
    pub(super) is_open: bool,
    /// Whether the block is open in Java.
    pub(super) is_open_in_java: bool,
}

impl JavaBlock {
    fn start(&self, reply_id: &str) -> EventKind<'static> {
        let (reply_id, block_id) = (owned(reply_id), owned(&self.id));
        match self.kind {
            ContentKind::Text => TextBlockStartEvent::new(reply_id, block_id).into(),
            ContentKind::Thinking => ThinkingBlockStartEvent::new(reply_id, block_id).into(),
            ContentKind::Data => DataBlockStartEvent::new(reply_id, block_id, owned(&self.media_type)).into(),
        }
    }

    fn end(&self, reply_id: &str) -> EventKind<'static> {
        let (reply_id, block_id) = (owned(reply_id), owned(&self.id));
        match self.kind {
            ContentKind::Text => TextBlockEndEvent::new(reply_id, block_id).into(),
            ContentKind::Thinking => ThinkingBlockEndEvent::new(reply_id, block_id).into(),
            ContentKind::Data => DataBlockEndEvent::new(reply_id, block_id).into(),
        }
    }
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_owned())
}

/// The effect of an event on a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockStep {
    Start,
    Delta,
    End,
}

/// Returns the kind of a block event, its effect, and the Java ids of the model call and the block. `None` for other
/// events.
pub(super) fn block_event(event: &AgentEvent) -> Option<(ContentKind, BlockStep, &str, &str)> {
    use {BlockStep as Step, ContentKind as Kind};
    Some(match &event.kind {
        EventKind::TextBlockStart(event) => (Kind::Text, Step::Start, &event.reply_id, &event.block_id),
        EventKind::TextBlockDelta(event) => (Kind::Text, Step::Delta, &event.reply_id, &event.block_id),
        EventKind::TextBlockEnd(event) => (Kind::Text, Step::End, &event.reply_id, &event.block_id),
        EventKind::ThinkingBlockStart(event) => (Kind::Thinking, Step::Start, &event.reply_id, &event.block_id),
        EventKind::ThinkingBlockDelta(event) => (Kind::Thinking, Step::Delta, &event.reply_id, &event.block_id),
        EventKind::ThinkingBlockEnd(event) => (Kind::Thinking, Step::End, &event.reply_id, &event.block_id),
        EventKind::DataBlockStart(event) => (Kind::Data, Step::Start, &event.reply_id, &event.block_id),
        EventKind::DataBlockDelta(event) => (Kind::Data, Step::Delta, &event.reply_id, &event.block_id),
        EventKind::DataBlockEnd(event) => (Kind::Data, Step::End, &event.reply_id, &event.block_id),
        _ => return None,
    })
}

impl Reply {
    pub(super) fn block_start(&mut self, kind: ContentKind, event: AgentEvent, out: &mut Output) {
        let index = self.block_of(kind, &event);
        self.blocks[index].is_open_in_java = true;
        if !self.blocks[index].is_open {
            self.end_other_prose(index, out);
            self.blocks[index].is_open = true;
            self.pass_to_block(index, event, out);
        }
    }

    pub(super) fn block_delta(&mut self, kind: ContentKind, event: AgentEvent, out: &mut Output) {
        if let EventKind::TextBlockDelta(delta) = &event.kind {
            self.text.add(&delta.delta);
        }
        let index = self.block_of(kind, &event);
        self.open_block(index, out);
        self.pass_to_block(index, event, out);
    }

    pub(super) fn block_end(&mut self, kind: ContentKind, event: AgentEvent, out: &mut Output) {
        let Some(index) = self.find_block(kind, &event) else { return };
        if self.blocks[index].is_open_in_java {
            // The block may have been ended to open another one.
            self.open_block(index, out);
        }
        if self.blocks[index].is_open {
            self.blocks[index].is_open = false;
            self.pass_to_block(index, event, out);
        }
        self.blocks[index].is_open_in_java = false;
    }

    /// Inserts a text that was not streamed.
    pub(super) fn insert_text(&mut self, text: &str, out: &mut Output) {
        let block = JavaBlock { id: self.new_block_id(ContentKind::Text.name()), ..new_block(ContentKind::Text) };
        self.blocks.push(block);
        let index = self.blocks.len() - 1;
        self.open_block(index, out);
        let (reply_id, block_id) = (owned(&self.id), owned(&self.blocks[index].id));
        out.insert(TextBlockDeltaEvent::new(reply_id, block_id, owned(text)));
        self.end_block(index, out);
    }

    /// Ends all open blocks.
    pub(super) fn end_blocks(&mut self, out: &mut Output) {
        for index in 0..self.blocks.len() {
            self.end_block(index, out);
            self.blocks[index].is_open_in_java = false;
        }
    }

    /// Returns whether a block is open in Java.
    pub(super) fn has_open_block(&self) -> bool {
        self.blocks.iter().any(|block| block.is_open || block.is_open_in_java)
    }

    fn find_block(&self, kind: ContentKind, event: &AgentEvent) -> Option<usize> {
        let (_, _, java_reply, java_block) = block_event(event)?;
        self.blocks
            .iter()
            .position(|block| block.kind == kind && block.java_reply == java_reply && block.java_block == java_block)
    }

    /// Returns the index of the block that an event belongs to. Creates the block if it does not exist.
    fn block_of(&mut self, kind: ContentKind, event: &AgentEvent) -> usize {
        if let Some(index) = self.find_block(kind, event) {
            return index;
        }
        let mut block = new_block(kind);
        if let Some((_, _, java_reply, java_block)) = block_event(event) {
            (block.java_reply, block.java_block) = (java_reply.to_owned(), java_block.to_owned());
        }
        block.media_type = match &event.kind {
            EventKind::DataBlockStart(event) => event.media_type.to_string(),
            EventKind::DataBlockDelta(event) => event.media_type.to_string(),
            _ => String::new(),
        };
        let name = Some(block.java_block.as_str()).filter(|name| !name.is_empty()).unwrap_or(kind.name()).to_owned();
        block.id = self.new_block_id(&name);
        self.blocks.push(block);
        self.blocks.len() - 1
    }

    fn new_block_id(&mut self, name: &str) -> String {
        self.id_count += 1;
        format!("{}.{name}.{}", self.id, self.id_count)
    }

    /// Opens a block natively if Java sent no start for it.
    fn open_block(&mut self, index: usize, out: &mut Output) {
        if !self.blocks[index].is_open {
            self.end_other_prose(index, out);
            self.blocks[index].is_open = true;
            out.insert(self.blocks[index].start(&self.id));
        }
    }

    fn end_block(&mut self, index: usize, out: &mut Output) {
        if self.blocks[index].is_open {
            self.blocks[index].is_open = false;
            out.insert(self.blocks[index].end(&self.id));
        }
    }

    fn end_other_prose(&mut self, index: usize, out: &mut Output) {
        if !self.blocks[index].kind.is_prose() {
            return;
        }
        for other in 0..self.blocks.len() {
            if self.blocks[other].kind.is_prose() {
                self.end_block(other, out);
            }
        }
    }

    fn pass_to_block(&self, index: usize, event: AgentEvent, out: &mut Output) {
        out.forward(output::for_block(event, &self.id, &self.blocks[index].id));
    }
}

fn new_block(kind: ContentKind) -> JavaBlock {
    JavaBlock {
        kind,
        java_reply: String::new(),
        java_block: String::new(),
        id: String::new(),
        media_type: String::new(),
        is_open: false,
        is_open_in_java: false,
    }
}

/// The length and hash of a text, to recognise it later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextFingerprint {
    pub(super) length: u64,
    pub(super) hash: u64,
}

impl Default for TextFingerprint {
    fn default() -> Self {
        Self { length: 0, hash: Fnv1a::default().value() }
    }
}

impl TextFingerprint {
    pub(super) fn of(text: &str) -> Self {
        let mut print = Self::default();
        print.add(text);
        print
    }

    pub(super) fn add(&mut self, text: &str) {
        self.length += text.len() as u64;
        let mut hash = Fnv1a::from_value(self.hash);
        hash.add(text);
        self.hash = hash.value();
    }
}
