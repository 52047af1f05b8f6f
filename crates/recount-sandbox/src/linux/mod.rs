//! The helper process: it confines itself and then starts the program.
//!
//! The program that uses the sandbox executes itself again as the helper, so that everything below happens in a process with
//! one thread and nothing of its parent's memory. `enter` creates the namespaces, or joins those of the session, and starts
//! `init` as the first process of a new PID namespace. `init` builds the view of the file system, gives up all privileges
//! and starts the program. When `init` ends, the kernel ends everything that the program has started.

mod caps;
mod enter;
mod init;
mod landlock;
mod mounts;
mod network;
mod rlimits;
mod seccomp;
mod session;

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

pub(crate) use self::session::Session;
use crate::plan::View;
use crate::{Level, Limits};

/// The first argument of a helper.
pub(crate) const MARK: &str = "__recount-sandbox";

/// The exit code of a helper that could not confine the program.
pub(crate) const FAILED: u8 = 125;

/// The variable that holds a [`Spec`].
pub(crate) const SPEC: &str = "_RECOUNT_SANDBOX";

/// What a helper has to do, as JSON in its environment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) level: Level,
    /// The part of the view that all commands of a session share. Empty for a command that joins a session.
    pub(crate) system: Vec<(std::path::PathBuf, View)>,
    /// The part of the view that this command has for itself.
    pub(crate) views: Vec<(std::path::PathBuf, View)>,
    pub(crate) directory: std::path::PathBuf,
    /// Whether the network of the host is reachable.
    pub(crate) network: bool,
    pub(crate) limits: Limits,
    /// The namespaces of a session come over the standard input.
    pub(crate) in_session: bool,
    /// A private directory for temporary files, for the level without mounts.
    pub(crate) tmp: Option<std::path::PathBuf>,
}

/// A step that failed, and the error of the system.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    fn new(step: impl std::fmt::Display, error: impl std::fmt::Display) -> Self {
        Self(format!("{step}: {error}"))
    }
}

/// Adds the step that failed to an error.
trait Step<T> {
    fn step(self, step: impl std::fmt::Display) -> Result<T, Failure>;
}

impl<T, E: std::fmt::Display> Step<T> for Result<T, E> {
    fn step(self, step: impl std::fmt::Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(step, error))
    }
}

/// Runs the helper that the arguments of this process name. Returns `None` if they name none.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> Option<u8> {
    if arguments.next()? != MARK {
        return None;
    }
    let stage = arguments.next().unwrap_or_default();
    let spec = std::env::var_os(SPEC).unwrap_or_default();
    let command: Vec<OsString> = arguments.collect();
    let run = || {
        let spec: Spec = serde_json::from_slice(spec.as_encoded_bytes()).step("invalid arguments")?;
        match stage.to_str() {
            Some("session") => session::create(&spec),
            Some("enter") => enter::run(&spec, &command),
            Some("init") => init::run(&spec, &command),
            _ => Err(Failure("invalid arguments".to_owned())),
        }
    };
    Some(run().unwrap_or_else(|Failure(message)| {
        report(&message);
        FAILED
    }))
}

/// Writes a message to the standard error, which the caller of the sandbox reads.
#[allow(clippy::print_stderr, reason = "a helper has no other way to report")]
fn report(message: &str) {
    eprintln!("recount-sandbox: {message}");
}
