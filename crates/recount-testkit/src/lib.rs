//! Generators of event streams and messages, and the laws (properties) that must hold for them.
//!
//! All generators are deterministic functions of a seed. [`legal()`] streams follow every rule of the protocol, [`illegal()`]
//! streams violate some, and [`steps`] decodes bytes into streams with few ids in any order. [`responses`] generates responses
//! of model providers. [`laws`] checks the properties.

pub mod base64_data;
pub mod blocks;
#[cfg(doctest)]
mod compile_fail;
pub mod corpus;
pub mod free_json;
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
pub mod samples;
#[cfg(feature = "sandbox")]
pub mod sandbox;
pub mod steps;
#[cfg(feature = "strategies")]
pub mod strategies;
mod stream;

pub use illegal::illegal;
pub use legal::{legal, legal_for};
pub use messages::{messages, messages_for};

/// The features that a generated stream or message may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// All features of Recount.
    Recount,
    /// Only features that AgentScope Python handles identically.
    Python,
}
