//! Ordinary work runs in the sandbox: version control, compilers, interpreters, shells, and unusual paths.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod ordinary_work {
    mod commands;
    mod common;
    mod paths;
    mod processes;
    mod sessions;
}
