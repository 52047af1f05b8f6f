//! Commands that developers run, as data.

use recount_sandbox::{Access, Level, Profile};

use super::common::{Project, is_installed, offers, run, sandbox};

/// A command: its name, the program that it needs, the script, and a text that its output holds.
type Case = (&'static str, &'static str, &'static str, &'static str);

/// Commands that write nothing.
const READ_ONLY: &[Case] = &[
    ("git-status", "git", "git status --porcelain", " M file.txt"),
    ("git-diff", "git", "git diff", "+second line"),
    ("git-log", "git", "git log", "first commit"),
    ("git-show", "git", "git show --stat HEAD", "file.txt"),
    ("git-blame", "git", "git blame file.txt", "Ada"),
    ("git-grep", "git", "git grep -n second", "file.txt:2"),
    ("ripgrep", "rg", "rg -n second", "file.txt"),
    ("grep", "grep", "grep -rn second .", "./file.txt:2:second line"),
    ("list", "ls", "ls -la", "file.txt"),
    ("find", "find", "find . -name '*.txt'", "./file.txt"),
    ("sed", "sed", "sed -n 2p file.txt", "second line"),
    ("awk", "awk", "awk '{print $2}' file.txt", "line"),
    ("python", "python3", "python3 -c 'import json, ssl, sqlite3; print(json.dumps([6 * 7]))'", "[42]"),
    (
        "python-threads",
        "python3",
        "python3 -c 'import concurrent.futures as f; print(sum(f.ThreadPoolExecutor(4).map(abs, range(9))))'",
        "36",
    ),
    ("python-processes", "python3", "python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-3]))'", "[3]"),
    ("node", "node", "node -e 'console.log(6 * 7)'", "42"),
    (
        "node-child",
        "node",
        "node -e 'console.log(require(\"child_process\").execSync(\"echo child\").toString())'",
        "child",
    ),
    ("perl", "perl", "perl -e 'print 6 * 7'", "42"),
    ("cargo-version", "cargo", "cargo --version", "cargo 1."),
    ("cargo-metadata", "cargo", "cargo metadata --offline --format-version 1", "\"name\":\"sample\""),
    ("null-device", "bash", "echo lost > /dev/null; echo kept", "kept"),
    ("here-document", "bash", "cat <<END\nwords $((6 * 7))\nEND", "words 42"),
    ("here-string", "bash", "cat <<< words", "words"),
    ("process-substitution", "bash", "diff <(echo one) <(echo two)", "> two"),
    ("pipeline", "bash", "seq 100 | sort -r | head -1 | tr 9 8", "88"),
    ("background-jobs", "bash", "for i in 1 2 3; do (sleep 0.1; echo job $i) & done; wait; echo all", "all"),
    ("temporary-file", "mktemp", "f=$(mktemp) && echo words > $f && cat $f", "words"),
    ("temporary-directory", "mktemp", "d=$(mktemp -d) && cd $d && touch a && ls", "a"),
    ("shared-memory", "bash", "echo words > /dev/shm/x && cat /dev/shm/x", "words"),
    ("terminal", "script", "script -qc 'tty; echo words' /dev/null", "words"),
    ("standard-streams", "bash", "echo words > /dev/stdout; echo no > /dev/stderr", "words"),
    ("user", "id", "id -un; whoami", "o"),
    ("date", "date", "TZ=Europe/Berlin date +%Z", "CE"),
    ("locale", "bash", "LC_ALL=C.UTF-8 bash -c 's=äöü; echo ${#s}'", "3"),
    (
        "compiler",
        "gcc",
        "echo 'int main(void) { return 7; }' > /tmp/a.c && gcc -o /tmp/a /tmp/a.c && /tmp/a; echo $?",
        "7",
    ),
    ("loopback", "python3", LOOPBACK, "hello over loopback"),
    ("process-list", "ps", "ps ax", "bash"),
    ("archive", "tar", "tar -cf - file.txt | tar -tf -", "file.txt"),
    ("debugger-symbols", "nm", "nm -D /bin/bash | head -1", ""),
];

/// A server and a client in one command.
const LOOPBACK: &str = "python3 - <<'END'
import socket, threading
server = socket.create_server(('127.0.0.1', 0))
def serve():
    connection, _ = server.accept()
    connection.sendall(b'hello over loopback')
    connection.close()
threading.Thread(target=serve).start()
print(socket.create_connection(server.getsockname()).recv(100).decode())
END";

/// Commands that write to the workspace.
const WORKSPACE: &[Case] = &[
    ("git-commit", "git", "git add . && git commit -qm 'second commit' && git log --oneline", "second commit"),
    ("git-branch", "git", "git checkout -qb other && git branch", "* other"),
    ("git-stash", "git", "git stash -q && cat file.txt && git stash pop -q && cat file.txt", "second line"),
    (
        "git-merge",
        "git",
        "git checkout -qb side && git commit -qam side && git checkout -q - && git merge -q side && git log --oneline",
        "side",
    ),
    ("git-rebase", "git", "git commit -qam two && git rebase -q HEAD~1 && git log --oneline", "two"),
    ("git-gc", "git", "git gc --quiet && git fsck && git log --oneline", "first commit"),
    ("git-tag", "git", "git tag -a v1 -m one && git tag", "v1"),
    ("git-worktree-list", "git", "git worktree list", "project"),
    ("cargo-build", "cargo", "cargo build --offline && ls target/debug/sample", "target/debug/sample"),
    ("cargo-run", "cargo", "cargo run --quiet --offline", "hello from the sample"),
    ("cargo-test", "cargo", "cargo test --offline 2>&1 | tail -30", "test result: ok. 1 passed"),
    ("npm-test", "npm", "npm test", "node test passed"),
    ("npm-run", "npm", "npm run --silent greet", "greeting"),
    ("python-venv", "python3", "python3 -m venv .venv && .venv/bin/python -c 'import sys; print(sys.prefix)'", ".venv"),
    (
        "python-bytecode",
        "python3",
        "echo 'x = 42' > module.py && python3 -c 'import module; print(module.x)' && ls __pycache__",
        "42",
    ),
    ("python-unittest", "python3", "python3 -m unittest -v test_sample.py 2>&1", "OK"),
    ("make", "make", "make && cat built.txt", "made by make"),
    ("make-parallel", "make", "make -j2 all && cat built.txt", "made by make"),
    ("c-program", "gcc", "gcc -O2 -o program program.c && ./program", "hello from C"),
    ("editing", "sed", "sed -i s/second/third/ file.txt && cat file.txt", "third line"),
    ("rename", "mv", "mkdir a && mv file.txt a/b.txt && ls a", "b.txt"),
    ("hard-link", "ln", "ln file.txt linked.txt && stat -c %h linked.txt", "2"),
    ("symbolic-link", "ln", "ln -s file.txt link && cat link", "second line"),
    ("permissions", "chmod", "chmod 750 file.txt && stat -c %a file.txt", "750"),
    ("set-group-directory", "chmod", "mkdir shared && chmod 2775 shared && stat -c %a shared", "2775"),
    ("times", "touch", "touch -d 2001-02-03 file.txt && stat -c %y file.txt", "2001-02-03"),
    (
        "sqlite",
        "python3",
        "python3 -c 'import sqlite3; c = sqlite3.connect(\"x.db\"); c.execute(\"pragma journal_mode=wal\"); c.execute(\"create table t (a)\"); c.commit(); print(\"stored\")'",
        "stored",
    ),
    ("fifo", "mkfifo", "mkfifo pipe && (echo words > pipe &) && cat pipe", "words"),
    ("file-lock", "flock", "flock lock echo locked", "locked"),
    ("archive", "tar", "tar -czf a.tgz file.txt && mkdir x && tar -xzf a.tgz -C x && cat x/file.txt", "second line"),
    ("patch", "patch", "git diff > p && git checkout -q . && patch -p1 < p && cat file.txt", "second line"),
    ("node-write", "node", "node -e 'require(\"fs\").writeFileSync(\"n.txt\", \"node\")' && cat n.txt", "node"),
];

/// Commands that also run without namespaces.
const LANDLOCK: &[Case] = &[
    ("git-status", "git", "git status --porcelain", " M file.txt"),
    ("git-log", "git", "git log", "first commit"),
    ("grep", "grep", "grep -rn second .", "./file.txt:2:second line"),
    ("list", "ls", "ls -la", "file.txt"),
    ("python", "python3", "python3 -c 'print(6 * 7)'", "42"),
    ("node", "node", "node -e 'console.log(6 * 7)'", "42"),
    (
        "node-child",
        "node",
        "node -e 'console.log(require(\"child_process\").execSync(\"echo child\").toString())'",
        "child",
    ),
    ("cargo-version", "cargo", "cargo --version", "cargo 1."),
    ("pipeline", "bash", "seq 100 | sort -r | head -1", "99"),
    ("here-document", "bash", "cat <<END\nwords\nEND", "words"),
    ("null-device", "bash", "echo lost > /dev/null; echo kept", "kept"),
    ("temporary-file", "mktemp", "f=$(mktemp) && echo words > $f && cat $f", "words"),
    ("background-jobs", "bash", "(sleep 0.1; echo job) & wait; echo all", "all"),
];

fn project() -> Project {
    let project = Project::with_repository();
    project
        .write("Cargo.toml", "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
    project.write("Cargo.lock", "# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 4\n\n[[package]]\nname = \"sample\"\nversion = \"0.1.0\"\n");
    project
        .write("src/main.rs", "fn main() {\n    println!(\"hello from the sample\");\n}\n\n#[test]\nfn passes() {}\n");
    let scripts = r#"{"test": "node test.js", "greet": "echo greeting"}"#;
    project.write("package.json", &format!(r#"{{"name": "sample", "version": "0.1.0", "scripts": {scripts}}}"#));
    project.write("test.js", "console.log('node test passed');\n");
    project.write(
        "test_sample.py",
        "import unittest\n\n\nclass Sample(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1 + 1, 2)\n",
    );
    project.write("Makefile", "all: built.txt\nbuilt.txt: file.txt\n\techo made by make > built.txt\n");
    project.write("program.c", "#include <stdio.h>\nint main(void) { puts(\"hello from C\"); return 0; }\n");
    project
}

/// Runs every case in a project of its own, and reports all that fail.
fn check(cases: &[Case], access: &Access, level: Level) {
    let sandbox = sandbox().at_most(level);
    if !offers(&sandbox, level) {
        return;
    }
    let mut failed = Vec::new();
    for (name, program, script, expected) in cases {
        if !is_installed(program, name) {
            continue;
        }
        let project = project();
        // These tests may themselves be built in another target directory.
        let profile = project.profile(access.clone()).env("CARGO_TARGET_DIR", "target");
        let result = run(&sandbox, &profile, Some(name), script);
        let is_left =
            [".git/commondir", ".git/config.worktree", ".git/modules"].map(|path| project.path.join(path).exists());
        if !result.stdout.contains(expected) || result.stderr.contains("recount-sandbox:") || is_left != [false; 3] {
            failed.push(format!("{name}: {result:?}, placeholders left: {is_left:?}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn commands_that_write_nothing_run_in_read_only_profile() {
    check(READ_ONLY, &Access::read_only(), Level::Full);
}

#[test]
fn commands_that_write_nothing_run_in_workspace_profile() {
    check(READ_ONLY, &Access::workspace(), Level::Full);
}

#[test]
fn commands_that_write_run_in_workspace_profile() {
    check(WORKSPACE, &Access::workspace(), Level::Full);
}

#[test]
fn simple_commands_run_without_namespaces() {
    check(LANDLOCK, &Access::read_only(), Level::Landlock);
}

#[test]
fn linked_work_tree_is_read_and_committed_to() {
    if !offers(&sandbox(), Level::Full) || !is_installed("git", "linked work tree") {
        return;
    }
    let main = Project::with_repository();
    main.prepare("git worktree add -q ../tree");
    let tree = main.path.parent().unwrap().join("tree");
    let script = "git status --porcelain && echo more > more.txt && git add . && git commit -qm 'in the tree' && git log --oneline";
    let profile = |access| Profile::new(&tree, access);
    let read = run(&sandbox(), &profile(Access::read_only()), None, "git status && git log --oneline");
    assert!(read.stdout.contains("first commit"), "{read:?}");
    let committed = run(&sandbox(), &profile(Access::workspace()), None, script);
    assert!(committed.stdout.contains("in the tree"), "{committed:?}");
    main.prepare("git log --oneline --all | grep -q 'in the tree' && git fsck && test ! -e .git/commondir");
}

#[test]
fn submodules_and_hidden_directories_do_not_disturb_git() {
    if !offers(&sandbox(), Level::Full) || !is_installed("git", "submodules") {
        return;
    }
    let project = Project::with_repository();
    project.write("data/secret.db", "secret");
    project.prepare("echo data > .gitignore && git add .gitignore && git commit -qm ignore");
    let profile = project.profile(Access::workspace()).hide(project.path.join("data"));
    let result = run(
        &sandbox(),
        &profile,
        None,
        "git status --porcelain --ignored && git add . && git commit -qm next && echo done",
    );
    assert!(result.stdout.contains("done"), "{result:?}");
    assert!(project.path.join("data/secret.db").exists());
}

#[test]
fn git_ignores_placeholders() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let project = Project::with_repository();
    project.write("part/file.txt", "part\n");
    for workspace in [project.path.clone(), project.path.join("part")] {
        let profile = Profile::new(&workspace, Access::workspace()).directory(&project.path);
        let profile = profile.protect(workspace.join("recount.toml"));
        let result = run(
            &sandbox(),
            &profile,
            Some("git"),
            "git add -A && git diff --cached --name-only; git status --porcelain",
        );
        assert_eq!(result.stdout, "file.txt\npart/file.txt\nM  file.txt\nA  part/file.txt\n", "{result:?}");
        assert!(!workspace.join("recount.toml").exists() && !workspace.join("HEAD").exists());
        project.prepare("git reset -q");
    }
}
