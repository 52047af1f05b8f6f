//! Benchmarks of Recount and comparable systems.
//!
//! [`streams`] generates events, [`responses`] generates model responses, [`steps`] contains the measured operations, and
//! [`clock`] measures them. The binary compares them with AgentScope for Python; `benches/` measures the same steps with
//! criterion. [`log`] measures the log, [`agent`] the agent, [`server`] the service.

pub mod agent;
pub mod clock;
pub mod log;
pub mod python;
pub mod report;
pub mod responses;
pub mod server;
pub mod steps;
pub mod streams;
