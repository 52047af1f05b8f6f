//! A message taken apart.

use super::{CallFloor, ErrorInfo, FinishedReason, Msg, Role, RoleError, Usage};
use crate::Object;
use crate::block::ContentBlock;

/// Everything that a message says, field by field: what a message is taken apart into, and put together from.
///
/// ```
/// use recount_message::{Msg, MsgParts};
///
/// let parts = Msg::user("Alice", "Hello").into_parts();
/// let renamed = Msg::from_parts(MsgParts { name: "Bob".into(), ..parts })?;
/// assert_eq!((renamed.name(), renamed.text_or_empty()), ("Bob", "Hello".into()));
/// # Ok::<(), recount_message::RoleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MsgParts {
    /// Who sent it.
    pub name: String,
    /// What it is made of.
    pub content: Vec<ContentBlock>,
    /// The part that the sender plays.
    pub role: Role,
    /// Its id.
    pub id: String,
    /// What else is known about it.
    pub metadata: Object,
    /// When it began.
    pub created_at: String,
    /// The tokens that it took.
    pub usage: Option<Usage>,
    /// When it was complete.
    pub finished_at: Option<String>,
    /// Why it ended.
    pub finished_reason: Option<FinishedReason>,
    /// The answer in the form that was asked for.
    pub structured_output: Option<Object>,
    /// What went wrong.
    pub error: Option<ErrorInfo>,
    /// The fields that are not declared, as they came.
    pub extra: Object,
}

impl Msg {
    /// Becomes the same as another message, of which it was a copy a while ago.
    ///
    /// Blocks that are the same already stay as they are, which is much cheaper than to copy them: a reply grows at its end,
    /// and whoever sends it to a model again and again would copy all of it again and again.
    ///
    /// ```
    /// use recount_message::{Msg, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.text("Hello");
    /// let mut copy = reply.message().clone();
    /// reply.text(", world");
    /// copy.catch_up_with(reply.message());
    /// assert_eq!(&copy, reply.message());
    /// ```
    pub fn catch_up_with(&mut self, newer: &Self) {
        let same = self.content.iter().zip(&newer.content).take_while(|(mine, theirs)| mine == theirs).count();
        let mut content = std::mem::take(&mut self.content);
        content.truncate(same);
        content.extend(newer.content.iter().skip(same).cloned());
        *self = Self {
            content,
            name: newer.name.clone(),
            role: newer.role,
            id: newer.id.clone(),
            metadata: newer.metadata.clone(),
            created_at: newer.created_at.clone(),
            usage: newer.usage.clone(),
            finished_at: newer.finished_at.clone(),
            finished_reason: newer.finished_reason,
            structured_output: newer.structured_output.clone(),
            error: newer.error.clone(),
            extra: newer.extra.clone(),
            call_floor: newer.call_floor,
        };
    }

    /// Takes the message apart.
    ///
    /// ```
    /// use recount_message::{Msg, Role};
    ///
    /// assert_eq!(Msg::system("System", "Be brief.").into_parts().role, Role::System);
    /// ```
    pub fn into_parts(self) -> MsgParts {
        MsgParts {
            role: self.role(),
            name: self.name,
            content: self.content,
            id: self.id,
            metadata: self.metadata,
            created_at: self.created_at,
            usage: self.usage,
            finished_at: self.finished_at,
            finished_reason: self.finished_reason,
            structured_output: self.structured_output,
            error: self.error,
            extra: self.extra,
        }
    }

    /// Puts a message together.
    ///
    /// ```
    /// use recount_message::{Msg, MsgParts, Role, ThinkingBlock};
    ///
    /// let parts = Msg::assistant("Friday", ThinkingBlock::new("Let me see.")).into_parts();
    /// let error = Msg::from_parts(MsgParts { role: Role::User, ..parts }).unwrap_err();
    /// assert_eq!(error.to_string(), "`content[0]`: a user message may not hold a thinking block");
    /// ```
    ///
    /// # Errors
    ///
    /// When the role may not hold one of the blocks.
    pub fn from_parts(parts: MsgParts) -> Result<Self, RoleError> {
        parts.role.check(&parts.content)?;
        Ok(Self::as_received(parts))
    }

    /// Puts a message together as another side has sent it, whose rules may be other ones.
    ///
    /// What its role may not hold does not get lost on the way through native JSON, which says `assistant` then, with a
    /// mark; [`check`](crate::check) reports it.
    ///
    /// ```
    /// use recount_message::{Msg, MsgParts, Role, ThinkingBlock};
    ///
    /// let parts = Msg::assistant("Friday", ThinkingBlock::new("Let me see.")).into_parts();
    /// let message = Msg::as_received(MsgParts { role: Role::System, ..parts });
    /// assert_eq!(Msg::from_json(&message.to_json())?.role(), Role::System);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn as_received(parts: MsgParts) -> Self {
        let mut message = Self {
            name: parts.name,
            content: parts.content,
            role: parts.role.into(),
            id: parts.id,
            metadata: parts.metadata,
            created_at: parts.created_at,
            usage: parts.usage,
            finished_at: parts.finished_at,
            finished_reason: parts.finished_reason,
            structured_output: parts.structured_output,
            error: parts.error,
            extra: parts.extra,
            call_floor: CallFloor::default(),
        };
        message.mark_role();
        message
    }
}
