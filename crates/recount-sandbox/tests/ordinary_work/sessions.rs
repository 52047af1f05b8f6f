//! Sessions: a private `/tmp`, many of them, and many commands at once.

use std::thread;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use recount_sandbox::{Access, Level};

use super::common::{Project, offers, run, sandbox};

#[test]
fn tmp_is_shared_by_the_commands_of_a_session() {
    let project = Project::new();
    for level in [Level::Full, Level::Landlock] {
        let sandbox = sandbox().at_most(level);
        if !offers(&sandbox, level) {
            continue;
        }
        let run = |session, script: &str| run(&sandbox, &project.profile(Access::read_only()), session, script);
        assert_eq!(run(Some("one"), "echo words > $TMPDIR/kept").code, Some(0));
        assert_eq!(run(Some("one"), "cat $TMPDIR/kept").stdout, "words\n");
        assert_ne!(run(Some("two"), "cat $TMPDIR/kept").code, Some(0));
        assert_ne!(run(None, "cat $TMPDIR/kept").code, Some(0));
        sandbox.end_session("one");
        assert_ne!(run(Some("one"), "cat $TMPDIR/kept").code, Some(0));
    }
}

#[test]
fn tmp_and_var_tmp_are_one_directory() {
    let project = Project::new();
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let result = project.run(Access::read_only(), "echo words > /var/tmp/x && cat /tmp/x && rm /tmp/x; ls /var/tmp/x");
    assert_eq!(result.stdout, "words\n");
}

#[test]
fn least_recently_used_session_loses_its_tmp() {
    let project = Project::new();
    let sandbox = sandbox();
    if !offers(&sandbox, Level::Full) {
        return;
    }
    let profile = project.profile(Access::read_only());
    let first = run(&sandbox, &profile, Some("0"), "echo words > /tmp/kept; cat /tmp/kept");
    assert_eq!(first.stdout, "words\n");
    for number in 1..=257 {
        sandbox.launch(&profile, Some(&number.to_string()), "true".as_ref(), &[]).unwrap();
        if number == 100 {
            assert_eq!(run(&sandbox, &profile, Some("0"), "cat /tmp/kept").stdout, "words\n");
        }
    }
    // The first session was used after a hundred others, so it is one of those that are kept.
    assert_eq!(run(&sandbox, &profile, Some("0"), "cat /tmp/kept").stdout, "words\n");
    assert_eq!(run(&sandbox, &profile, Some("257"), "echo works").stdout, "works\n");
    assert_eq!(run(&sandbox, &profile, Some("1"), "echo works again").stdout, "works again\n");
}

/// Runs many commands at once and returns their outputs.
fn run_at_once(count: usize, session: impl Fn(usize) -> String + Sync) -> Vec<String> {
    let project = Project::new();
    project.prepare("git init -q . && mkdir plain");
    let plain = project.path.join("plain");
    let sandbox = sandbox();
    let profile = project.profile(Access::workspace()).directory(&plain).protect(project.path.join("recount.toml"));
    let outputs: Vec<String> = thread::scope(|scope| {
        let start = |number: usize| {
            let (sandbox, profile, session) = (sandbox.clone(), profile.clone(), session(number));
            let script = format!(
                "echo {number} > {number}.txt && git status > /dev/null && echo {number} > /tmp/{number} && cat /tmp/{number}"
            );
            scope.spawn(move || {
                let result = run(&sandbox, &profile, Some(&session), &script);
                assert_eq!(result.code, Some(0), "{result:?}");
                result.stdout
            })
        };
        let started: Vec<_> = (0..count).map(start).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let placeholders =
        ["recount.toml", ".git/commondir", ".git/config.worktree", ".git/modules", "plain/.git", "plain/HEAD"];
    let left = || placeholders.into_iter().find(|name| project.path.join(name).exists());
    // A placeholder is removed later if another process had a lock on it.
    let start = Instant::now();
    while left().is_some() && start.elapsed() < Duration::from_secs(5) {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(left(), None, "a placeholder was left behind");
    assert_eq!((0..count).filter(|number| project.path.join(format!("{number}.txt")).exists()).count(), count);
    outputs
}

#[test]
fn fifty_commands_run_at_once_in_one_session() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let outputs = run_at_once(50, |_| "shared".to_owned());
    assert_eq!(outputs, (0..50).map(|number| format!("{number}\n")).collect::<Vec<_>>());
}

#[test]
fn fifty_commands_run_at_once_in_sessions_of_their_own() {
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let outputs = run_at_once(50, |number| number.to_string());
    assert_eq!(outputs, (0..50).map(|number| format!("{number}\n")).collect::<Vec<_>>());
}
