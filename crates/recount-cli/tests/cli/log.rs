//! `recount log`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;

use crate::run::{Run, SAMPLE, cases, check_run, command, directory, finish, recount, spawn};

cases! {
    nothing: "log";
    missing_directory: "log sessions no/such/directory";
    not_a_log: "log verify samples";
    bad_session_name: "log export data no+such+name";
    bad_cursor: "log fork data a b --after 42";
    fork_two_ends: "log fork data a b --after 1.1 --before m1";
    bad_tenant: "log sessions data --tenant no+such+name";
    bad_age: "log compact data --older-than 30";
}

/// A data directory with the imported sample. Commands run in its parent directory.
struct Data {
    parent: PathBuf,
}

impl Data {
    fn new(test: &str) -> Self {
        let data = Self { parent: directory(test) };
        fs::write(data.parent.join("weather.jsonl"), SAMPLE).unwrap();
        let run = data.run("log import data chat weather.jsonl");
        assert_eq!(run.exit, Some(0), "{}", run.stderr);
        data
    }

    fn run_with(&self, args: &str, stdin: &str) -> Run {
        let mut command = command(args);
        command.current_dir(&self.parent);
        finish(command, stdin.as_bytes())
    }

    fn run(&self, args: &str) -> Run {
        self.run_with(args, "")
    }

    /// Runs a command and compares it with a snapshot, with epochs and times replaced.
    #[track_caller]
    fn check(&self, name: &str, args: &str, stdin: &str) {
        let mut run = self.run_with(args, stdin);
        run.stdout = normalized(&run.stdout);
        run.stderr = normalized(&run.stderr);
        check_run(&format!("log_{name}"), args, &run);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.parent.join(name)
    }
}

/// Replaces the values that change from run to run: epochs and times.
fn normalized(text: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for character in text.chars().chain(['\0']) {
        if character.is_ascii_digit() {
            digits.push(character);
            continue;
        }
        // Only epochs have more than five digits.
        out.push_str(if digits.len() > 5 && character == '.' { "EPOCH" } else { &digits });
        digits.clear();
        out.push(character);
    }
    out.pop();
    let at = |out: &str| out.find("20").filter(|&at| out.get(at + 10..at + 11) == Some("T"));
    while let Some(start) = at(&out) {
        out.replace_range(start..start + 32, "TIME");
    }
    // Epochs vary in length, which changes the padding of the columns.
    while out.contains("  ") {
        out = out.replace("  ", " ");
    }
    out
}

#[test]
fn export_of_an_import_is_identical() {
    let data = Data::new("log_round_trip");
    let export = data.run("log export data chat");
    assert_eq!((export.exit, export.stdout.as_str(), export.stderr.as_str()), (Some(0), SAMPLE, ""));
    let folded = finish(command("fold"), export.stdout.as_bytes());
    assert_eq!(folded, recount("fold samples/weather.jsonl", b""));
}

#[test]
fn import_output_and_errors() {
    let data = Data::new("log_import");
    data.check("import_again", "log import data chat weather.jsonl", "");
    data.check("import_over", "log import data chat weather.jsonl --replace", "");
    data.check("import_twice_the_same", "log import data acme/chat", &SAMPLE.repeat(2));
    data.check("import_json", "log import data other --json", SAMPLE);
    data.check("import_bad_line", "log import data third", "{\"type\":\"USER_INTERRUPT\"}\nhello\n");
    let message = r#"{"name":"Alice","role":"user","content":[{"type":"text","text":"Hello"}],"id":"m1"}"#;
    data.check("import_message", "log import data fourth", message);
    data.check("sessions", "log sessions data", "");
    data.check("sessions_json", "log sessions data --json --tenant acme", "");
    data.check("export_unknown", "log export data nobody", "");
    data.check("verify", "log verify data", "");
    data.check("verify_unknown", "log verify data nobody", "");
}

/// Returns `count` messages as JSON lines.
fn messages(count: usize) -> String {
    let line = |number| {
        let content = r#"[{"type":"text","text":"Hello"}]"#;
        format!("{{\"name\":\"Alice\",\"role\":\"user\",\"content\":{content},\"id\":\"m{number}\"}}\n")
    };
    (0..count).map(line).collect()
}

#[test]
fn long_import_is_written_in_batches_and_hidden_until_published() {
    let data = Data::new("log_import_long");
    let mut import = command("log import data long");
    let mut child = spawn(import.current_dir(&data.parent));
    let mut pipe = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || pipe.write_all(messages(5_000).as_bytes()).map(|()| pipe));
    // The input is still open, so the import does not buffer all of it.
    let deadline = Instant::now() + Duration::from_secs(60);
    while fs::metadata(data.path("data/log.sqlite-wal")).map_or(0, |log| log.len()) < 500_000 {
        assert!(Instant::now() < deadline, "no batch was written in time");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sessions = data.run("log sessions data").stdout;
    assert!(sessions.contains("chat") && !sessions.contains("long"), "{sessions}");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(writer.join().unwrap());
    assert_eq!(data.run("log sessions data").stdout, sessions);
    assert_eq!(data.run("log verify data").exit, Some(0));

    // An invalid last line discards the batches that are already written.
    let run = data.run_with("log import data long", &(messages(5_000) + "hello\n"));
    assert_eq!(run.exit, Some(1), "{}", run.stderr);
    assert_eq!(data.run("log sessions data").stdout, sessions);
    let run = data.run_with("log import data long", &messages(5_000));
    assert!(run.stdout.starts_with("long: 5000 entries, at "), "{run:?}");
    assert_eq!(data.run("log export data long").stdout.lines().count(), 5_000);
}

#[test]
fn fork_copies_up_to_the_given_point() {
    let data = Data::new("log_fork");
    data.check("fork", "log fork data chat copy", "");
    data.check("fork_json", "log fork data chat json --json", "");
    data.check("fork_again", "log fork data chat copy", "");
    data.check("fork_unknown", "log fork data nobody copy2", "");
    data.check("fork_from_another_epoch", "log fork data chat copy3 --after 7.3", "");
    let sessions = data.run("log sessions data --json").stdout;
    let epoch = sessions.lines().next().unwrap().split_once("\"cursor\":\"").unwrap().1.split_once('.').unwrap().0;
    data.check("fork_before_unknown", "log fork data chat copy4 --before nobody", "");
    let folded = |session: &str| {
        finish(command("fold"), data.run(&format!("log export data {session}")).stdout.as_bytes()).stdout
    };
    let all = folded("chat");
    let last = all.lines().last().unwrap();
    let id = last.rsplit_once("\"role\":\"assistant\",\"id\":\"").unwrap().1.split_once('"').unwrap().0;
    let run = data.run(&format!("log fork data chat rewound --before {id}"));
    assert_eq!(run.exit, Some(0), "{}", run.stderr);
    assert_eq!(folded("rewound") + last + "\n", all);
    // A fork in the middle of the first reply ends the reply in the copy.
    let run = data.run(&format!("log fork data chat middle --after {epoch}.12"));
    assert_eq!(run.exit, Some(0), "{}", run.stderr);
    let messages = finish(command("fold"), data.run("log export data middle").stdout.as_bytes());
    assert!(messages.stdout.contains(r#""finished_reason":"interrupted""#), "{}", messages.stdout);
    assert_eq!(data.run("log verify data").exit, Some(0));
}

#[test]
fn tenant_option_selects_the_sessions_of_the_tenant() {
    let data = Data::new("log_tenants");
    let run = data.run("log import data chat weather.jsonl --tenant acme");
    assert_eq!(run.exit, Some(0), "{}", run.stderr);
    data.check("tenant_sessions", "log sessions data --tenant acme", "");
    for args in
        ["log export data chat --tenant acme", "log export data acme/chat", "log export data acme/chat --tenant acme"]
    {
        assert_eq!(data.run(args).stdout, SAMPLE, "{args}");
    }
    data.check("tenant_of_another", "log export data acme/chat --tenant zeta", "");
    assert_eq!(data.run("log fork data chat copy --tenant acme").exit, Some(0));
    data.check("tenant_verify", "log verify data --tenant acme", "");
    let entries = |session: &str| data.run(&format!("log export data {session}")).stdout.lines().count();
    let all = entries("chat");
    assert_eq!(data.run("log compact data --older-than 0s --tenant acme").exit, Some(0));
    assert!(entries("acme/chat") < all);
    assert_eq!(entries("chat"), all, "other tenants are unaffected");
    assert_eq!(data.run("log sessions data --tenant= --json").stdout.lines().count(), 1);
}

#[test]
fn compact_preserves_messages() {
    let data = Data::new("log_compact");
    let messages = |data: &Data| finish(command("fold"), data.run("log export data chat").stdout.as_bytes()).stdout;
    let before = messages(&data);
    let entries = |data: &Data| data.run("log export data chat").stdout.lines().count();
    let all = entries(&data);
    let idle = data.run("log compact data");
    assert_eq!((idle.exit, idle.stdout.starts_with("nothing to join: ")), (Some(0), true), "{}", idle.stdout);
    assert_eq!(entries(&data), all, "no entry is 30 days old");
    let run = data.run("log compact data chat --older-than 0s --json");
    assert!(run.stdout.starts_with("{\"entries\":"), "{}{}", run.stdout, run.stderr);
    assert!(entries(&data) < all);
    assert_eq!(messages(&data), before);
    assert_eq!(data.run("log verify data").exit, Some(0));
}

#[test]
fn backup_can_be_read_and_opened() {
    let data = Data::new("log_backup");
    let run = data.run("log backup data backup");
    let size = fs::metadata(data.path("backup/log.sqlite")).unwrap().len() / 1_024;
    let expected = format!("1 session, 42 entries, {size}.00 KiB copied to backup\n");
    assert_eq!((run.exit, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", expected.as_str()));
    data.check("backup_again", "log backup data backup", "");
    assert_eq!(data.run("log export backup chat").stdout, SAMPLE);
    assert_eq!(data.run("log verify backup").exit, Some(0));
    assert_eq!(data.run("log fork backup chat copy").exit, Some(0));
    let cursors = |directory: &str| data.run(&format!("log sessions {directory} --json")).stdout;
    let epoch = |text: &str| text.split_once("\"cursor\":\"").unwrap().1.split_once('.').unwrap().0.to_owned();
    assert_ne!(epoch(&cursors("data")), epoch(&cursors("backup")));
}

#[test]
fn locked_directory_is_read_only() {
    let data = Data::new("log_in_use");
    let lock = fs::File::options().write(true).open(data.path("data/lock")).unwrap();
    lock.lock().unwrap();
    fs::write(data.path("data/lock"), "4711\n").unwrap();
    assert_eq!(data.run("log export data chat").stdout, SAMPLE);
    assert_eq!(data.run("log backup data backup").exit, Some(0));
    data.check("in_use", "log compact data", "");
    drop(lock);
    assert_eq!(data.run("log compact data").exit, Some(0));
}

#[test]
fn verify_reports_modified_messages() {
    let data = Data::new("log_verify");
    let path = data.path("data/log.sqlite");
    tamper(&path, b"Sunny", b"Rainy");
    let run = data.run("log verify data");
    assert_eq!(run.exit, Some(1), "{}", run.stderr);
    assert!(run.stdout.contains("chat: the message"), "{}", run.stdout);
    let json = data.run("log verify data chat --json");
    assert!(json.stdout.starts_with(r#"{"session":"chat","fault":"the message"#), "{}", json.stdout);
}

#[test]
fn verify_reports_damaged_pages() {
    let data = Data::new("log_verify_damaged");
    assert_eq!(data.run("log fork data chat copy").exit, Some(0));
    let sound = fs::read(data.path("data/log.sqlite")).unwrap();
    // The first page is the file header. Overwrite each of the others.
    for page in 1..sound.len() / 4_096 {
        let mut bytes = sound.clone();
        bytes[page * 4_096..(page + 1) * 4_096].fill(0xff);
        fs::write(data.path("data/log.sqlite"), bytes).unwrap();
        let run = data.run("log verify data");
        assert_eq!(run.exit, Some(1), "page {page}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.starts_with("database: "), "page {page}: {}", run.stdout);
        let run = data.run("log export data chat");
        assert!(run.exit == Some(0) || run.stderr.starts_with("error: the log in data is damaged: "), "{}", run.stderr);
    }
}

/// Replaces the last occurrence of `from` in a file.
fn tamper(path: &Path, from: &[u8], to: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.windows(from.len()).rposition(|window| window == from).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to);
    fs::write(path, bytes).unwrap();
}
