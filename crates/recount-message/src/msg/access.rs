//! Reading a message.

use hashbrown::HashMap;
use jiff::Timestamp;

use super::{ErrorInfo, FinishedReason, Msg, Role, Usage};
use crate::Object;
use crate::block::{Block, ContentBlock, DataBlock, TextBlock, ToolCallBlock, ToolResultBlock};
use crate::marks;
use crate::time::parse_time;

impl Msg {
    /// Id of the message.
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

    /// Who says it; empty where nobody is named.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// assert_eq!(Msg::user("Alice", "Hello").name(), "Alice");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether anybody is named. AgentScope Java has messages without a name; natively theirs is empty, with a mark.
    ///
    /// ```
    /// use recount_message::{Msg, Role};
    ///
    /// let nobody = Msg::builder().role(Role::User).text_content("Hello").build()?;
    /// assert_eq!((nobody.has_name(), nobody.name()), (false, ""));
    /// assert!(nobody.with_name("Alice").has_name());
    /// # Ok::<(), recount_message::RoleError>(())
    /// ```
    pub fn has_name(&self) -> bool {
        !marks::is_absent(&self.metadata, "name")
    }

    /// The part that the sender plays.
    ///
    /// ```
    /// use recount_message::{Msg, Role};
    ///
    /// assert_eq!(Msg::system("system", "You are a helpful assistant.").role(), Role::System);
    /// ```
    pub fn role(&self) -> Role {
        self.role.role
    }

    /// What is said, block by block.
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

    /// What else is known about the message. It never reaches a model.
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

    /// When the message began, as it was written.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// // AgentScope Java's way to write a time stays as it is.
    /// let message = Msg::user("Alice", "Hello").with_created_at("2026-11-15 19:38:53.133");
    /// assert_eq!(message.created_at(), "2026-11-15 19:38:53.133");
    /// ```
    pub fn created_at(&self) -> &str {
        &self.created_at
    }

    /// When the message began; nothing where the text is no time. Without a zone it is taken as UTC.
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

    /// When the message was complete, as it was written.
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

    /// When the message was complete.
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

    /// How many tokens it took; nothing before the first model call has ended.
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

    /// Why the reply ended.
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

    /// The structured output, where one was asked for. [`structured`](Self::structured) reads it as a Rust type.
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

    /// What went wrong, where the reply ended with an error.
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

    /// The reply that this one is a part of, where it is a sub-agent's.
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
        marks::get(&self.metadata, "parent")?.as_str().map(str::to_owned)
    }

    /// The text of the message's own text blocks, joined by line breaks; nothing when it has none.
    ///
    /// Hints and tool results are not looked into.
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

    /// The same with another separator.
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

    /// The same, empty when there is none, as AgentScope Java has it.
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

    /// The blocks of a type.
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

    /// The first block of a type.
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

    /// Whether there is a block of a type.
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

    /// The blocks whose type has one of some names on the wire, AgentScope Java's names included.
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

    /// Whether there is a block whose type has one of some names.
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

    /// The images, AgentScope Java's legacy blocks included.
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

    /// The sounds, legacy blocks included.
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

    /// The films, legacy blocks included.
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

    /// The tool call with an id; the newest, where a provider used the id twice.
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

    /// The result of the tool call with an id.
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

    /// The newest tool call with an id, with its result. What is asked about is mostly near the end, so it is looked for
    /// from there.
    pub(crate) fn newest_pair(&self, call_id: &str) -> Option<(&ToolCallBlock, Option<&ToolResultBlock>)> {
        let mut result = None;
        for block in self.content.iter().rev() {
            match block {
                ContentBlock::ToolCall(call) if call.id == call_id => return Some((call, result)),
                // The first result after the call counts, which is the last one that is met on the way back.
                ContentBlock::ToolResult(answer) if answer.id == call_id => result = Some(answer),
                _ => {}
            }
        }
        None
    }

    /// Every tool call with its result, in the order of the calls.
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
