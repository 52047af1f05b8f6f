//! The tests: one worker for each user and profile.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use recount_sandbox::{Level, Sandbox};

use super::worker::{BASE, MODE, ONLY, SECRET};

/// A user without privileges, which every Linux system has.
const NOBODY: u32 = 65_534;

/// The variable with the first part of the path to which the reports are written, with the time of each attempt.
const REPORT: &str = "RECOUNT_ESCAPE_REPORT";

/// The fewest attempts that are made for each user and profile.
const FEWEST: usize = 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    Root,
    Unprivileged,
}

#[test]
fn attempts_of_root_succeed_without_sandbox() {
    check(User::Root, "control");
}

#[test]
fn attempts_of_unprivileged_user_succeed_without_sandbox() {
    check(User::Unprivileged, "control");
}

#[test]
fn read_only_profile_confines_root() {
    check(User::Root, "read-only");
}

#[test]
fn read_only_profile_confines_unprivileged_user() {
    check(User::Unprivileged, "read-only");
}

#[test]
fn workspace_profile_confines_root() {
    check(User::Root, "workspace");
}

#[test]
fn workspace_profile_confines_unprivileged_user() {
    check(User::Unprivileged, "workspace");
}

#[test]
fn read_only_profile_without_namespaces_confines_root() {
    check(User::Root, "landlock");
}

#[test]
fn read_only_profile_without_namespaces_confines_unprivileged_user() {
    check(User::Unprivileged, "landlock");
}

/// Starts a worker, and checks its report.
fn check(user: User, mode: &str) {
    let is_root = rustix::process::geteuid().is_root();
    if user == User::Root && !is_root {
        return print(&format!("escape: {mode} as root was not tried: the tests do not run as root"));
    }
    let sandbox = Sandbox::with_helper(env!("CARGO_BIN_EXE_recount-sandbox"));
    let needed = if mode == "landlock" { Level::Landlock } else { Level::Full };
    let sandbox = sandbox.at_most(needed);
    if mode != "control" && sandbox.support().level < needed {
        return print(&format!("escape: {mode} was not tried: {}", sandbox.support().explanation()));
    }
    let base = tempfile::Builder::new().prefix("recount-escape-").tempdir_in("/var/tmp").unwrap();
    let base = base.path();
    fs::set_permissions(base, fs::Permissions::from_mode(0o755)).unwrap();
    let own = base.join("own");
    fs::create_dir(&own).unwrap();
    create_tools(&base.join("tools"), user);
    let secret = format!("S3CRET{}", base.file_name().unwrap().to_str().unwrap().replace('-', ""));
    fs::write(own.join("leaked.txt"), &secret).unwrap();
    // The worker has two descriptors that it did not open and does not close.
    let mut command = Command::new("bash");
    command.args(["-c", "exec 8< / 9<> \"$0\"; exec \"$@\""]).arg(own.join("leaked.txt"));
    command.arg(base.join("tools/test")).args(["--exact", "escape::worker::worker", "--nocapture"]);
    let virtual_environment = own.join("run/ws/.venv");
    let path = format!("{}/bin:/usr/local/bin:/usr/bin:/bin", virtual_environment.display());
    command.env_clear().env("PATH", path).env("VIRTUAL_ENV", virtual_environment).env("HOME", own.join("home"));
    command.env(MODE, mode).env(BASE, base).env(SECRET, &secret).env(ONLY, std::env::var(ONLY).unwrap_or_default());
    command.current_dir(&own);
    if user == User::Unprivileged && is_root {
        for path in [own.clone(), own.join("leaked.txt")] {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    let report = fs::read_to_string(own.join("report")).unwrap_or_default();
    assert!(
        output.status.success() && !report.is_empty(),
        "the worker failed: {}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    if let Ok(path) = std::env::var(REPORT) {
        fs::write(format!("{path}-{user:?}-{mode}"), &report).unwrap();
    }
    judge(user, mode, &report);
}

/// Prints how many attempts were made and which were not, and fails if one went wrong.
fn judge(user: User, mode: &str, report: &str) {
    let (mut made, mut not_tried, mut failed) = (0, BTreeMap::<&str, Vec<&str>>::new(), Vec::new());
    for line in report.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            [_, _, "ok"] => made += 1,
            [name, _, "not tried", cause] => not_tried.entry(cause).or_default().push(name),
            _ => failed.push(line),
        }
    }
    print(&format!("escape: {mode} as {user:?}: {made} attempts as expected, {} failed", failed.len()));
    for (cause, names) in &not_tried {
        print(&format!(
            "escape: {mode} as {user:?}: not tried, because it does not hold that {cause}: {}",
            names.join(", ")
        ));
    }
    assert!(failed.is_empty(), "{} attempts:\n{}", failed.len(), failed.join("\n"));
    assert!(made >= FEWEST || std::env::var_os(ONLY).is_some(), "only {made} attempts");
}

/// Creates what attempts use: the helper, the tool, a copy of it that runs as another user, and this test.
fn create_tools(tools: &Path, user: User) {
    fs::create_dir(tools).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_recount-sandbox"), tools.join("recount-sandbox")).unwrap();
    fs::copy(std::env::current_exe().unwrap(), tools.join("test")).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/escape/tool.c");
    let mut compiler = Command::new("gcc");
    // At a fixed address, so that one process knows where another one keeps its secret.
    compiler.args(["-O1", "-no-pie", "-o"]).arg(tools.join("tool")).arg(source);
    let compiled = compiler.output().expect("the attempts need `gcc`");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let setuid = tools.join("setuid");
    fs::copy(tools.join("tool"), &setuid).unwrap();
    if user == User::Root {
        chown(&setuid, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    fs::set_permissions(&setuid, fs::Permissions::from_mode(0o4755)).unwrap();
}

/// Writes to the standard error, also if the test succeeds.
fn print(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
