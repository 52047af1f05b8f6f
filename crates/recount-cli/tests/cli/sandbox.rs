//! `recount sandbox`, and the reports of `doctor` and `config` about the sandbox.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use pretty_assertions::assert_eq;
use serde_json::Value;

fn recount(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
    command.args(arguments).current_dir(directory).env_remove("RECOUNT_CONFIG").env("OPENAI_API_KEY", "k3y");
    command.output().unwrap()
}

fn directory(name: &str) -> std::path::PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sandbox").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    fs::canonicalize(directory).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn read_only_profile_reads_the_workspace_and_changes_nothing() {
    let directory = directory("read_only");
    fs::write(directory.join("a.txt"), "content\n").unwrap();
    let script = "cat a.txt; touch b.txt || echo blocked; touch /tmp/x && echo written; env | grep -c KEY; exit 7";
    let output = recount(&directory, &["sandbox", "--", "sh", "-c", script]);
    assert_eq!(text(&output.stdout), "content\nblocked\nwritten\n0\n");
    assert_eq!(output.status.code(), Some(7));
    assert!(!directory.join("b.txt").exists());
}

#[test]
fn workspace_profile_writes_except_to_the_configuration() {
    let directory = directory("workspace");
    let script = "touch b.txt; echo '[agents.a]' > recount.toml || mv b.txt recount.toml || echo blocked";
    let output = recount(&directory, &["sandbox", "--profile", "workspace", "--", "sh", "-c", script]);
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("blocked\n", Some(0)), "{output:?}");
    let mut names: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["b.txt"]);
}

#[test]
fn data_directory_is_hidden() {
    let directory = directory("data");
    fs::create_dir(directory.join("recount-data")).unwrap();
    fs::write(directory.join("recount-data/tokens.jsonl"), "secret").unwrap();
    let output = recount(&directory, &["sandbox", "--profile", "workspace", "--", "ls", "-A", "recount-data"]);
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("", Some(0)), "{output:?}");
}

#[test]
fn invalid_programs_and_access_are_named() {
    let directory = directory("missing");
    let output = recount(&directory, &["sandbox", "--", "no-such-program"]);
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("cannot run `no-such-program`"), "{output:?}");
    let output = recount(&directory, &["sandbox", "--access", "writ", "--", "ls"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("unknown access `writ`"), "{output:?}");
    let output = recount(&directory, &["sandbox", "--access", "read:/no/such/path", "--", "ls"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot grant access to `/no/such/path`"), "{output:?}");
    let output = recount(&directory, &["sandbox", "--access", "unsandboxed", "--", "ls"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`unsandboxed` is refused"), "{output:?}");
}

#[test]
fn level_is_reported() {
    let directory = directory("level");
    let report: Value = serde_json::from_slice(&recount(&directory, &["sandbox", "--json"]).stdout).unwrap();
    assert_eq!(report["level"], "full", "{report}");
    let output = recount(&directory, &["sandbox", "--level", "landlock"]);
    assert!(text(&output.stdout).starts_with("landlock-only: "), "{output:?}");
    let output = recount(&directory, &["sandbox", "--level", "landlock", "--profile", "workspace", "--", "ls"]);
    assert!(text(&output.stderr).contains("only the `read-only` profile can be enforced"), "{output:?}");
}

#[test]
fn policy_is_reported_and_checked() {
    let directory = directory("policy");
    assert!(
        text(&recount(&directory, &["doctor"]).stdout).contains("the sandbox is required, and this machine enforces")
    );
    fs::write(directory.join("recount.toml"), "sandbox = \"off\"\n").unwrap();
    assert!(text(&recount(&directory, &["doctor"]).stdout).contains("note  the sandbox is off"));
    assert!(text(&recount(&directory, &["config"]).stdout).contains("[sandbox]\npolicy = \"off\"\n"));
    fs::write(directory.join("recount.toml"), "sandbox = \"on\"\n").unwrap();
    let output = recount(&directory, &["config"]);
    assert!(text(&output.stderr).contains("recount.toml:1: unknown sandbox policy `on`"), "{output:?}");
    fs::write(directory.join("recount.toml"), "[sandbox.limits]\nprocess = 5\n").unwrap();
    let output = recount(&directory, &["config"]);
    assert!(text(&output.stderr).contains("unknown field `process`"), "{output:?}");
}

/// Creates a small project with several languages, in a Git repository with one commit.
fn project(name: &str) -> std::path::PathBuf {
    let directory = directory(name);
    fs::create_dir(directory.join("src")).unwrap();
    for (name, content) in [
        ("Cargo.toml", "[package]\nname = \"small\"\nedition = \"2024\"\n\n[workspace]\n"),
        ("src/lib.rs", "#[test]\nfn passes() {}\n"),
        ("package.json", r#"{"name": "small", "scripts": {"test": "node --eval 'console.log(6 * 7)'"}}"#),
        ("Makefile", "all:\n\tcc -o hello hello.c && ./hello\n"),
        ("hello.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n"),
        (".gitignore", "target\n.venv\nhello\nCargo.lock\n"),
    ] {
        fs::write(directory.join(name), content).unwrap();
    }
    for arguments in [
        &["init", "--quiet"][..],
        &["config", "user.name", "Ada"],
        &["config", "user.email", "ada@example.org"],
        &["add", "."],
        &["commit", "--quiet", "--message", "first"],
    ] {
        assert!(Command::new("git").args(arguments).current_dir(&directory).status().unwrap().success());
    }
    directory
}

#[test]
fn common_development_commands_run_in_their_profile() {
    let directory = project("ordinary");
    let check = |profile: &str, script: &str, expected: &str| {
        let output = recount(&directory, &["sandbox", "--profile", profile, "--", "bash", "-c", script]);
        let shown = text(&output.stdout) + &text(&output.stderr);
        assert!(output.status.success() && shown.contains(expected), "{profile}: {script}: {shown}");
    };
    for (script, expected) in [
        ("git status", "nothing to commit"),
        ("git log --oneline", "first"),
        ("git diff HEAD", ""),
        ("grep -rn puts .", "hello.c:2:"),
        ("cargo metadata --offline --no-deps --format-version 1", "\"small\""),
        ("python3 -c 'print(6 * 7)'", "42"),
        ("cat <(echo a) <<< b; echo c 2> /dev/null", "c"),
        (
            "python3 -m http.server 8123 --bind 127.0.0.1 & for i in $(seq 50); do \
          python3 -c 'import urllib.request as u; print(len(u.urlopen(\"http://127.0.0.1:8123/\").read()))' \
          2> /dev/null && exit; sleep 0.1; done; exit 1",
            "",
        ),
    ] {
        check("read-only", script, expected);
    }
    for (script, expected) in [
        ("cargo build --offline", "Finished"),
        ("cargo test --offline 2>&1 | tail -20", "1 passed"),
        ("npm test", "42"),
        ("make", "hello"),
        ("python3 -m venv .venv && .venv/bin/python -c 'print(6 * 7)'", "42"),
        (
            "echo more >> hello.c && git add hello.c && git commit --quiet --message second && git log --oneline",
            "second",
        ),
    ] {
        check("workspace", script, expected);
    }
    // The placeholders are removed.
    assert!(!directory.join(".git/commondir").exists() && !directory.join("recount.toml").exists());
}
