//! The view of the file system that the program gets, built from nothing.
//!
//! Every source and every target is opened step by step without following a symbolic link, so that nobody can put one in the
//! way between the plan and the mount.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, symlinkat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount, mount_remount, move_mount, open_tree, unmount,
};
use rustix::process::pivot_root;

use super::session::{EMPTY_FILE, NEW_ROOT, OLD_ROOT, SHARED_MEMORY};
use super::{Failure, Spec, Step};
use crate::plan::View;

/// Devices that every program may use.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

/// Files of `/proc` that tell of the whole machine or change it.
const HIDDEN_IN_PROC: &[&str] = &["kcore", "keys", "key-users", "kmsg", "sysrq-trigger", "timer_list"];

/// Files up to this size are copied into the new root, which takes less time than a mount.
const COPIED: u64 = 64 << 10;

/// Builds the part of the new root that all commands of a session share.
pub(super) fn build_shared(spec: &Spec) -> Result<(), Failure> {
    mount("tmpfs", NEW_ROOT, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(c"size=8m,mode=755"))
        .step("cannot mount a new root")?;
    let root = New::open(true)?;
    root.add_devices()?;
    root.add_all(&spec.system)?;
    make_read_only(|path| path == Path::new("/") || is_provided_writable(path))
}

/// Adds the pseudo-terminals that a command opens itself.
fn add_terminals() -> Result<(), Failure> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let options = c"newinstance,ptmxmode=0666,mode=620";
    mount("devpts", format!("{NEW_ROOT}/dev/pts"), "devpts", flags, Some(options)).step("cannot mount `/dev/pts`")
}

/// Completes the new root for one command, and makes it the root of this process.
pub(super) fn build(spec: &Spec) -> Result<(), Failure> {
    let root = New::open(false)?;
    add_terminals()?;
    root.add_proc(spec)?;
    root.add_all(&spec.views)?;
    make_read_only(|path| is_writable(path, spec))?;
    std::env::set_current_dir(NEW_ROOT).step("cannot enter the new root")?;
    pivot_root(".", ".").step("cannot change the root")?;
    unmount(".", UnmountFlags::DETACH).step("cannot leave the old root")?;
    std::env::set_current_dir(&spec.directory).step("cannot enter the workspace")
}

/// The new root while it is built, and the root of the machine.
struct New {
    root: OwnedFd,
    machine: OwnedFd,
    /// All commands of a session share what is added now, so that small files can be copied.
    is_shared: bool,
}

impl New {
    fn open(is_shared: bool) -> Result<Self, Failure> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = |path: &str| openat(CWD, path, flags, Mode::empty()).step(format!("cannot open `{path}`"));
        Ok(Self { root: open(NEW_ROOT)?, machine: open(OLD_ROOT)?, is_shared })
    }

    /// Adds the private `/tmp`, and the devices that every program may use.
    fn add_devices(&self) -> Result<(), Failure> {
        let provide = |source: &str, target: &str| {
            let source = openat(CWD, source, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
            bind(&source, &self.directory(Path::new(target))?)
        };
        provide("/tmp", "/tmp").step("cannot show `/tmp`")?;
        provide(SHARED_MEMORY, "/dev/shm").step("cannot show `/dev/shm`")?;
        for device in DEVICES {
            let path = Path::new("/dev").join(device);
            self.add(&path, &View::Read).step(format!("cannot show `{}`", path.display()))?;
        }
        for (link, target) in [
            ("/dev/fd", "/proc/self/fd"),
            ("/dev/stdin", "/proc/self/fd/0"),
            ("/dev/stdout", "/proc/self/fd/1"),
            ("/dev/stderr", "/proc/self/fd/2"),
            ("/dev/ptmx", "pts/ptmx"),
            ("/var/tmp", "/tmp"),
        ] {
            self.add(Path::new(link), &View::Link(target.into())).step(format!("cannot show `{link}`"))?;
        }
        for directory in ["/dev/pts", "/proc", "/run"] {
            self.directory(Path::new(directory)).step(format!("cannot show `{directory}`"))?;
        }
        Ok(())
    }

    fn add_all(&self, views: &[(PathBuf, View)]) -> Result<(), Failure> {
        let add =
            |(path, view): &(PathBuf, View)| self.add(path, view).step(format!("cannot show `{}`", path.display()));
        views.iter().try_for_each(add)
    }

    fn add_proc(&self, spec: &Spec) -> Result<(), Failure> {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        let path = format!("{NEW_ROOT}/proc");
        mount("proc", &path, "proc", flags, None).step("cannot mount `/proc`")?;
        // The limit of processes does not hold for root; newer kernels have one for each namespace. Others have only the
        // one of the machine, which cannot be written from here.
        let _ = fs::write(format!("{path}/sys/kernel/pid_max"), spec.limits.processes.max(400).to_string());
        let empty = openat(CWD, EMPTY_FILE, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        let empty = empty.step("cannot open the empty file")?;
        for name in HIDDEN_IN_PROC {
            if let Ok(file) = resolved(&self.root, &Path::new("/proc").join(name)) {
                bind(&empty, &file).step(format!("cannot hide `/proc/{name}`"))?;
            }
        }
        Ok(())
    }

    /// Adds a path with its view.
    fn add(&self, path: &Path, view: &View) -> io::Result<()> {
        match view {
            View::Read | View::Write => {
                let source = resolved(&self.machine, path)?;
                let stat = rustix::fs::fstat(&source)?;
                match FileType::from_raw_mode(stat.st_mode) {
                    FileType::Directory => bind(&source, &self.directory(path)?),
                    FileType::RegularFile if self.is_shared && is_small(stat.st_size) => self.copy(path),
                    _ => bind(&source, &self.file(path)?),
                }
            }
            View::Hide => {
                let hidden = resolved(&self.root, path)?;
                if rustix::fs::fstat(&hidden).map(|stat| is_directory(&stat))? {
                    return cover_with_empty_directory(&hidden);
                }
                let empty = openat(CWD, EMPTY_FILE, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
                bind(&empty, &hidden)
            }
            View::Link(target) => {
                let (directory, name) = self.parent(path)?;
                match symlinkat(target, &directory, name) {
                    Ok(()) | Err(Errno::EXIST) => Ok(()),
                    Err(error) => Err(error.into()),
                }
            }
            View::Empty => self.directory(path).map(drop),
        }
    }

    /// Copies a file of the machine.
    fn copy(&self, path: &Path) -> io::Result<()> {
        let source = File::from(openat2(
            &self.machine,
            path,
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
            ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS,
        )?);
        let (directory, name) = self.parent(path)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(source.metadata()?.permissions().mode() & 0o555);
        let mut target = File::from(openat(&directory, name, flags, mode)?);
        io::copy(&mut source.take(COPIED), &mut target).map(drop)
    }

    /// Opens a directory of the new root, and creates it where it is missing.
    fn directory(&self, path: &Path) -> io::Result<OwnedFd> {
        let mut directory = self.root.try_clone()?;
        for part in path.components() {
            let Component::Normal(name) = part else { continue };
            let name = Path::new(name);
            directory = match resolved(&directory, name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match mkdirat(&directory, name, Mode::from_raw_mode(0o755)) {
                        // Another command of the session was faster.
                        Ok(()) | Err(Errno::EXIST) => resolved(&directory, name)?,
                        Err(error) => return Err(error.into()),
                    }
                }
                other => other?,
            };
        }
        Ok(directory)
    }

    /// Opens a file of the new root, and creates it where it is missing.
    fn file(&self, path: &Path) -> io::Result<OwnedFd> {
        let (directory, name) = self.parent(path)?;
        let name = Path::new(name);
        match resolved(&directory, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                match openat(&directory, name, flags, Mode::from_raw_mode(0o444)) {
                    Ok(_) | Err(Errno::EXIST) => resolved(&directory, name),
                    Err(error) => Err(error.into()),
                }
            }
            other => other,
        }
    }

    fn parent<'p>(&self, path: &'p Path) -> io::Result<(OwnedFd, &'p std::ffi::OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.directory(path.parent().unwrap_or(Path::new("/")))?, name))
    }
}

/// Opens a path below a directory without following a symbolic link.
fn resolved(directory: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat2(directory, path, flags, Mode::empty(), ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS)?)
}

fn is_directory(stat: &rustix::fs::Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

fn cover_with_empty_directory(target: &OwnedFd) -> io::Result<()> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), "mode", "555")?;
    fsconfig_set_string(context.as_fd(), "size", "64k")?;
    fsconfig_create(context.as_fd())?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    attach(&fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)?, target)
}

/// Shows a file or directory, with everything that is mounted below it, at another place.
fn bind(source: &OwnedFd, target: &OwnedFd) -> io::Result<()> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    attach(&open_tree(source, c"", flags)?, target)
}

fn attach(mount: &OwnedFd, target: &OwnedFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, c"", target, c"", flags)?)
}

/// Makes every mount of the new root read-only that is not writable, also those that came along below others.
fn make_read_only(is_writable: impl Fn(&Path) -> bool) -> Result<(), Failure> {
    let mounts = fs::read("/proc/self/mountinfo").step("cannot read the mounts")?;
    for line in mounts.split(|byte| *byte == b'\n') {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let (Some(point), Some(options)) = (fields.get(4), fields.get(5)) else { continue };
        let point = unescaped(point);
        let Ok(path) = point.strip_prefix(NEW_ROOT) else { continue };
        let path = Path::new("/").join(path);
        let wanted = flags(&path, options, is_writable(&path));
        if wanted != current_flags(options) {
            mount_remount(&point, wanted | MountFlags::BIND, c"")
                .step(format!("cannot restrict `{}`", path.display()))?;
        }
    }
    Ok(())
}

fn is_writable(path: &Path, spec: &Spec) -> bool {
    let view = spec.views.iter().rev().find(|(view, _)| path.starts_with(view));
    view.map_or_else(|| is_provided_writable(path), |(_, view)| *view == View::Write)
}

/// Whether a path is one of those that every command can write to.
fn is_provided_writable(path: &Path) -> bool {
    path == Path::new("/tmp") || path == Path::new("/dev/shm") || path == Path::new("/dev/pts")
}

fn is_small(size: i64) -> bool {
    u64::try_from(size).is_ok_and(|size| size <= COPIED)
}

/// The flags that a mount should have. None that it has is taken away.
fn flags(path: &Path, options: &[u8], is_writable: bool) -> MountFlags {
    let mut flags = current_flags(options) | MountFlags::NOSUID;
    flags |= if is_writable { MountFlags::empty() } else { MountFlags::RDONLY };
    flags | if path.starts_with("/dev") { MountFlags::empty() } else { MountFlags::NODEV }
}

/// The flags of a mount, from the list of mounts.
fn current_flags(options: &[u8]) -> MountFlags {
    let mut flags = MountFlags::empty();
    let mut atime = MountFlags::STRICTATIME;
    for option in options.split(|byte| *byte == b',') {
        match option {
            b"ro" => flags |= MountFlags::RDONLY,
            b"nosuid" => flags |= MountFlags::NOSUID,
            b"nodev" => flags |= MountFlags::NODEV,
            b"noexec" => flags |= MountFlags::NOEXEC,
            b"nodiratime" => flags |= MountFlags::NODIRATIME,
            b"noatime" => atime = MountFlags::NOATIME,
            b"relatime" => atime = MountFlags::RELATIME,
            _ => {}
        }
    }
    flags | atime
}

/// A path of the list of mounts, in which blanks and backslashes are octal.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| byte == b'\\');
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}
