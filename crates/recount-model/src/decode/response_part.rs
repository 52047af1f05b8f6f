//! What a chunk of any provider says, in one vocabulary.

use std::borrow::Cow;

use recount_message::{Json, Usage};

use super::call_end::StopReason;
use super::error::CallError;

/// Which text or thinking of a response is meant. Another key is another block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockKey(pub(super) u64);

impl BlockKey {
    /// For providers that do not tell blocks apart: what is said without a break is one block.
    pub(super) const ONLY: Self = Self(0);
}

/// Which tool call of a response is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallSlot(pub(super) u64);

/// A part of what a response says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ResponsePart<'a> {
    /// What the provider calls the response and the model.
    Response {
        id: Option<Cow<'a, str>>,
        model: Option<Cow<'a, str>>,
    },
    Thinking {
        key: BlockKey,
        delta: Cow<'a, str>,
    },
    /// Something about the thinking, such as a signature. It begins a block if none of this key is open.
    ThinkingExtra {
        key: BlockKey,
        name: &'static str,
        value: Json,
    },
    Text {
        key: BlockKey,
        delta: Cow<'a, str>,
    },
    TextExtra {
        key: BlockKey,
        name: &'static str,
        value: Json,
    },
    /// Text by which the model declines to answer.
    Refusal {
        key: BlockKey,
        delta: Cow<'a, str>,
    },
    /// The text or thinking with this key is complete.
    ProseEnd {
        key: BlockKey,
    },
    Call(CallPart<'a>),
    CallExtra {
        slot: CallSlot,
        name: &'static str,
        value: Json,
    },
    /// The arguments of a call are complete. Where none came, they are these.
    CallEnd {
        slot: CallSlot,
        default_input: Cow<'a, str>,
    },
    /// Whole data, as base64 or by its address.
    Data {
        media_type: Cow<'a, str>,
        source: DataSource<'a>,
    },
    /// The next bytes of the one stream of audio that a response may have.
    Audio {
        media_type: &'static str,
        bytes: Vec<u8>,
    },
    Usage(Tokens),
    /// Why the model stopped: the meaning, and the provider's word.
    StopReason {
        stop_reason: StopReason,
        reason: Cow<'a, str>,
    },
    /// Nothing more will come.
    Done,
    Error(CallError),
}

/// A part of a tool call. The first part with a name and an id begins it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallPart<'a> {
    pub(super) slot: CallSlot,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    /// More of the arguments.
    pub(super) input: Cow<'a, str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DataSource<'a> {
    Base64(Cow<'a, str>),
    Url(Cow<'a, str>),
}

/// How many tokens a call took so far, as far as the provider says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cache_input: Option<u64>,
    pub(super) cache_creation_input: Option<u64>,
}

impl Tokens {
    /// Brings the counts up to date. Providers count up, so a zero takes back nothing.
    pub(super) fn update(&mut self, newer: Self) {
        let update = |count: &mut Option<u64>, newer: Option<u64>| match newer {
            Some(0) | None => *count = count.or(newer),
            Some(_) => *count = newer,
        };
        update(&mut self.input, newer.input);
        update(&mut self.output, newer.output);
        update(&mut self.cache_input, newer.cache_input);
        update(&mut self.cache_creation_input, newer.cache_creation_input);
    }

    /// The usage, if the provider has said anything at all.
    pub(super) fn usage(self) -> Option<Usage> {
        self.input.or(self.output)?;
        let mut usage = Usage::new(self.input.unwrap_or(0), self.output.unwrap_or(0));
        usage.cache_input_tokens = self.cache_input.unwrap_or(0);
        usage.cache_creation_input_tokens = self.cache_creation_input.unwrap_or(0);
        Some(usage)
    }
}
