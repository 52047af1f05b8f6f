//! Roles and the blocks that they allow.

use std::borrow::Cow;
use std::fmt;

use crate::block::ContentBlock;
use crate::json::scan::Raw;
use crate::json::wire::{DecodeContext, Wire, unknown_value};
use crate::json::write;
use crate::{DecodeError, DecodeErrorKind, Shape};

/// The role of the sender of a message.
///
/// ```
/// use recount_message::{Msg, Role};
///
/// let history = [Msg::system("system", "Be brief."), Msg::user("Alice", "Hello"), Msg::assistant("Friday", "Hi")];
/// let without_prompt: Vec<&Msg> = history.iter().filter(|message| message.role() != Role::System).collect();
/// assert_eq!(without_prompt.len(), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// A user: a person, or a program that sends requests.
    User,
    /// An agent.
    Assistant,
    /// The system prompt.
    System,
    /// A tool, as in AgentScope Java. In native JSON it is an assistant message with an extension.
    Tool,
}

impl Role {
    /// Returns the name of the role.
    ///
    /// ```
    /// use recount_message::Role;
    ///
    /// assert_eq!(Role::Assistant.as_str(), "assistant");
    /// assert_eq!(Role::Assistant.to_string(), "assistant");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Tool => "tool",
        }
    }

    /// Returns the role with a name; `None` for unknown names.
    ///
    /// ```
    /// use recount_message::Role;
    ///
    /// assert_eq!(Role::from_name("tool"), Some(Role::Tool));
    /// assert_eq!(Role::from_name("TOOL"), None);
    /// ```
    pub fn from_name(word: &str) -> Option<Self> {
        match word {
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            "system" => Some(Self::System),
            "tool" => Some(Self::Tool),
            _ => None,
        }
    }

    /// Returns whether a message of this role can contain a block. Unknown blocks are always allowed.
    ///
    /// ```
    /// use recount_message::{DataBlock, Role};
    ///
    /// let image = DataBlock::from_bytes(b"GIF89a").into();
    /// assert!(Role::User.allows(&image));
    /// assert!(!Role::System.allows(&image));
    /// ```
    pub fn allows(self, block: &ContentBlock) -> bool {
        match block {
            ContentBlock::Unknown(_) => true,
            ContentBlock::Text(_) => self != Self::Tool,
            ContentBlock::Data(_) => matches!(self, Self::User | Self::Assistant),
            ContentBlock::ToolResult(_) => matches!(self, Self::Assistant | Self::Tool),
            ContentBlock::Thinking(_) | ContentBlock::Hint(_) | ContentBlock::ToolCall(_) => self == Self::Assistant,
        }
    }

    /// Checks that the role allows all blocks.
    pub(crate) fn check(self, content: &[ContentBlock]) -> Result<(), RoleError> {
        match content.iter().position(|block| !self.allows(block)) {
            None => Ok(()),
            Some(index) => Err(RoleError { role: self, index, block: content[index].type_name().to_owned() }),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl serde::Serialize for Role {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Role {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_name(&word).ok_or_else(|| unknown_value("role", &word, &["user", "assistant", "system", "tool"]))
    }
}

/// A role in native JSON. Messages that no native role allows are written with the role assistant and an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NativeRole {
    pub(crate) role: Role,
    pub(crate) marked: bool,
}

impl From<Role> for NativeRole {
    fn from(role: Role) -> Self {
        Self { role, marked: role == Role::Tool }
    }
}

impl Wire<'_> for NativeRole {
    fn shape() -> Shape {
        Shape::Enum(&["user", "assistant", "system"])
    }

    fn decode(raw: Raw<'_>, _: DecodeContext<'_>) -> Result<Self, DecodeError> {
        let word = raw.to_str()?;
        Role::from_name(&word).map(Self::from).ok_or_else(|| {
            DecodeError::new(
                DecodeErrorKind::UnknownValue,
                format!("unknown role {word:?}, expected one of user, assistant, system"),
            )
        })
    }

    /// Writes a role that every native reader supports.
    fn encode(&self, out: &mut String) {
        let native = if self.marked { Role::Assistant } else { self.role };
        write::string(out, native.as_str());
    }
}

/// A block that the role of its message does not allow.
///
/// ```
/// use recount_message::{HintBlock, Msg, Role};
///
/// let error = Msg::builder().role(Role::User).block("Hello").block(HintBlock::new("…")).build().unwrap_err();
/// assert_eq!((error.role, error.index, error.block.as_str()), (Role::User, 1, "hint"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`content[{index}]`: a {role} message may not hold a {block} block")]
pub struct RoleError {
    /// Role of the message.
    pub role: Role,
    /// Index of the block.
    pub index: usize,
    /// Type of the block.
    pub block: String,
}
