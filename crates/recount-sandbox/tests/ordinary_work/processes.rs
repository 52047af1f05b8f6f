//! Exit codes, signals, streams, and the end of programs.

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use recount_sandbox::{Access, Level, Limits, Profile, Sandbox};

use super::common::{Project, offers, run, sandbox};

/// The levels of this machine.
fn sandboxes() -> Vec<Sandbox> {
    let levels = [Level::Full, Level::Landlock];
    levels
        .into_iter()
        .map(|level| sandbox().at_most(level))
        .filter(|sandbox| offers(sandbox, Level::Landlock))
        .collect()
}

#[test]
fn exit_codes_and_signals_are_reported() {
    let project = Project::new();
    for sandbox in sandboxes() {
        let check = |script: &str, expected: i32| {
            for session in [None, Some("codes")] {
                let result = run(&sandbox, &project.profile(Access::read_only()), session, script);
                assert_eq!(result.code, Some(expected), "{script}: {result:?}");
            }
        };
        check("exit 0", 0);
        check("exit 1", 1);
        check("exit 42", 42);
        check("kill -TERM $$", 143);
        check("kill -KILL $$", 137);
        check("no-such-program", 127);
    }
}

#[test]
fn missing_program_is_reported() {
    let project = Project::new();
    for sandbox in sandboxes() {
        let profile = project.profile(Access::read_only());
        let mut launch = sandbox.launch(&profile, None, "no-such-program".as_ref(), &[]).unwrap();
        let output = launch.command.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains("cannot run `no-such-program`"), "{text}");
    }
}

#[test]
fn output_keeps_its_order() {
    let project = Project::new();
    let script = "for i in $(seq 200); do echo out $i; echo err $i >&2; done";
    for sandbox in sandboxes() {
        let (reader, writer) = std::io::pipe().unwrap();
        let profile = project.profile(Access::read_only());
        let arguments = ["-c".into(), script.into()];
        let mut launch = sandbox.launch(&profile, Some("order"), "bash".as_ref(), &arguments).unwrap();
        launch.command.stdout(writer.try_clone().unwrap()).stderr(writer);
        let mut child = launch.command.spawn().unwrap();
        drop(launch.command);
        let mut text = String::new();
        { reader }.read_to_string(&mut text).unwrap();
        child.wait().unwrap();
        let expected: String = (1..=200).map(|i| format!("out {i}\nerr {i}\n")).collect();
        assert_eq!(text, expected);
    }
}

#[test]
fn standard_input_reaches_a_program_without_session() {
    let project = Project::new();
    for sandbox in sandboxes() {
        let profile = project.profile(Access::read_only());
        let mut launch = sandbox.launch(&profile, None, "cat".as_ref(), &[]).unwrap();
        let mut child = launch.command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"words").unwrap();
        assert_eq!(child.wait_with_output().unwrap().stdout, b"words");
    }
}

#[test]
fn standard_input_is_empty_in_a_session() {
    let project = Project::new();
    for sandbox in sandboxes() {
        let script = "cat; cat /dev/stdin; echo end";
        let result = run(&sandbox, &project.profile(Access::read_only()), Some("input"), script);
        assert_eq!(result.stdout, "end\n", "{result:?}");
    }
}

#[test]
fn dropped_guard_interrupts_a_program() {
    let project = Project::new();
    for sandbox in sandboxes() {
        for session in [None, Some("interrupted")] {
            let arguments = ["-c".into(), "echo ready; sleep 60".into()];
            let profile = project.profile(Access::workspace());
            let profile =
                if sandbox.support().level == Level::Full { profile } else { project.profile(Access::read_only()) };
            let mut launch = sandbox.launch(&profile, session, "bash".as_ref(), &arguments).unwrap();
            if session.is_none() {
                launch.command.stdin(Stdio::null());
            }
            let mut child = launch.command.stdout(Stdio::piped()).spawn().unwrap();
            drop(launch.command);
            let mut word = [0; 5];
            child.stdout.as_mut().unwrap().read_exact(&mut word).unwrap();
            let start = Instant::now();
            drop(launch.guard);
            let status = child.wait().unwrap();
            assert!(!status.success() && start.elapsed() < Duration::from_secs(5), "{status:?} {session:?}");
        }
    }
}

#[test]
fn environment_of_the_profile_reaches_the_program() {
    let project = Project::new();
    for sandbox in sandboxes() {
        let odd: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(b"caf\xe9 = x".to_vec());
        let profile = project.profile(Access::read_only()).env("LD_PRELOAD_NOT", "x").env("ODD", odd);
        let script = "printf '%s|' $LD_PRELOAD_NOT; printf %s \"$ODD\" | od -An -tx1; env | grep -c RECOUNT";
        let result = run(&sandbox, &profile, None, script);
        assert_eq!(result.stdout, "x| 63 61 66 e9 20 3d 20 78\n0\n", "{result:?}");
    }
}

#[test]
fn variables_that_the_caller_adds_reach_the_program() {
    let project = Project::new();
    for sandbox in sandboxes() {
        let profile = project.profile(Access::read_only());
        let mut launch = sandbox.launch(&profile, Some("added"), "env".as_ref(), &[]).unwrap();
        let output = launch.command.env("ADDED", "later").output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("ADDED=later"), "{output:?}");
    }
}

#[test]
fn limits_allow_what_they_name() {
    let project = Project::new();
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let limits = Limits { processes: 64, files: 64, tmp_mib: 8, file_mib: 4, ..Limits::default() };
    let profile = Profile::new(&project.path, Access::workspace()).limits(limits);
    let script = "for i in $(seq 30); do sleep 0.2 & done; wait; head -c 3M /dev/zero > big && head -c 6M /dev/zero | split -b 3M - /tmp/part && ulimit -n";
    let result = run(&sandbox(), &profile, None, script);
    assert_eq!(result.stdout, "64\n", "{result:?}");
}

#[test]
fn memory_is_taken_from_confined_programs_first() {
    let project = Project::new();
    if !offers(&sandbox(), Level::Full) {
        return;
    }
    let script = "cat /proc/self/oom_score_adj; echo 0 2> /dev/null > /proc/self/oom_score_adj || echo refused";
    assert_eq!(project.run(Access::read_only(), script).stdout, "1000\nrefused\n");
}
