//! The message: one turn of a conversation.

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
use crate::{Json, Object, marks};

record! {
    /// One turn of a conversation: what a user said, a system prompt, or a whole reply of an agent with all its rounds of
    /// thinking, tool calls and results.
    ///
    /// A message is a value. Its fields are read through methods, changed copies come from the `with_…` methods and
    /// [`to_builder`](Self::to_builder), and only [`append_event`](Self::append_event) changes one in place. So a message
    /// that breaks its role's rules cannot be made.
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
    /// A block that the role may not hold does not compile:
    ///
    /// ```compile_fail
    /// use recount_message::{Msg, ToolCallBlock};
    ///
    /// Msg::user("Alice", ToolCallBlock::new("call_1", "get_weather", "{}"));
    /// ```
    pub struct Msg {
        /// Who says it.
        pub(crate) name: String,
        /// What is said, block by block.
        pub(crate) content: Vec<ContentBlock>,
        /// The part that the sender plays.
        pub(crate) role: NativeRole,
        /// Id of the message; a reply's is its `reply_id`.
        pub(crate) id: String = |here| here.owner.to_owned(),
        /// What else is known about the message. It never reaches a model.
        pub(crate) metadata: Object = |_here| Object::new(),
        /// When the message began.
        pub(crate) created_at: String = |here| here.time.to_owned(),
        /// How many tokens it took, summed over its model calls.
        pub(crate) usage: Option<Usage> = |_here| None,
        /// When the message was complete.
        pub(crate) finished_at: Option<String> = |_here| None,
        /// Why a reply ended.
        pub(crate) finished_reason: Option<FinishedReason> = |_here| None,
        /// The structured output, where one was asked for.
        pub(crate) structured_output: Option<Object> = |_here| None,
        /// What went wrong, where the reply ended with an error.
        pub(crate) error: Option<ErrorInfo> = |_here| None,
        beside {
            /// How many blocks there were at the last model call: an ended block from before it is never opened again.
            pub(crate) call_floor: CallFloor,
        }
    }
}

/// The number of blocks at the last MODEL_CALL_START. It is no part of what a message says, so all are equal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallFloor(pub(crate) usize);

impl PartialEq for CallFloor {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for CallFloor {}

impl Msg {
    /// A user's message: a string, or blocks of text and data.
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

    /// A system prompt: a string, or text blocks.
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

    /// An agent's message: a string, or any blocks. It stays open (no `finished_at`) until it is said to be finished.
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

    /// A message of tool results, as AgentScope Java has them. Natively it is an assistant's message with a mark.
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

    /// A message without an author's hurry: complete from the start.
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

    /// The same message under another id.
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

    /// The same message from another sender.
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
        marks::unmark_absent(&mut self.metadata, "name");
        self
    }

    /// The same message with other metadata. What says why the agent stopped, and what Recount keeps under `recount`,
    /// stays unless the new metadata has its own.
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
        for key in [marks::KEY, reason::GENERATE_REASON] {
            if let Some(kept) = before.get(key)
                && !self.metadata.contains_key(key)
            {
                self.metadata.insert(key, kept.clone());
            }
        }
        self.mark_role();
        self
    }

    /// The same message with one more piece of metadata.
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

    /// The same message with another time of creation.
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

    /// The same message, complete at a time.
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

    /// The same message with a structured output.
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

    /// The same message with a number of tokens used.
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
