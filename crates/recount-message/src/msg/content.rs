//! The content from which messages are created.

use crate::block::payload::from_tuple;
use crate::block::{ContentBlock, DataBlock, HintBlock, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock};

/// The content of a message with blocks of type `B`.
///
/// It converts from a string, a block, a tuple of blocks, or a list of blocks:
///
/// ```
/// use recount_message::{ContentBlock, Msg, TextBlock, ThinkingBlock};
///
/// Msg::assistant("Friday", "Hello");
/// Msg::assistant("Friday", TextBlock::new("Hello"));
/// Msg::assistant("Friday", (ThinkingBlock::new("Hm."), "Hello"));
/// Msg::assistant("Friday", []);
/// Msg::assistant("Friday", vec![ContentBlock::from(TextBlock::new("Hello"))]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content<B>(Vec<B>);

impl<B: Into<ContentBlock>> Content<B> {
    pub(crate) fn into_blocks(self) -> Vec<ContentBlock> {
        self.0.into_iter().map(Into::into).collect()
    }
}

impl<B: From<TextBlock>> From<&str> for Content<B> {
    fn from(text: &str) -> Self {
        Self(vec![TextBlock::new(text).into()])
    }
}

impl<B: From<TextBlock>> From<&String> for Content<B> {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl<B: From<TextBlock>> From<String> for Content<B> {
    fn from(text: String) -> Self {
        Self(vec![TextBlock::new(text).into()])
    }
}

impl<B> From<Vec<B>> for Content<B> {
    fn from(blocks: Vec<B>) -> Self {
        Self(blocks)
    }
}

impl<B, const N: usize> From<[B; N]> for Content<B> {
    fn from(blocks: [B; N]) -> Self {
        Self(blocks.into())
    }
}

impl<B, T: Into<B>> FromIterator<T> for Content<B> {
    fn from_iter<I: IntoIterator<Item = T>>(blocks: I) -> Self {
        Self(blocks.into_iter().map(Into::into).collect())
    }
}

macro_rules! from_one {
    ($($block:ty),+) => {$(
        impl<B: From<$block>> From<$block> for Content<B> {
            fn from(block: $block) -> Self {
                Self(vec![block.into()])
            }
        }
    )+};
}
from_one!(TextBlock, ThinkingBlock, DataBlock, HintBlock, ToolCallBlock, ToolResultBlock, ContentBlock);

macro_rules! from_tuples {
    ($($block:ty),+) => {$( from_tuple!(Content<$block>, $block, |blocks| Self(blocks)); )+};
}
from_tuples!(ContentBlock, crate::MediaBlock, TextBlock, ToolResultBlock);
