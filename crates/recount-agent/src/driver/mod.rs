//! Going on with a reply: it asks the [machine](crate::machine) what comes next, does it, and writes what comes of it.

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
pub(crate) use begin::{begin, take_messages};
pub(crate) use context_budget::summarised;
pub(crate) use reasoning::call_until;
pub(crate) use structured::Form;
