//! The parser of literal lists, compared with real shells.
//!
//! Texts are made of pieces, most of which are nonsense. If the parser accepts one, Bash and `sh` run it. The only programs that
//! they find record their arguments. Each run must be one of the parsed commands, with the same words.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use recount_agent::permission::shell::{CommandList, SimpleCommand};

/// The programs that exist.
const PROGRAMS: &[&str] = &["aa", "bb", "cc"];

/// The pieces that a literal list may have.
const LITERAL: &[&str] = &[
    "aa",
    "aa ",
    " bb",
    "cc 1 ",
    " ",
    " ",
    "; ",
    ";",
    " && ",
    "&&",
    " || ",
    "||",
    " | ",
    "|",
    "'x y'",
    "\"x y\"",
    "''",
    "\"\"",
    "'$x'",
    "'`bb`'",
    "\"it's\"",
    "'\"'",
    "-x",
    "--x=y",
    "x=y",
    "1",
    "2",
    " 2>&1",
    "2>&1",
    ">/dev/null",
    " > /dev/null ",
    " 1>/dev/null",
    "2>/dev/null ",
    " &>/dev/null",
    "&> /dev/null",
    "/",
    "./x",
    "../",
    ":",
    ",",
    "+",
    "@",
    "%1",
    "'!x'",
    "'Grüße'",
    "true ",
    "false",
    "aa x",
    "if",
    "time ",
    "in",
    "do ",
];

/// The pieces that change what a text means.
const SPECIAL: &[&str] = &[
    "$x",
    "$(bb)",
    "`bb`",
    "\"$(bb)\"",
    "\\",
    "\\\n",
    "\n",
    "\t",
    "#",
    " # ",
    "!",
    "! ",
    "&",
    " & ",
    "|&",
    ";;",
    ";&",
    "(",
    ")",
    "{ ",
    "}",
    "{bb,cc}",
    "<",
    ">",
    ">>",
    ">x",
    "<(bb)",
    "<<E\n",
    "<<<",
    ">&",
    "2>&-",
    "3>",
    "&>x",
    "*",
    "?",
    "[",
    "]",
    "[[ ",
    "~",
    "$'",
    "$\"",
    "^",
    "x=",
    "X=y ",
    "'",
    "\"",
    "\u{a0}",
    "\u{2003}",
    "é",
    "\r",
    "function ",
    "case ",
    "for ",
    "while ",
    "coproc ",
    "\\;",
    "\\ ",
    "=",
];

fn texts() -> impl Strategy<Value = String> {
    let literal = vec(select(LITERAL), 1..9);
    let mixed = vec(prop_oneof![8 => select(LITERAL), 1 => select(SPECIAL)], 1..9);
    let pieces = prop_oneof![literal, mixed].prop_map(|pieces| pieces.concat());
    let characters = "aa [ab12'\"$`;&|<>(){}!#~*?=/ -]{0,16}";
    prop_oneof![
        3 => pieces.clone(),
        3 => pieces.prop_map(|text| format!("aa {text}")),
        1 => characters.prop_map(|text: String| text),
    ]
}

/// Creates the programs. Each writes its name and arguments to a file of its own, all ended by a NUL byte.
fn create_programs(directory: &Path) {
    fs::create_dir(directory).unwrap();
    for name in PROGRAMS {
        let path = directory.join(name);
        fs::write(&path, "#!/bin/bash\nprintf '%s\\0' \"${0##*/}\" \"$@\" > \"$RAN/$$-$RANDOM\"\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Runs a text and returns the words of each program that it ran.
fn run(directory: &Path, shell: &str, text: &str) -> Vec<Vec<String>> {
    // A process that an earlier text left in the background writes to another directory.
    static TEXTS: AtomicU64 = AtomicU64::new(0);
    let ran = directory.join(format!("ran-{}", TEXTS.fetch_add(1, Ordering::Relaxed)));
    let work = directory.join("work");
    fs::create_dir_all(&work).unwrap();
    fs::create_dir(&ran).unwrap();
    let mut command = Command::new(shell);
    command.arg("-c").arg(text).env_clear().env("PATH", directory.join("bin")).env("RAN", &ran).current_dir(&work);
    command.stdin(Stdio::null()).stderr(Stdio::piped()).stdout(Stdio::piped());
    let (sender, receiver) = mpsc::channel();
    // The output ends when the last process in the background has ended.
    std::thread::spawn(move || sender.send(command.output()));
    receiver.recv_timeout(Duration::from_secs(30)).unwrap().unwrap();
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0, "{shell} created files: {text:?}");
    let records = fs::read_dir(&ran).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let runs = records.map(|record| record.split_terminator('\0').map(str::to_owned).collect()).collect();
    fs::remove_dir_all(&ran).unwrap();
    runs
}

fn check(shell: &str, cases: u32) {
    if !Path::new(shell).exists() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    create_programs(&directory.path().join("bin"));
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let telling = Cell::new(0);
    let outcome = runner.run(&texts(), |text| {
        let Some(list) = CommandList::parse(&text) else { return Ok(()) };
        let mut parsed: Vec<&[String]> = list.commands().iter().map(SimpleCommand::words).collect();
        let is_program = |words: &&[String]| PROGRAMS.contains(&words[0].as_str());
        let all_run = parsed.iter().all(is_program) && !text.contains("&&") && !text.contains("||");
        let runs = run(directory.path(), shell, &text);
        telling.set(telling.get() + u32::from(!runs.is_empty()));
        for words in &runs {
            let at = parsed.iter().position(|parsed| parsed == words);
            prop_assert!(at.is_some(), "{shell} ran {words:?} of {text:?}, parsed to {list:?}");
            parsed.remove(at.unwrap());
        }
        prop_assert!(!all_run || parsed.is_empty(), "{shell} ran {runs:?} of {text:?}, parsed to {list:?}");
        Ok(())
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    assert!(telling.get() > cases / 20, "only {} of {cases} texts were literal lists and ran a program", telling.get());
}

#[test]
fn bash_runs_the_parsed_commands() {
    check("/bin/bash", cases());
}

#[test]
fn sh_runs_the_parsed_commands() {
    check("/bin/sh", cases());
}

/// The number of texts. `SHELL_CASES` sets it for a long run.
fn cases() -> u32 {
    std::env::var("SHELL_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000)
}
