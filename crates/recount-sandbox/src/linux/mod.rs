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
mod supervise;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Serialize};

pub(crate) use self::session::Session;
use crate::plan::View;
use crate::{Level, Limits};

/// The first argument of a helper.
pub(crate) const MARK: &str = "__recount-sandbox";

/// The exit code of a helper that could not confine the program.
pub(crate) const FAILED: u8 = 125;

/// The variables that hold a [`Spec`] in pieces, followed by their numbers.
pub(crate) const SPEC: &str = "_RECOUNT_SANDBOX_";

/// The prefix of the program's variables in the environment of a helper. The helper itself must not obey them:
/// `LD_PRELOAD` would run code before the program is confined.
pub(crate) const PROGRAM_VARIABLE: &str = "_RECOUNT_PROGRAM_";

/// The task of a helper, as JSON in its environment.
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
    /// The program runs as long as this is open. In a session it is the standard input.
    pub(crate) lifeline: Option<Lifeline>,
}

/// A pipe of the process that has started the helper.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Lifeline {
    pub(crate) process: u32,
    pub(crate) descriptor: i32,
    /// The inode of the pipe: another file may have got the number of the descriptor.
    pub(crate) inode: u64,
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
    let command: Vec<OsString> = arguments.collect();
    let run = || {
        close_inherited()?;
        let spec: Spec = serde_json::from_slice(&spec_text()).step("invalid arguments")?;
        match stage.to_str() {
            Some("session") => session::create(&spec),
            Some("enter") => enter::run(&spec, &command),
            Some("init") => init::run(&spec, &command),
            Some("confine") => supervise::run_confined(&spec, &command),
            _ => Err(Failure("invalid arguments".to_owned())),
        }
    };
    Some(run().unwrap_or_else(|Failure(message)| {
        report(&message);
        FAILED
    }))
}

/// Closes descriptors that the caller has inherited from another program and passes on without knowing of them.
fn close_inherited() -> Result<(), Failure> {
    let entries = std::fs::read_dir("/proc/self/fd").step("cannot list the open files")?;
    let numbers: Vec<i32> = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The directory itself is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// The text of the [`Spec`].
fn spec_text() -> Vec<u8> {
    let pieces = (0..).map_while(|number| std::env::var_os(format!("{SPEC}{number}")));
    pieces.flat_map(OsString::into_vec).collect()
}

/// The environment of the program, out of that of the helper.
fn program_environment() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter_map(|(name, value)| {
        if name.as_bytes().starts_with(SPEC.as_bytes()) {
            return None;
        }
        // The caller may have set more on the command that it was given.
        match name.as_bytes().strip_prefix(PROGRAM_VARIABLE.as_bytes()) {
            Some(name) => Some((OsString::from_vec(name.to_vec()), value)),
            None => Some((name, value)),
        }
    })
}

/// Writes a message to the standard error, which the caller of the sandbox reads.
#[allow(clippy::print_stderr, reason = "a helper has no other way to report")]
fn report(message: &str) {
    eprintln!("recount-sandbox: {message}");
}
