//! The driver of a reply: executes the steps of the [state machine](crate::machine) and writes the events.

mod acting;
mod active_reply;
mod answers;
mod background;
mod begin;
mod call;
mod closing;
mod context_budget;
mod jobs;
mod reasoning;
mod rounds;
mod structured;

pub use active_reply::{ActiveReply, Failure, ReplyOutcome};
pub(crate) use begin::{add_messages, begin};
pub(crate) use context_budget::summarise_with_retry;
pub(crate) use reasoning::call_with_cancel;
