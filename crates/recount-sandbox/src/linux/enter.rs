//! The outer helper: creates the namespaces, starts `init` in them, and ends with it.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use nix::sched::{CloneFlags, unshare};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::{Failure, Lifeline, MARK, SPEC, Session, Spec, Step, caps, network, session, supervise};
use crate::Level;

pub(super) fn run(spec: &Spec, command: &[OsString]) -> Result<u8, Failure> {
    if spec.level == Level::Landlock {
        return supervise::run(spec, command);
    }
    let wanted = if spec.in_session {
        // Signals to the process group of the caller are not meant for the program.
        let _ = rustix::process::setsid();
        let received = Session::receive(std::io::stdin().as_fd()).step("cannot receive the session")?;
        received.ok_or_else(|| Failure("the session has ended".to_owned()))?.join()?;
        Some(std::io::stdin().as_fd().try_clone_to_owned().step("cannot watch the standard input")?)
    } else {
        let wanted = lifeline(spec)?;
        session::create_namespaces(spec)?;
        wanted
    };
    let mut namespaces = CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    namespaces.set(CloneFlags::CLONE_NEWNET, !spec.network);
    unshare(namespaces).step("cannot create namespaces")?;
    if !spec.network {
        network::start_loopback().step("cannot start the private loopback")?;
    }
    caps::keep()?;
    let mut init = Command::new("/proc/self/exe");
    init.arg(MARK).arg("init").args(command);
    if spec.in_session {
        init.stdin(Stdio::null());
    }
    let mut child = with_parent(&mut init).spawn().step("cannot start the inner helper")?;
    let status = match &wanted {
        Some(wanted) => wait_while_wanted(&mut child, wanted),
        None => child.wait(),
    };
    Ok(code(status.step("cannot run the inner helper")?))
}

/// Opens the pipe that the caller keeps as long as it wants the program. Returns `None` if it has none, or if the system
/// does not let this process look at its parent.
pub(super) fn lifeline(spec: &Spec) -> Result<Option<OwnedFd>, Failure> {
    let Some(Lifeline { process, descriptor, inode }) = &spec.lifeline else { return Ok(None) };
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(format!("/proc/{process}/fd/{descriptor}"));
    match opened {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(None),
        Ok(pipe) if pipe.metadata().is_ok_and(|metadata| metadata.ino() == *inode) => Ok(Some(pipe.into())),
        _ => Err(Failure("the caller has ended".to_owned())),
    }
}

/// The variable that holds the id of the outer helper.
fn parent_variable() -> String {
    format!("{SPEC}PARENT")
}

/// Passes the id of this process to a helper.
pub(super) fn with_parent(helper: &mut Command) -> &mut Command {
    helper.env(parent_variable(), std::process::id().to_string())
}

/// Fails if the outer helper has ended already, before the kernel could end this process with it.
pub(super) fn follow_parent() -> Result<(), Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat").step("cannot look for the outer helper")?;
    // The name, in parentheses, may hold anything; the state and the parent follow it. The ids are those that the outer
    // helper sees, also in a PID namespace: the list of processes is still that of the machine.
    let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
    if parent.map(OsString::from) == std::env::var_os(parent_variable()) {
        return Ok(());
    }
    Err(Failure("the outer helper has ended".to_owned()))
}

/// Waits for the child. Ends it when the other side of `wanted` is closed: the caller has dropped the command.
pub(super) fn wait_while_wanted(child: &mut Child, wanted: &OwnedFd) -> std::io::Result<ExitStatus> {
    let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let mut watched = [PollFd::new(&ended, PollFlags::IN), PollFd::new(wanted, PollFlags::IN)];
    loop {
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        let [ended, wanted] = &watched;
        if !ended.revents().is_empty() {
            break;
        }
        if !wanted.revents().is_empty() {
            child.kill()?;
            break;
        }
    }
    child.wait()
}

/// The exit code of a program as a shell reports it.
pub(super) fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
