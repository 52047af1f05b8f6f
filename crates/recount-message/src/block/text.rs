//! Text and thinking blocks.

use crate::Object;
use crate::ids::random_id;
use crate::json::record::record;
use crate::time::now_text;

record! {
    /// Plain text.
    ///
    /// ```
    /// use recount_message::{Msg, TextBlock};
    ///
    /// let message = Msg::assistant("Friday", [TextBlock::new("Hello").into(), TextBlock::new("world").into()]);
    /// let longest = message.blocks::<TextBlock>().map(|block| block.text.len()).max();
    /// assert_eq!(longest, Some(5));
    /// ```
    pub struct TextBlock tagged "text" {
        /// The text.
        pub text: String,
        /// Id of the block.
        pub id: String = |here| here.owner.to_owned(),
        /// The time at which the block started.
        pub created_at: String = |here| here.time.to_owned(),
        /// The time at which the block was complete; `None` while it is open.
        pub finished_at: Option<String> = |_here| None,
    }
}

impl TextBlock {
    /// Creates a text block with a new id and the current time.
    ///
    /// ```
    /// use recount_message::TextBlock;
    ///
    /// assert_eq!(TextBlock::new("Hello").text, "Hello");
    /// ```
    pub fn new(text: impl Into<String>) -> Self {
        Self::stamped(random_id(), now_text(), text)
    }

    /// Creates a text block with a given id and time.
    ///
    /// ```
    /// use recount_message::TextBlock;
    ///
    /// let block = TextBlock::stamped("b1", "2026-01-01T00:00:00Z", "Hello");
    /// assert_eq!((block.id.as_str(), block.created_at.as_str()), ("b1", "2026-01-01T00:00:00Z"));
    /// ```
    pub fn stamped(id: impl Into<String>, created_at: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            id: id.into(),
            created_at: created_at.into(),
            finished_at: None,
            extra: Object::new(),
        }
    }

    /// Sets the id. Consumes the block and returns the changed one.
    ///
    /// ```
    /// use recount_message::TextBlock;
    ///
    /// assert_eq!(TextBlock::new("Hello").with_id("t1").id, "t1");
    /// ```
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }
}

impl From<&str> for TextBlock {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for TextBlock {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

record! {
    /// Reasoning of the model. Fields that a provider adds, such as a signature, are in `extra`.
    ///
    /// ```
    /// use recount_message::{Msg, ThinkingBlock};
    ///
    /// let message = Msg::assistant("Friday", (ThinkingBlock::new("The user greets me."), "Hello"));
    /// assert_eq!(message.first::<ThinkingBlock>().unwrap().thinking, "The user greets me.");
    /// assert_eq!(message.text().as_deref(), Some("Hello"));
    /// ```
    pub struct ThinkingBlock tagged "thinking" {
        /// The reasoning.
        pub thinking: String,
        /// Id of the block.
        pub id: String = |here| here.owner.to_owned(),
        /// The time at which the block started.
        pub created_at: String = |here| here.time.to_owned(),
        /// The time at which the block was complete; `None` while it is open.
        pub finished_at: Option<String> = |_here| None,
    }
}

impl ThinkingBlock {
    /// Creates a thinking block with a new id and the current time.
    ///
    /// ```
    /// use recount_message::ThinkingBlock;
    ///
    /// let block = ThinkingBlock::new("First, …");
    /// assert_eq!(block.thinking, "First, …");
    /// assert_eq!(block.finished_at, None);
    /// ```
    pub fn new(thinking: impl Into<String>) -> Self {
        Self::stamped(random_id(), now_text(), thinking)
    }

    /// Creates a thinking block with a given id and time.
    ///
    /// ```
    /// use recount_message::ThinkingBlock;
    ///
    /// let block = ThinkingBlock::stamped("b1", "2026-01-01T00:00:00Z", "First, …");
    /// assert_eq!((block.id.as_str(), block.created_at.as_str()), ("b1", "2026-01-01T00:00:00Z"));
    /// ```
    pub fn stamped(id: impl Into<String>, created_at: impl Into<String>, thinking: impl Into<String>) -> Self {
        Self {
            thinking: thinking.into(),
            id: id.into(),
            created_at: created_at.into(),
            finished_at: None,
            extra: Object::new(),
        }
    }

    /// Sets the id. Consumes the block and returns the changed one.
    ///
    /// ```
    /// use recount_message::{ContentBlock, ThinkingBlock};
    ///
    /// let block = ContentBlock::from(ThinkingBlock::new("Hm.").with_id("h1"));
    /// assert_eq!(block.id(), "h1");
    /// ```
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }
}
