//! Tests of the service over real connections. They assert the bytes on the wire.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::string_slice, missing_docs)]

mod access;
mod agents;
mod cursors;
mod front_ends;
mod malicious_clients;
mod media;
mod openapi;
mod posts;
mod routes;
mod sessions;
mod sockets;
mod streams;
mod support;
