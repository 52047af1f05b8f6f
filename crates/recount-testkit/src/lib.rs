//! Generated streams and messages, and the laws that they are held to.
//!
//! Everything follows from a seed. [`legal()`] streams keep every rule of the protocol, [`illegal()`] ones break some,
//! and [`steps`] makes streams of a few ids in every order from bytes. [`responses`] are what models might send. [`laws`]
//! says what has to be true of them.

pub mod blocks;
#[cfg(doctest)]
mod compile_fail;
pub mod corpus;
pub mod data;
pub mod free;
pub mod front_end_frames;
pub mod fuzzing;
mod illegal;
pub mod json_text;
pub mod laws;
mod legal;
pub mod lines;
pub mod messages;
pub mod random;
pub mod responses;
#[cfg(feature = "sandbox")]
pub mod sandbox;
pub mod steps;
#[cfg(feature = "strategies")]
pub mod strategies;
mod stream;
pub mod words;

pub use illegal::illegal;
pub use legal::{legal, legal_within};
pub use messages::{messages, messages_within};

/// How far a stream or a message may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All that Recount can follow.
    Recount,
    /// Only what AgentScope Python makes the same of.
    Python,
}
