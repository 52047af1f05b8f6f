//! What comes next in a reply. No I/O, no clock, no chance: the next step follows from what is written down.
//!
//! [`next_step`] looks at the reply's message, which is the fold of its events, at what is [known beside
//! it](crate::ReplyState) and at the limits. Whoever has these three can go on with a reply: a stream that a program pulls, a
//! service that writes each event to its log, a process that finds what another one has left.

mod batch;
mod calls;
mod step;

pub use batch::{Batch, batches};
pub use calls::{CallStatus, OpenCalls};
pub use step::{CallPlan, ControlHint, EndReason, Limits, PendingCalls, Step, ToolPolicy, next_step};
