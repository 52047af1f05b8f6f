//! Confines the programs that an agent starts.

mod access;

pub use access::{Access, InvalidAccess};
