//! The fields of a message as a plain struct.

use super::{CallFloor, ErrorInfo, FinishedReason, Msg, Role, RoleError, Usage};
use crate::Object;
use crate::block::ContentBlock;

/// The fields of a message. [`Msg::into_parts`] and [`Msg::from_parts`] convert between both.
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
    /// Name of the sender.
    pub name: String,
    /// The blocks.
    pub content: Vec<ContentBlock>,
    /// Role of the sender.
    pub role: Role,
    /// Id of the message.
    pub id: String,
    /// Metadata.
    pub metadata: Object,
    /// The time at which the message started.
    pub created_at: String,
    /// Tokens used.
    pub usage: Option<Usage>,
    /// The time at which the message was complete.
    pub finished_at: Option<String>,
    /// Why the reply ended.
    pub finished_reason: Option<FinishedReason>,
    /// Structured output.
    pub structured_output: Option<Object>,
    /// The error that ended the reply.
    pub error: Option<ErrorInfo>,
    /// Undeclared fields, in the order in which they were read.
    pub extra: Object,
}

impl Msg {
    /// Updates an older copy of a message.
    ///
    /// Equal blocks at the start are kept instead of cloned. A reply grows at its end, so this is much cheaper than cloning it
    /// for every model call.
    ///
    /// ```
    /// use recount_message::{Msg, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.text("Hello");
    /// let mut copy = reply.message().clone();
    /// reply.text(", world");
    /// copy.update_from(reply.message());
    /// assert_eq!(&copy, reply.message());
    /// ```
    pub fn update_from(&mut self, newer: &Self) {
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

    /// Converts the message to its fields.
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

    /// Creates a message from its fields.
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
    /// Fails if the role does not allow one of the blocks.
    pub fn from_parts(parts: MsgParts) -> Result<Self, RoleError> {
        parts.role.check(&parts.content)?;
        Ok(Self::from_parts_lenient(parts))
    }

    /// Creates a message from its fields without checking its blocks against its role, as other implementations have them.
    ///
    /// A message with blocks that its role does not allow has the role `assistant` in native JSON, and an extension restores
    /// its role. [`check`](crate::check) reports such messages.
    ///
    /// ```
    /// use recount_message::{Msg, MsgParts, Role, ThinkingBlock};
    ///
    /// let parts = Msg::assistant("Friday", ThinkingBlock::new("Let me see.")).into_parts();
    /// let message = Msg::from_parts_lenient(MsgParts { role: Role::System, ..parts });
    /// assert_eq!(Msg::from_json(&message.to_json())?.role(), Role::System);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn from_parts_lenient(parts: MsgParts) -> Self {
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
