//! Unusual paths, and profiles that cannot be enforced.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, unshare};
use pretty_assertions::assert_eq;
use recount_sandbox::{Access, LaunchError, Level, Profile, Sandbox};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};

use super::common::{Project, offers, report, run, sandbox};

/// The error of a profile that cannot be launched.
fn refused(sandbox: &Sandbox, profile: &Profile) -> LaunchError {
    sandbox.launch(profile, None, "true".as_ref(), &[]).map(drop).expect_err("the profile was accepted")
}

#[test]
fn odd_names_can_be_workspaces() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    for name in [
        "with blank",
        "new\nline",
        "back\\slash",
        "tab\tab",
        "octal\\040",
        "quote'\"",
        "#hash",
        "äöü",
        "-dash",
        "$HOME",
        "a:b,c",
    ] {
        let project = Project::at(name);
        project.prepare("git init -q . && mkdir hidden && echo secret > hidden/x");
        for access in [Access::read_only(), Access::workspace()] {
            let is_writable = access.write;
            let profile =
                project.profile(access).hide(project.path.join("hidden")).protect(project.path.join("recount.toml"));
            let script = "pwd; cat hidden/x 2> /dev/null; touch new 2> /dev/null && rm new && echo writable; touch recount.toml 2> /dev/null && echo escaped";
            let result = run(&sandbox(), &profile, Some("odd"), script);
            let expected = format!("{}\n{}", project.path.display(), if is_writable { "writable\n" } else { "" });
            assert_eq!(result.stdout, expected, "{name:?}: {result:?}");
        }
        assert!(!project.path.join("recount.toml").exists());
    }
}

#[test]
fn names_that_are_not_unicode_are_rejected() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let name = OsString::from_vec(b"caf\xe9".to_vec());
    let project = Project::at(&name);
    let error = refused(&sandbox(), &project.profile(Access::read_only()));
    assert!(matches!(error, LaunchError::NotUnicode(_)), "{error}");
    // Files of such names in the workspace are ordinary.
    let other = Project::new();
    fs::write(other.path.join(name), "words").unwrap();
    assert_eq!(other.run(Access::read_only(), "cat caf*").stdout, "words");
}

#[test]
fn workspace_named_by_symlink_works_by_both_names() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let project = Project::new();
    let link = project.path.with_file_name("link");
    symlink("project", &link).unwrap();
    project.write("file.txt", "words");
    let profile = Profile::new(&link, Access::workspace());
    let result = run(
        &sandbox(),
        &profile,
        None,
        &format!("cat {0}/file.txt {1}/file.txt", link.display(), project.path.display()),
    );
    assert_eq!(result.stdout, "wordswords", "{result:?}");
}

#[test]
fn workspace_in_tmp_is_shown_in_the_private_tmp() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    for place in ["/tmp", "/var/tmp"] {
        let directory = tempfile::tempdir_in(place).unwrap();
        fs::write(directory.path().join("file.txt"), "words").unwrap();
        let profile = Profile::new(directory.path(), Access::workspace());
        let result = run(&sandbox(), &profile, Some("tmp"), "cat file.txt; echo more > new.txt; ls -A ..");
        assert!(result.stdout.starts_with("words"), "{result:?}");
        assert_eq!(result.stdout.lines().count(), 1, "other files of the machine are visible: {result:?}");
        assert!(directory.path().join("new.txt").exists());
    }
}

#[test]
fn provided_directories_cannot_be_workspaces() {
    let sandbox = sandbox();
    if !offers(&sandbox, Level::Full) {
        return;
    }
    for path in ["/", "/tmp", "/var/tmp", "/proc", "/proc/self", "/dev", "/dev/shm", "/sys"] {
        let error = refused(&sandbox, &Profile::new(path, Access::read_only()));
        assert!(matches!(error, LaunchError::TooBroad(_)), "{path}: {error}");
    }
}

#[test]
fn deleted_workspace_is_reported() {
    let project = Project::new();
    let profile = project.profile(Access::workspace());
    fs::remove_dir(&project.path).unwrap();
    let error = refused(&sandbox(), &profile);
    assert!(matches!(&error, LaunchError::Path { path, .. } if *path == project.path), "{error}");
}

#[test]
fn workspace_that_is_deleted_while_it_is_used_fails_cleanly() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let project = Project::new();
    let profile = project.profile(Access::workspace());
    let mut launch = sandbox().launch(&profile, Some("deleted"), "true".as_ref(), &[]).unwrap();
    fs::remove_dir_all(&project.path).unwrap();
    let output = launch.command.output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&output.stderr).contains("recount-sandbox: cannot show"), "{output:?}");
}

#[test]
fn missing_helper_is_reported() {
    let sandbox = Sandbox::with_helper("/no/such/helper");
    assert_eq!(sandbox.support().level, Level::None);
    let error = refused(&sandbox, &Profile::new("/usr", Access::read_only()));
    assert!(error.to_string().contains("cannot run the helper `/no/such/helper`"), "{error}");
}

#[test]
fn replaced_helper_is_not_run() {
    let project = Project::new();
    let helper = project.path.join("helper");
    fs::copy(env!("CARGO_BIN_EXE_recount-sandbox"), &helper).unwrap();
    let sandbox = Sandbox::with_helper(&helper);
    if !offers(&sandbox, Level::Full) {
        return;
    }
    fs::remove_file(&helper).unwrap();
    fs::write(&helper, "#!/bin/sh\necho replaced\n").unwrap();
    fs::set_permissions(&helper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let result =
        run(&sandbox, &project.profile(Access::read_only()), None, "echo confined; grep Seccomp: /proc/self/status");
    assert_eq!(result.stdout, "confined\nSeccomp:\t2\n", "{result:?}");
}

#[test]
fn long_lists_of_paths_are_granted() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let project = Project::new();
    let outside = Project::at("a-name-that-is-rather-long-so-that-the-list-of-all-paths-becomes-long-as-well");
    let paths: Vec<PathBuf> = (0..1_500).map(|number| outside.path.join(format!("directory-{number}"))).collect();
    for path in &paths {
        fs::create_dir(path).unwrap();
        fs::write(path.join("file.txt"), "words\n").unwrap();
    }
    let access = Access { read_paths: paths.clone(), ..Access::read_only() };
    let script = format!(
        "cat {}/file.txt {}/file.txt; ls {} | wc -l",
        paths[0].display(),
        paths[1_499].display(),
        outside.path.display()
    );
    for session in [None, Some("long")] {
        let result = run(&sandbox(), &project.profile(access.clone()), session, &script);
        assert_eq!(result.stdout, "words\nwords\n1500\n", "{:?}", result.stderr);
    }
}

#[test]
fn hidden_path_may_lie_outside_of_everything_readable() {
    let project = Project::new();
    let data = Project::at("data");
    for level in [Level::Full, Level::Landlock] {
        let sandbox = sandbox().at_most(level);
        if offers(&sandbox, level) {
            let profile = project.profile(Access::read_only()).hide(&data.path).hide("/no/such/path");
            assert_eq!(run(&sandbox, &profile, None, "echo works").stdout, "works\n");
        }
    }
}

#[test]
fn workspace_may_lie_in_a_hidden_directory() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let data = Project::at("data");
    data.write("secret.db", "secret");
    data.write("ws/file.txt", "words");
    data.write("shown/file.txt", "shown");
    for access in [Access::read_only(), Access::workspace()] {
        let profile = Profile::new(data.path.join("ws"), access).hide(&data.path).read(data.path.join("shown"));
        let result = run(&sandbox(), &profile, None, "cat file.txt ../shown/file.txt ../secret.db; ls ..");
        assert_eq!(result.stdout, "wordsshownshown\nws\n", "{result:?}");
    }
}

#[test]
fn hidden_part_of_the_workspace_needs_namespaces() {
    let sandbox = sandbox().at_most(Level::Landlock);
    if !offers(&sandbox, Level::Landlock) {
        return;
    }
    let project = Project::new();
    project.write("data/secret.db", "secret");
    let link = project.path.with_file_name("link");
    symlink("project", &link).unwrap();
    for hidden in [project.path.join("data"), link.join("data")] {
        let error = refused(&sandbox, &project.profile(Access::read_only()).hide(&hidden));
        assert!(error.to_string().contains("cannot be hidden in the workspace"), "{error}");
    }
    let error = refused(&sandbox, &project.profile(Access::workspace()));
    assert!(error.to_string().contains("only the `read-only` profile"), "{error}");
}

#[test]
fn virtual_environment_in_the_workspace_stays_writable() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let project = Project::new();
    fs::create_dir_all(project.path.join(".venv/bin")).unwrap();
    let path = format!("{}:/usr/bin:/bin", project.path.join(".venv/bin").display());
    let script = "touch .venv/bin/tool && mv .venv/bin .venv/b && mv .venv v && echo works";
    let output = in_environment(
        &project,
        &[("PATH", &path), ("VIRTUAL_ENV", project.path.join(".venv").to_str().unwrap())],
        script,
    );
    assert_eq!(output, "works\n");
}

#[test]
fn odd_environments_do_not_disturb() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let project = Project::new();
    let other = Project::at("other");
    fs::create_dir_all(other.path.join("v1/bin")).unwrap();
    symlink("v1", other.path.join("current")).unwrap();
    let by_link = format!("{}:/usr/bin:/bin", other.path.join("current/bin").display());
    let script = "touch /tmp/x && touch new && rm new && echo works";
    for environment in [
        [("HOME", "/tmp"), ("PATH", "/usr/bin:/bin")],
        [("HOME", "/"), ("PATH", "/usr/bin:/bin")],
        [("HOME", "/no/such/home"), ("PATH", "/usr/bin:/bin")],
        [("HOME", "relative"), ("PATH", ".:relative/bin:/usr/bin:/bin::")],
        [("HOME", "/root/../root"), ("PATH", "/usr/bin/../bin:/bin")],
        [("HOME", project.path.to_str().unwrap()), ("PATH", "/usr/bin:/bin")],
        [("HOME", project.path.join("home").to_str().unwrap()), ("PATH", "/usr/bin:/bin")],
        [("HOME", "/usr/share/none"), ("PATH", by_link.as_str())],
    ] {
        assert_eq!(in_environment(&project, &environment, script), "works\n", "{environment:?}");
        assert_eq!(fs::read_dir(&project.path).unwrap().count(), 0, "{environment:?} left files behind");
    }
    assert!(!Path::new("/usr/share/none").exists());
}

/// Runs a script in the sandbox of a process that has this environment.
fn in_environment(project: &Project, environment: &[(&str, &str)], script: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "ordinary_work::paths::script_of_environment", "--nocapture", "--quiet"]);
    command.env_clear().envs(environment.iter().copied()).env(WORKSPACE, &project.path).env(SCRIPT, script);
    let output = command.current_dir(&project.path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    match text.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)) {
        Some((shown, _)) => shown.to_owned(),
        None => panic!("{text}{}", String::from_utf8_lossy(&output.stderr)),
    }
}

const WORKSPACE: &str = "RECOUNT_TEST_WORKSPACE";
const SCRIPT: &str = "RECOUNT_TEST_SCRIPT";
const BEGIN: &str = "<<<";
const END: &str = ">>>";

/// Does nothing unless the process was started by [`in_environment`].
#[test]
#[allow(clippy::print_stdout, reason = "another process reads it")]
fn script_of_environment() {
    let (Some(workspace), Ok(script)) = (std::env::var_os(WORKSPACE), std::env::var(SCRIPT)) else { return };
    let profile = Profile::new(workspace, Access::workspace());
    let result = run(&sandbox(), &profile, Some("environment"), &script);
    println!("{BEGIN}{}{END}{}", result.stdout, result.stderr);
}

/// Runs a test in a mount namespace of its own, which only root may create.
fn with_mounts(test: impl FnOnce() + Send + 'static) {
    if !rustix::process::geteuid().is_root() {
        return report("nested mounts were not tried: the tests do not run as root");
    }
    let thread = thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNS).unwrap();
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).unwrap();
        test();
    });
    thread.join().unwrap();
}

#[test]
fn nested_mounts_are_restricted_like_the_workspace() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    with_mounts(|| {
        let project = Project::new();
        for name in ["nested", "nested/deep er", "stacked"] {
            let point = project.path.join(name);
            fs::create_dir(&point).unwrap();
            mount("tmpfs", &point, "tmpfs", MountFlags::empty(), None).unwrap();
            fs::write(point.join("file.txt"), name).unwrap();
        }
        let flags = MountFlags::RDONLY | MountFlags::NOEXEC | MountFlags::NOSUID | MountFlags::NOATIME;
        mount("tmpfs", project.path.join("stacked"), "tmpfs", flags, None).unwrap();
        let script = "for d in nested 'nested/deep er' stacked; do cat \"$d/file.txt\" 2> /dev/null; touch \"$d/new\" 2> /dev/null && echo ' writable'; done; grep -c nosuid,nodev /proc/self/mountinfo > /dev/null && echo restricted";
        let read = run(&sandbox(), &project.profile(Access::read_only()), None, script);
        assert_eq!(read.stdout, "nestednested/deep errestricted\n", "{read:?}");
        let written = run(&sandbox(), &project.profile(Access::workspace()), Some("nested"), script);
        assert_eq!(written.stdout, "nested writable\nnested/deep er writable\nrestricted\n", "{written:?}");
        // The one that another mount covers cannot be reached.
        let unrestricted = "awk '$5 ~ /project/ && $5 !~ /stacked/ && $6 !~ /nosuid/' /proc/self/mountinfo";
        assert_eq!(run(&sandbox(), &project.profile(Access::workspace()), None, unrestricted).stdout, "");
    });
}

#[test]
fn mounts_of_the_system_are_read_only() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let project = Project::new();
    let script = "awk '$6 ~ /^rw/ {print $5}' /proc/self/mountinfo";
    let writable = |access| project.run(access, script).stdout.lines().map(PathBuf::from).collect::<BTreeSet<_>>();
    let mut expected = BTreeSet::from(["/dev/pts", "/dev/shm", "/tmp", "/var/tmp"].map(PathBuf::from));
    assert_eq!(writable(Access::read_only()), expected);
    expected.insert(project.path.clone());
    assert_eq!(writable(Access::workspace()), expected);
}
