//! The tool `shell`, also with commands that hang.

use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::builtin::{Shell, Workspace};
use recount_message::{Object, ToolResultState};
use recount_testkit::sandbox::confinement;
use tokio_util::sync::CancellationToken;

use super::bench::{Bench, call, shown};

/// Returns the number of processes with this argument.
fn running(word: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())).count()
}

/// The notes after a command that failed in the `read-only` profile.
const FAILED: &str = "\n[exit status: 3]\n[sandbox: only `/tmp` can be written, only the workspace, system programs can be \
                      read, and there is no network. If it failed because of that, repeat the call with `access` and a \
                      `reason`.]";

#[tokio::test]
async fn result_contains_output_and_exit_code() {
    let bench = Bench::new();
    assert_eq!(bench.text("shell", r#"{"command":"echo a; echo b >&2"}"#).await.lines().count(), 2);
    assert_eq!(bench.text("shell", r#"{"command":"true"}"#).await, "[no output]");
    let here = bench.text("shell", r#"{"command":"pwd"}"#).await;
    assert_eq!(here.trim_end(), bench.path("work").display().to_string());
    let called = bench.call("shell", r#"{"command":"echo no; exit 3"}"#).await;
    let output = called.result.unwrap();
    assert_eq!((output.state(), called.streamed.as_str()), (ToolResultState::Error, "no\n"));
    assert_eq!((shown(&output).as_str(), output.metadata.to_json().as_str()), (FAILED, r#"{"exit_code":3}"#));
    assert_eq!(bench.text("shell", r#"{"command":"cat"}"#).await, "[no output]", "standard input is empty");
}

#[tokio::test]
async fn split_utf8_character_is_joined() {
    let bench = Bench::new();
    let output = bench.text("shell", r#"{"command":"printf '\\303'; sleep 0.05; printf '\\244\\377x'"}"#).await;
    assert_eq!(output, "ä\u{fffd}x");
}

#[tokio::test]
async fn output_is_streamed() {
    let bench = Bench::new();
    // The command continues only after the first line was received.
    let (sender, mut receiver) = tokio::sync::mpsc::channel(4);
    let ids = recount_agent::tool::CallIds::new("s1", "r1", "c1");
    let context = recount_agent::tool::ToolContext::new(ids, "Friday", sender, CancellationToken::new());
    let command = r#"{"command":"echo first; until [ -e go ]; do sleep 0.02; done; echo second"}"#;
    let arguments = Object::parse(command).unwrap();
    let watch = async {
        let first = receiver.recv().await.unwrap();
        bench.file("go", "");
        (first.1, receiver.recv().await.unwrap().1)
    };
    let (result, (first, second)) = tokio::join!(bench.tool("shell").run(arguments, &context), watch);
    let text = |text: &str| recount_agent::tool::ToolEvent::Text(text.to_owned());
    assert_eq!((first, second), (text("first\n"), text("second\n")));
    assert_eq!(result.unwrap().state(), ToolResultState::Success);
}

#[tokio::test]
async fn timeout_kills_all_processes() {
    let bench = Bench::new();
    let command = r#"{"timeout_seconds":1,"command":"sleep 86411 & (setsid sleep 86411 &) ; setsid nohup sh -c 'sleep 86411; echo' & env -i sleep 86411"}"#;
    let output = bench.call("shell", command).await.result.unwrap();
    assert_eq!(output.state(), ToolResultState::Error);
    assert_eq!(shown(&output), "[killed after 1 seconds: set `timeout_seconds` if it needs more]");
    assert_eq!(running("86411"), 0);
}

#[tokio::test]
async fn interrupt_kills_all_processes() {
    let bench = Bench::new();
    let cancel = CancellationToken::new();
    let command = r#"{"command":"(setsid sleep 86412 &); touch begun; sleep 86412","access":["write"]}"#;
    let watch = async {
        while !bench.path("work/begun").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
    };
    let (called, ()) = tokio::join!(call(bench.tool("shell"), command, cancel.clone()), watch);
    assert_eq!(shown(&called.result.unwrap()), "[interrupted]");
    assert_eq!(running("86412"), 0);
}

#[tokio::test]
async fn dropped_call_kills_all_processes() {
    let bench = Bench::new();
    let command = r#"{"command":"(setsid sleep 86413 &); touch begun; sleep 86413","access":["write"]}"#;
    let begun = bench.path("work/begun");
    tokio::select! {
        called = bench.call("shell", command) => unreachable!("{called:?}"),
        () = async { while !begun.exists() { tokio::time::sleep(Duration::from_millis(10)).await; } } => {}
    }
    assert_eq!(running("86413"), 0);
}

#[tokio::test]
async fn background_processes_are_killed_and_reported() {
    let bench = Bench::new();
    let output = bench.text("shell", r#"{"command":"sleep 86414 & echo started"}"#).await;
    assert_eq!(output, "started\n[background processes killed: 1]\n");
    assert_eq!(running("86414"), 0);
}

#[tokio::test]
async fn endless_output_is_truncated_offloaded_and_killed() {
    let directory = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(directory.path()).unwrap().max_output_bytes(1_000).confine(confinement());
    let shell = Shell::new(Arc::new(workspace)).max_offloaded_bytes(100_000);
    let called = call(&shell, r#"{"command":"yes 86415"}"#, CancellationToken::new()).await;
    assert_eq!(called.streamed.len(), 1_000);
    let note = shown(&called.result.unwrap());
    let path = note.split('`').nth(1).unwrap();
    let kept = std::fs::metadata(path).unwrap().len();
    assert!((100_000..200_000).contains(&kept), "{kept}");
    assert!(note.contains("bytes of output: reduce its output"), "{note}");
    assert_eq!(running("86415"), 0);
}

/// The variables that Cargo sets for the test process are not passed to commands.
#[tokio::test]
async fn commands_get_only_listed_variables() {
    let bench = Bench::new();
    let output = bench.text("shell", r#"{"command":"env | grep -c ^CARGO_PKG_ || true; echo $HOME"}"#).await;
    assert_eq!(output, format!("0\n{}\n", std::env::var("HOME").unwrap()));
}

#[tokio::test]
async fn repository_among_the_files_changes_nothing() {
    let bench = Bench::new();
    // The minimal files of a repository, with a program that `git status` would run.
    bench.file("docs/HEAD", "ref: refs/heads/main\n");
    bench.file("docs/objects/x", "");
    bench.file("docs/refs/x", "");
    let evil = "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = \"touch ran; false\"\n";
    bench.file("docs/config", evil);
    let called = bench.call("shell", r#"{"command":"cd docs && git status"}"#).await;
    assert!(!bench.path("work/docs/ran").exists(), "{}", called.streamed);
}

#[tokio::test]
async fn command_has_no_terminal() {
    let bench = Bench::new();
    let called = bench.call("shell", r#"{"command":"cat /dev/tty","timeout_seconds":20}"#).await;
    assert!(called.streamed.contains("/dev/tty: No such file or directory"), "{called:?}");
}

/// The commands of a session share a `/tmp` that is separate from that of the machine.
#[tokio::test]
async fn tmp_lasts_for_the_session() {
    let bench = Bench::new();
    let name = format!("recount-test-{}", std::process::id());
    let write = Object::from([("command", format!("echo kept > /tmp/{name}"))]).to_json();
    bench.text("shell", &write).await;
    assert!(!std::path::Path::new("/tmp").join(&name).exists());
    let read = Object::from([("command", format!("cat /tmp/{name}"))]).to_json();
    assert_eq!(bench.text("shell", &read).await, "kept\n");
    assert!(Bench::new().call("shell", &read).await.streamed.contains("No such file"));
}
