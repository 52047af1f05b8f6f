//! Going on with a reply: it asks the [machine](crate::machine) what comes next, does it, and writes what comes of it.

mod acting;
mod answers;
mod background;
mod begin;
mod call;
mod closing;
mod jobs;
mod reasoning;
mod room;
mod rounds;
mod structured;
mod work;

pub(crate) use begin::{begin, take_messages};
pub(crate) use reasoning::call_until;
pub(crate) use room::summarised;
pub(crate) use structured::Form;
pub use work::{Ending, Failure, Work};
