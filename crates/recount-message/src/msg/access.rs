//! Accessors of messages.

use hashbrown::HashMap;
use jiff::Timestamp;

use super::{ErrorInfo, FinishedReason, Msg, Role, Usage};
use crate::Object;
use crate::block::{Block, ContentBlock, DataBlock, TextBlock, ToolCallBlock, ToolResultBlock};
use crate::extensions;
use crate::time::parse_time;

impl Msg {
    /// Returns the id of the message.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// assert_eq!(Msg::user("Alice", "Hello").with_id("m1").id(), "m1");
    /// assert_ne!(Msg::user("Alice", "Hello").id(), Msg::user("Alice", "Hello").id());
    /// ```
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name of the sender; empty if the message has none.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// assert_eq!(Msg::user("Alice", "Hello").name(), "Alice");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the message has a name. Messages of AgentScope Java can lack one; in native JSON it is then empty, with an
    /// extension.
    ///
    /// ```
    /// use recount_message::{Msg, Role};
    ///
    /// let unnamed = Msg::builder().role(Role::User).text_content("Hello").build()?;
    /// assert_eq!((unnamed.has_name(), unnamed.name()), (false, ""));
    /// assert!(unnamed.with_name("Alice").has_name());
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn has_name(&self) -> bool {
        !extensions::is_absent(&self.metadata, "name")
    }

    /// Returns the role of the sender.
    ///
    /// ```
    /// use recount_message::{Msg, Role};
    ///
    /// assert_eq!(Msg::system("system", "You are a helpful assistant.").role(), Role::System);
    /// ```
    pub fn role(&self) -> Role {
        self.role.role
    }

    /// Returns the blocks of the message.
    ///
    /// ```
    /// use recount_message::{Msg, ThinkingBlock};
    ///
    /// let message = Msg::assistant("Friday", (ThinkingBlock::new("Hm."), "Hello"));
    /// let types: Vec<_> = message.content().iter().map(|block| block.type_name()).collect();
    /// assert_eq!(types, ["thinking", "text"]);
    /// ```
    pub fn content(&self) -> &[ContentBlock] {
        &self.content
    }

    /// Returns the metadata. It is never sent to a model.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::user("Alice", "Hello").with_metadata([("channel", "mail")]);
    /// assert_eq!(message.metadata().get("channel").unwrap().as_str(), Some("mail"));
    /// ```
    pub fn metadata(&self) -> &Object {
        &self.metadata
    }

    /// Returns the time at which the message started, as written.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// // The time format of AgentScope Java is preserved.
    /// let message = Msg::user("Alice", "Hello").with_created_at("2026-11-15 19:38:53.133");
    /// assert_eq!(message.created_at(), "2026-11-15 19:38:53.133");
    /// ```
    pub fn created_at(&self) -> &str {
        &self.created_at
    }

    /// Parses the time at which the message started; `None` if the text is not a time. A time without a zone is UTC.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::user("Alice", "Hello").with_created_at("2026-11-15 19:38:53");
    /// assert_eq!(message.created().unwrap().to_string(), "2026-11-15T19:38:53Z");
    /// assert_eq!(message.with_created_at("yesterday").created(), None);
    /// ```
    pub fn created(&self) -> Option<Timestamp> {
        parse_time(&self.created_at)
    }

    /// Returns the time at which the message was complete, as written; `None` while it is open.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let question = Msg::user("Alice", "Hello");
    /// assert_eq!(question.finished_at(), Some(question.created_at()));
    /// assert_eq!(Msg::assistant("Friday", "Hel").finished_at(), None);
    /// ```
    pub fn finished_at(&self) -> Option<&str> {
        self.finished_at.as_deref()
    }

    /// Parses the time at which the message was complete; `None` while it is open, or if the text is not a time.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::assistant("Friday", "Hello")
    ///     .with_created_at("2026-01-01T00:00:00Z")
    ///     .with_finished_at("2026-01-01T00:00:02.5Z");
    /// let took = message.finished().unwrap().duration_since(message.created().unwrap());
    /// assert_eq!(took.as_millis(), 2500);
    /// ```
    pub fn finished(&self) -> Option<Timestamp> {
        parse_time(self.finished_at()?)
    }

    /// Returns the tokens used; `None` before the end of the first model call.
    ///
    /// ```
    /// use recount_message::{Msg, Usage};
    ///
    /// let message = Msg::assistant("Friday", "Hello").with_usage(Usage::new(100, 20));
    /// assert_eq!(message.usage().map(Usage::total), Some(120));
    /// assert_eq!(Msg::assistant("Friday", "Hello").usage(), None);
    /// ```
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// Returns why the reply ended; `None` while it is open, and for messages that are not replies.
    ///
    /// ```
    /// use recount_message::{FinishedReason, GenerateReason, Msg};
    ///
    /// let message = Msg::assistant("Friday", "Hello").with_generate_reason(GenerateReason::MaxIterations);
    /// assert_eq!(message.finished_reason(), Some(FinishedReason::ExceedMaxIters));
    /// ```
    pub fn finished_reason(&self) -> Option<FinishedReason> {
        self.finished_reason
    }

    /// Returns the structured output; `None` if none was requested. [`structured`](Self::structured) deserializes it.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::assistant("Judge", "Yes.").with_structured_output([("approved", true)]);
    /// assert_eq!(message.structured_output().unwrap().to_json(), r#"{"approved":true}"#);
    /// ```
    pub fn structured_output(&self) -> Option<&Object> {
        self.structured_output.as_ref()
    }

    /// Returns the error that ended the reply.
    ///
    /// ```
    /// use recount_message::{ErrorType, Msg};
    ///
    /// let text = r#"{"name":"Friday","role":"assistant","content":[],"error":{"type":"internal","message":"lost"}}"#;
    /// let message = Msg::from_json(text)?;
    /// assert_eq!(message.error().map(|error| error.kind), Some(ErrorType::Internal));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn error(&self) -> Option<&ErrorInfo> {
        self.error.as_ref()
    }

    /// Returns the id of the reply that started this one, if this is the reply of a sub-agent.
    ///
    /// ```
    /// use recount_message::{Msg, ReplyStart, ReplyWriter, Stamps};
    ///
    /// let start = ReplyStart::new("s1", "Searcher").with_parent("r1");
    /// let reply = ReplyWriter::start_with(|_event| {}, Stamps::repeatable(), start);
    /// assert_eq!(reply.message().parent().as_deref(), Some("r1"));
    /// assert_eq!(Msg::user("Alice", "Hello").parent(), None);
    /// ```
    pub fn parent(&self) -> Option<String> {
        extensions::get(&self.metadata, "parent")?.as_str().map(str::to_owned)
    }

    /// Returns the text blocks of the message, joined by line breaks; `None` if it has none.
    ///
    /// The text in hints and tool results is not included.
    ///
    /// ```
    /// use recount_message::{Msg, ThinkingBlock};
    ///
    /// assert_eq!(Msg::assistant("Friday", ("Hello", "world")).text().as_deref(), Some("Hello\nworld"));
    /// assert_eq!(Msg::assistant("Friday", "").text().as_deref(), Some(""));
    /// assert_eq!(Msg::assistant("Friday", ThinkingBlock::new("Hm.")).text(), None);
    /// ```
    pub fn text(&self) -> Option<String> {
        self.text_joined_by("\n")
    }

    /// Returns the text blocks of the message, joined by `separator`; `None` if it has none.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::assistant("Friday", ("Hello", "world"));
    /// assert_eq!(message.text_joined_by(", ").as_deref(), Some("Hello, world"));
    /// ```
    pub fn text_joined_by(&self, separator: &str) -> Option<String> {
        let texts: Vec<&str> = self.blocks::<TextBlock>().map(|block| block.text.as_str()).collect();
        (!texts.is_empty()).then(|| texts.join(separator))
    }

    /// Returns the text blocks of the message, joined by line breaks; empty if it has none.
    ///
    /// ```
    /// use recount_message::{Msg, ToolCallBlock};
    ///
    /// let message = Msg::assistant("Friday", ToolCallBlock::new("c1", "search", "{}"));
    /// assert_eq!(message.text_or_empty(), "");
    /// ```
    pub fn text_or_empty(&self) -> String {
        self.text().unwrap_or_default()
    }

    /// Returns the blocks of a type.
    ///
    /// ```
    /// use recount_message::{Msg, ToolCallBlock};
    ///
    /// let message = Msg::assistant("Friday", ("Let me look.", ToolCallBlock::new("c1", "search", "{}")));
    /// let calls: Vec<&str> = message.blocks::<ToolCallBlock>().map(|call| call.name.as_str()).collect();
    /// assert_eq!(calls, ["search"]);
    /// ```
    pub fn blocks<B: Block>(&self) -> impl Iterator<Item = &B> {
        self.content.iter().filter_map(B::from_content)
    }

    /// Returns the first block of a type.
    ///
    /// ```
    /// use recount_message::{Msg, TextBlock, ThinkingBlock};
    ///
    /// let message = Msg::assistant("Friday", (ThinkingBlock::new("Hm."), "Hello", "world"));
    /// assert_eq!(message.first::<TextBlock>().unwrap().text, "Hello");
    /// ```
    pub fn first<B: Block>(&self) -> Option<&B> {
        self.blocks().next()
    }

    /// Returns whether the message has a block of a type.
    ///
    /// ```
    /// use recount_message::{HintBlock, Msg, ThinkingBlock};
    ///
    /// let message = Msg::assistant("Friday", (ThinkingBlock::new("Hm."), "Hello"));
    /// assert!(message.has::<ThinkingBlock>());
    /// assert!(!message.has::<HintBlock>());
    /// ```
    pub fn has<B: Block>(&self) -> bool {
        self.first::<B>().is_some()
    }

    /// Returns the blocks whose wire type is one of `names`, including the names of AgentScope Java.
    ///
    /// ```
    /// use recount_message::{Msg, ToolCallBlock};
    ///
    /// let message = Msg::assistant("Friday", ("Let me look.", ToolCallBlock::new("c1", "search", "{}")));
    /// assert_eq!(message.blocks_named(&["tool_call"]).count(), 1);
    /// assert_eq!(message.blocks_named(&["tool_use", "text"]).count(), 2);
    /// ```
    pub fn blocks_named(&self, names: &[&str]) -> impl Iterator<Item = &ContentBlock> {
        self.content.iter().filter(move |block| names.iter().any(|name| block.is_named(name)))
    }

    /// Returns whether the message has a block whose wire type is one of `names`.
    ///
    /// ```
    /// use recount_message::{Msg, ToolCallBlock};
    ///
    /// let message = Msg::assistant("Friday", ToolCallBlock::new("c1", "search", "{}"));
    /// assert!(message.has_named(&["tool_use"]));
    /// assert!(!message.has_named(&["text", "thinking"]));
    /// ```
    pub fn has_named(&self, names: &[&str]) -> bool {
        self.blocks_named(names).next().is_some()
    }

    /// Returns the images, including legacy blocks of AgentScope Java.
    ///
    /// ```
    /// use recount_message::{DataBlock, Msg};
    ///
    /// let message = Msg::user("Alice", ("My cat:", DataBlock::from_url("https://example.com/cat.jpg")?));
    /// let types: Vec<&str> = message.images().map(DataBlock::media_type).collect();
    /// assert_eq!(types, ["image/jpeg"]);
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    pub fn images(&self) -> impl Iterator<Item = &DataBlock> {
        self.blocks().filter(|block: &&DataBlock| block.is_image())
    }

    /// Returns the audio blocks, including legacy blocks.
    ///
    /// ```
    /// use recount_message::{DataBlock, Msg};
    ///
    /// let voice = DataBlock::from_url("https://example.com/voice.mp3")?;
    /// let photo = DataBlock::from_url("https://example.com/photo.png")?;
    /// assert_eq!(Msg::user("Alice", (voice, photo)).audios().count(), 1);
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    pub fn audios(&self) -> impl Iterator<Item = &DataBlock> {
        self.blocks().filter(|block: &&DataBlock| block.is_audio())
    }

    /// Returns the videos, including legacy blocks.
    ///
    /// ```
    /// use recount_message::{DataBlock, LegacyMedia, Msg};
    ///
    /// let clip = DataBlock::from_url("https://example.com/stream")?.into_legacy(LegacyMedia::Video);
    /// assert_eq!(Msg::user("Alice", clip).videos().count(), 1);
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    pub fn videos(&self) -> impl Iterator<Item = &DataBlock> {
        self.blocks().filter(|block: &&DataBlock| block.is_video())
    }

    /// Returns the tool call with an id; the newest if the id occurs twice.
    ///
    /// ```
    /// use recount_message::{Msg, ToolCallBlock};
    ///
    /// let message = Msg::assistant("Friday", ToolCallBlock::new("c1", "search", r#"{"query":"tea"}"#));
    /// assert_eq!(message.call("c1").unwrap().name, "search");
    /// assert!(message.call("c2").is_none());
    /// ```
    pub fn call(&self, id: &str) -> Option<&ToolCallBlock> {
        self.content.iter().rev().filter_map(ToolCallBlock::from_content).find(|call| call.id == id)
    }

    /// Returns the result of the newest tool call with an id.
    ///
    /// ```
    /// use recount_message::{Msg, ToolCallBlock, ToolResultState};
    ///
    /// let call = ToolCallBlock::new("c1", "search", "{}");
    /// let result = call.error("no network");
    /// let message = Msg::assistant("Friday", (call, result));
    /// assert_eq!(message.result_of("c1").unwrap().state, ToolResultState::Error);
    /// ```
    pub fn result_of(&self, call_id: &str) -> Option<&ToolResultBlock> {
        self.newest_pair(call_id).and_then(|(_, result)| result)
    }

    /// Returns the newest tool call with an id, and its result. Searches from the end, where recent calls are.
    pub(crate) fn newest_pair(&self, call_id: &str) -> Option<(&ToolCallBlock, Option<&ToolResultBlock>)> {
        let mut result = None;
        for block in self.content.iter().rev() {
            match block {
                ContentBlock::ToolCall(call) if call.id == call_id => return Some((call, result)),
                // The first result after the call counts. Going backwards, it is the last one.
                ContentBlock::ToolResult(answer) if answer.id == call_id => result = Some(answer),
                _ => {}
            }
        }
        None
    }

    /// Returns every tool call with its result, in the order of the calls.
    ///
    /// ```
    /// use recount_message::{Msg, ToolCallBlock, ToolResultBlock};
    ///
    /// let message = Msg::assistant(
    ///     "Friday",
    ///     (
    ///         ToolCallBlock::new("c1", "search", "{}"),
    ///         ToolCallBlock::new("c2", "fetch", "{}"),
    ///         ToolResultBlock::success("c2", "fetch", "404"),
    ///     ),
    /// );
    /// let answered: Vec<bool> = message.tool_pairs().map(|(_, result)| result.is_some()).collect();
    /// assert_eq!(answered, [false, true]);
    /// ```
    pub fn tool_pairs(&self) -> impl Iterator<Item = (&ToolCallBlock, Option<&ToolResultBlock>)> {
        let mut pairs: Vec<(&ToolCallBlock, Option<&ToolResultBlock>)> = Vec::new();
        let mut newest = HashMap::new();
        for block in &self.content {
            if let ContentBlock::ToolCall(call) = block {
                newest.insert(call.id.as_str(), pairs.len());
                pairs.push((call, None));
            } else if let ContentBlock::ToolResult(result) = block
                && let Some((_, answer)) = newest.get(result.id.as_str()).and_then(|&at| pairs.get_mut(at))
            {
                answer.get_or_insert(result);
            }
        }
        pairs.into_iter()
    }
}
