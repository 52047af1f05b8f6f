//! The contract of the log, and what it is held to it by.
//!
//! [`world`] is a simulator: everything in it follows from a seed, and a failing seed is one command to repeat. [`model`] is
//! the contract as plainly as it can be said. [`contract`] is a suite for any storage, and [`chaos`] kills processes.
//! [`defect`] is what the simulator itself is held to.

pub mod chaos;
pub mod client;
pub mod contract;
pub mod defect;
pub mod model;
pub mod script;
pub mod storage;
pub mod world;
