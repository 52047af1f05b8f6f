//! What a scripted model answers to one call.

use recount_message::{DataBlock, ErrorType, Object, Usage};
use recount_model::decode::{CallError, CallErrorKind};

use super::gate::Gate;

/// The answer to one model call, piece by piece. [`ScriptedModel`](super::ScriptedModel) has shorter words for most.
///
/// ```
/// use recount_agent::scripted::{Answer, Piece, ScriptedModel};
///
/// // Two calls whose arguments come in turns.
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

/// A piece of an answer. Pieces of one call have its id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// More of the text.
    Text(String),
    /// More of the thinking, and what the provider says about it.
    Thinking {
        /// What is thought.
        thinking: String,
        /// Such as a signature.
        extra: Object,
    },
    /// More of a call.
    Call {
        /// The provider's id of it.
        id: String,
        /// The tool.
        name: String,
        /// More of the arguments.
        input: String,
    },
    /// A picture or a sound, or more of the one with the same id.
    Data(DataBlock),
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Chunk(Vec<Piece>),
    Wait(Gate),
    Fail(CallError),
}

impl Answer {
    /// An answer that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// What comes at once. In whichever order the pieces are given, thinking is written first, then text, calls, and data.
    pub fn chunk(mut self, pieces: impl IntoIterator<Item = Piece>) -> Self {
        self.steps.push(Step::Chunk(pieces.into_iter().collect()));
        self
    }

    /// Nothing comes until the gate is open.
    pub fn wait(mut self, gate: &Gate) -> Self {
        self.steps.push(Step::Wait(gate.clone()));
        self
    }

    /// The provider reports an error. The answer is over.
    pub fn fail(self, message: impl Into<String>) -> Self {
        self.fail_with(CallError::new(CallErrorKind::Provider, ErrorType::Upstream, message))
    }

    /// The answer breaks off with an error.
    pub fn fail_with(mut self, error: CallError) -> Self {
        self.steps.push(Step::Fail(error));
        self
    }

    /// How many tokens it took. Where it is not said, the provider did not say.
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.usage = Some(Usage::new(input, output));
        self
    }
}

impl Step {
    /// Whether more of a call comes in this step.
    pub(super) fn goes_on_with(&self, call_id: &str) -> bool {
        match self {
            Self::Chunk(pieces) => pieces.iter().any(|piece| matches!(piece, Piece::Call { id, .. } if id == call_id)),
            Self::Wait(_) | Self::Fail(_) => false,
        }
    }
}
