//! The provider-independent parts of a response.

use std::borrow::Cow;

use recount_message::{Json, Usage};

use super::call_end::StopReason;
use super::error::CallError;

/// Identifies a text or thinking block of a response. Another key starts another block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockKey(pub(super) u64);

impl BlockKey {
    /// The key for providers that do not identify blocks.
    pub(super) const ONLY: Self = Self(0);
}

/// Identifies a tool call of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallSlot(pub(super) u64);

/// A part of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ResponsePart<'a> {
    /// The provider's ids of the response and the model.
    Response {
        id: Option<Cow<'a, str>>,
        model: Option<Cow<'a, str>>,
    },
    Thinking {
        key: BlockKey,
        delta: Cow<'a, str>,
    },
    /// An extra field of a thinking block, such as a signature. Starts a block if none with this key is open.
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
    /// Text in which the model refuses to respond.
    Refusal {
        key: BlockKey,
        delta: Cow<'a, str>,
    },
    /// Ends the text or thinking block with this key.
    ProseEnd {
        key: BlockKey,
    },
    Call(CallPart<'a>),
    CallExtra {
        slot: CallSlot,
        name: &'static str,
        value: Json,
    },
    /// Ends the input of a call. `default_input` is used if no input has arrived.
    CallEnd {
        slot: CallSlot,
        default_input: Cow<'a, str>,
    },
    /// A complete image or file, as base64 or as a URL.
    Data {
        media_type: Cow<'a, str>,
        source: DataSource<'a>,
    },
    /// The next bytes of the audio of the response, which has at most one audio block.
    Audio {
        media_type: &'static str,
        bytes: Vec<u8>,
    },
    Usage(Tokens),
    /// The stop reason, and the provider's name for it.
    StopReason {
        stop_reason: StopReason,
        reason: Cow<'a, str>,
    },
    /// The end of the response.
    Done,
    Error(CallError),
}

/// A part of a tool call. The call starts when its name and id are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallPart<'a> {
    pub(super) slot: CallSlot,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    /// The next part of the arguments.
    pub(super) input: Cow<'a, str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DataSource<'a> {
    Base64(Cow<'a, str>),
    Url(Cow<'a, str>),
}

/// The token counts reported so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cache_input: Option<u64>,
    pub(super) cache_creation_input: Option<u64>,
}

impl Tokens {
    /// Updates the counts. Providers report running totals, so a zero does not replace a count.
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

    /// Returns the usage. `None` if the provider has reported no counts.
    pub(super) fn usage(self) -> Option<Usage> {
        self.input.or(self.output)?;
        let mut usage = Usage::new(self.input.unwrap_or(0), self.output.unwrap_or(0));
        usage.cache_input_tokens = self.cache_input.unwrap_or(0);
        usage.cache_creation_input_tokens = self.cache_creation_input.unwrap_or(0);
        Some(usage)
    }
}
