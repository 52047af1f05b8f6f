//! Processes of commands.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::Stdio;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use recount_message::{IdSource, RandomIds};
use recount_sandbox::{Launch, LaunchGuard};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::Command;

/// The environment variable that marks the processes of a command.
const MARK: &str = "RECOUNT_PROCESS";

/// The maximum wait for the exit of a sandbox helper. Usually it takes about a millisecond.
#[cfg(target_os = "linux")]
const HELPER_TIMEOUT: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 1, tv_nsec: 0 };

/// The processes of a command. Dropping it kills them.
///
/// The kernel kills the processes of a command with a PID namespace of its own. Any other command leads a session without a
/// terminal. Processes that leave its process group are found by a variable in their environment, where `/proc` exists.
#[derive(Debug)]
pub(super) struct ProcessTree {
    leader: Option<Pid>,
    /// The value of [`MARK`]. `None` if the kernel kills the processes.
    mark: Option<String>,
    reaped: bool,
    launch: Option<LaunchGuard>,
}

/// A spawned process.
pub(super) type Child = Box<dyn ChildWrapper>;

/// Spawns a prepared command, with pipes for its output.
pub(super) fn spawn(launch: Launch) -> io::Result<(Child, ProcessTree)> {
    let Launch { command, guard, is_contained } = launch;
    let mut command = Command::from(command);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mark = (!is_contained).then(|| RandomIds.next_id());
    if let Some(mark) = &mark {
        command.env(MARK, mark);
    }
    let mut wrapped = CommandWrap::from(command);
    if !is_contained {
        wrapped.wrap(ProcessSession);
    }
    // The wrapper would wait for the whole process group.
    let child = wrapped.spawn()?.into_inner();
    let leader = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    Ok((child, ProcessTree { leader, mark, reaped: false, launch: Some(guard) }))
}

impl ProcessTree {
    /// Records that the leader was reaped, so that its id may be reused.
    pub(super) fn set_reaped(&mut self) {
        self.reaped = true;
    }

    /// Kills all remaining processes. Returns the number of processes that were found by their mark.
    pub(super) fn kill(&mut self) -> usize {
        let was_running = self.launch.take().is_some();
        let Some(leader) = self.leader else { return 0 };
        let Some(mark) = self.mark.clone() else {
            if was_running && !self.reaped {
                wait_for_helper(leader);
            }
            return 0;
        };
        if !self.reaped || !cfg!(target_os = "linux") {
            // It may have exited in the meantime.
            let _ = kill_process_group(leader, Signal::KILL);
        }
        // A killed process may still be listed in the next round, so processes are counted by id.
        let mut killed = BTreeSet::new();
        // A process may have spawned another one in the meantime.
        for _ in 0..10 {
            let remaining = self.remaining(&mark);
            if remaining.is_empty() {
                break;
            }
            for process in remaining {
                let _ = kill_process(process, Signal::KILL);
                killed.insert(process.as_raw_nonzero());
            }
        }
        killed.len()
    }

    /// Returns the processes of the command that still run.
    fn remaining(&self, mark: &str) -> Vec<Pid> {
        let mark = format!("{MARK}={mark}").into_bytes();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(Pid::from_raw);
        let belongs = |id: &Pid| {
            let directory = Path::new("/proc").join(id.as_raw_nonzero().to_string());
            let stat = std::fs::read_to_string(directory.join("stat")).unwrap_or_default();
            // The name, in parentheses, may contain any characters. State, parent and group follow it.
            let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
            let ended = fields.next().is_none_or(|state| matches!(state, "Z" | "X"));
            let group = fields.nth(1).and_then(|group| group.parse().ok()).and_then(Pid::from_raw);
            let marked = || {
                let environment = std::fs::read(directory.join("environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|variable| variable == mark)
            };
            !ended && (group == self.leader || marked())
        };
        ids.filter(belongs).collect()
    }
}

/// Waits until the helper of a command has ended, which it does after everything that the command has started.
fn wait_for_helper(leader: Pid) {
    #[cfg(target_os = "linux")]
    if let Ok(helper) = rustix::process::pidfd_open(leader, rustix::process::PidfdFlags::empty()) {
        let mut watched = [rustix::event::PollFd::new(&helper, rustix::event::PollFlags::IN)];
        // If the helper takes longer, the caller kills it, and the kernel kills the rest.
        let _ = rustix::event::poll(&mut watched, Some(&HELPER_TIMEOUT));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = leader;
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
    }
}
