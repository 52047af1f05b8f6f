//! The builder of messages.

use super::{Content, ErrorInfo, FinishedReason, GenerateReason, Msg, Role, RoleError, Usage};
use crate::block::{ContentBlock, TextBlock};
use crate::extensions;
use crate::{Json, Object};

/// Builds a message whose role and blocks are known only at run time.
///
/// ```
/// use recount_message::{Msg, Role, TextBlock, ToolCallBlock};
///
/// let message = Msg::builder()
///     .name("Alice")
///     .role(Role::User)
///     .block(TextBlock::new("Hello"))
///     .metadata_entry("priority", 3)
///     .build()?;
/// assert_eq!(message.text().as_deref(), Some("Hello"));
///
/// let error = message.to_builder().block(ToolCallBlock::new("c1", "search", "{}")).build().unwrap_err();
/// assert_eq!(error.to_string(), "`content[1]`: a user message may not hold a tool_call block");
/// # Ok::<(), recount_message::RoleError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct MsgBuilder {
    message: Msg,
    created_at: Option<String>,
    finished_at: Option<String>,
}

impl Msg {
    /// Creates a builder for a user message without a name and without content.
    ///
    /// ```
    /// use recount_message::{Msg, Role};
    ///
    /// let message = Msg::builder().build()?;
    /// assert_eq!((message.role(), message.name(), message.content().len()), (Role::User, "", 0));
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn builder() -> MsgBuilder {
        let mut message = Self::bare(Role::User, String::new(), Vec::new());
        extensions::mark_absent(&mut message.metadata, "name");
        MsgBuilder { message, created_at: None, finished_at: None }
    }

    /// Creates a builder from a copy of this message. The id is kept.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let draft = Msg::assistant("Friday", "Hello");
    /// let longer = draft.to_builder().block("world").build()?;
    /// assert_eq!(longer.id(), draft.id());
    /// assert_eq!(longer.text().as_deref(), Some("Hello\nworld"));
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn to_builder(&self) -> MsgBuilder {
        MsgBuilder {
            message: self.clone(),
            created_at: Some(self.created_at.clone()),
            finished_at: self.finished_at.clone(),
        }
    }
}

impl MsgBuilder {
    /// Sets the id; random by default.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// assert_eq!(Msg::builder().id("m1").build()?.id(), "m1");
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.message.id = id.into();
        self
    }

    /// Sets the name of the sender.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::builder().name("Alice").build()?;
    /// assert!(message.has_name());
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.message = self.message.with_name(name);
        self
    }

    /// Sets the role.
    ///
    /// ```
    /// use recount_message::{Msg, Role};
    ///
    /// let role = Role::from_name("system").unwrap();
    /// assert_eq!(Msg::builder().role(role).text_content("Be brief.").build()?.role(), Role::System);
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn role(mut self, role: Role) -> Self {
        self.message.role = role.into();
        self
    }

    /// Replaces the content: a string, a block, a tuple of blocks, or a list of blocks.
    ///
    /// ```
    /// use recount_message::{DataBlock, Msg};
    ///
    /// let message = Msg::builder().content(("A picture:", DataBlock::from_bytes(b"GIF89a"))).build()?;
    /// assert_eq!(message.content().len(), 2);
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn content(mut self, content: impl Into<Content<ContentBlock>>) -> Self {
        self.message.content = content.into().into_blocks();
        self
    }

    /// Replaces the content with one text block.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::builder().block("Hullo").text_content("Hello").build()?;
    /// assert_eq!(message.text().as_deref(), Some("Hello"));
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn text_content(self, text: impl Into<String>) -> Self {
        self.content(TextBlock::new(text))
    }

    /// Adds a block.
    ///
    /// ```
    /// use recount_message::{DataBlock, Msg};
    ///
    /// let message = Msg::builder().block("A picture:").block(DataBlock::from_bytes(b"GIF89a")).build()?;
    /// assert_eq!(message.images().count(), 1);
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn block(mut self, block: impl Into<ContentBlock>) -> Self {
        self.message.content.push(block.into());
        self
    }

    /// Replaces the metadata.
    ///
    /// ```
    /// use recount_message::{Msg, Object};
    ///
    /// let message = Msg::builder().name("Alice").metadata(Object::from([("channel", "mail")])).build()?;
    /// assert_eq!(message.metadata().to_json(), r#"{"channel":"mail"}"#);
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn metadata(mut self, metadata: impl Into<Object>) -> Self {
        self.message = self.message.with_metadata(metadata);
        self
    }

    /// Sets one metadata entry.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::builder().name("Alice").metadata_entry("task", 7).metadata_entry("tags", ["new"]).build()?;
    /// assert_eq!(message.metadata().to_json(), r#"{"task":7,"tags":["new"]}"#);
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn metadata_entry(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.message = self.message.with_metadata_entry(key, value);
        self
    }

    /// Sets the time at which the message started; the current time by default.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::builder().created_at("2026-01-01T00:00:00Z").build()?;
    /// assert_eq!(message.finished_at(), Some("2026-01-01T00:00:00Z"));
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn created_at(mut self, time: impl Into<String>) -> Self {
        self.created_at = Some(time.into());
        self
    }

    /// Sets the time at which the message was complete. By default an assistant message is open, and any other is complete when
    /// it starts.
    ///
    /// ```
    /// use recount_message::{Msg, Role};
    ///
    /// let open = Msg::builder().role(Role::Assistant).text_content("Hello");
    /// assert_eq!(open.clone().build()?.finished_at(), None);
    /// assert_eq!(open.finished_at("2026-01-01T00:00:01Z").build()?.finished_at(), Some("2026-01-01T00:00:01Z"));
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn finished_at(mut self, time: impl Into<String>) -> Self {
        self.finished_at = Some(time.into());
        self
    }

    /// Sets the tokens used.
    ///
    /// ```
    /// use recount_message::{Msg, Role, Usage};
    ///
    /// let message = Msg::builder().role(Role::Assistant).usage(Usage::new(100, 20)).build()?;
    /// assert_eq!(message.usage().unwrap().output_tokens, 20);
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn usage(mut self, usage: Usage) -> Self {
        self.message.usage = Some(usage);
        self
    }

    /// Sets why the reply ended.
    ///
    /// ```
    /// use recount_message::{FinishedReason, GenerateReason, Msg, Role};
    ///
    /// let message = Msg::builder().role(Role::Assistant).finished_reason(FinishedReason::Interrupted).build()?;
    /// assert_eq!(message.generate_reason(), GenerateReason::Interrupted);
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn finished_reason(mut self, reason: FinishedReason) -> Self {
        self.message.finished_reason = Some(reason);
        self
    }

    /// Sets why the agent stopped, with a reason of AgentScope Java.
    ///
    /// ```
    /// use recount_message::{GenerateReason, Msg, Role};
    ///
    /// let message = Msg::builder().role(Role::Assistant).generate_reason(GenerateReason::ToolSuspended).build()?;
    /// assert_eq!(message.generate_reason(), GenerateReason::ToolSuspended);
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn generate_reason(mut self, reason: GenerateReason) -> Self {
        self.message = self.message.with_generate_reason(reason);
        self
    }

    /// Sets the structured output.
    ///
    /// ```
    /// use recount_message::{Msg, Role};
    ///
    /// let message = Msg::builder().role(Role::Assistant).structured_output([("approved", true)]).build()?;
    /// assert!(message.has_structured());
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn structured_output(mut self, output: impl Into<Object>) -> Self {
        self.message.structured_output = Some(output.into());
        self
    }

    /// Sets the error that ended the reply.
    ///
    /// ```
    /// use recount_message::{ErrorInfo, ErrorType, Msg, Role};
    ///
    /// let error = ErrorInfo::new(ErrorType::RateLimit, "try again in a minute");
    /// let message = Msg::builder().role(Role::Assistant).error(error.clone()).build()?;
    /// assert_eq!(message.error(), Some(&error));
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn error(mut self, error: ErrorInfo) -> Self {
        self.message.error = Some(error);
        self
    }

    /// Builds the message.
    ///
    /// ```
    /// use recount_message::{Msg, Role, ThinkingBlock};
    ///
    /// let thought = Msg::builder().block(ThinkingBlock::new("Hm."));
    /// assert!(thought.clone().role(Role::Assistant).build().is_ok());
    /// assert_eq!(thought.role(Role::User).build().unwrap_err().index, 0);
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the role does not allow one of the blocks.
    pub fn build(self) -> Result<Msg, RoleError> {
        let Self { mut message, created_at, finished_at } = self;
        message.role().check(&message.content)?;
        if let Some(time) = created_at {
            message.created_at = time;
        }
        message.finished_at = match message.role() {
            Role::Assistant => finished_at,
            Role::User | Role::System | Role::Tool => finished_at.or_else(|| Some(message.created_at.clone())),
        };
        message.mark_role();
        Ok(message)
    }
}
