//! The outer helper: creates the namespaces, starts `init` in them, and ends with it.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

use nix::sched::{CloneFlags, unshare};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::{Failure, MARK, Session, Spec, Step, caps, init, landlock, network, rlimits, seccomp, session};
use crate::Level;

pub(super) fn run(spec: &Spec, command: &[OsString]) -> Result<u8, Failure> {
    if spec.level == Level::Landlock {
        return run_without_namespaces(spec, command);
    }
    if spec.in_session {
        // Signals to the process group of the caller are not meant for the program.
        let _ = rustix::process::setsid();
        let received = Session::receive(std::io::stdin().as_fd()).step("cannot receive the session")?;
        received.ok_or_else(|| Failure("the session has ended".to_owned()))?.join()?;
    } else {
        session::create_namespaces(spec)?;
    }
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
    let status = if spec.in_session {
        // As long as this helper lives, it holds the other side of what `init` has as its standard input.
        let (reader, writer) = std::io::pipe().step("cannot create a pipe")?;
        let child = init.stdin(reader).spawn();
        drop(init);
        let status = wait_while_wanted(&mut child.step("cannot start the inner helper")?);
        drop(writer);
        status
    } else {
        init.status()
    };
    let status = status.step("cannot run the inner helper")?;
    Ok(code(status))
}

/// Waits for the child. Ends it when the other side of the standard input is closed: nobody wants the result any more.
fn wait_while_wanted(child: &mut Child) -> std::io::Result<ExitStatus> {
    let id = Pid::from_child(child);
    let ended = pidfd_open(id, PidfdFlags::empty())?;
    let stdin = std::io::stdin();
    let mut watched = [PollFd::new(&ended, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
    loop {
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        let [ended, stdin] = &watched;
        if !ended.revents().is_empty() {
            break;
        }
        if !stdin.revents().is_empty() {
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

/// Confines this process by Landlock and seccomp alone, and becomes the program.
fn run_without_namespaces(spec: &Spec, command: &[OsString]) -> Result<u8, Failure> {
    std::env::set_current_dir(&spec.directory).step("cannot enter the workspace")?;
    rustix::thread::set_no_new_privs(true).step("cannot give up privileges")?;
    rlimits::apply(&spec.limits)?;
    landlock::restrict_paths(spec)?;
    seccomp::apply(seccomp::Network::Denied, seccomp::Metadata::Denied)?;
    let Some(mut program) = init::program(command) else { return Ok(0) };
    Err(Failure::new(format!("cannot run `{}`", program.get_program().display()), program.exec()))
}
