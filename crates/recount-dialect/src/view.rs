//! The blocks of an open reply, and which of them an event means.

use recount_message::{
    ContentBlock, CustomEvent, Fold, Json, Msg, ReplyFold, ToolCallBlock, ToolCallState, ToolResultBlock,
    ToolResultState,
};

/// What an event finds a block by, beside its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Text,
    Thinking,
    Data,
    ToolCall,
    ToolResult,
}

/// The kind of a block that START, deltas and END can be for.
pub(crate) fn kind_of(block: &ContentBlock) -> Option<Kind> {
    Some(match block {
        ContentBlock::Text(_) => Kind::Text,
        ContentBlock::Thinking(_) => Kind::Thinking,
        ContentBlock::Data(_) => Kind::Data,
        ContentBlock::ToolCall(_) => Kind::ToolCall,
        ContentBlock::ToolResult(_) => Kind::ToolResult,
        _ => return None,
    })
}

/// What a start does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begins {
    /// The block is open already.
    Nothing,
    /// The block at an index goes on.
    Again(usize),
    /// A new block begins.
    New,
}

/// The blocks of a reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'f> {
    pub(crate) reply: &'f ReplyFold,
    pub(crate) content: &'f [ContentBlock],
}

impl<'f> View<'f> {
    pub(crate) fn of(reply: &'f ReplyFold) -> Self {
        Self { reply, content: reply.message().content() }
    }

    /// Where the blocks of a kind with an id are.
    pub(crate) fn places(&self, kind: Kind, id: &str) -> impl DoubleEndedIterator<Item = usize> {
        let is_it = move |block: &ContentBlock| kind_of(block) == Some(kind) && block.id() == id;
        self.content.iter().enumerate().filter(move |(_, block)| is_it(block)).map(|(index, _)| index)
    }

    /// The newest block with an id, which is the one that native events mean.
    pub(crate) fn newest(&self, kind: Kind, id: &str) -> Option<usize> {
        self.places(kind, id).next_back()
    }

    /// The same, where it is open.
    pub(crate) fn open(&self, kind: Kind, id: &str) -> Option<usize> {
        self.newest(kind, id).filter(|&index| self.is_open(index))
    }

    pub(crate) fn is_open(&self, index: usize) -> bool {
        self.content.get(index).is_some_and(|block| block.finished_at().is_none())
    }

    /// What the start of a block does. That of a result is [`begins_result`](Self::begins_result)'s.
    pub(crate) fn begins(&self, kind: Kind, id: &str) -> Begins {
        match self.newest(kind, id) {
            Some(index) if self.is_open(index) => Begins::Nothing,
            Some(index) if index >= self.reply.call_floor() => Begins::Again(index),
            _ => Begins::New,
        }
    }

    /// What the start of a result does: nothing where there is no such call, or where that has its result.
    pub(crate) fn begins_result(&self, id: &str) -> Begins {
        let Some(call) = self.newest(Kind::ToolCall, id) else { return Begins::Nothing };
        let answer = self.newest(Kind::ToolResult, id).filter(|&answer| answer > call);
        if answer.is_some_and(|answer| answer < self.reply.call_floor()) {
            return Begins::Nothing;
        }
        self.begins(Kind::ToolResult, id)
    }
}

/// The block that a `recount.block` gives to an open reply, if the fold takes it.
pub(crate) fn given_block<'f>(before: &'f Fold, custom: &CustomEvent<'_>) -> Option<(View<'f>, ContentBlock)> {
    let reply_id = custom.value.get("reply_id").and_then(Json::to_text)?;
    let view = View::of(before.open_reply(&reply_id)?);
    let block = ContentBlock::from_json(custom.value.get("block")?.as_str(), &reply_id, "").ok()?;
    if let ContentBlock::ToolResult(result) = &block {
        let call = view.newest(Kind::ToolCall, &result.id)?;
        let has_answer = view.newest(Kind::ToolResult, &result.id).is_some_and(|answer| answer > call);
        (!has_answer).then_some(())?;
    }
    Some((view, block))
}

/// Whether a reply waits for somebody and nothing else goes on in it.
pub(crate) fn waits(message: &Msg) -> bool {
    let is_open = |block| kind_of(block).is_some() && block.finished_at().is_none();
    waiting(message).next().is_some() && !message.content().iter().any(is_open)
}

/// The calls that wait for somebody, and where they are.
pub(crate) fn waiting(message: &Msg) -> impl Iterator<Item = (usize, &ToolCallBlock)> {
    let content = message.content();
    content.iter().enumerate().filter_map(move |(index, block)| {
        let ContentBlock::ToolCall(call) = block else { return None };
        let is_waiting = matches!(call.state, ToolCallState::Asking | ToolCallState::Submitted);
        let is_answer =
            |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(result) if result.id == call.id);
        let rest = content.get(index..).unwrap_or_default();
        (is_waiting && !rest.iter().any(is_answer)).then_some((index, call))
    })
}

/// Whether an open result has ended before, and is open again.
pub(crate) fn is_open_again(result: &ToolResultBlock) -> bool {
    result.finished_at.is_none() && result.state != ToolResultState::Running
}
