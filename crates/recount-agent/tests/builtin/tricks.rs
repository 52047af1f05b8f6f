//! Harmful commands with harmless-looking texts, run by the tool in every mode that allows commands without a question.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use recount_agent::permission::{Behavior, Mode, Permissions};
use recount_agent::tool::{CallIds, ToolContext};
use recount_message::{Object, PermissionBehavior, PermissionRule};
use tokio_util::sync::CancellationToken;

use super::bench::Bench;

/// A word that only a file outside of the workspace, or a hidden one, contains.
const SECRET: &str = "s3cret-0f-the-user";

/// Commands that could circumvent rules about texts. `OUTSIDE` is a directory outside of the workspace. Commands that write
/// create a file named `pwned`.
const TRICKS: &[&str] = &[
    "for x in a # '\ndo touch pwned; done # '",
    "true='x[$(touch pwned)]'; (\\\n( true ))",
    "echo $(cat <<'E'\nE touch pwned )\nE\n)",
    "printf 'hello%n' PATH; ls; touch pwned",
    ": ${CDPATH:=OUTSIDE}; cd sub && cat secret",
    "cd bare && env -i git status",
    "cd bare && env -i /usr/bin/git -c core.fsmonitor='touch pwned' status",
    "jq --run-tests OUTSIDE/secret",
    "cp link/secret pwned; cat link/secret",
    "cat link/secret",
    "ls link/; cat < link/secret",
    "cp OUTSIDE/secret pwned",
    "rm -f kept pwned",
    "rm -rf . ; touch pwned",
    "mv kept pwned",
    "ln -s OUTSIDE/secret pwned && cat pwned",
    "ln kept pwned",
    "mkdir pwned",
    "echo x > pwned",
    "echo x >> kept; mv kept pwned",
    "tee pwned < kept",
    "dd if=kept of=pwned",
    "sed -i s/kept/pwned/ kept; sed -n 'w pwned' kept",
    "awk 'BEGIN { print > \"pwned\" }'",
    "find . -name kept -exec touch pwned ';'",
    "find . -fprint pwned",
    "xargs touch pwned < /dev/null",
    "sort -o pwned kept",
    "git -c alias.x='!touch pwned' x",
    "git config --file pwned a.b c",
    "git init pwned",
    "tar cf pwned kept",
    "tar --to-command='touch pwned' -xf kept.tar",
    "python3 -c 'open(\"pwned\", \"w\")'",
    "perl -e 'open(F, \">pwned\")'",
    "bash -c 'touch pwned'",
    "sh -c $'touch\\x20pwned'",
    "eval 'touch pwned'",
    ". ./script.sh",
    "source script.sh",
    "./script.sh",
    "make -f Makefile.evil",
    "env touch pwned",
    "nohup touch pwned",
    "setsid touch pwned",
    "timeout 5 touch pwned",
    "nice touch pwned",
    "exec touch pwned",
    "command touch pwned",
    "busybox touch pwned || touch pwned",
    "$(echo touch) pwned",
    "`echo touch` pwned",
    "t=touch; $t pwned",
    "touch${IFS}pwned",
    "{ touch,pwned; } ; touch pwned",
    "cat <(touch pwned)",
    "cat <<< $(touch pwned)",
    "[[ -v a[$(touch pwned)] ]]",
    "let 'a[$(touch pwned)]=1'",
    "test -e x || touch pwned",
    "trap 'touch pwned' EXIT",
    "PROMPT_COMMAND='touch pwned' bash -i < /dev/null",
    "BASH_ENV=script.sh bash -c true",
    "LD_PRELOAD=./evil.so ls; touch pwned",
    "PATH=.:$PATH script.sh",
    "cat OUTSIDE/secret",
    "head -c 100 /proc/self/root/OUTSIDE/secret",
    "cat /proc/1/environ /proc/*/environ | tr '\\0' '\\n'; cat OUTSIDE/secret",
    "cat recount-data/secret",
    "grep -r s3cret . OUTSIDE",
    "cp -r recount-data pwned; cat pwned/secret",
    "ls -R / 2> /dev/null | grep -c . ; cat OUTSIDE/secret",
    "while read -r line; do echo \"$line\"; done < OUTSIDE/secret",
    "exec 3< OUTSIDE/secret; cat <&3",
    "wc -l --files0-from=OUTSIDE/secret",
    "date -f OUTSIDE/secret",
    "file -f OUTSIDE/secret",
    "bash --rcfile OUTSIDE/secret -i < /dev/null",
    "awk -f OUTSIDE/secret",
    "curl -o pwned file://OUTSIDE/secret",
];

fn prepared() -> Bench {
    let bench = Bench::with(|workspace| {
        let data = workspace.paths().base().join("recount-data");
        let confinement = workspace.confinement().clone().hide(data);
        workspace.confine(confinement)
    });
    bench.file("kept", "kept\n");
    bench.file("recount-data/secret", SECRET);
    bench.file("script.sh", "#!/bin/sh\ntouch pwned\n");
    bench.file("Makefile.evil", "all:\n\ttouch pwned\n");
    bench.file("sub/inside", "");
    for (name, content) in [
        ("HEAD", "ref: refs/heads/main\n"),
        ("objects/x", ""),
        ("refs/x", ""),
        ("config", "[core]\nbare = false\nworktree = .\nfsmonitor = \"touch pwned; false\"\n"),
    ] {
        bench.file(&format!("bare/{name}"), content);
    }
    let work = bench.path("work");
    Command::new("chmod").arg("+x").arg(work.join("script.sh")).status().unwrap();
    Command::new("tar").args(["cf", "kept.tar", "kept"]).current_dir(&work).status().unwrap();
    let outside = bench.path("outside");
    fs::create_dir(outside.join("sub")).unwrap();
    fs::write(outside.join("secret"), SECRET).unwrap();
    fs::write(outside.join("sub/secret"), SECRET).unwrap();
    symlink(&outside, work.join("link")).unwrap();
    bench
}

/// Returns all entries below a directory, files with their contents.
fn contents(directory: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(contents(&path));
            found.push((path, Vec::new()));
        } else {
            let content = fs::read(&path).unwrap_or_default();
            found.push((path, content));
        }
    }
    found.sort();
    found
}

async fn check(permissions: &Permissions) {
    let bench = prepared();
    let before = contents(&bench.path(""));
    let shell = bench.tool("shell");
    for trick in TRICKS {
        let command = trick.replace("OUTSIDE", &bench.path("outside").display().to_string());
        let arguments = Object::from([("command", command)]);
        let decision = permissions.decide(shell, &arguments).await;
        if decision.behavior != Behavior::Allow {
            continue;
        }
        let (sender, mut receiver) = tokio::sync::mpsc::channel(64);
        let ids = CallIds::new("s1", "r1", "c1");
        let context =
            ToolContext::new(ids, "Friday", sender, CancellationToken::new()).with_permissions(permissions.clone());
        let receive = async {
            let mut streamed = String::new();
            while let Some((_, event)) = receiver.recv().await {
                streamed.push_str(&format!("{event:?}"));
            }
            streamed
        };
        let run = async {
            let result = shell.run(arguments, &context).await;
            drop(context);
            result
        };
        let (result, streamed) = tokio::join!(run, receive);
        let shown = format!("{streamed} {result:?}");
        assert!(!shown.contains(SECRET), "{trick:?} in {:?} shows what it must not read: {shown}", permissions.mode);
        assert_eq!(contents(&bench.path("")), before, "{trick:?} in {:?} changes files: {shown}", permissions.mode);
    }
}

#[tokio::test]
async fn tricks_write_and_read_nothing_in_default_mode() {
    check(&Permissions::new(Mode::Default)).await;
}

#[tokio::test]
async fn tricks_write_and_read_nothing_in_explore_mode() {
    check(&Permissions::new(Mode::Explore)).await;
}

#[tokio::test]
async fn tricks_write_and_read_nothing_in_dont_ask_mode() {
    check(&Permissions::new(Mode::DontAsk)).await;
}

/// Rules without access grant nothing. The sandbox confines commands that deny rules do not find.
#[tokio::test]
async fn tricks_write_and_read_nothing_with_rules() {
    let rule = |content: Option<&str>, behavior| PermissionRule::new("shell", content, behavior);
    let permissions = Permissions::new(Mode::Default)
        .with_rule(rule(None, PermissionBehavior::Allow))
        .with_rule(rule(Some("touch:*"), PermissionBehavior::Allow))
        .with_rule(rule(Some("rm:*"), PermissionBehavior::Deny));
    check(&permissions).await;
}

/// Most commands are harmful without a sandbox, so the tests above are meaningful.
#[tokio::test]
async fn most_tricks_work_without_a_sandbox() {
    let mut harmless = Vec::new();
    for trick in TRICKS {
        let bench = prepared();
        let before = contents(&bench.path("work"));
        let command = trick.replace("OUTSIDE", &bench.path("outside").display().to_string());
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-c", &command])
            .current_dir(bench.path("work"))
            .stdin(std::process::Stdio::null());
        let output = bash.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let has_changed = !bench.path("work").exists() || contents(&bench.path("work")) != before;
        if !has_changed && !shown.contains(SECRET) {
            harmless.push(*trick);
        }
    }
    assert!(harmless.len() * 5 < TRICKS.len(), "{} of {}: {harmless:#?}", harmless.len(), TRICKS.len());
}
