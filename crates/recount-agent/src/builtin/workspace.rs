//! Where the built-in tools work, and what they remember.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use recount_message::{IdSource, RandomIds};
use recount_sandbox::{Access, Confinement, Profile};

use super::aside::Aside;
use super::files::Stamp;
use crate::permission::path::PathResolver;
use crate::tool::ToolError;

/// So many paths are remembered.
const MOST: usize = 4_096;

/// The directories in which the built-in tools work.
///
/// A path is judged by where it leads. When the tool runs it has to lead there still, and it is opened step by step from the
/// root without following a link, so that nobody can put one in its place meanwhile.
#[derive(Debug)]
pub struct Workspace {
    paths: PathResolver,
    aside: Aside,
    shown_bytes: usize,
    confinement: Confinement,
    /// The commands of one session share a private `/tmp`.
    session: Session,
    /// Files as they were when the model last saw them.
    seen: Mutex<HashMap<PathBuf, Stamp>>,
    /// Where paths led when permission was asked for them.
    judged: Mutex<HashMap<String, PathBuf>>,
}

impl Workspace {
    /// A workspace in one directory, in which relative paths begin and commands run.
    ///
    /// # Errors
    ///
    /// It is no directory.
    pub fn new(directory: impl AsRef<Path>) -> io::Result<Self> {
        let directory = directory_at(directory.as_ref())?;
        Ok(Self {
            paths: PathResolver::new([directory]),
            aside: Aside::temporary(),
            shown_bytes: 30_000,
            confinement: Confinement::default(),
            session: Session { name: RandomIds.next_id(), is_own: true },
            seen: Mutex::default(),
            judged: Mutex::default(),
        })
    }

    /// The same with one more directory.
    ///
    /// # Errors
    ///
    /// It is no directory.
    pub fn with_directory(mut self, directory: impl AsRef<Path>) -> io::Result<Self> {
        self.paths = std::mem::take(&mut self.paths).with_directories(&[directory_at(directory.as_ref())?]);
        Ok(self)
    }

    /// The same with a directory for what is too long to be shown, which is made when it is needed. What is put there stays;
    /// by default it goes to a temporary directory that goes with the workspace.
    ///
    /// # Errors
    ///
    /// It is not known where that is.
    pub fn offload_to(mut self, directory: impl AsRef<Path>) -> io::Result<Self> {
        self.aside = Aside::lasting(PathResolver::default().resolve(std::path::absolute(directory)?)?);
        Ok(self)
    }

    /// The same with another limit to how much of an output is shown, in bytes.
    #[must_use]
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.shown_bytes = bytes;
        self
    }

    /// Replaces how commands are confined. By default they are if this program can be the helper of a sandbox, see
    /// [`run_if_helper`](recount_sandbox::run_if_helper).
    #[must_use]
    pub fn confine(mut self, confinement: Confinement) -> Self {
        self.confinement = confinement;
        self
    }

    /// Names the session whose private `/tmp` commands share. By default each workspace has one of its own.
    #[must_use]
    pub fn session(mut self, name: impl Into<String>) -> Self {
        self.session = Session { name: name.into(), is_own: false };
        self
    }

    /// How commands are confined.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// The profile of a command. `directories` are readable like the workspace, and writable with it.
    pub(super) fn profile(&self, access: Access, directories: &[PathBuf]) -> Profile {
        let profile = self.confinement.profile(self.paths.base(), access);
        let further = self.paths.directories().iter().skip(1).chain(directories);
        let profile = further.fold(profile, Profile::directory);
        match self.aside.existing() {
            Some(offloaded) => profile.read(offloaded),
            None => profile,
        }
    }

    pub(super) fn session_name(&self) -> &str {
        &self.session.name
    }

    /// The directories.
    pub fn paths(&self) -> &PathResolver {
        &self.paths
    }

    pub(super) fn aside(&self) -> &Aside {
        &self.aside
    }

    pub(super) fn shown_bytes(&self) -> usize {
        self.shown_bytes
    }

    /// Where a path leads, noted for when the tool runs.
    pub(super) fn judge(&self, path: &str) -> io::Result<PathBuf> {
        let target = self.paths.resolve(path)?;
        let mut judged = lock(&self.judged);
        if judged.len() >= MOST {
            judged.clear();
        }
        judged.insert(path.to_owned(), target.clone());
        Ok(target)
    }

    /// Where a path leads now, which has to be where it led when it was judged.
    pub(super) fn target(&self, path: &str) -> Result<PathBuf, ToolError> {
        let target = self.paths.resolve(path)?;
        match lock(&self.judged).get(path) {
            Some(judged) if *judged != target => {
                Err(ToolError::new(format!("`{path}` leads elsewhere than when permission was given: call again")))
            }
            Some(_) | None => Ok(target),
        }
    }

    /// Whether a resolved path may be read without a question.
    pub(super) fn may_read(&self, target: &Path) -> bool {
        (self.paths.contains(target) && !self.hides(target)) || self.aside.holds(target)
    }

    /// Whether a resolved path is hidden from tools, such as the data of the service itself.
    pub(super) fn hides(&self, target: &Path) -> bool {
        self.confinement.hides(target) && !self.aside.holds(target)
    }

    pub(super) fn note_seen(&self, target: &Path, stamp: Stamp) {
        let mut seen = lock(&self.seen);
        if seen.len() >= MOST {
            seen.clear();
        }
        seen.insert(target.to_owned(), stamp);
    }

    pub(super) fn seen(&self, target: &Path) -> Option<Stamp> {
        lock(&self.seen).get(target).copied()
    }

    /// A path as the model should read it: relative where that is shorter.
    pub(super) fn shown(&self, target: &Path) -> String {
        let shown = target.strip_prefix(self.paths.base()).unwrap_or(target);
        if shown.as_os_str().is_empty() { ".".to_owned() } else { shown.display().to_string() }
    }
}

/// The session of a workspace.
#[derive(Debug)]
struct Session {
    name: String,
    /// The session ends with the workspace.
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
    if path.is_dir() { Ok(path) } else { Err(io::Error::other(format!("`{}` is no directory", path.display()))) }
}

/// A tool that panicked leaves a map that is still one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
