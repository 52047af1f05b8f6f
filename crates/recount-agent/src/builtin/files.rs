//! Opening and replacing files without following a link.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use recount_message::{IdSource, RandomIds};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fchmod, mkdirat, open, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::workspace::Workspace;
use crate::tool::ToolError;

/// Larger files are not edited.
pub(super) const LARGEST: u64 = 64 << 20;

/// A directory that is only passed through.
#[cfg(target_os = "linux")]
const PASSED: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASSED: OFlags = OFlags::RDONLY;

/// Which version of a file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    length: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            inode: metadata.ino(),
            length: metadata.len(),
            seconds: metadata.mtime(),
            nanoseconds: metadata.mtime_nsec(),
        })
    }
}

/// The directory of a path whose links were followed, walked step by step, and the name in it.
fn parent(path: &Path, create: bool) -> io::Result<(OwnedFd, OsString)> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it is the root"))?.to_owned();
    let flags = PASSED | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = open("/", flags, Mode::empty())?;
    for part in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(part) = part else { continue };
        let step = || openat(&directory, part, flags | OFlags::NOFOLLOW, Mode::empty());
        directory = match step() {
            Err(Errno::NOENT) if create => {
                match mkdirat(&directory, part, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                step()?
            }
            other => other?,
        };
    }
    Ok((directory, name))
}

/// Opens a regular file for reading. A device or a pipe, from which one could read for ever, is refused.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    let (directory, name) = parent(path, false)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(openat(&directory, &name, flags, Mode::empty())?);
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::other("it is a device or a pipe and no file"));
    }
    Ok(file)
}

/// A whole file as text, with its version.
pub(super) fn read_text(path: &Path) -> Result<(String, Stamp), ToolError> {
    let mut file = open_file(path)?;
    let stamp = Stamp::of(&file)?;
    if stamp.length > LARGEST {
        return Err(ToolError::new(format!("it is larger than {LARGEST} bytes: use `shell` to change it")));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(|_| ToolError::new("it is no UTF-8 text: use `shell` to change it"))?;
    Ok((text, stamp))
}

/// Puts a file in the place of another one, at once: whoever reads it sees the old or the new one whole.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<Stamp> {
    let (directory, name) = parent(path, true)?;
    let mode = match statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(old) if FileType::from_raw_mode(old.st_mode) == FileType::RegularFile => {
            Some(Mode::from_raw_mode(old.st_mode))
        }
        Ok(old) if FileType::from_raw_mode(old.st_mode) == FileType::Directory => {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(_) => return Err(io::Error::other("it is a link, a device or a pipe and no file")),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(error.into()),
    };
    let temporary = format!(".recount-{}", RandomIds.next_id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(&directory, &temporary, flags, Mode::from_raw_mode(0o666))?);
    let written = mode.map_or(Ok(()), |mode| fchmod(&file, mode).map_err(io::Error::from));
    let written = written.and_then(|()| file.write_all(content)).and_then(|()| Stamp::of(&file));
    let moved = written.and_then(|stamp| {
        renameat(&directory, &temporary, &directory, &name)?;
        Ok(stamp)
    });
    if moved.is_err() {
        // What is wrong is said already; that the rest is left behind would not help.
        let _ = unlinkat(&directory, &temporary, AtFlags::empty());
    }
    moved
}

/// An error about a path, with what to do instead.
pub(super) fn failed(workspace: &Workspace, target: &Path, error: &io::Error) -> ToolError {
    let shown = workspace.shown(target);
    match error.kind() {
        io::ErrorKind::NotFound => ToolError::new(missing(workspace, target)),
        io::ErrorKind::IsADirectory => {
            ToolError::new(format!("`{shown}` is a directory: use `glob` to see what is in it"))
        }
        io::ErrorKind::NotADirectory => {
            ToolError::new(format!("`{shown}` leads through something that is no directory"))
        }
        io::ErrorKind::PermissionDenied => ToolError::new(format!("`{shown}` may not be opened by this user")),
        _ => ToolError::new(format!("`{shown}`: {error}")),
    }
}

/// There is no such file. Says where the path ends and what lies there that has a similar name.
fn missing(workspace: &Workspace, target: &Path) -> String {
    let shown = workspace.shown(target);
    let mut exists: PathBuf = target.to_owned();
    let mut wanted = OsString::new();
    while !exists.is_dir() {
        exists.file_name().unwrap_or_default().clone_into(&mut wanted);
        if !exists.pop() {
            break;
        }
    }
    // Names are told only where they could be listed anyway.
    let names = if workspace.may_read(&exists) { similar(&exists, &wanted) } else { Vec::new() };
    let place = workspace.shown(&exists);
    if names.is_empty() {
        format!("there is no `{shown}`, and nothing like it in `{place}`: use `glob` to look for it")
    } else {
        format!("there is no `{shown}`; in `{place}` there is: {}", names.join(", "))
    }
}

/// The names in a directory that are most like the one that was wanted.
fn similar(directory: &Path, wanted: &OsStr) -> Vec<String> {
    let wanted = wanted.to_string_lossy().to_lowercase();
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().take(10_000);
    let mut names: Vec<(f64, String)> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|name| (strsim::jaro_winkler(&name.to_lowercase(), &wanted), name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    names.into_iter().take(3).map(|(_, name)| format!("`{name}`")).collect()
}
