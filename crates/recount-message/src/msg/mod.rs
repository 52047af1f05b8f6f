//! Messages: the turns of a conversation.

mod access;
mod build;
mod codec;
mod content;
mod parts;
mod reason;
mod role;
mod structured;
mod usage;

pub use build::MsgBuilder;
pub use content::Content;
pub use parts::MsgParts;
pub use reason::{ErrorInfo, ErrorType, FinishedReason, GenerateReason};
pub(crate) use role::NativeRole;
pub use role::{Role, RoleError};
pub use structured::StructuredError;
pub use usage::Usage;

use crate::block::{ContentBlock, MediaBlock, TextBlock, ToolResultBlock};
use crate::ids::random_id;
use crate::json::record::record;
use crate::time::now_text;
use crate::{Json, Object, extensions};

record! {
    /// One turn of a conversation: a user message, a system prompt, or a complete reply of an agent with all its rounds of
    /// thinking, tool calls and results.
    ///
    /// Fields are read through methods. The `with_…` methods consume the message and return the changed one,
    /// [`to_builder`](Self::to_builder) copies it, and [`append_event`](Self::append_event) changes it in place. None of them
    /// can create a message with a block that its role does not allow.
    ///
    /// ```
    /// use recount_message::{DataBlock, Msg, Role, TextBlock};
    ///
    /// let question = Msg::user("Alice", "What's in this image?");
    /// assert_eq!((question.name(), question.role()), ("Alice", Role::User));
    /// assert_eq!(question.text().as_deref(), Some("What's in this image?"));
    ///
    /// let image = DataBlock::from_bytes(b"\x89PNG\r\n\x1a\n");
    /// let with_image = Msg::user("Alice", (TextBlock::new("Describe this:"), image));
    /// assert_eq!(with_image.images().count(), 1);
    /// ```
    ///
    /// A block that the role does not allow does not compile:
    ///
    /// ```compile_fail
    /// use recount_message::{Msg, ToolCallBlock};
    ///
    /// Msg::user("Alice", ToolCallBlock::new("call_1", "get_weather", "{}"));
    /// ```
    pub struct Msg {
        /// Name of the sender.
        pub(crate) name: String,
        /// The blocks of the message.
        pub(crate) content: Vec<ContentBlock>,
        /// Role of the sender.
        pub(crate) role: NativeRole,
        /// Id of the message; for a reply, its `reply_id`.
        pub(crate) id: String = |here| here.owner.to_owned(),
        /// Metadata. It is never sent to a model.
        pub(crate) metadata: Object = |_here| Object::new(),
        /// The time at which the message started.
        pub(crate) created_at: String = |here| here.time.to_owned(),
        /// Tokens used, summed over the model calls of the reply.
        pub(crate) usage: Option<Usage> = |_here| None,
        /// The time at which the message was complete; `None` while it is open.
        pub(crate) finished_at: Option<String> = |_here| None,
        /// Why the reply ended.
        pub(crate) finished_reason: Option<FinishedReason> = |_here| None,
        /// Structured output, if one was requested.
        pub(crate) structured_output: Option<Object> = |_here| None,
        /// The error that ended the reply.
        pub(crate) error: Option<ErrorInfo> = |_here| None,
        beside {
            /// Number of blocks at the last model call. Blocks before it that have ended are never reopened.
            pub(crate) call_floor: CallFloor,
        }
    }
}

/// The number of blocks at the last MODEL_CALL_START. It is not part of the message, so all values compare equal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallFloor(pub(crate) usize);

impl PartialEq for CallFloor {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for CallFloor {}

impl Msg {
    /// Creates a user message from a string, or from blocks of text and data.
    ///
    /// ```
    /// use recount_message::{DataBlock, Msg};
    ///
    /// let question = Msg::user("Alice", ("What is this?", DataBlock::from_url("https://example.com/leaf.png")?));
    /// assert_eq!(question.content().len(), 2);
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    pub fn user(name: impl Into<String>, content: impl Into<Content<MediaBlock>>) -> Self {
        Self::complete(Role::User, name.into(), content.into())
    }

    /// Creates a system prompt from a string, or from text blocks.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let prompt = Msg::system("system", ["Be brief.".into(), "Answer in French.".into()]);
    /// assert_eq!(prompt.text().as_deref(), Some("Be brief.\nAnswer in French."));
    /// ```
    pub fn system(name: impl Into<String>, content: impl Into<Content<TextBlock>>) -> Self {
        Self::complete(Role::System, name.into(), content.into())
    }

    /// Creates a message of an agent from a string, or from any blocks. It is open: `finished_at` is not set.
    ///
    /// ```
    /// use recount_message::{Msg, ThinkingBlock, ToolCallBlock, ToolCallState, ToolResultBlock};
    ///
    /// let message = Msg::assistant(
    ///     "Friday",
    ///     (
    ///         ThinkingBlock::new("I should search for the weather."),
    ///         "Let me search the weather in Beijing.",
    ///         ToolCallBlock::new("call_1", "weather", r#"{"city": "Beijing"}"#).with_state(ToolCallState::Finished),
    ///         ToolResultBlock::success("call_1", "weather", "Sunny, 25°C."),
    ///     ),
    /// );
    /// assert_eq!(message.result_of("call_1").unwrap().output.text().unwrap(), "Sunny, 25°C.");
    /// ```
    pub fn assistant(name: impl Into<String>, content: impl Into<Content<ContentBlock>>) -> Self {
        Self::bare(Role::Assistant, name.into(), content.into().into_blocks())
    }

    /// Creates a message of tool results, as in AgentScope Java. In native JSON it is an assistant message with an extension.
    ///
    /// ```
    /// use recount_message::{Msg, Role, ToolResultBlock};
    ///
    /// let message = Msg::tool("system", ToolResultBlock::success("call_1", "get_weather", "Sunny, 25°C"));
    /// assert_eq!(message.role(), Role::Tool);
    /// assert_eq!(Msg::from_json(&message.to_json())?, message);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn tool(name: impl Into<String>, results: impl Into<Content<ToolResultBlock>>) -> Self {
        Self::complete(Role::Tool, name.into(), results.into())
    }

    /// Creates a message that is complete from the start.
    fn complete<B: Into<ContentBlock>>(role: Role, name: String, content: Content<B>) -> Self {
        let mut message = Self::bare(role, name, content.into_blocks());
        message.finished_at = Some(message.created_at.clone());
        message
    }

    pub(crate) fn bare(role: Role, name: String, content: Vec<ContentBlock>) -> Self {
        let mut message = Self {
            name,
            content,
            role: role.into(),
            id: random_id(),
            metadata: Object::new(),
            created_at: now_text(),
            usage: None,
            finished_at: None,
            finished_reason: None,
            structured_output: None,
            error: None,
            extra: Object::new(),
            call_floor: CallFloor::default(),
        };
        message.mark_role();
        message
    }

    /// Sets the id. Consumes the message and returns the changed one.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::assistant("Friday", []).with_id("reply-7");
    /// assert!(message.to_json().contains(r#""id":"reply-7""#));
    /// ```
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets the name of the sender. Consumes the message and returns the changed one.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::user("Alice", "Hello");
    /// let renamed = message.clone().with_name("Bob");
    /// assert_eq!((message.name(), renamed.name(), renamed.id()), ("Alice", "Bob", message.id()));
    /// ```
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        extensions::unmark_absent(&mut self.metadata, "name");
        self
    }

    /// Replaces the metadata. The reason for which the agent stopped and the key `recount` are kept unless the new metadata
    /// sets them. Consumes the message and returns the changed one.
    ///
    /// ```
    /// use recount_message::{GenerateReason, Msg};
    ///
    /// let stopped = Msg::assistant("Friday", "").with_generate_reason(GenerateReason::AllToolsDenied);
    /// let tagged = stopped.with_metadata([("channel", "mail")]);
    /// assert!(tagged.metadata().contains_key("channel"));
    /// assert_eq!(tagged.generate_reason(), GenerateReason::AllToolsDenied);
    /// ```
    pub fn with_metadata(mut self, metadata: impl Into<Object>) -> Self {
        let before = std::mem::replace(&mut self.metadata, metadata.into());
        for key in [extensions::KEY, reason::GENERATE_REASON] {
            if let Some(kept) = before.get(key)
                && !self.metadata.contains_key(key)
            {
                self.metadata.insert(key, kept.clone());
            }
        }
        self.mark_role();
        self
    }

    /// Sets one metadata entry. Consumes the message and returns the changed one.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::user("Alice", "Hello").with_metadata_entry("task", 7).with_metadata_entry("urgent", false);
    /// assert_eq!(message.metadata().to_json(), r#"{"task":7,"urgent":false}"#);
    /// ```
    pub fn with_metadata_entry(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.metadata.insert(key, value);
        self.mark_role();
        self
    }

    /// Sets the time at which the message started. Consumes the message and returns the changed one.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::user("Alice", "Hello").with_created_at("2026-01-01T00:00:00Z");
    /// assert_eq!(message.created_at(), "2026-01-01T00:00:00Z");
    /// ```
    pub fn with_created_at(mut self, time: impl Into<String>) -> Self {
        self.created_at = time.into();
        self
    }

    /// Sets the time at which the message was complete. Consumes the message and returns the changed one.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let open = Msg::assistant("Friday", "Hello");
    /// let complete = open.clone().with_finished_at("2026-01-01T00:00:01Z");
    /// assert_eq!((open.finished_at(), complete.finished_at()), (None, Some("2026-01-01T00:00:01Z")));
    /// ```
    pub fn with_finished_at(mut self, time: impl Into<String>) -> Self {
        self.finished_at = Some(time.into());
        self
    }

    /// Sets the structured output. Consumes the message and returns the changed one.
    ///
    /// ```
    /// use recount_message::{Msg, Object};
    ///
    /// let output = Object::parse(r#"{"score": 0.9}"#)?;
    /// let message = Msg::assistant("Judge", "Good.").with_structured_output(output);
    /// assert_eq!(message.structured_output().unwrap().get("score").unwrap().as_raw(), "0.9");
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn with_structured_output(mut self, output: impl Into<Object>) -> Self {
        self.structured_output = Some(output.into());
        self
    }

    /// Sets the tokens used. Consumes the message and returns the changed one.
    ///
    /// ```
    /// use recount_message::{Msg, Usage};
    ///
    /// let message = Msg::assistant("Friday", "Hello").with_usage(Usage::new(100, 20));
    /// assert_eq!(message.usage().unwrap().input_tokens, 100);
    /// ```
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }
}
