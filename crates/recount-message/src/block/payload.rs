//! What a hint or a tool result holds, and a user's message: text and data.

use super::{DataBlock, TextBlock, UnknownBlock};
use crate::json::fields::Fields;
use crate::json::record::tag_of;
use crate::json::scan::{Kind, Raw};
use crate::json::wire::{Place, Wire};
use crate::json::write;
use crate::{DecodeError, Shape};

/// A block that may stand in a user's message, a hint or a tool result: text or data.
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
    /// An image, a sound, a film, a file.
    Data(DataBlock),
    /// A block of a type that this version does not know.
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

    fn decode(raw: Raw<'_>, place: Place<'_>) -> Result<Self, DecodeError> {
        let fields = Fields::of(raw)?;
        match &*tag_of(&fields)? {
            "text" => TextBlock::from_fields(fields, place).map(Self::Text),
            "data" => DataBlock::from_fields(fields, place).map(Self::Data),
            other @ ("thinking" | "hint" | "tool_call" | "tool_result") => Err(DecodeError::new(
                crate::DecodeErrorKind::Rule,
                format!("a {other} block may not stand here, only text and data"),
            )),
            _ => UnknownBlock::decode(raw, place).map(Self::Unknown),
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

/// What a hint says or a tool answers: a plain string, or blocks of text and data.
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
    /// All its text, the blocks' joined by line breaks; nothing when there is no text.
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

    /// The blocks; a plain string has none.
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
        Shape::OneOf(vec![Shape::Text, Vec::<MediaBlock>::shape()])
    }

    fn decode(raw: Raw<'_>, place: Place<'_>) -> Result<Self, DecodeError> {
        match raw.kind {
            Kind::String { .. } => Ok(Self::Text(raw.to_str()?.into_owned())),
            Kind::Array => Vec::decode(raw, place).map(Self::Blocks),
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

/// Lets blocks of different types be given as a tuple, which is checked when it is compiled.
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
