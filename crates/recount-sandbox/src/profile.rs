//! Profiles: the permissions of a program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::environment::passed_environment;
use crate::resolve::{Resolved, resolve};
use crate::{Access, Limits};

/// The permissions of a program: the paths that it can read and write, its network, its environment and its limits.
///
/// Every profile begins as `read-only`: the program reads its workspace and the programs of the system, writes to a private
/// `/tmp`, and has no network. [`Access`] adds to it.
///
/// ```no_run
/// use recount_sandbox::{Access, Profile, Sandbox};
///
/// let sandbox = Sandbox::detect();
/// let profile = Profile::new("/home/me/project", Access::workspace()).hide("/home/me/project/recount-data");
/// let mut launch = sandbox.launch(&profile, None, "cargo".as_ref(), &["test".into()])?;
/// let status = launch.command.status()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Profile {
    pub(crate) workspace: PathBuf,
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) access: Access,
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) protected: Vec<PathBuf>,
    pub(crate) limits: Limits,
    passed: Vec<String>,
    set: BTreeMap<OsString, OsString>,
    inherit_environment: bool,
}

impl Profile {
    /// Creates a profile for a program that runs in `workspace`.
    pub fn new(workspace: impl Into<PathBuf>, access: Access) -> Self {
        Self {
            workspace: workspace.into(),
            directories: Vec::new(),
            access,
            readable: Vec::new(),
            hidden: Vec::new(),
            protected: Vec::new(),
            limits: Limits::default(),
            passed: Vec::new(),
            set: BTreeMap::new(),
            inherit_environment: false,
        }
    }

    /// Adds a directory that is treated like the workspace: readable, and writable with the access `write`.
    #[must_use]
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.directories.push(path.into());
        self
    }

    /// Adds a path that is readable and never writable.
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.readable.push(path.into());
        self
    }

    /// Hides a path, also if it lies in one that is readable. A readable path below a hidden one stays readable.
    #[must_use]
    pub fn hide(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Keeps a file from being written to or created, also if it lies in a writable directory.
    #[must_use]
    pub fn protect(mut self, file: impl Into<PathBuf>) -> Self {
        self.protected.push(file.into());
        self
    }

    /// Replaces the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Passes a variable of this process, in addition to those that every program gets.
    #[must_use]
    pub fn pass_env(mut self, name: impl Into<String>) -> Self {
        self.passed.push(name.into());
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set.insert(name.into(), value.into());
        self
    }

    /// Passes the whole environment of this process, secrets included.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.inherit_environment = true;
        self
    }

    /// The access of the profile.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The directory in which the program runs.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The environment of the program, confined or not.
    pub fn environment(&self) -> BTreeMap<OsString, OsString> {
        let mut environment = if self.inherit_environment {
            std::env::vars_os().collect()
        } else {
            passed_environment(&self.passed, self.access.network || self.access.unsandboxed)
        };
        environment.extend(self.set.clone());
        environment
    }

    /// Says what the profile forbids, for a model whose command failed. The kernel reports no paths.
    pub fn restrictions(&self) -> String {
        let Access { write, network, read_paths, write_paths, .. } = &self.access;
        let mut writable: Vec<String> = vec!["`/tmp`".to_owned()];
        if *write {
            writable.insert(0, "the workspace (except `.git/config`, `.git/hooks` and `recount.toml`)".to_owned());
        }
        writable.extend(write_paths.iter().map(|path| format!("`{}`", path.display())));
        let mut readable = vec!["the workspace".to_owned(), "system programs".to_owned()];
        readable.extend(read_paths.iter().map(|path| format!("`{}`", path.display())));
        let network = if *network { "the network is reachable" } else { "there is no network" };
        format!("only {} can be written, only {} can be read, and {network}", writable.join(", "), readable.join(", "))
    }

    /// The directories that the program works in, resolved. Those that do not exist are left out.
    pub(crate) fn working_directories(&self) -> Vec<Resolved> {
        std::iter::once(&self.workspace).chain(&self.directories).filter_map(|path| resolve(path).ok()).collect()
    }
}
