//! Projects, and commands in them.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use recount_sandbox::{Access, Level, Profile, Sandbox};

/// A project in a directory that is removed with it.
pub(crate) struct Project {
    _directory: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

/// The result of a command, as its caller sees it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    /// Creates an empty project.
    pub(crate) fn new() -> Self {
        Self::at("project")
    }

    /// Creates an empty project in a directory of this name.
    pub(crate) fn at(name: impl AsRef<Path>) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = fs::canonicalize(directory.path()).unwrap().join(name);
        fs::create_dir(&path).unwrap();
        Self { _directory: directory, path }
    }

    /// Creates a project with a repository that has one commit and one change.
    pub(crate) fn with_repository() -> Self {
        let project = Self::new();
        project.write("file.txt", "first line\n");
        project.prepare(
            "git init -q . && git config user.name Ada && git config user.email ada@example.org \
             && git add . && git commit -qm 'first commit'",
        );
        project.write("file.txt", "first line\nsecond line\n");
        project
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs a script without the sandbox.
    pub(crate) fn prepare(&self, script: &str) {
        let output = Command::new("bash").args(["-c", script]).current_dir(&self.path).output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }

    pub(crate) fn profile(&self, access: Access) -> Profile {
        Profile::new(&self.path, access)
    }

    /// Runs a script in the sandbox.
    pub(crate) fn run(&self, access: Access, script: &str) -> Outcome {
        run(&sandbox(), &self.profile(access), None, script)
    }
}

pub(crate) fn sandbox() -> Sandbox {
    Sandbox::with_helper(env!("CARGO_BIN_EXE_recount-sandbox"))
}

/// Whether this machine offers a level. Reports it if not.
pub(crate) fn offers(sandbox: &Sandbox, level: Level) -> bool {
    let is_offered = sandbox.support().level >= level;
    if !is_offered {
        report(&format!("this machine does not offer {level}: {}", sandbox.support().explanation()));
    }
    is_offered
}

pub(crate) fn run(sandbox: &Sandbox, profile: &Profile, session: Option<&str>, script: &str) -> Outcome {
    let arguments: [OsString; 2] = ["-c".into(), script.into()];
    let mut launch = sandbox.launch(profile, session, "bash".as_ref(), &arguments).unwrap();
    if session.is_none() {
        launch.command.stdin(Stdio::null());
    }
    let output = launch.command.output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Whether a program is installed. Reports the test that cannot be made if not.
pub(crate) fn is_installed(program: &str, test: &str) -> bool {
    let found = Command::new("bash").args(["-c", "command -v -- \"$0\"", program]).output();
    let is_found = found.is_ok_and(|output| output.status.success());
    if !is_found {
        report(&format!("`{program}` is not installed: `{test}` was not tried"));
    }
    is_found
}

/// Writes to the standard error, also if the test succeeds.
pub(crate) fn report(line: &str) {
    let _ = writeln!(std::io::stderr(), "ordinary work: {line}");
}
