//! The built-in tools, on real files, processes and sockets.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod builtin {
    mod bench;
    mod fetch;
    mod files;
    mod permissions;
    mod search;
    mod shell;
    mod through_agent;
    mod tricks;
}
