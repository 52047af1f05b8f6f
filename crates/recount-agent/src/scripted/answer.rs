//! The answer of a scripted model to one request.

use recount_message::{DataBlock, ErrorType, Object, Usage};
use recount_model::decode::{CallError, CallErrorKind};

use super::gate::Gate;

/// The answer to one model call, in chunks. [`ScriptedModel`](super::ScriptedModel) has shortcuts for simple answers.
///
/// ```
/// use recount_agent::scripted::{Answer, Piece, ScriptedModel};
///
/// // Two calls with interleaved arguments.
/// let piece = |id, input| Piece::Call { id, name: "search".to_owned(), input };
/// let answer = Answer::new()
///     .chunk([piece("c1".to_owned(), r#"{"query":"#.to_owned()), piece("c2".to_owned(), "{}".to_owned())])
///     .chunk([piece("c1".to_owned(), r#""tea"}"#.to_owned())])
///     .tokens(20, 8);
/// let model = ScriptedModel::new().answer(answer);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Answer {
    pub(super) steps: Vec<Step>,
    pub(super) usage: Option<Usage>,
}

/// A piece of an answer. Pieces with the same id belong to the same call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// Text.
    Text(String),
    /// Thinking.
    Thinking {
        /// The text.
        thinking: String,
        /// Data of the provider, such as a signature.
        extra: Object,
    },
    /// A part of a tool call.
    Call {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The next part of the arguments.
        input: String,
    },
    /// An image or audio, or the continuation of one with the same id.
    Data(DataBlock),
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Chunk(Vec<Piece>),
    Wait(Gate),
    Fail(CallError),
}

impl Answer {
    /// Creates an empty answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a chunk. Its pieces are written in a fixed order: thinking, text, calls, data.
    pub fn chunk(mut self, pieces: impl IntoIterator<Item = Piece>) -> Self {
        self.steps.push(Step::Chunk(pieces.into_iter().collect()));
        self
    }

    /// Waits until the gate is open.
    pub fn wait(mut self, gate: &Gate) -> Self {
        self.steps.push(Step::Wait(gate.clone()));
        self
    }

    /// Ends the answer with an error of the provider.
    pub fn fail(self, message: impl Into<String>) -> Self {
        self.fail_with(CallError::new(CallErrorKind::Provider, ErrorType::Upstream, message))
    }

    /// Ends the answer with an error.
    pub fn fail_with(mut self, error: CallError) -> Self {
        self.steps.push(Step::Fail(error));
        self
    }

    /// Sets the token usage. By default, the answer has none.
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.usage = Some(Usage::new(input, output));
        self
    }
}

impl Step {
    /// Returns whether the step contains a part of a call.
    pub(super) fn continues_call(&self, call_id: &str) -> bool {
        match self {
            Self::Chunk(pieces) => pieces.iter().any(|piece| matches!(piece, Piece::Call { id, .. } if id == call_id)),
            Self::Wait(_) | Self::Fail(_) => false,
        }
    }
}
