//! Conversion of the fields that blocks have on both sides. `block` handles the other fields.

mod read;
mod write;

use recount_message::{ContentBlock, DataBlock, HintBlock, LegacyMedia, MediaBlock, TextBlock, UnknownBlock};

use super::Version;
use crate::{data_url, preserved};
pub(in crate::java) use read::{is_plain_text, read_block, read_rule};
pub(in crate::java) use write::{write_block, write_rule};

/// The position of a block. Ids and times that Java does not have are derived from it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BlockContext<'p> {
    /// The id of the message or result that contains the block.
    pub(crate) owner: &'p str,
    /// The index of the block in its owner.
    pub(crate) index: usize,
    /// The time of the owner.
    pub(crate) time: &'p str,
    /// The version of Java.
    pub(crate) version: Version,
}

impl BlockContext<'_> {
    fn id(&self) -> String {
        format!("{}.{}", self.owner, self.index)
    }
}

/// Returns the context of an item in the output of a tool.
pub(in crate::java) fn item_context<'p>(
    id: &'p str,
    index: usize,
    time: &'p str,
    version: Version,
) -> BlockContext<'p> {
    BlockContext { owner: id, index, time, version }
}

/// The native fields of thinking blocks and tool calls. Their other fields are Java's metadata, which must not replace
/// any of these.
const DECLARED: &[&str] = &[
    "type",
    "thinking",
    "id",
    "name",
    "input",
    "state",
    "suggested_rules",
    "created_at",
    "finished_at",
    preserved::KEY,
];

/// The metadata key of a result that an external tool must provide.
pub(crate) const SUSPENDED: &str = "agentscope_suspended";

/// The mark of an unknown block that came from Java.
const FROM_JAVA: &str = "from";

/// Returns whether an unknown block came from Java and can be written for Java unchanged.
pub(in crate::java) fn is_from_java(block: &UnknownBlock, version: Version) -> bool {
    preserved::get(&block.fields, version.name()).contains_key(FROM_JAVA)
}

/// Returns the block as an item of a tool's output. `None` if its kind is not allowed there.
pub(in crate::java) fn as_media(block: ContentBlock) -> Option<MediaBlock> {
    match block {
        ContentBlock::Text(block) => Some(block.into()),
        ContentBlock::Data(block) => Some(block.into()),
        ContentBlock::Unknown(block) => Some(MediaBlock::Unknown(block)),
        _ => None,
    }
}

fn text_block(text: String, context: BlockContext<'_>) -> TextBlock {
    TextBlock::stamped(context.id(), context.time, text)
}

pub(in crate::java) fn text_fallback(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(block) => block.text.clone(),
        ContentBlock::Thinking(block) => block.thinking.clone(),
        ContentBlock::Hint(block) => block.hint.text().unwrap_or_default(),
        ContentBlock::ToolCall(block) => format!("{}({})", block.name, block.input),
        ContentBlock::ToolResult(block) => block.output.text().unwrap_or_default(),
        other => other.to_json(),
    }
}

/// Returns the legacy media kind that data is written as. Java 1 has no other media blocks.
fn legacy_of(block: &DataBlock, version: Version) -> Option<LegacyMedia> {
    let by_media_type = || match block.media_type().split('/').next()? {
        "image" => Some(LegacyMedia::Image),
        "audio" => Some(LegacyMedia::Audio),
        "video" => Some(LegacyMedia::Video),
        _ => None,
    };
    block.legacy().or_else(|| if version == Version::One { by_media_type() } else { None })
}

fn is_written_as_text(block: &DataBlock, version: Version) -> bool {
    version == Version::One && legacy_of(block, version).is_none()
}

/// Returns the kind of a block that Java 1 can only express as text.
pub(in crate::java) fn stand_in_kind(block: &ContentBlock, version: Version) -> Option<&'static str> {
    match block {
        ContentBlock::Data(block) if is_written_as_text(block, version) => Some("data"),
        ContentBlock::Hint(_) if version == Version::One => Some("hint"),
        _ => None,
    }
}

/// Returns the block that a text stands in for.
pub(in crate::java) fn from_stand_in(text: TextBlock, what: &str) -> ContentBlock {
    match what {
        "data" => {
            let mut block = DataBlock::stamped(text.id, text.created_at, data_url::to_source(&text.text));
            (block.finished_at, block.extra) = (text.finished_at, text.extra);
            block.into()
        }
        "hint" => {
            let mut block = HintBlock::stamped(text.id, text.created_at, text.text);
            (block.finished_at, block.extra) = (text.finished_at, text.extra);
            block.into()
        }
        _ => text.into(),
    }
}
