//! A running command and everything that it started.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::Stdio;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use recount_message::{IdSource, RandomIds};
use recount_sandbox::{Launch, LaunchGuard};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::Command;

/// The variable by which a process is known as one of ours, wherever it went.
const MARK: &str = "RECOUNT_PROCESS";

/// The longest wait for a helper to end. It takes about a millisecond.
#[cfg(target_os = "linux")]
const END: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 1, tv_nsec: 0 };

/// Ends a command and everything that it started when it is dropped.
///
/// The kernel does so for a command with a PID namespace of its own. Any other leads a session, so that it has no terminal;
/// processes that leave its process group are found by a variable in their environment, if `/proc` shows it.
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<Pid>,
    /// `None` if the kernel ends what the command started.
    mark: Option<String>,
    reaped: bool,
    launch: Option<LaunchGuard>,
}

/// A process that was started.
pub(super) type Child = Box<dyn ChildWrapper>;

/// Starts a command that is prepared to run, with pipes for its output.
pub(super) fn start(launch: Launch) -> io::Result<(Child, Group)> {
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
    Ok((child, Group { leader, mark, reaped: false, launch: Some(guard) }))
}

impl Group {
    /// The leader has ended and its id may be given to another process.
    pub(super) fn set_reaped(&mut self) {
        self.reaped = true;
    }

    /// Ends everything that still runs. Returns the number of processes that were found.
    pub(super) fn end(&mut self) -> usize {
        let was_running = self.launch.take().is_some();
        let Some(leader) = self.leader else { return 0 };
        let Some(mark) = self.mark.clone() else {
            if was_running && !self.reaped {
                wait_for_helper(leader);
            }
            return 0;
        };
        if !self.reaped || !cfg!(target_os = "linux") {
            // It may have ended just now.
            let _ = kill_process_group(leader, Signal::KILL);
        }
        // One that was just killed may still be seen in the next round, so they are counted by their ids.
        let mut ended = BTreeSet::new();
        // One that is being looked at may have started another one.
        for _ in 0..10 {
            let left = self.left(&mark);
            if left.is_empty() {
                break;
            }
            for process in left {
                let _ = kill_process(process, Signal::KILL);
                ended.insert(process.as_raw_nonzero());
            }
        }
        ended.len()
    }

    /// The processes of the command that still run.
    fn left(&self, mark: &str) -> Vec<Pid> {
        let mark = format!("{MARK}={mark}").into_bytes();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(Pid::from_raw);
        let belongs = |id: &Pid| {
            let directory = Path::new("/proc").join(id.as_raw_nonzero().to_string());
            let stat = std::fs::read_to_string(directory.join("stat")).unwrap_or_default();
            // The name, in parentheses, may hold anything; state, parent and group follow it.
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
        // A helper that takes longer is killed by the caller, and the kernel ends the rest.
        let _ = rustix::event::poll(&mut watched, Some(&END));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = leader;
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}
