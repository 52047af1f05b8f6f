//! Benchmarks of Recount, side by side with its peers.
//!
//! [`streams`] makes the events, [`responses`] what models send, [`steps`] is what is measured, [`clock`] measures it. The
//! binary prints a table of all of it beside AgentScope for Python; `benches/` watches the same steps with criterion.
//! [`log`] is about the log, [`agent`] about the agent, [`server`] about the service.

pub mod agent;
pub mod clock;
pub mod log;
pub mod python;
pub mod report;
pub mod responses;
pub mod server;
pub mod steps;
pub mod streams;
