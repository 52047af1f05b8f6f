//! The namespaces that the commands of a session share: a user namespace, and mounts with the private `/tmp`.
//!
//! No process has to run to keep them: a namespace lasts as long as a descriptor of it is open. A helper creates them and sends
//! the descriptors back; each command joins them and adds its own.

use std::fs::{self, File};
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::Path;

use nix::sched::{CloneFlags, setns, unshare};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use rustix::process::{getegid, geteuid, pivot_root};

use super::{Failure, Spec, Step, mounts};

/// Open descriptors of the namespaces of a session.
#[derive(Debug)]
pub(crate) struct Session {
    user: OwnedFd,
    mounts: OwnedFd,
}

/// The directories of a session's root, which is empty otherwise. The machine's own root is in the first.
pub(super) const OLD_ROOT: &str = "/oldroot";
pub(super) const NEW_ROOT: &str = "/newroot";
pub(super) const SHARED_MEMORY: &str = "/shm";
pub(super) const EMPTY_FILE: &str = "/empty";

/// Runs as a helper: creates the namespaces and sends them over the standard input.
pub(super) fn create(spec: &Spec) -> Result<u8, Failure> {
    create_namespaces(spec)?;
    let session = Session {
        user: File::open("/proc/self/ns/user").step("cannot open the user namespace")?.into(),
        mounts: File::open("/proc/self/ns/mnt").step("cannot open the mount namespace")?.into(),
    };
    session.send(std::io::stdin().as_fd()).step("cannot send the namespaces")?;
    Ok(0)
}

/// Creates the namespaces in this process.
///
/// Afterwards the root is a file system in memory that holds the private `/tmp`, the shared part of the new root in `/newroot`,
/// the machine's root in `/oldroot`, and links into it, so that programs can still be executed.
pub(super) fn create_namespaces(spec: &Spec) -> Result<(), Failure> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS).step("cannot create a user namespace")?;
    // Without this the group could not be mapped. Older kernels do not have the file, nor the restriction.
    let _ = fs::write("/proc/self/setgroups", "deny");
    fs::write("/proc/self/uid_map", format!("{user} {user} 1")).step("cannot map the user")?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1")).step("cannot map the group")?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .step("cannot make mounts private")?;
    let mut places = ["/tmp", "/mnt", "/var", "/usr"].into_iter().filter(|place| Path::new(place).is_dir());
    let place = places.next().ok_or_else(|| Failure("there is no directory to mount on".to_owned()))?;
    let size = spec.limits.tmp_mib;
    let options = format!("size={size}m,nr_inodes={},mode=755", inodes(size));
    let options = std::ffi::CString::new(options).step("invalid limits")?;
    mount("tmpfs", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(options.as_c_str()))
        .step("cannot mount a private `/tmp`")?;
    std::env::set_current_dir(place).step("cannot enter the private root")?;
    let own = [OLD_ROOT, NEW_ROOT, "/tmp", SHARED_MEMORY];
    for directory in own {
        fs::create_dir(directory.trim_start_matches('/')).step("cannot fill the private root")?;
    }
    for directory in ["tmp", "shm"] {
        let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        fs::set_permissions(directory, everybody).step("cannot fill the private root")?;
    }
    fs::write(EMPTY_FILE.trim_start_matches('/'), "").step("cannot fill the private root")?;
    pivot_root(".", "oldroot").step("cannot change the root")?;
    std::env::set_current_dir("/").step("cannot enter the private root")?;
    for entry in fs::read_dir(OLD_ROOT).step("cannot read the root")?.flatten() {
        let link = Path::new("/").join(entry.file_name());
        if link.symlink_metadata().is_err() {
            symlink(Path::new("oldroot").join(entry.file_name()), &link).step("cannot fill the private root")?;
        }
    }
    mounts::build_shared(spec)
}

/// The files that a private `/tmp` of this size, in MiB, may hold.
fn inodes(mib: u64) -> u64 {
    (mib * 128).clamp(1_024, 1 << 20)
}

impl Session {
    /// Sends the descriptors over a socket.
    pub(crate) fn send(&self, socket: BorrowedFd<'_>) -> rustix::io::Result<()> {
        let descriptors = [self.user.as_fd(), self.mounts.as_fd()];
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        sendmsg(socket, &[IoSlice::new(b"s")], &mut control, SendFlags::NOSIGNAL).map(drop)
    }

    /// Receives the descriptors from a socket. Returns `None` if the other side was closed without sending them.
    pub(crate) fn receive(socket: BorrowedFd<'_>) -> rustix::io::Result<Option<Self>> {
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let received = recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
        if received.bytes == 0 || received.flags.contains(ReturnFlags::CTRUNC) {
            return Ok(None);
        }
        let mut descriptors = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        Ok(descriptors.next().zip(descriptors.next()).map(|(user, mounts)| Self { user, mounts }))
    }

    /// Joins the namespaces with this process.
    pub(super) fn join(&self) -> Result<(), Failure> {
        setns(&self.user, CloneFlags::CLONE_NEWUSER).step("cannot join the user namespace")?;
        setns(&self.mounts, CloneFlags::CLONE_NEWNS).step("cannot join the mount namespace")
    }
}
