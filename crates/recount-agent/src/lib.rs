//! An agent that reasons and acts, and whose message is the fold of what it says.
//!
//! - An [`Agent`] is asked and answers, as a whole or as a [stream](ReplyStream) of events.
//! - A [model](ChatModel) answers, [tools](tool) act, [permissions](permission) say which of them may.
//! - The [machine] says what comes next, and [middleware] stands around what is done.

mod agent;
#[cfg(all(feature = "builtin", unix))]
pub mod builtin;
mod compress;
pub mod demo;
mod driver;
mod error;
mod future;
mod inject;
mod input;
pub mod machine;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod middleware;
mod model;
mod offload;
pub mod permission;
mod restart;
pub mod scripted;
pub mod several;
mod sink;
mod stamps;
mod state;
mod stream;
pub mod tool;
mod view;

pub use agent::{Agent, AgentBuilder, BuildError, OnRestart, Saved, SavedError};
pub use compress::{Compression, Summary};
pub use driver::{Ending, Failure, Work};
pub use error::Error;
pub use future::BoxFuture;
pub use inject::RuntimeState;
pub use input::{Input, InputError, Refusal};
pub use model::{ChatModel, Reply};
pub use offload::Offload;
pub use sink::{Sink, SinkError};
pub use state::{
    AgentState, BackgroundCall, Compressed, Counted, HelperMemory, HelperOutcome, HelperState, Mark, Offloaded, Phase,
    ReplyState, StateError, Stop, StopAfter,
};
pub use stream::{MessageStream, ReplyStream, TextStream};
