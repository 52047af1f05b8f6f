//! The inner helper: the first process of the PID namespace.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, set_parent_process_death_signal, setsid, wait};

use super::enter::follow_parent;
use super::{Failure, Spec, Step, caps, landlock, mounts, program_environment, rlimits, seccomp};

/// The exit code of a shell for a program that cannot be executed.
const NOT_FOUND: u8 = 127;

pub(super) fn run(spec: &Spec, command: &[OsString]) -> Result<u8, Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).step("cannot follow the outer helper")?;
    follow_parent()?;
    // Without a terminal of its own the program cannot type into the user's.
    setsid().step("cannot create a session")?;
    rlimits::offer_to_memory_killer();
    mounts::build(spec)?;
    caps::drop_all()?;
    rustix::thread::set_no_new_privs(true).step("cannot give up privileges")?;
    landlock::restrict_writing(spec)?;
    rlimits::apply(&spec.limits, 0)?;
    seccomp::apply(seccomp::Confinement::WithNamespaces)?;
    let Some(mut program) = program(command) else { return Ok(0) };
    if spec.in_session {
        program.stdin(Stdio::null());
    }
    let child = match program.spawn() {
        Ok(child) => child,
        Err(error) => {
            super::report(&format!("cannot run `{}`: {error}", program.get_program().display()));
            return Ok(NOT_FOUND);
        }
    };
    let code = reap_until(Pid::from_child(&child))?;
    report_left();
    Ok(code)
}

/// Reports the processes that the program has left behind. They end with this one.
fn report_left() {
    let is_process = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.parse::<u32>().is_ok());
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let left = entries.filter(|entry| is_process(&entry.file_name())).count().saturating_sub(1);
    if left > 0 {
        // A reader that has closed its side does not need to know.
        let _ = writeln!(std::io::stderr(), "[background processes killed: {left}]");
    }
}

/// The program to run. `None` if this is a probe.
pub(super) fn program(command: &[OsString]) -> Option<Command> {
    let (program, arguments) = command.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(program_environment());
    Some(command)
}

/// Collects every process that has ended, as the first process of a namespace must, until the program has.
fn reap_until(program: Pid) -> Result<u8, Failure> {
    loop {
        let (pid, status) = match wait(WaitOptions::empty()) {
            Ok(Some(ended)) => ended,
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(Failure::new("cannot wait for the program", error)),
        };
        if pid == program {
            let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
            return Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
        }
    }
}
