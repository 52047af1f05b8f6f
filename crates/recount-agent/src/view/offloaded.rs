//! Results and images that requests do not contain in full.

use std::collections::BTreeMap;

use recount_message::{ContentBlock, DataBlock, MediaBlock, Msg, Payload, Source, TextBlock};

use super::is_cut;
use super::shorten::{ResultLimit, text_of};
use crate::offload::file_name;
use crate::state::Offloaded;

/// The offloaded parts, by [`key`].
pub(crate) type OffloadedParts = BTreeMap<String, Offloaded>;

/// Returns the key of a block, or of an item in its content.
pub(crate) fn key(message_id: &str, block_id: &str, item_id: Option<&str>) -> String {
    match item_id {
        Some(item) => format!("{message_id}/{block_id}/{item}"),
        None => format!("{message_id}/{block_id}"),
    }
}

/// A part of a message that exceeds a limit of requests.
#[derive(Debug)]
pub(crate) struct Excess {
    pub(crate) key: String,
    pub(crate) message_id: String,
    pub(crate) block_id: String,
    pub(crate) kind: &'static str,
    /// The length of a text.
    pub(crate) tokens: Option<usize>,
    /// The name and content of the file to write. `None` if there is nothing to write.
    pub(crate) file: Option<(String, Vec<u8>)>,
}

/// Returns results above the length limit and images beyond the newest `most_images`, without those that are already
/// offloaded.
pub(crate) fn find_excess<'a>(
    messages: impl DoubleEndedIterator<Item = &'a Msg> + Clone,
    limit: Option<ResultLimit>,
    most_images: usize,
    offloaded: &OffloadedParts,
) -> Vec<Excess> {
    let mut found = Vec::new();
    if let Some(limit) = limit {
        for message in messages.clone() {
            found.extend(message.content().iter().filter_map(|block| long_result(message, block, limit)));
        }
    }
    let images: Vec<_> = messages.flat_map(images).collect();
    let surplus = images.len().saturating_sub(most_images);
    found.extend(images.into_iter().take(surplus).map(Image::find_excess));
    found.retain(|found| !offloaded.contains_key(&found.key));
    found
}

fn long_result(message: &Msg, block: &ContentBlock, limit: ResultLimit) -> Option<Excess> {
    let tokens = limit.exceeds(block)?;
    let ContentBlock::ToolResult(result) = block else { return None };
    // The result is still being written.
    result.finished_at.as_ref()?;
    let name = file_name(&result.name, &[message.id(), &result.id], "txt");
    Some(Excess {
        key: key(message.id(), &result.id, None),
        message_id: message.id().to_owned(),
        block_id: result.id.clone(),
        kind: "tool_result",
        tokens: Some(tokens),
        file: Some((name, text_of(&result.output).into_bytes())),
    })
}

struct Image<'a> {
    message: &'a Msg,
    block_id: String,
    key: String,
    data: &'a DataBlock,
}

impl Image<'_> {
    fn find_excess(self) -> Excess {
        let Self { message, block_id, key, data } = self;
        let extension = data.media_type().rsplit('/').next().unwrap_or_default();
        let extension: String = extension.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        let bytes = match &data.source {
            Source::Base64(source) => source.bytes().ok(),
            // The URL is enough to find it.
            Source::Url(_) | _ => None,
        };
        let file = bytes.map(|bytes| (file_name("image", &[&key], &extension), bytes));
        Excess { key, message_id: message.id().to_owned(), block_id, kind: "image", tokens: None, file }
    }
}

/// Returns the images of a message, in order.
fn images(message: &Msg) -> Vec<Image<'_>> {
    let mut images = Vec::new();
    for block in message.content().iter().filter(|block| !is_cut(block)) {
        let block_id = block.id().to_owned();
        match block {
            ContentBlock::Data(data) if data.is_image() => {
                let key = key(message.id(), &data.id, None);
                images.push(Image { message, block_id, key, data });
            }
            ContentBlock::ToolResult(result) => images.extend(nested(message, &block_id, &result.output)),
            ContentBlock::Hint(hint) => images.extend(nested(message, &block_id, &hint.hint)),
            _ => {}
        }
    }
    images
}

fn nested<'a>(message: &'a Msg, block_id: &str, payload: &'a Payload) -> impl Iterator<Item = Image<'a>> {
    let blocks = match payload {
        Payload::Blocks(blocks) => blocks.as_slice(),
        _ => &[],
    };
    blocks.iter().filter_map(move |block| match block {
        MediaBlock::Data(data) if data.is_image() => {
            let key = key(message.id(), block_id, Some(&data.id));
            Some(Image { message, block_id: block_id.to_owned(), key, data })
        }
        _ => None,
    })
}

/// Returns whether a message has offloaded images.
pub(super) fn has_offloaded_images(message: &Msg, offloaded: &OffloadedParts) -> bool {
    !offloaded.is_empty() && images(message).iter().any(|image| offloaded.contains_key(&image.key))
}

/// Replaces offloaded images by notes.
pub(super) fn replace_images(message_id: &str, block: &mut ContentBlock, offloaded: &OffloadedParts) {
    let block_id = block.id().to_owned();
    let replaced = match block {
        ContentBlock::Data(data) if data.is_image() => {
            offloaded.get(&key(message_id, &data.id, None)).map(|kept| note(data, kept))
        }
        ContentBlock::ToolResult(result) => {
            return replace_nested(message_id, &block_id, &mut result.output, offloaded);
        }
        ContentBlock::Hint(hint) => return replace_nested(message_id, &block_id, &mut hint.hint, offloaded),
        _ => None,
    };
    if let Some(note) = replaced {
        *block = note.into();
    }
}

fn replace_nested(message_id: &str, block_id: &str, payload: &mut Payload, offloaded: &OffloadedParts) {
    let Payload::Blocks(blocks) = payload else { return };
    for block in blocks {
        if let MediaBlock::Data(data) = block
            && data.is_image()
            && let Some(kept) = offloaded.get(&key(message_id, block_id, Some(&data.id)))
        {
            *block = note(data, kept).into();
        }
    }
}

fn note(image: &DataBlock, kept: &Offloaded) -> TextBlock {
    let name = image.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
    let location = match (&kept.path, &image.source) {
        (Some(path), _) => format!(" It is in `{path}`: use `read` to see it."),
        (None, Source::Url(source)) => format!(" It is at {}.", source.url()),
        (None, Source::Base64(_) | _) => String::new(),
    };
    let text = format!(
        "<system-reminder>An image ({}{name}) was removed here, because there are newer ones.{location}</system-reminder>",
        image.media_type()
    );
    TextBlock::new(text).with_id(image.id.clone())
}
