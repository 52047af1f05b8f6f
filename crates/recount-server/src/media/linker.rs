//! Replaces base64 data by the URLs of blobs.

use recount_log::{Digest, EncodedMessage, EncodedReply, OpenReply, Snapshot};
use recount_message::{
    Base64Source, CheckpointReply, ContentBlock, DataBlock, Json, MediaBlock, Msg, Object, Payload, Source, UrlSource,
};

use super::BlobUpload;

/// Replaces base64 data by URLs, and collects the blobs to store.
#[derive(Debug, Default)]
pub(crate) struct Linker {
    pub(crate) uploads: Vec<BlobUpload>,
}

/// Whether more data may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    Complete,
    Growing,
}

impl Growth {
    fn of(finished_at: Option<&String>) -> Self {
        if finished_at.is_some() { Self::Complete } else { Self::Growing }
    }
}

impl Linker {
    /// Links the media of a complete message in JSON.
    pub(crate) fn complete(&mut self, text: &str) -> String {
        self.text(text, |linker, block| linker.block_as(block, Growth::Complete))
    }

    /// Links the media of an open reply's message in JSON.
    pub(crate) fn open(&mut self, text: &str) -> String {
        self.text(text, Self::block)
    }

    fn text(&mut self, text: &str, block: impl Fn(&mut Self, &mut ContentBlock)) -> String {
        if !has_base64(text) {
            return text.to_owned();
        }
        match Msg::from_json(text) {
            Ok(message) => self.message(message, block).to_json(),
            Err(_) => text.to_owned(),
        }
    }

    fn message(&mut self, message: Msg, block: impl Fn(&mut Self, &mut ContentBlock)) -> Msg {
        let mut parts = message.into_parts();
        parts.content.iter_mut().for_each(|content| block(self, content));
        Msg::from_parts_lenient(parts)
    }

    /// Links the media of an open reply.
    pub(super) fn reply(&mut self, reply: CheckpointReply) -> CheckpointReply {
        CheckpointReply { message: self.message(reply.message, Self::block), call_floor: reply.call_floor }
    }

    /// Links the media of a snapshot.
    pub(crate) fn snapshot(&mut self, snapshot: &Snapshot) -> Snapshot {
        let messages =
            snapshot.messages.iter().map(|message| EncodedMessage::new(self.complete(message.as_str()))).collect();
        let open = snapshot.open.iter().map(|reply| {
            let item = Object::parse(reply.fold.as_str()).ok().and_then(|mut item| {
                let message = self.open(item.get("message")?.as_raw());
                item.insert("message", Json::parse(&message).ok()?);
                Some(item.to_json())
            });
            OpenReply { fold: item.map_or_else(|| reply.fold.clone(), EncodedReply::new), ..reply.clone() }
        });
        Snapshot {
            cursor: snapshot.cursor,
            open: open.collect(),
            messages,
            before: snapshot.before.clone(),
            positions: snapshot.positions.clone(),
        }
    }

    /// Links the media of a block of an open reply.
    pub(super) fn block(&mut self, block: &mut ContentBlock) {
        let growth = match block {
            ContentBlock::Data(block) => Growth::of(block.finished_at.as_ref()),
            ContentBlock::ToolResult(block) => Growth::of(block.finished_at.as_ref()),
            _ => Growth::Complete,
        };
        self.block_as(block, growth);
    }

    fn block_as(&mut self, block: &mut ContentBlock, growth: Growth) {
        match block {
            ContentBlock::Data(block) => self.data(block, growth),
            ContentBlock::ToolResult(block) => self.payload(&mut block.output, growth),
            ContentBlock::Hint(block) => self.payload(&mut block.hint, growth),
            _ => {}
        }
    }

    pub(super) fn payload(&mut self, payload: &mut Payload, growth: Growth) {
        let Payload::Blocks(items) = payload else { return };
        for item in items {
            if let MediaBlock::Data(block) = item {
                self.data(block, growth);
            }
        }
    }

    fn data(&mut self, block: &mut DataBlock, growth: Growth) {
        let Some(source) = base64_of(block) else { return };
        match growth {
            Growth::Complete => {
                if let Some(link) = self.link(source) {
                    block.source = link.into();
                }
            }
            Growth::Growing => block.source = Base64Source::from_base64("", &*source.media_type).into(),
        }
    }

    /// Returns the URL of base64 data; `None` if it is not valid base64, which is left as it is.
    pub(super) fn link(&mut self, source: &Base64Source) -> Option<UrlSource> {
        let bytes = source.bytes().ok()?;
        let digest = Digest::of(&bytes);
        self.uploads.push(BlobUpload { digest, media_type: source.media_type.clone(), bytes });
        Some(UrlSource::unchecked(digest.url(), &*source.media_type))
    }
}

/// Returns the base64 source of a block, if it has data.
pub(super) fn base64_of(block: &DataBlock) -> Option<&Base64Source> {
    match &block.source {
        Source::Base64(source) => Some(source).filter(|source| !source.data.is_empty()),
        _ => None,
    }
}

/// Whether JSON may contain a base64 source. A cheap test before parsing.
pub(super) fn has_base64(text: &str) -> bool {
    text.contains("\"base64\"")
}
