//! Blocks of AgentScope Java: the fields that both sides have.
//!
//! `block` adds what only one side has.

mod read;
mod write;

use recount_message::{
    ContentBlock, DataBlock, HintBlock, LegacyMedia, MediaBlock, Object, Payload, TextBlock, UnknownBlock,
};

use super::Version;
use crate::{data_url, preserved};
pub(in crate::java) use read::{is_plain_text, read_block, read_rule};
pub(in crate::java) use write::{write_block, write_rule};

/// Where a block stands, from which the ids and times that Java does not have are derived.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BlockContext<'p> {
    /// The id of what holds the block.
    pub(crate) owner: &'p str,
    /// Which of the owner's blocks it is.
    pub(crate) index: usize,
    /// The owner's time.
    pub(crate) time: &'p str,
    /// Whose block it is.
    pub(crate) version: Version,
}

impl BlockContext<'_> {
    fn id(&self) -> String {
        format!("{}.{}", self.owner, self.index)
    }
}

/// The context of an item of a tool's answer.
pub(in crate::java) fn item_context<'p>(
    id: &'p str,
    index: usize,
    time: &'p str,
    version: Version,
) -> BlockContext<'p> {
    BlockContext { owner: id, index, time, version }
}

/// The fields that thinking and tool calls declare natively. Whatever else they have is Java's metadata, and no such
/// metadata can replace one of these.
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

/// The metadata of a result that somebody else has to bring.
pub(crate) const SUSPENDED: &str = "agentscope_suspended";

/// The mark of a block that nobody knows here, but that came from Java.
const FROM_JAVA: &str = "from";

/// Whether a block that nobody knows came from Java, so that it may go back there.
pub(in crate::java) fn is_from_java(block: &UnknownBlock, version: Version) -> bool {
    preserved::get(&block.fields, version.name()).contains_key(FROM_JAVA)
}

/// The block as one that may stand in a tool's answer.
pub(in crate::java) fn as_media(block: ContentBlock) -> Option<MediaBlock> {
    match block {
        ContentBlock::Text(block) => Some(block.into()),
        ContentBlock::Data(block) => Some(block.into()),
        ContentBlock::Unknown(block) => Some(MediaBlock::Unknown(block)),
        _ => None,
    }
}

fn text_block(text: String, context: BlockContext<'_>) -> TextBlock {
    TextBlock { text, id: context.id(), created_at: context.time.to_owned(), finished_at: None, extra: Object::new() }
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

/// Which legacy media block data is written as. Java 1 has no other.
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

/// What a text stands for, where Java 1 has no other way to say it.
pub(in crate::java) fn stand_in_kind(block: &ContentBlock, version: Version) -> Option<&'static str> {
    match block {
        ContentBlock::Data(block) if is_written_as_text(block, version) => Some("data"),
        ContentBlock::Hint(_) if version == Version::One => Some("hint"),
        _ => None,
    }
}

/// The block that a text stands for.
pub(in crate::java) fn from_stand_in(text: TextBlock, what: &str) -> ContentBlock {
    let TextBlock { text, id, created_at, finished_at, extra } = text;
    match what {
        "data" => {
            DataBlock { id, source: data_url::to_source(&text), name: None, created_at, finished_at, extra }.into()
        }
        "hint" => HintBlock { hint: Payload::Text(text), id, source: None, created_at, finished_at, extra }.into(),
        _ => TextBlock { text, id, created_at, finished_at, extra }.into(),
    }
}
