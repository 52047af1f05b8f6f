//! The blocks of messages.

mod data;
mod hint;
pub(crate) mod payload;
mod setters;
mod source;
mod text;
mod tool;

pub use data::{DataBlock, LegacyMedia};
pub use hint::{HintBlock, HintLabel};
pub use payload::{MediaBlock, Payload};
pub(crate) use source::check_url;
pub use source::{Base64Source, Source, SourceError, UrlSource};
pub use text::{TextBlock, ThinkingBlock};
pub use tool::{PermissionBehavior, PermissionRule, ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState};

use crate::json::fields::Fields;
use crate::json::record::tag_of;
use crate::json::scan::Raw;
use crate::json::wire::{DecodeContext, Wire};
use crate::{DecodeError, Object, Record, Shape};

/// One piece of a message: text, thinking, data, a tool call, its result, or a hint.
///
/// ```
/// use recount_message::{ContentBlock, TextBlock};
///
/// let block = ContentBlock::from(TextBlock::new("Hello").with_id("t1"));
/// assert_eq!(block.type_name(), "text");
/// assert_eq!(block.id(), "t1");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Plain text.
    Text(TextBlock),
    /// Reasoning of the model.
    Thinking(ThinkingBlock),
    /// An image, audio, a video, or another file.
    Data(DataBlock),
    /// Input to the model from outside the conversation.
    Hint(HintBlock),
    /// A tool call of the model.
    ToolCall(ToolCallBlock),
    /// The result of a tool call.
    ToolResult(ToolResultBlock),
    /// A block of an undeclared type.
    Unknown(UnknownBlock),
}

/// A block whose `type` is not declared in this version. Its fields are preserved.
///
/// ```
/// use recount_message::{ContentBlock, Msg};
///
/// let text = r#"{"name":"Friday","role":"assistant","content":[{"type":"poll","options":["tea","coffee"]}]}"#;
/// let message = Msg::from_json(text)?;
/// let ContentBlock::Unknown(poll) = &message.content()[0] else { unreachable!() };
/// assert_eq!(poll.fields.to_json(), r#"{"type":"poll","options":["tea","coffee"]}"#);
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownBlock {
    /// All fields of the block, including `type`.
    pub fields: Object,
}

impl UnknownBlock {
    /// Creates a block from all its fields, including `type`.
    ///
    /// ```
    /// use recount_message::{ContentBlock, UnknownBlock};
    ///
    /// let poll = ContentBlock::from(UnknownBlock::new([("type", "poll"), ("id", "p1")]));
    /// assert_eq!(poll.to_json(), r#"{"type":"poll","id":"p1"}"#);
    /// ```
    pub fn new(fields: impl Into<Object>) -> Self {
        Self { fields: fields.into() }
    }

    /// Returns the value of `type`; empty if it is missing or not a string.
    ///
    /// ```
    /// use recount_message::UnknownBlock;
    ///
    /// assert_eq!(UnknownBlock::new([("type", "poll")]).type_name(), "poll");
    /// ```
    pub fn type_name(&self) -> &str {
        self.text_field("type").unwrap_or_default()
    }

    /// Returns the id of the block; `None` if it has none.
    ///
    /// ```
    /// use recount_message::UnknownBlock;
    ///
    /// let poll = UnknownBlock::new([("type", "poll"), ("id", "p1")]);
    /// assert_eq!(poll.id(), Some("p1"));
    /// ```
    pub fn id(&self) -> Option<&str> {
        self.text_field("id")
    }

    fn text_field(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }
}

impl From<UnknownBlock> for ContentBlock {
    fn from(block: UnknownBlock) -> Self {
        Self::Unknown(block)
    }
}

impl From<UnknownBlock> for MediaBlock {
    fn from(block: UnknownBlock) -> Self {
        Self::Unknown(block)
    }
}

impl Wire<'_> for UnknownBlock {
    fn shape() -> Shape {
        Shape::Object
    }

    fn decode(raw: Raw<'_>, _: DecodeContext<'_>) -> Result<Self, DecodeError> {
        Object::decode(raw, DecodeContext::default()).map(Self::new)
    }

    fn encode(&self, out: &mut String) {
        self.fields.write(out);
    }
}

/// A block type that can be selected by its Rust type, as in [`Msg::blocks`](crate::Msg::blocks).
///
/// ```
/// use recount_message::{Block, Msg, TextBlock, ToolCallBlock};
///
/// fn count<B: Block>(messages: &[Msg]) -> String {
///     let blocks: usize = messages.iter().map(|message| message.blocks::<B>().count()).sum();
///     format!("{blocks} of type {}", B::TYPE)
/// }
///
/// let messages = [Msg::user("Alice", "Hello"), Msg::assistant("Friday", ("Hello", "Alice"))];
/// assert_eq!(count::<TextBlock>(&messages), "3 of type text");
/// assert_eq!(count::<ToolCallBlock>(&messages), "0 of type tool_call");
/// ```
pub trait Block: Sized + 'static {
    /// The value of `type` in JSON.
    ///
    /// ```
    /// use recount_message::{Block, TextBlock, ToolCallBlock};
    ///
    /// assert_eq!((TextBlock::TYPE, ToolCallBlock::TYPE), ("text", "tool_call"));
    /// ```
    const TYPE: &'static str;

    /// Returns the block as this type; `None` if it has another type.
    ///
    /// ```
    /// use recount_message::{Block, ContentBlock, TextBlock, ThinkingBlock};
    ///
    /// let block = ContentBlock::from("Hello");
    /// assert_eq!(TextBlock::from_content(&block).unwrap().text, "Hello");
    /// assert!(ThinkingBlock::from_content(&block).is_none());
    /// ```
    fn from_content(block: &ContentBlock) -> Option<&Self>;
}

macro_rules! content_blocks {
    ($($variant:ident($block:ident) = $tag:literal;)+) => {
        $(
            impl From<$block> for ContentBlock {
                fn from(block: $block) -> Self {
                    Self::$variant(block)
                }
            }

            impl Block for $block {
                const TYPE: &'static str = $tag;

                fn from_content(block: &ContentBlock) -> Option<&Self> {
                    match block {
                        ContentBlock::$variant(block) => Some(block),
                        _ => None,
                    }
                }
            }
        )+

        impl ContentBlock {
            /// Returns the value of `type` in JSON.
            ///
            /// ```
            /// use recount_message::{ContentBlock, ToolCallBlock};
            ///
            /// assert_eq!(ContentBlock::from("Hello").type_name(), "text");
            /// assert_eq!(ContentBlock::from(ToolCallBlock::new("c1", "search", "{}")).type_name(), "tool_call");
            /// ```
            pub fn type_name(&self) -> &str {
                match self {
                    $( Self::$variant(_) => $tag, )+
                    Self::Unknown(block) => block.type_name(),
                }
            }

            /// Returns the time at which the block was complete; `None` for an open block.
            ///
            /// ```
            /// use recount_message::{ContentBlock, HintBlock, TextBlock};
            ///
            /// assert_eq!(ContentBlock::from(TextBlock::new("Hel")).finished_at(), None);
            /// assert!(ContentBlock::from(HintBlock::new("It is noon.")).finished_at().is_some());
            /// ```
            pub fn finished_at(&self) -> Option<&str> {
                match self {
                    $( Self::$variant(block) => block.finished_at.as_deref(), )+
                    Self::Unknown(_) => None,
                }
            }

            /// Sets the time at which the block was complete, unless it is already set.
            pub(crate) fn finish(&mut self, time: &str) {
                match self {
                    $( Self::$variant(block) => { block.finished_at.get_or_insert_with(|| time.to_owned()); } )+
                    Self::Unknown(_) => {}
                }
            }

            /// Returns the id of the block; empty for an unknown block without one.
            ///
            /// ```
            /// use recount_message::{ContentBlock, ToolResultBlock};
            ///
            /// // A result has the id of its call.
            /// assert_eq!(ContentBlock::from(ToolResultBlock::success("c1", "search", "3 hits")).id(), "c1");
            /// ```
            pub fn id(&self) -> &str {
                match self {
                    $( Self::$variant(block) => &block.id, )+
                    Self::Unknown(block) => block.id().unwrap_or_default(),
                }
            }
        }

        impl<'a> Wire<'a> for ContentBlock {
            fn shape() -> Shape {
                Shape::OneOf(vec![$(Shape::Record(stringify!($block))),+])
            }

            fn decode(raw: Raw<'a>, context: DecodeContext<'_>) -> Result<Self, DecodeError> {
                let fields = Fields::of(raw)?;
                match &*tag_of(&fields)? {
                    $( $tag => $block::from_fields(fields, context).map(Self::$variant), )+
                    _ => UnknownBlock::decode(raw, context).map(Self::Unknown),
                }
            }

            fn encode(&self, out: &mut String) {
                match self {
                    $( Self::$variant(block) => block.encode(out), )+
                    Self::Unknown(block) => block.fields.write(out),
                }
            }
        }

        /// Returns the schema of all blocks and their parts.
        pub(crate) fn records() -> Vec<Record> {
            vec![
                $($block::record(),)+
                Base64Source::record(),
                UrlSource::record(),
                PermissionRule::record(),
            ]
        }
    };
}

content_blocks! {
    Text(TextBlock) = "text";
    Thinking(ThinkingBlock) = "thinking";
    Hint(HintBlock) = "hint";
    ToolCall(ToolCallBlock) = "tool_call";
    ToolResult(ToolResultBlock) = "tool_result";
    Data(DataBlock) = "data";
}

impl ContentBlock {
    /// Parses a block in native JSON. A missing id is derived from `owner`, the id of the containing message or block, and a
    /// missing time is `time`.
    ///
    /// ```
    /// use recount_message::ContentBlock;
    ///
    /// let block = ContentBlock::from_json(r#"{"type":"text","text":"Hello"}"#, "m1", "2026-01-01T00:00:00Z")?;
    /// assert_eq!(block.id(), "m1.0");
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON or not a block.
    pub fn from_json(text: &str, owner: &str, time: &str) -> Result<Self, DecodeError> {
        Self::decode(Raw::document(text)?, DecodeContext { owner, time, ..DecodeContext::default() })
    }

    /// Encodes the block as native JSON.
    ///
    /// ```
    /// use recount_message::{ContentBlock, UnknownBlock};
    ///
    /// let block = ContentBlock::from(UnknownBlock::new([("type", "novel")]));
    /// assert_eq!(block.to_json(), r#"{"type":"novel"}"#);
    /// ```
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.encode(&mut out);
        out
    }

    /// Returns whether a name is the type of this block in native JSON or in AgentScope Java.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        match self {
            Self::ToolCall(_) => matches!(name, "tool_call" | "tool_use"),
            Self::Data(block) => name == "data" || block.legacy().is_some_and(|kind| kind.as_str() == name),
            Self::Text(_) | Self::Thinking(_) | Self::Hint(_) | Self::ToolResult(_) | Self::Unknown(_) => {
                self.type_name() == name
            }
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<MediaBlock> for ContentBlock {
    fn from(block: MediaBlock) -> Self {
        match block {
            MediaBlock::Text(block) => Self::Text(block),
            MediaBlock::Data(block) => Self::Data(block),
            MediaBlock::Unknown(block) => Self::Unknown(block),
        }
    }
}
