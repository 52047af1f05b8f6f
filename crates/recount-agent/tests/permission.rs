//! Permissions: decisions, rules and paths.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod permission {
    mod common;
    mod confirmations;
    mod laws;
    mod matrix;
    #[cfg(unix)]
    mod oracle;
    mod saved;
    mod shell;
    mod shell_deny;
}
