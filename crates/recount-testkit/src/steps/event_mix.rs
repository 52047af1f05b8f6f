//! The mix of event types in a stream.
//!
//! Most streams use few types of events and blocks, so that sequences of related events are likely.

use recount_message::EventType;

/// The types of events and blocks, and the ids, of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventMix {
    /// The types of events. Frequent and error-prone types are repeated.
    pub(super) types: &'static [EventType],
    /// The types of complete blocks.
    pub(super) blocks: &'static [BlockKind],
    pub(super) replies: &'static [&'static str],
    pub(super) ids: &'static [&'static str],
}

/// The types of blocks.
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

impl EventMix {
    pub(super) fn from_byte(byte: u8) -> Self {
        match byte % 8 {
            0 | 1 => EVERYTHING,
            2 => SPEECH,
            3 | 4 => DATA,
            5 | 6 => RESULTS,
            _ => PERMISSIONS,
        }
    }
}

const EVERYTHING: EventMix = EventMix {
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

const SPEECH: EventMix = EventMix {
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

const DATA: EventMix = EventMix {
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

const RESULTS: EventMix = EventMix {
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

const PERMISSIONS: EventMix = EventMix {
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
