//! What the events of a stream are about.
//!
//! A stream of everything seldom gets far with anything, so most streams keep to a few types of events and blocks.

use recount_message::EventType;

/// What a stream is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    /// The types of its events. What there is most of in life, and in trouble, stands there several times.
    pub(super) types: &'static [EventType],
    /// The kinds of blocks that come whole.
    pub(super) blocks: &'static [BlockKind],
    pub(super) replies: &'static [&'static str],
    pub(super) ids: &'static [&'static str],
}

/// The kinds of blocks.
#[derive(Debug, Clone, Copy)]
pub(super) enum BlockKind {
    Text,
    Thinking,
    Data,
    Hint,
    Call,
    Result,
    Unknown,
}

impl Theme {
    pub(super) fn of(byte: u8) -> Self {
        match byte % 8 {
            0 | 1 => EVERYTHING,
            2 => SPEECH,
            3 | 4 => DATA,
            5 | 6 => RESULTS,
            _ => PERMISSIONS,
        }
    }
}

const EVERYTHING: Theme = Theme {
    types: EventType::ALL,
    blocks: &[
        BlockKind::Text,
        BlockKind::Thinking,
        BlockKind::Data,
        BlockKind::Data,
        BlockKind::Hint,
        BlockKind::Call,
        BlockKind::Result,
        BlockKind::Unknown,
    ],
    replies: &["r0", "r1"],
    ids: &["a", "b", "c"],
};

const SPEECH: Theme = Theme {
    types: &[
        EventType::TextBlockStart,
        EventType::TextBlockStart,
        EventType::TextBlockDelta,
        EventType::TextBlockDelta,
        EventType::TextBlockEnd,
        EventType::ThinkingBlockStart,
        EventType::ThinkingBlockDelta,
        EventType::ThinkingBlockEnd,
        EventType::ModelCallStart,
        EventType::Custom,
        EventType::ReplyEnd,
    ],
    blocks: &[BlockKind::Text, BlockKind::Thinking, BlockKind::Unknown],
    replies: &["r0", "r0", "r0", "r1"],
    ids: &["a", "b"],
};

const DATA: Theme = Theme {
    types: &[
        EventType::DataBlockStart,
        EventType::DataBlockDelta,
        EventType::DataBlockDelta,
        EventType::DataBlockDelta,
        EventType::DataBlockDelta,
        EventType::DataBlockEnd,
        EventType::Custom,
        EventType::Custom,
        EventType::ModelCallStart,
    ],
    blocks: &[BlockKind::Data],
    replies: &["r0"],
    ids: &["a"],
};

const RESULTS: Theme = Theme {
    types: &[
        EventType::ToolCallStart,
        EventType::ToolResultStart,
        EventType::ToolResultTextDelta,
        EventType::ToolResultDataDelta,
        EventType::ToolResultDataDelta,
        EventType::ToolResultDataDelta,
        EventType::ToolResultEnd,
        EventType::ExternalExecutionResult,
        EventType::Custom,
        EventType::ModelCallStart,
    ],
    blocks: &[BlockKind::Result],
    replies: &["r0"],
    ids: &["a"],
};

const PERMISSIONS: Theme = Theme {
    types: &[
        EventType::ToolCallStart,
        EventType::ToolCallDelta,
        EventType::ToolCallEnd,
        EventType::RequireUserConfirm,
        EventType::UserConfirmResult,
        EventType::RequireExternalExecution,
        EventType::ExternalExecutionResult,
        EventType::ToolResultStart,
        EventType::ToolResultEnd,
        EventType::Custom,
        EventType::ModelCallStart,
    ],
    blocks: &[BlockKind::Call, BlockKind::Result],
    replies: &["r0", "r0", "r0", "r1"],
    ids: &["a", "b", "c"],
};
