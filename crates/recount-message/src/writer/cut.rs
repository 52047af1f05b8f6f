//! Discarded model calls: their blocks stay in the message with a marker that excludes them from later requests.

use std::borrow::Cow;

use super::{ReplyWriter, extra_extension};
use crate::Object;
use crate::block::ContentBlock;
use crate::event::{
    AgentEvent, DataBlockStartEvent, ModelFinishedReason, TextBlockEndEvent, TextBlockStartEvent,
    ThinkingBlockEndEvent, ThinkingBlockStartEvent, ToolCallStartEvent,
};
use crate::msg::Usage;

/// The extra field that marks a block as discarded.
const CUT: &str = "cut";

impl<S: FnMut(AgentEvent)> ReplyWriter<S> {
    /// Ends the model call as interrupted and discards its output: every block of it gets the extra field `cut`, which
    /// excludes it from later requests. Its tool calls get results when the reply ends, if not earlier.
    ///
    /// Ended blocks are reopened, because the extra field is written with the end of a block.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, TextBlock, ThinkingBlock};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.model_call("some-model");
    /// reply.thinking("A story, then.");
    /// reply.text("Once upon a");
    /// reply.cut_model_call(None);
    /// let message = reply.message();
    /// assert!(message.first::<ThinkingBlock>().unwrap().extra.contains_key("cut"));
    /// assert!(message.first::<TextBlock>().unwrap().extra.contains_key("cut"));
    /// ```
    pub fn cut_model_call(&mut self, usage: Option<Usage>) {
        self.prose_extra(CUT, true);
        self.open_calls.iter_mut().for_each(|(_, extra)| extra.insert(CUT, true));
        self.end_prose();
        for (id, extra) in std::mem::take(&mut self.open_calls) {
            self.write_call_end(id, extra);
        }
        for id in std::mem::take(&mut self.open_data) {
            self.write_data_end(id, Object::from([(CUT, true)]));
        }
        for block in self.uncut_blocks() {
            self.cut_ended(block);
        }
        self.close_model_call(usage, ModelFinishedReason::Interrupted);
    }

    /// Returns the blocks since the last model call that are not marked.
    fn uncut_blocks(&self) -> Vec<ContentBlock> {
        let shown = self.message().content().get(self.call_floor()..).unwrap_or_default();
        let is_uncut = |extra: &Object| !extra.contains_key(CUT);
        let blocks = shown.iter().filter(|block| match block {
            ContentBlock::Text(block) => is_uncut(&block.extra),
            ContentBlock::Thinking(block) => is_uncut(&block.extra),
            ContentBlock::Data(block) => is_uncut(&block.extra),
            ContentBlock::ToolCall(block) => is_uncut(&block.extra),
            ContentBlock::Hint(_) | ContentBlock::ToolResult(_) | ContentBlock::Unknown(_) => false,
        });
        blocks.cloned().collect()
    }

    /// Reopens a block of this model call and ends it with the marker.
    fn cut_ended(&mut self, block: ContentBlock) {
        let (reply_id, extensions) = (self.id(), extra_extension(Object::from([(CUT, true)])));
        match block {
            ContentBlock::Text(block) => {
                let block_id: Cow<'static, str> = Cow::Owned(block.id);
                self.emit(TextBlockStartEvent { reply_id: reply_id.clone(), block_id: block_id.clone() });
                self.emit_with_extensions(TextBlockEndEvent { reply_id, block_id, text: None }, &extensions);
            }
            ContentBlock::Thinking(block) => {
                let block_id: Cow<'static, str> = Cow::Owned(block.id);
                self.emit(ThinkingBlockStartEvent { reply_id: reply_id.clone(), block_id: block_id.clone() });
                self.emit_with_extensions(ThinkingBlockEndEvent { reply_id, block_id }, &extensions);
            }
            ContentBlock::Data(block) => {
                let media_type = block.source.media_type().to_owned();
                let start = DataBlockStartEvent {
                    reply_id,
                    block_id: Cow::Owned(block.id.clone()),
                    media_type: Cow::Owned(media_type),
                    name: block.name.map(Cow::Owned),
                };
                self.emit(start);
                self.write_data_end(block.id, Object::from([(CUT, true)]));
            }
            ContentBlock::ToolCall(block) => {
                let start = ToolCallStartEvent {
                    reply_id,
                    tool_call_id: Cow::Owned(block.id.clone()),
                    tool_call_name: Cow::Owned(block.name),
                };
                self.emit(start);
                self.write_call_end(block.id, Object::from([(CUT, true)]));
            }
            ContentBlock::Hint(_) | ContentBlock::ToolResult(_) | ContentBlock::Unknown(_) => {}
        }
    }
}
