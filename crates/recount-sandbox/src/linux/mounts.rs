//! The view of the file system that the program gets, built from nothing.
//!
//! Every source and every target is opened step by step without following a symbolic link, so that no program can put
//! one in the way between the plan and the mount.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatVfsMountFlags, StatxFlags, fstatvfs, mkdirat, openat,
    openat2, statx, symlinkat,
};
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

/// Files of `/proc` that describe the whole machine or change it.
const HIDDEN_IN_PROC: &[&str] = &[
    "kallsyms",
    "kcore",
    "keys",
    "key-users",
    "kmsg",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "sysrq-trigger",
    "timer_list",
    "vmallocinfo",
];

/// Files up to this size are copied into the new root, which takes less time than a mount.
const COPIED: u64 = 64 << 10;

/// Builds the part of the new root that all commands of a session share.
pub(super) fn build_shared(spec: &Spec) -> Result<(), Failure> {
    mount("tmpfs", NEW_ROOT, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(c"size=8m,mode=755"))
        .step("cannot mount a new root")?;
    let root = New::open(true)?;
    root.add_devices()?;
    for (path, view) in &spec.system {
        match root.add(path, view) {
            // The path has changed since it was looked up. It is left out.
            Err(error) if is_changed(&error) => {}
            other => other.step(format!("cannot show `{}`", path.display()))?,
        }
    }
    root.restrict_rest()
}

/// Completes the new root for one command, and makes it the root of this process.
pub(super) fn build(spec: &Spec) -> Result<(), Failure> {
    let root = New::open(false)?;
    add_terminals()?;
    root.add_proc(spec)?;
    for (path, view) in &spec.views {
        root.add(path, view).step(format!("cannot show `{}`", path.display()))?;
    }
    root.restrict_rest()?;
    restrict(&root.root, Restriction::ReadOnly).step("cannot restrict `/`")?;
    std::env::set_current_dir(NEW_ROOT).step("cannot enter the new root")?;
    pivot_root(".", ".").step("cannot change the root")?;
    unmount(".", UnmountFlags::DETACH).step("cannot leave the old root")?;
    std::env::set_current_dir(&spec.directory).step("cannot enter the workspace")
}

/// The restriction of a mount of the new root. No mount honours setuid programs, and only one of a device honours devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Restriction {
    ReadOnly,
    Writable,
    Device,
}

/// The new root while it is built, and the root of the machine.
struct New {
    root: OwnedFd,
    machine: OwnedFd,
    /// All commands of a session share what is added now, so that small files can be copied.
    is_shared: bool,
    /// The mounts that were added, by their ids.
    added: RefCell<BTreeMap<u64, Restriction>>,
    /// The empty directories that hide others. They are writable until everything below them is shown.
    covers: RefCell<Vec<OwnedFd>>,
}

impl New {
    fn open(is_shared: bool) -> Result<Self, Failure> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = |path: &str| openat(CWD, path, flags, Mode::empty()).step(format!("cannot open `{path}`"));
        let (root, machine) = (open(NEW_ROOT)?, open(OLD_ROOT)?);
        Ok(Self { root, machine, is_shared, added: RefCell::default(), covers: RefCell::default() })
    }

    /// Adds the private `/tmp`, and the devices that every program may use.
    fn add_devices(&self) -> Result<(), Failure> {
        for (source, target) in [("/tmp", "/tmp"), ("/tmp", "/var/tmp"), (SHARED_MEMORY, "/dev/shm")] {
            let source = openat(CWD, source, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from);
            let added = source
                .and_then(|source| self.bind(&source, &self.directory(Path::new(target))?, Restriction::Writable));
            added.step(format!("cannot show `{target}`"))?;
        }
        for device in DEVICES {
            let path = Path::new("/dev").join(device);
            let add = || self.bind(&resolved(&self.machine, &path)?, &self.file(&path)?, Restriction::Device);
            add().step(format!("cannot show `{}`", path.display()))?;
        }
        for (link, target) in [
            ("/dev/fd", "/proc/self/fd"),
            ("/dev/stdin", "/proc/self/fd/0"),
            ("/dev/stdout", "/proc/self/fd/1"),
            ("/dev/stderr", "/proc/self/fd/2"),
            ("/dev/ptmx", "pts/ptmx"),
        ] {
            self.add(Path::new(link), &View::Link(target.into())).step(format!("cannot show `{link}`"))?;
        }
        for directory in ["/dev/pts", "/proc", "/run"] {
            self.directory(Path::new(directory)).step(format!("cannot show `{directory}`"))?;
        }
        Ok(())
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
                self.bind(&empty, &file, Restriction::ReadOnly).step(format!("cannot hide `/proc/{name}`"))?;
            }
        }
        let mounted = resolved(&self.root, Path::new("/proc")).step("cannot open `/proc`")?;
        restrict(&mounted, Restriction::ReadOnly).step("cannot restrict `/proc`")
    }

    /// Adds a path with its view.
    fn add(&self, path: &Path, view: &View) -> io::Result<()> {
        match view {
            View::Read | View::Write => {
                let source = resolved(&self.machine, path)?;
                let stat = rustix::fs::fstat(&source)?;
                let restriction = if *view == View::Write { Restriction::Writable } else { Restriction::ReadOnly };
                match FileType::from_raw_mode(stat.st_mode) {
                    FileType::Directory => self.bind(&source, &self.directory(path)?, restriction),
                    FileType::RegularFile if self.is_shared && is_small(stat.st_size) => self.copy(path),
                    _ => self.bind(&source, &self.file(path)?, restriction),
                }
            }
            View::Hide => {
                let hidden = match resolved(&self.root, path) {
                    // Nothing shows it.
                    Err(error) if is_changed(&error) => return Ok(()),
                    other => other?,
                };
                if rustix::fs::fstat(&hidden).map(|stat| is_directory(&stat))? {
                    return self.cover_with_empty_directory(&hidden);
                }
                let empty = openat(CWD, EMPTY_FILE, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
                self.bind(&empty, &hidden, Restriction::ReadOnly)
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

    fn cover_with_empty_directory(&self, target: &OwnedFd) -> io::Result<()> {
        let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(context.as_fd(), "mode", "755")?;
        fsconfig_set_string(context.as_fd(), "size", "64k")?;
        fsconfig_create(context.as_fd())?;
        let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        let cover = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)?;
        attach(&cover, target)?;
        self.covers.borrow_mut().push(cover);
        Ok(())
    }

    /// Shows a file or directory, with everything that is mounted below it, at another place.
    fn bind(&self, source: &OwnedFd, target: &OwnedFd, restriction: Restriction) -> io::Result<()> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::AT_RECURSIVE;
        let tree = open_tree(source, c"", flags)?;
        attach(&tree, target)?;
        self.added.borrow_mut().insert(mount_id(&tree)?, restriction);
        restrict(&tree, restriction)
    }

    /// Restricts hidden directories, and the mounts that came along below those that were added. The latter have to be
    /// opened by their paths, which another command of the session may change at the same time.
    fn restrict_rest(&self) -> Result<(), Failure> {
        for cover in self.covers.borrow().iter() {
            restrict(cover, Restriction::ReadOnly).step("cannot restrict a hidden directory")?;
        }
        let mut done: BTreeSet<u64> = self.added.borrow().keys().copied().collect();
        for _ in 0..100 {
            let mounts = Mount::list().step("cannot read the mounts")?;
            let left: Vec<(&u64, Restriction)> = mounts
                .keys()
                .filter(|id| !done.contains(id))
                .filter_map(|id| Some((id, self.inherited(*id, &mounts)?)))
                .collect();
            if left.is_empty() {
                return Ok(());
            }
            for (id, restriction) in left {
                let Some(point) = mounts.get(id).and_then(|mount| mount.point.strip_prefix(NEW_ROOT).ok()) else {
                    done.insert(*id);
                    continue;
                };
                let Ok(opened) = resolved(&self.root, point) else { continue };
                let found = mount_id(&opened).step("cannot look at a mount")?;
                if found == *id {
                    restrict(&opened, restriction).step(format!("cannot restrict `{}`", point.display()))?;
                    done.insert(*id);
                } else if mounts.get(&found).is_some_and(|cover| cover.point.strip_prefix(NEW_ROOT) == Ok(point)) {
                    // Another mount covers it.
                    done.insert(*id);
                }
            }
        }
        Err(Failure("mounts below the workspace change all the time".to_owned()))
    }

    /// The restriction of the mount that was added and that this one came along with.
    fn inherited(&self, id: u64, mounts: &BTreeMap<u64, Mount>) -> Option<Restriction> {
        let added = self.added.borrow();
        let parents = std::iter::successors(Some(id), |id| mounts.get(id).map(|mount| mount.parent));
        // The list is short; the root of all mounts may be its own parent.
        parents.take(mounts.len()).find_map(|id| added.get(&id).copied())
    }

    /// Opens a directory of the new root, and creates it if it is missing.
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

    /// Opens a file of the new root, and creates it if it is missing.
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

/// Adds the pseudo-terminals that a command opens itself.
fn add_terminals() -> Result<(), Failure> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let options = c"newinstance,ptmxmode=0666,mode=620";
    mount("devpts", format!("{NEW_ROOT}/dev/pts"), "devpts", flags, Some(options)).step("cannot mount `/dev/pts`")
}

/// Restricts the mount that a descriptor is the root of. No symbolic link is followed.
fn restrict(mount: &OwnedFd, restriction: Restriction) -> io::Result<()> {
    let current = current_flags(mount)?;
    let wanted = flags(current, restriction);
    if wanted == current {
        return Ok(());
    }
    let path = format!("/proc/self/fd/{}", mount.as_raw_fd());
    Ok(mount_remount(path, wanted | MountFlags::BIND, c"")?)
}

/// Opens a path below a directory without following a symbolic link.
fn resolved(directory: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat2(directory, path, flags, Mode::empty(), ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS)?)
}

fn is_directory(stat: &rustix::fs::Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

fn attach(mount: &OwnedFd, target: &OwnedFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, c"", target, c"", flags)?)
}

/// Whether an error means that a path is missing, or leads over a symbolic link.
fn is_changed(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

fn is_small(size: i64) -> bool {
    u64::try_from(size).is_ok_and(|size| size <= COPIED)
}

fn mount_id(descriptor: &OwnedFd) -> io::Result<u64> {
    Ok(statx(descriptor, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?.stx_mnt_id)
}

/// The flags that a mount should have. None that it has is taken away.
fn flags(current: MountFlags, restriction: Restriction) -> MountFlags {
    let added = match restriction {
        Restriction::ReadOnly => MountFlags::RDONLY | MountFlags::NODEV,
        Restriction::Writable => MountFlags::NODEV,
        Restriction::Device => MountFlags::RDONLY,
    };
    current | added | MountFlags::NOSUID
}

/// The flags of a mount.
fn current_flags(mount: &OwnedFd) -> io::Result<MountFlags> {
    let has = fstatvfs(mount)?.f_flag;
    let mut flags = MountFlags::empty();
    for (held, flag) in [
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY),
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
    ] {
        flags.set(flag, has.contains(held));
    }
    let atime = if has.contains(StatVfsMountFlags::NOATIME) {
        MountFlags::NOATIME
    } else if has.contains(StatVfsMountFlags::RELATIME) {
        MountFlags::RELATIME
    } else {
        MountFlags::STRICTATIME
    };
    Ok(flags | atime)
}

/// A line of the list of mounts.
struct Mount {
    parent: u64,
    point: PathBuf,
}

impl Mount {
    /// The mounts of this process, by their ids.
    fn list() -> io::Result<BTreeMap<u64, Self>> {
        let text = fs::read("/proc/self/mountinfo")?;
        Ok(text.split(|byte| *byte == b'\n').filter_map(Self::parse).collect())
    }

    fn parse(line: &[u8]) -> Option<(u64, Self)> {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse().ok();
        let (id, parent) = (number(fields.first()?)?, number(fields.get(1)?)?);
        Some((id, Self { parent, point: unescaped(fields.get(4)?) }))
    }
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
