//! The state machine of a reply, without I/O, clock or randomness.
//!
//! [`next_step`] computes the next step from the message of the reply, its [state](crate::ReplyState) and the limits.
//! Every process that has these three can continue the reply: a program that reads a stream, a service that writes each
//! event to its log, or another process after a crash.

mod batch;
mod calls;
mod step;

pub use batch::{Batch, batches};
pub use calls::{CallStatus, OpenCalls};
pub use step::{CallPlan, ControlHint, EndReason, Limits, PendingCalls, Step, ToolPolicy, next_step};
