//! Attempts to leave the sandbox, as root and as an unprivileged user, in every profile.
//!
//! Each attempt runs twice: with the sandbox off it has to succeed, so that it proves something, and in the sandbox it has to
//! fail. A worker process stands for the service: it has secrets in its environment, files in its home directory and open
//! descriptors, and starts the attempts as its user.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod escape {
    mod attempts;
    mod fixture;
    mod listeners;
    mod report;
    mod special;
    mod worker;
    mod world;
}
