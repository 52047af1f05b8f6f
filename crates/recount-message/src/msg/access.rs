//! Reading a message.

use std::collections::HashMap;

use jiff::Timestamp;

use super::{ErrorInfo, FinishedReason, Msg, Role, Usage};
use crate::Object;
use crate::block::{Block, ContentBlock, DataBlock, TextBlock, ToolCallBlock, ToolResultBlock};
use crate::marks;
use crate::time::parse_time;

impl Msg {
    /// Id of the message.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Who says it; empty where nobody is named.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether anybody is named. AgentScope Java has messages without a name; natively theirs is empty, with a mark.
    pub fn has_name(&self) -> bool {
        !marks::is_absent(&self.metadata, "name")
    }

    /// The part that the sender plays.
    pub fn role(&self) -> Role {
        self.role
    }

    /// What is said, block by block.
    pub fn content(&self) -> &[ContentBlock] {
        &self.content
    }

    /// What else is known about the message. It never reaches a model.
    pub fn metadata(&self) -> &Object {
        &self.metadata
    }

    /// When the message began, as it was written.
    pub fn created_at(&self) -> &str {
        &self.created_at
    }

    /// When the message began; nothing where the text is no time. Without a zone it is taken as UTC.
    pub fn created(&self) -> Option<Timestamp> {
        parse_time(&self.created_at)
    }

    /// When the message was complete, as it was written.
    pub fn finished_at(&self) -> Option<&str> {
        self.finished_at.as_deref()
    }

    /// When the message was complete.
    pub fn finished(&self) -> Option<Timestamp> {
        parse_time(self.finished_at()?)
    }

    /// How many tokens it took; nothing before the first model call has ended.
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// Why the reply ended.
    pub fn finished_reason(&self) -> Option<FinishedReason> {
        self.finished_reason
    }

    /// The structured output, where one was asked for. [`structured`](Self::structured) reads it as a Rust type.
    pub fn structured_output(&self) -> Option<&Object> {
        self.structured_output.as_ref()
    }

    /// What went wrong, where the reply ended with an error.
    pub fn error(&self) -> Option<&ErrorInfo> {
        self.error.as_ref()
    }

    /// The reply that this one is a part of, where it is a sub-agent's.
    pub fn parent(&self) -> Option<String> {
        marks::get(&self.metadata, "parent")?.to_text()
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
    pub fn text_joined_by(&self, separator: &str) -> Option<String> {
        let texts: Vec<&str> = self.blocks::<TextBlock>().map(|block| block.text.as_str()).collect();
        (!texts.is_empty()).then(|| texts.join(separator))
    }

    /// The same, empty when there is none, as AgentScope Java has it.
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
    pub fn first<B: Block>(&self) -> Option<&B> {
        self.blocks().next()
    }

    /// Whether there is a block of a type.
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
    pub fn has_named(&self, names: &[&str]) -> bool {
        self.blocks_named(names).next().is_some()
    }

    /// The images, AgentScope Java's legacy blocks included.
    pub fn images(&self) -> impl Iterator<Item = &DataBlock> {
        self.blocks().filter(|block: &&DataBlock| block.is_image())
    }

    /// The sounds, legacy blocks included.
    pub fn audios(&self) -> impl Iterator<Item = &DataBlock> {
        self.blocks().filter(|block: &&DataBlock| block.is_audio())
    }

    /// The films, legacy blocks included.
    pub fn videos(&self) -> impl Iterator<Item = &DataBlock> {
        self.blocks().filter(|block: &&DataBlock| block.is_video())
    }

    /// The tool call with an id; the newest, where a provider used the id twice.
    pub fn call(&self, id: &str) -> Option<&ToolCallBlock> {
        self.content.iter().rev().filter_map(ToolCallBlock::from_content).find(|call| call.id == id)
    }

    /// The result of the tool call with an id.
    pub fn result_of(&self, call_id: &str) -> Option<&ToolResultBlock> {
        self.tool_pairs().filter(|(call, _)| call.id == call_id).last().and_then(|(_, result)| result)
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
