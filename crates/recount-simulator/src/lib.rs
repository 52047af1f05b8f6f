//! Tests of the log's contract.
//!
//! [`world`] is a deterministic simulator: a failing seed can be repeated with one command. [`model`] is a minimal model of the
//! contract. [`contract`] is a test suite for storages, and [`chaos`] kills real processes. [`defect`] plants defects that the
//! simulator must detect.

pub mod chaos;
pub mod client;
pub mod contract;
pub mod defect;
pub mod model;
pub mod script;
pub mod storage;
pub mod world;
