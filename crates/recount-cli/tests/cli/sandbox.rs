//! `recount sandbox`, and what `doctor` and `config` report of the sandbox.

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
fn programs_that_cannot_be_run_are_named() {
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
