//! Held against Bash itself: whatever Bash runs was found, or the script was called unclear.
//!
//! Scripts are made of pieces, most of which are nonsense. The only programs that they can find write down how they were
//! called. There is no loop among the pieces that would not end, and nothing that calls the functions. The same is done with
//! programs of `sed`.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use recount_agent::permission::shell::{Dialect, Script};

const PIECES: &[&str] = &[
    "aa",
    "bb",
    "cc x",
    "aa 1 2",
    " ",
    " ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "$(",
    ")",
    "`",
    "(",
    ")",
    "{ ",
    "; }",
    "'",
    "\"",
    "\\",
    "\\\n",
    "#",
    " # ",
    "$x",
    "${x:-",
    "}",
    "x=",
    "x=aa;",
    "$((",
    "))",
    "<<E\n",
    "<<'E'\n",
    "\nE\n",
    "<(",
    "if ",
    "then ",
    "; fi",
    "for x in ",
    "; do ",
    "; done",
    "case a in ",
    "a) ",
    ";;",
    " esac",
    "f() ",
    "function f ",
    "[[ ",
    " ]]",
    "! ",
    "eval ",
    "'bb'",
    "\"aa\"",
    "$'",
    "*",
    "?",
    "[",
    "]",
    "=",
    "<<<",
    "command ",
    "time ",
    "bash -c ",
    "sh -c ",
    "$",
    "&",
    "{aa,1}",
    "\t",
    "a\\a",
    "trap aa EXIT;",
    "select x in aa",
    "-",
    "~",
    "'b'b",
    "<<-E\n",
    "\tE\n",
    "|&",
    "elif ",
    "!",
    "$'aa'",
    "${",
    "env ",
    "xargs ",
    "exec ",
    "builtin ",
    "aa\"",
    "`aa`",
    "$(bb)",
    "\"$(aa)\"",
    "\\\"",
    "\\'",
    "(aa)",
    "'$(aa)'",
];

fn scripts() -> impl Strategy<Value = String> {
    vec(select(PIECES), 1..14).prop_map(|pieces| pieces.concat())
}

/// A directory with the only programs there are. Each writes a line with its name.
fn programs(directory: &Path) {
    for name in ["aa", "bb", "cc"] {
        let path = directory.join(name);
        fs::write(&path, "#!/bin/bash\necho \"${0##*/}\" >> \"$RAN\"\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (name, path) in [
        ("bash", "/bin/bash"),
        ("sh", "/bin/sh"),
        ("env", "/usr/bin/env"),
        ("xargs", "/usr/bin/xargs"),
        ("cat", "/bin/cat"),
    ] {
        std::os::unix::fs::symlink(path, directory.join(name)).unwrap();
    }
}

/// The names of the programs that a script has run.
fn ran(directory: &Path, shell: &str, script: &str) -> BTreeSet<String> {
    // What an earlier script left behind writes to a log of its own, however late.
    static LOGS: AtomicU64 = AtomicU64::new(0);
    let log = directory.join(format!("ran-{}", LOGS.fetch_add(1, Ordering::Relaxed)));
    let work = directory.join("work");
    fs::create_dir_all(&work).unwrap();
    fs::write(&log, "").unwrap();
    let mut command = Command::new(shell);
    command.arg("-c").arg(script).env_clear().env("PATH", directory).env("RAN", &log).current_dir(&work);
    // The output ends when the last one that was left running in the background has ended.
    command.stdin(Stdio::null()).stderr(Stdio::piped()).stdout(Stdio::piped()).output().unwrap();
    fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect()
}

fn check(shell: &str, dialect: Dialect, cases: u32) {
    let directory = tempfile::tempdir().unwrap();
    programs(directory.path());
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let telling = Cell::new(0);
    let outcome = runner.run(&scripts(), |text| {
        let script = Script::read(&text, dialect);
        if script.unclear().is_none() {
            let found: BTreeSet<_> = script.commands().iter().filter_map(|command| command.name()).collect();
            let ran = ran(directory.path(), shell, &text);
            telling.set(telling.get() + u32::from(!ran.is_empty()));
            for name in ran {
                prop_assert!(found.contains(name.as_str()), "{shell} ran {name}, found {found:?} in {text:?}");
            }
        }
        Ok(())
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    assert!(telling.get() > cases / 200, "only {} of {cases} scripts were clear and ran something", telling.get());
}

#[test]
fn whatever_bash_runs_was_found() {
    check("/bin/bash", Dialect::Bash, cases());
}

#[test]
fn whatever_sh_runs_was_found() {
    check("/bin/sh", Dialect::Sh, cases());
}

/// What programs of `sed` are made of. The only command that one of them can run leaves a file behind.
const SED: &[&str] = &[
    "e touch ran",
    "e touch ran\n",
    "s/a/touch ran/",
    "s/a/touch ran/e",
    "s/a/b/",
    "e",
    "g",
    "p",
    "w",
    "/",
    "/a/",
    "1",
    "$",
    ",",
    "!",
    ";",
    "\n",
    "{",
    "}",
    " ",
    "a ",
    "a\\\n",
    "i x",
    "\\",
    "[",
    "]",
    "\\,",
    "s,a,",
    "y/a/b/",
    "#",
    "q",
    "n",
    "|",
    "s|",
    "r x",
    "I",
    "w x\n",
    "d",
    "=",
    "c x\n",
    "&",
    "s/a/touch ran;#/",
    "~",
    "+1",
    "0",
    "s/.*/touch ran/",
    "l 3",
    "M",
    "m",
];

#[test]
fn whatever_sed_runs_was_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let mut runner = TestRunner::new(Config { cases: cases(), failure_persistence: None, ..Config::default() });
    let clear = Cell::new(0);
    let programs = vec(select(SED), 1..8).prop_map(|pieces| pieces.concat());
    let outcome = runner.run(&programs, |program| {
        let quoted = format!("sed -- '{program}' file");
        if Script::read(&quoted, Dialect::Bash).unclear().is_none() {
            fs::write(directory.path().join("file"), "a\na\n").unwrap();
            let mut sed = Command::new("sed");
            sed.args(["--", &program, "file"]).current_dir(&directory).stdin(Stdio::null());
            let ended = sed.stderr(Stdio::piped()).stdout(Stdio::piped()).output().unwrap();
            clear.set(clear.get() + u32::from(ended.status.success()));
            prop_assert!(!directory.path().join("ran").exists(), "{program:?}");
        }
        Ok(())
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    assert!(clear.get() > cases() / 100, "only {} programs were clear and worked", clear.get());
}

/// How many scripts to try: more in a long run.
fn cases() -> u32 {
    std::env::var("SHELL_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000)
}
