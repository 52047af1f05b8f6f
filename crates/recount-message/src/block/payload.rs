//! Text and data: the content of hints, tool results and user messages.

use super::{DataBlock, TextBlock, UnknownBlock};
use crate::json::fields::Fields;
use crate::json::record::tag_of;
use crate::json::scan::{Kind, Raw};
use crate::json::wire::{DecodeContext, Wire};
use crate::json::write;
use crate::{DecodeError, Shape};

/// A block that user messages, hints and tool results can contain: text or data.
///
/// ```
/// use recount_message::{DataBlock, MediaBlock, Msg};
///
/// let parts: Vec<MediaBlock> = vec!["Look:".into(), DataBlock::from_bytes(b"GIF89a").into()];
/// assert_eq!(Msg::user("Alice", parts).content().len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MediaBlock {
    /// Plain text.
    Text(TextBlock),
    /// An image, audio, a video, or another file.
    Data(DataBlock),
    /// A block of an undeclared type.
    Unknown(UnknownBlock),
}

impl From<TextBlock> for MediaBlock {
    fn from(block: TextBlock) -> Self {
        Self::Text(block)
    }
}

impl From<DataBlock> for MediaBlock {
    fn from(block: DataBlock) -> Self {
        Self::Data(block)
    }
}

impl From<&str> for MediaBlock {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for MediaBlock {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl Wire<'_> for MediaBlock {
    fn shape() -> Shape {
        Shape::OneOf(vec![Shape::Record("TextBlock"), Shape::Record("DataBlock")])
    }

    fn decode(raw: Raw<'_>, context: DecodeContext<'_>) -> Result<Self, DecodeError> {
        let fields = Fields::of(raw)?;
        match &*tag_of(&fields)? {
            "text" => TextBlock::from_fields(fields, context).map(Self::Text),
            "data" => DataBlock::from_fields(fields, context).map(Self::Data),
            other @ ("thinking" | "hint" | "tool_call" | "tool_result") => Err(DecodeError::new(
                crate::DecodeErrorKind::Rule,
                format!("a {other} block is not allowed here, only text and data"),
            )),
            _ => UnknownBlock::decode(raw, context).map(Self::Unknown),
        }
    }

    fn encode(&self, out: &mut String) {
        match self {
            Self::Text(block) => block.encode(out),
            Self::Data(block) => block.encode(out),
            Self::Unknown(block) => block.fields.write(out),
        }
    }
}

/// The content of a hint or a tool result: a string, or blocks of text and data.
///
/// ```
/// use recount_message::{DataBlock, Payload, TextBlock};
///
/// assert_eq!(Payload::from("done").text().unwrap(), "done");
///
/// let blocks = Payload::from((TextBlock::new("a chart:"), DataBlock::from_bytes(b"GIF89a")));
/// assert_eq!(blocks.text().unwrap(), "a chart:");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Payload {
    /// A plain string.
    Text(String),
    /// Blocks of text and data.
    Blocks(Vec<MediaBlock>),
}

impl Payload {
    /// Returns the text, with the text blocks joined by line breaks; `None` if there is no text.
    ///
    /// ```
    /// use recount_message::{DataBlock, Payload};
    ///
    /// assert_eq!(Payload::from(["one", "two"]).text().as_deref(), Some("one\ntwo"));
    /// assert_eq!(Payload::from(DataBlock::from_bytes(b"GIF89a")).text(), None);
    /// ```
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Blocks(blocks) => {
                let texts: Vec<&str> = blocks
                    .iter()
                    .filter_map(|block| match block {
                        MediaBlock::Text(block) => Some(block.text.as_str()),
                        MediaBlock::Data(_) | MediaBlock::Unknown(_) => None,
                    })
                    .collect();
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
        }
    }

    /// Returns the blocks; empty for a string.
    ///
    /// ```
    /// use recount_message::{MediaBlock, Payload};
    ///
    /// assert!(Payload::from("done").blocks().is_empty());
    /// assert!(matches!(Payload::from(["done"]).blocks(), [MediaBlock::Text(block)] if block.text == "done"));
    /// ```
    pub fn blocks(&self) -> &[MediaBlock] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl Wire<'_> for Payload {
    fn shape() -> Shape {
        Shape::OneOf(vec![Shape::String, Vec::<MediaBlock>::shape()])
    }

    fn decode(raw: Raw<'_>, context: DecodeContext<'_>) -> Result<Self, DecodeError> {
        match raw.kind {
            Kind::String { .. } => Ok(Self::Text(raw.to_str()?.into_owned())),
            Kind::Array => Vec::decode(raw, context).map(Self::Blocks),
            _ => Err(raw.expected("a string or a list of blocks")),
        }
    }

    fn encode(&self, out: &mut String) {
        match self {
            Self::Text(text) => write::string(out, text),
            Self::Blocks(blocks) => blocks.encode(out),
        }
    }
}

impl From<&str> for Payload {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<B: Into<MediaBlock>> From<Vec<B>> for Payload {
    fn from(blocks: Vec<B>) -> Self {
        Self::Blocks(blocks.into_iter().map(Into::into).collect())
    }
}

impl<B: Into<MediaBlock>, const N: usize> From<[B; N]> for Payload {
    fn from(blocks: [B; N]) -> Self {
        Self::from(Vec::from(blocks))
    }
}

impl From<TextBlock> for Payload {
    fn from(block: TextBlock) -> Self {
        Self::from([block])
    }
}

impl From<DataBlock> for Payload {
    fn from(block: DataBlock) -> Self {
        Self::from([block])
    }
}

/// Implements conversion from tuples, so that blocks of different types are checked at compile time.
macro_rules! from_tuple {
    ($target:ty, $block:ty, |$blocks:ident| $build:expr) => {
        $crate::block::payload::from_tuple!(@one $target, $block, |$blocks| $build, A a, B b);
        $crate::block::payload::from_tuple!(@one $target, $block, |$blocks| $build, A a, B b, C c);
        $crate::block::payload::from_tuple!(@one $target, $block, |$blocks| $build, A a, B b, C c, D d);
        $crate::block::payload::from_tuple!(@one $target, $block, |$blocks| $build, A a, B b, C c, D d, E e);
        $crate::block::payload::from_tuple!(@one $target, $block, |$blocks| $build, A a, B b, C c, D d, E e, F f);
    };
    (@one $target:ty, $block:ty, |$blocks:ident| $build:expr, $($type:ident $value:ident),+) => {
        impl<$($type: Into<$block>),+> From<($($type,)+)> for $target {
            fn from(($($value,)+): ($($type,)+)) -> Self {
                let $blocks: Vec<$block> = vec![$($value.into()),+];
                $build
            }
        }
    };
}
pub(crate) use from_tuple;

from_tuple!(Payload, MediaBlock, |blocks| Self::Blocks(blocks));
