//! The level without namespaces: a supervisor that ends what the program leaves behind, and the confined program.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, kill_process, set_child_subreaper, set_parent_process_death_signal, wait,
};

use super::enter::{code, follow_parent, wait_while_wanted, with_parent};
use super::{Failure, MARK, Spec, Step, caps, init, landlock, rlimits, seccomp};

/// The time after which processes that start others faster than they are ended are given up.
const PATIENCE: Duration = Duration::from_secs(5);

/// Starts the confined program, and ends everything that it has started when it has ended.
pub(super) fn run(spec: &Spec, command: &[OsString]) -> Result<u8, Failure> {
    let wanted = super::enter::lifeline(spec)?;
    // Processes whose parents have ended become children of this one, wherever they went.
    set_child_subreaper(Some(rustix::process::getpid())).step("cannot supervise the program")?;
    let mut child = Command::new("/proc/self/exe");
    child.arg(MARK).arg("confine").args(command);
    let mut child = with_parent(&mut child).spawn().step("cannot start the inner helper")?;
    let status = match &wanted {
        Some(wanted) => wait_while_wanted(&mut child, wanted),
        None => child.wait(),
    };
    let status = status.step("cannot run the inner helper")?;
    end_children();
    Ok(code(status))
}

/// Confines this process by Landlock and seccomp alone, and becomes the program.
pub(super) fn run_confined(spec: &Spec, command: &[OsString]) -> Result<u8, Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).step("cannot follow the outer helper")?;
    follow_parent()?;
    std::env::set_current_dir(&spec.directory).step("cannot enter the workspace")?;
    caps::drop_all()?;
    rustix::thread::set_no_new_privs(true).step("cannot give up privileges")?;
    rlimits::offer_to_memory_killer();
    rlimits::apply(&spec.limits, rlimits::processes_of_user())?;
    landlock::restrict_paths(spec)?;
    seccomp::apply(seccomp::Confinement::Alone)?;
    let Some(mut program) = init::program(command) else { return Ok(0) };
    Err(Failure::new(format!("cannot run `{}`", program.get_program().display()), program.exec()))
}

/// Ends the processes that are left, until there are none.
fn end_children() {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match wait(WaitOptions::NOHANG) {
            // One has ended.
            Ok(Some(_)) => continue,
            Ok(None) => {}
            Err(_) => return,
        }
        for child in children() {
            let _ = kill_process(child, Signal::KILL);
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

fn children() -> Vec<Pid> {
    let own = std::process::id().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(Pid::from_raw);
    let is_child = |id: &Pid| {
        let stat = fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero())).unwrap_or_default();
        // The name, in parentheses, may hold anything; the state and the parent follow it.
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(&own)
    };
    ids.filter(is_child).collect()
}
