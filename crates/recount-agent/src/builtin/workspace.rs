//! The workspace of the built-in tools.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use recount_message::{IdSource, RandomIds};
use recount_sandbox::{Access, Confinement, Profile};

use super::files::FileVersion;
use super::offloaded::OffloadDirectory;
use crate::permission::path::PathResolver;
use crate::tool::ToolError;

/// The maximum number of remembered paths.
const MAX_REMEMBERED: usize = 4_096;

/// The working directories and the state of the built-in tools.
///
/// Permission is decided for the target of a path. When the tool runs, the path must still have this target. The file is
/// opened component by component from the root without following links, so that a link cannot be inserted in between.
#[derive(Debug)]
pub struct Workspace {
    paths: PathResolver,
    offload_directory: OffloadDirectory,
    output_limit: usize,
    confinement: Confinement,
    /// The commands of one session share a private `/tmp`.
    session: Session,
    /// The versions of files that the model last read or wrote.
    seen: Mutex<HashMap<PathBuf, FileVersion>>,
    /// The targets of paths for which permission was decided.
    recorded: Mutex<HashMap<String, PathBuf>>,
}

impl Workspace {
    /// Creates a workspace with one directory. Relative paths are resolved in it, and commands run in it.
    ///
    /// # Errors
    ///
    /// The path is not a directory.
    pub fn new(directory: impl AsRef<Path>) -> io::Result<Self> {
        let directory = directory_at(directory.as_ref())?;
        Ok(Self {
            paths: PathResolver::new([directory]),
            offload_directory: OffloadDirectory::temporary(),
            output_limit: 30_000,
            confinement: Confinement::default(),
            session: Session { name: RandomIds.next_id(), is_own: true },
            seen: Mutex::default(),
            recorded: Mutex::default(),
        })
    }

    /// Adds a directory.
    ///
    /// # Errors
    ///
    /// The path is not a directory.
    pub fn with_directory(mut self, directory: impl AsRef<Path>) -> io::Result<Self> {
        self.paths = std::mem::take(&mut self.paths).with_directories(&[directory_at(directory.as_ref())?]);
        Ok(self)
    }

    /// Sets the directory for offloaded output. It is created on first use and persists. By default, a temporary directory
    /// is used and deleted with the workspace.
    ///
    /// # Errors
    ///
    /// The path cannot be resolved.
    pub fn offload_to(mut self, directory: impl AsRef<Path>) -> io::Result<Self> {
        self.offload_directory =
            OffloadDirectory::persistent(PathResolver::default().resolve(std::path::absolute(directory)?)?);
        Ok(self)
    }

    /// Sets the maximum output of a tool call in bytes, 30,000 by default. Longer output is offloaded.
    #[must_use]
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.output_limit = bytes;
        self
    }

    /// Sets the confinement of commands. By default, commands are confined if this program can be the helper of a sandbox,
    /// see [`run_if_helper`](recount_sandbox::run_if_helper).
    #[must_use]
    pub fn confine(mut self, confinement: Confinement) -> Self {
        self.confinement = confinement;
        self
    }

    /// Sets the session. Commands of a session share a private `/tmp`. By default, each workspace has its own session.
    #[must_use]
    pub fn session(mut self, name: impl Into<String>) -> Self {
        self.session = Session { name: name.into(), is_own: false };
        self
    }

    /// The confinement of commands.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Returns the profile of a command. `directories` have the same access as the workspace.
    pub(super) fn profile(&self, access: Access, directories: &[PathBuf]) -> Profile {
        let profile = self.confinement.profile(self.paths.base(), access);
        let further = self.paths.directories().iter().skip(1).chain(directories);
        let profile = further.fold(profile, Profile::directory);
        match self.offload_directory.existing() {
            Some(offloaded) => profile.read(offloaded),
            None => profile,
        }
    }

    pub(super) fn session_name(&self) -> &str {
        &self.session.name
    }

    /// The resolver with the directories.
    pub fn paths(&self) -> &PathResolver {
        &self.paths
    }

    pub(super) fn offload_directory(&self) -> &OffloadDirectory {
        &self.offload_directory
    }

    pub(super) fn output_limit(&self) -> usize {
        self.output_limit
    }

    /// Resolves a path for a decision about permission, and records its target.
    pub(super) fn resolve_and_record(&self, path: &str) -> io::Result<PathBuf> {
        let target = self.paths.resolve(path)?;
        let mut recorded = lock(&self.recorded);
        if recorded.len() >= MAX_REMEMBERED {
            recorded.clear();
        }
        recorded.insert(path.to_owned(), target.clone());
        Ok(target)
    }

    /// Resolves a path to use it.
    ///
    /// # Errors
    ///
    /// The target differs from the recorded one.
    pub(super) fn resolve_recorded(&self, path: &str) -> Result<PathBuf, ToolError> {
        let target = self.paths.resolve(path)?;
        match lock(&self.recorded).get(path) {
            Some(recorded) if *recorded != target => Err(ToolError::new(format!(
                "the target of `{path}` has changed since permission was given: call again"
            ))),
            Some(_) | None => Ok(target),
        }
    }

    /// Returns whether a resolved path may be read without permission.
    pub(super) fn may_read(&self, target: &Path) -> bool {
        (self.paths.contains(target) && !self.hides(target)) || self.offload_directory.contains(target)
    }

    /// Returns whether a resolved path is hidden from tools, such as the data of the service itself.
    pub(super) fn hides(&self, target: &Path) -> bool {
        self.confinement.hides(target) && !self.offload_directory.contains(target)
    }

    pub(super) fn record_seen(&self, target: &Path, stamp: FileVersion) {
        let mut seen = lock(&self.seen);
        if seen.len() >= MAX_REMEMBERED {
            seen.clear();
        }
        seen.insert(target.to_owned(), stamp);
    }

    pub(super) fn seen_version(&self, target: &Path) -> Option<FileVersion> {
        lock(&self.seen).get(target).copied()
    }

    /// Formats a path for the model: relative if it is in the first directory.
    pub(super) fn display(&self, target: &Path) -> String {
        let shown = target.strip_prefix(self.paths.base()).unwrap_or(target);
        if shown.as_os_str().is_empty() { ".".to_owned() } else { shown.display().to_string() }
    }
}

/// The session of a workspace.
#[derive(Debug)]
struct Session {
    name: String,
    /// Whether the session ends with the workspace.
    is_own: bool,
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if self.session.is_own {
            self.confinement.sandbox().end_session(&self.session.name);
        }
    }
}

fn directory_at(path: &Path) -> io::Result<PathBuf> {
    let path = std::fs::canonicalize(path)?;
    if path.is_dir() { Ok(path) } else { Err(io::Error::other(format!("`{}` is not a directory", path.display()))) }
}

/// Locks a map. A panic in another thread cannot leave it inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
