//! An agent that reasons and runs tools. Its message is the fold of the events that it writes.
//!
//! - An [`Agent`] writes replies, which are returned as messages or as [streams](ReplyStream) of events.
//! - It calls a [model](ChatModel) and runs [tools](tool), subject to [permissions](permission).
//! - The [state machine](machine) computes the next step, and [middleware] wraps the steps.

mod agent;
#[cfg(all(feature = "builtin", unix))]
pub mod builtin;
mod compress;
pub mod demo;
mod driver;
mod error;
mod future;
mod input;
pub mod machine;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod middleware;
mod model;
pub mod multi_agent;
mod offload;
pub mod permission;
mod restart;
mod runtime_state;
pub mod scripted;
mod sink;
mod stamps;
mod state;
mod stream;
pub mod tool;
mod view;

pub use agent::{Agent, AgentBuilder, BuildError, OnRestart, SavedAgent, SavedAgentError};
pub use compress::{Compression, Summary};
pub use driver::{ActiveReply, Failure, ReplyOutcome};
pub use error::Error;
pub use input::{Input, InputRejection, InvalidMessage};
pub use model::{AgentReplyWriter, ChatModel};
pub use offload::Offload;
pub use recount_model::client::BoxFuture;
pub use runtime_state::RuntimeState;
pub use sink::{Sink, SinkError};
pub use state::{
    AgentState, BackgroundCall, Compressed, CutPoint, Offloaded, Phase, ReplyState, StateError, Stop, StopAfter,
    SubAgentMemory, SubAgentOutcome, SubAgentState, TokenCount,
};
pub use stream::{MessageStream, ReplyStream, TextStream};
