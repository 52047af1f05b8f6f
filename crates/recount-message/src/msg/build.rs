//! Building a message from data.

use super::{ErrorInfo, FinishedReason, GenerateReason, Msg, Role, RoleError, Usage};
use crate::block::{ContentBlock, TextBlock};
use crate::marks;
use crate::{Json, Object};

/// Builds a message whose role and blocks are only known when the program runs.
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
    /// A message to be built: a user's, without a name and without content, until it is told otherwise.
    pub fn builder() -> MsgBuilder {
        let mut message = Self::bare(Role::User, String::new(), Vec::new());
        marks::mark_absent(&mut message.metadata, "name");
        MsgBuilder { message, created_at: None, finished_at: None }
    }

    /// A copy of this message, to be changed. It keeps its id.
    pub fn to_builder(&self) -> MsgBuilder {
        MsgBuilder {
            message: self.clone(),
            created_at: Some(self.created_at.clone()),
            finished_at: self.finished_at.clone(),
        }
    }
}

impl MsgBuilder {
    /// Sets the id. Without it a random one is made.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.message.id = id.into();
        self
    }

    /// Sets the sender.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.message = self.message.with_name(name);
        self
    }

    /// Sets the role.
    pub fn role(mut self, role: Role) -> Self {
        self.message.role = role;
        self
    }

    /// Replaces the content.
    pub fn content(mut self, blocks: impl IntoIterator<Item = ContentBlock>) -> Self {
        self.message.content = blocks.into_iter().collect();
        self
    }

    /// Replaces the content with one text block.
    pub fn text_content(self, text: impl Into<String>) -> Self {
        self.content([TextBlock::new(text).into()])
    }

    /// Adds a block.
    pub fn block(mut self, block: impl Into<ContentBlock>) -> Self {
        self.message.content.push(block.into());
        self
    }

    /// Replaces the metadata.
    pub fn metadata(mut self, metadata: impl Into<Object>) -> Self {
        self.message = self.message.with_metadata(metadata);
        self
    }

    /// Adds a piece of metadata.
    pub fn metadata_entry(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.message = self.message.with_metadata_entry(key, value);
        self
    }

    /// Sets when the message began. Without it the machine's clock says.
    pub fn created_at(mut self, time: impl Into<String>) -> Self {
        self.created_at = Some(time.into());
        self
    }

    /// Sets when the message was complete. Without it an assistant's message is open and any other complete at once.
    pub fn finished_at(mut self, time: impl Into<String>) -> Self {
        self.finished_at = Some(time.into());
        self
    }

    /// Sets how many tokens it took.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.message.usage = Some(usage);
        self
    }

    /// Sets why the reply ended.
    pub fn finished_reason(mut self, reason: FinishedReason) -> Self {
        self.message.finished_reason = Some(reason);
        self
    }

    /// Sets why the agent stopped, in AgentScope Java's words.
    pub fn generate_reason(mut self, reason: GenerateReason) -> Self {
        self.message = self.message.with_generate_reason(reason);
        self
    }

    /// Sets the structured output.
    pub fn structured_output(mut self, output: impl Into<Object>) -> Self {
        self.message.structured_output = Some(output.into());
        self
    }

    /// Sets what went wrong.
    pub fn error(mut self, error: ErrorInfo) -> Self {
        self.message.error = Some(error);
        self
    }

    /// The message.
    ///
    /// # Errors
    ///
    /// When a block may not stand in a message of this role.
    pub fn build(self) -> Result<Msg, RoleError> {
        let Self { mut message, created_at, finished_at } = self;
        message.role.check(&message.content)?;
        if let Some(time) = created_at {
            message.created_at = time;
        }
        message.finished_at = match message.role {
            Role::Assistant => finished_at,
            Role::User | Role::System | Role::Tool => finished_at.or_else(|| Some(message.created_at.clone())),
        };
        message.mark_role();
        Ok(message)
    }
}
