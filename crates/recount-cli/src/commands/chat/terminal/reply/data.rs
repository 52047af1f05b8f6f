//! Labels for images, audio and files.

use indicatif::BinaryBytes;
use recount_message::{DataBlock, MediaBlock, Payload, Source};

use crate::visible::visible_line;

/// The metadata of a data block.
#[derive(Debug)]
pub(super) struct DataInfo {
    pub(super) media_type: String,
    pub(super) name: Option<String>,
    pub(super) length: usize,
    pub(super) url: Option<String>,
}

impl DataInfo {
    pub(super) fn of(block: &DataBlock) -> Self {
        let (length, url) = match &block.source {
            Source::Base64(source) => (decoded_length(&source.data), None),
            Source::Url(source) => (0, Some(source.url().to_owned())),
            _ => (0, None),
        };
        Self { media_type: block.media_type().to_owned(), name: block.name.clone(), length, url }
    }

    pub(super) fn label(&self) -> String {
        let size = u64::try_from(self.length).unwrap_or(u64::MAX);
        let location = self.url.clone().unwrap_or_else(|| BinaryBytes(size).to_string());
        let mut parts = vec![self.media_type.clone(), location];
        parts.extend(self.name.clone());
        visible_line(&parts.join(" · ")).into_owned()
    }
}

/// Returns the text of a payload, with labels in place of data.
pub(super) fn text_of(payload: &Payload) -> String {
    match payload {
        Payload::Text(text) => text.clone(),
        _ => payload.blocks().iter().map(media_text).collect(),
    }
}

fn media_text(block: &MediaBlock) -> String {
    match block {
        MediaBlock::Text(block) => block.text.clone(),
        MediaBlock::Data(block) => format!("[{}]\n", DataInfo::of(block).label()),
        _ => String::new(),
    }
}

/// Returns the decoded length of base64 text, in bytes.
pub(super) fn decoded_length(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}
