//! The service over real connections: what is asserted is what is on the wire.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::string_slice, missing_docs)]

mod cursors;
mod front_ends;
mod guarded;
mod hosted;
mod hostile;
mod media;
mod openapi;
mod posts;
mod sessions;
mod sockets;
mod streams;
mod support;
mod wire;
