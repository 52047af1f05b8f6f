//! The blocks of an open reply, and the lookup of the block that an event refers to.

use recount_message::{
    ContentBlock, CustomEvent, Fold, Json, Msg, ReplyFold, ToolCallBlock, ToolCallState, ToolResultBlock,
    ToolResultState,
};

/// The kind of a block. Events find a block by its kind and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BlockKind {
    Text,
    Thinking,
    Data,
    ToolCall,
    ToolResult,
}

/// Returns the kind of a block. `None` if no start, delta or end event exists for such blocks.
pub(crate) fn kind_of(block: &ContentBlock) -> Option<BlockKind> {
    Some(match block {
        ContentBlock::Text(_) => BlockKind::Text,
        ContentBlock::Thinking(_) => BlockKind::Thinking,
        ContentBlock::Data(_) => BlockKind::Data,
        ContentBlock::ToolCall(_) => BlockKind::ToolCall,
        ContentBlock::ToolResult(_) => BlockKind::ToolResult,
        _ => return None,
    })
}

/// The effect of a start event on the fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartEffect {
    /// None: the block is open already.
    Ignored,
    /// Opens the finished block at this index again.
    Reopen(usize),
    /// Appends a new block.
    Append,
}

/// The blocks of a reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplyView<'f> {
    pub(crate) reply: &'f ReplyFold,
    pub(crate) content: &'f [ContentBlock],
}

impl<'f> ReplyView<'f> {
    pub(crate) fn of(reply: &'f ReplyFold) -> Self {
        Self { reply, content: reply.message().content() }
    }

    /// Returns the indexes of all blocks with this kind and id.
    pub(crate) fn indexes(&self, kind: BlockKind, id: &str) -> impl DoubleEndedIterator<Item = usize> {
        let is_it = move |block: &ContentBlock| kind_of(block) == Some(kind) && block.id() == id;
        self.content.iter().enumerate().filter(move |(_, block)| is_it(block)).map(|(index, _)| index)
    }

    /// Returns the index of the latest block with this id, to which native events refer.
    pub(crate) fn latest(&self, kind: BlockKind, id: &str) -> Option<usize> {
        self.indexes(kind, id).next_back()
    }

    /// Returns the index of the latest block with this id if it is open.
    pub(crate) fn open(&self, kind: BlockKind, id: &str) -> Option<usize> {
        self.latest(kind, id).filter(|&index| self.is_open(index))
    }

    pub(crate) fn is_open(&self, index: usize) -> bool {
        self.content.get(index).is_some_and(|block| block.finished_at().is_none())
    }

    /// Returns the effect of a start event. For results, use [`result_start_effect`](Self::result_start_effect).
    pub(crate) fn start_effect(&self, kind: BlockKind, id: &str) -> StartEffect {
        match self.latest(kind, id) {
            Some(index) if self.is_open(index) => StartEffect::Ignored,
            Some(index) if index >= self.reply.call_floor() => StartEffect::Reopen(index),
            _ => StartEffect::Append,
        }
    }

    /// Returns the effect of the start of a result. It is ignored if the call does not exist, or had its result before the
    /// last model call.
    pub(crate) fn result_start_effect(&self, id: &str) -> StartEffect {
        let Some(call) = self.latest(BlockKind::ToolCall, id) else { return StartEffect::Ignored };
        let result = self.latest(BlockKind::ToolResult, id).filter(|&result| result > call);
        if result.is_some_and(|result| result < self.reply.call_floor()) {
            return StartEffect::Ignored;
        }
        self.start_effect(BlockKind::ToolResult, id)
    }
}

/// Returns the complete block that a `recount.block` event appends to an open reply, if the fold accepts it.
pub(crate) fn appended_block<'f>(before: &'f Fold, custom: &CustomEvent<'_>) -> Option<(ReplyView<'f>, ContentBlock)> {
    let reply_id = custom.value.get("reply_id").and_then(Json::as_str).map(str::to_owned)?;
    let view = ReplyView::of(before.open_reply(&reply_id)?);
    let block = ContentBlock::from_json(custom.value.get("block")?.as_raw(), &reply_id, "").ok()?;
    if let ContentBlock::ToolResult(result) = &block {
        let call = view.latest(BlockKind::ToolCall, &result.id)?;
        let has_result = view.latest(BlockKind::ToolResult, &result.id).is_some_and(|result| result > call);
        (!has_result).then_some(())?;
    }
    Some((view, block))
}

/// Returns whether a reply waits for a user or an external tool, and nothing else in it is open.
pub(crate) fn is_waiting(message: &Msg) -> bool {
    let is_open = |block| kind_of(block).is_some() && block.finished_at().is_none();
    waiting_calls(message).next().is_some() && !message.content().iter().any(is_open)
}

/// Returns the calls that wait for a decision or for external execution, with their indexes.
pub(crate) fn waiting_calls(message: &Msg) -> impl Iterator<Item = (usize, &ToolCallBlock)> {
    let content = message.content();
    content.iter().enumerate().filter_map(move |(index, block)| {
        let ContentBlock::ToolCall(call) = block else { return None };
        let is_waiting = matches!(call.state, ToolCallState::Asking | ToolCallState::Submitted);
        let is_result =
            |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(result) if result.id == call.id);
        let rest = content.get(index..).unwrap_or_default();
        (is_waiting && !rest.iter().any(is_result)).then_some((index, call))
    })
}

/// Returns whether a result has ended before and was opened again.
pub(crate) fn is_reopened(result: &ToolResultBlock) -> bool {
    result.finished_at.is_none() && result.state != ToolResultState::Running
}
