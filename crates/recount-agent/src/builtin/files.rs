//! Opening and replacing files without following symbolic links.

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

/// The maximum size of a file that can be edited, in bytes.
pub(super) const MAX_EDIT_BYTES: u64 = 64 << 20;

/// The flags for a directory that is only traversed.
#[cfg(target_os = "linux")]
const TRAVERSE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const TRAVERSE: OFlags = OFlags::RDONLY;

/// The version of a file, to detect changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileVersion {
    inode: u64,
    length: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl FileVersion {
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

/// Opens the parent directory of a resolved path, component by component without following links, and returns the file name.
fn parent(path: &Path, create: bool) -> io::Result<(OwnedFd, OsString)> {
    let name = path.file_name().ok_or_else(|| io::Error::other("the root directory is not a file"))?.to_owned();
    let flags = TRAVERSE | OFlags::DIRECTORY | OFlags::CLOEXEC;
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

/// Opens a regular file for reading. Devices and pipes are rejected, because they can be endless.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    let (directory, name) = parent(path, false)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(openat(&directory, &name, flags, Mode::empty())?);
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::other("not a regular file but a device or a pipe"));
    }
    Ok(file)
}

/// Reads a whole file as text, with its version.
pub(super) fn read_text(path: &Path) -> Result<(String, FileVersion), ToolError> {
    let mut file = open_file(path)?;
    let stamp = FileVersion::of(&file)?;
    if stamp.length > MAX_EDIT_BYTES {
        return Err(ToolError::new(format!(
            "the file is larger than {MAX_EDIT_BYTES} bytes: use `shell` to change it"
        )));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text =
        String::from_utf8(bytes).map_err(|_| ToolError::new("the file is not UTF-8 text: use `shell` to change it"))?;
    Ok((text, stamp))
}

/// Creates or replaces a file atomically. Other processes read either the old or the new content.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<FileVersion> {
    let (directory, name) = parent(path, true)?;
    let mode = match statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(old) if FileType::from_raw_mode(old.st_mode) == FileType::RegularFile => {
            Some(Mode::from_raw_mode(old.st_mode))
        }
        Ok(old) if FileType::from_raw_mode(old.st_mode) == FileType::Directory => {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(_) => return Err(io::Error::other("not a regular file but a link, a device or a pipe")),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(error.into()),
    };
    let temporary = format!(".recount-{}", RandomIds.next_id());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(&directory, &temporary, flags, Mode::from_raw_mode(0o666))?);
    let written = mode.map_or(Ok(()), |mode| fchmod(&file, mode).map_err(io::Error::from));
    let written = written.and_then(|()| file.write_all(content)).and_then(|()| FileVersion::of(&file));
    let moved = written.and_then(|stamp| {
        renameat(&directory, &temporary, &directory, &name)?;
        Ok(stamp)
    });
    if moved.is_err() {
        // The first error is returned.
        let _ = unlinkat(&directory, &temporary, AtFlags::empty());
    }
    moved
}

/// Converts an I/O error about a path, with a hint for the model.
pub(super) fn failed(workspace: &Workspace, target: &Path, error: &io::Error) -> ToolError {
    let shown = workspace.display(target);
    match error.kind() {
        io::ErrorKind::NotFound => ToolError::new(missing(workspace, target)),
        io::ErrorKind::IsADirectory => {
            ToolError::new(format!("`{shown}` is a directory: use `glob` to list its files"))
        }
        io::ErrorKind::NotADirectory => ToolError::new(format!("a parent of `{shown}` is not a directory")),
        io::ErrorKind::PermissionDenied => ToolError::new(format!("permission denied by the file system: `{shown}`")),
        _ => ToolError::new(format!("`{shown}`: {error}")),
    }
}

/// Describes that a file does not exist, with similar names in the deepest existing directory of its path.
fn missing(workspace: &Workspace, target: &Path) -> String {
    let shown = workspace.display(target);
    let mut exists: PathBuf = target.to_owned();
    let mut wanted = OsString::new();
    while !exists.is_dir() {
        exists.file_name().unwrap_or_default().clone_into(&mut wanted);
        if !exists.pop() {
            break;
        }
    }
    // Only names that the model may list.
    let names = if workspace.may_read(&exists) { similar(&exists, &wanted) } else { Vec::new() };
    let directory = workspace.display(&exists);
    if names.is_empty() {
        format!("`{shown}` does not exist, and `{directory}` has no similar name: use `glob` to search for it")
    } else {
        format!("`{shown}` does not exist; similar names in `{directory}`: {}", names.join(", "))
    }
}

/// Returns the names in a directory that are most similar to a name.
fn similar(directory: &Path, wanted: &OsStr) -> Vec<String> {
    let wanted = wanted.to_string_lossy().to_lowercase();
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().take(10_000);
    let mut names: Vec<(f64, String)> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|name| (strsim::jaro_winkler(&name.to_lowercase(), &wanted), name))
        .filter(|(similarity, _)| *similarity > 0.7)
        .collect();
    names.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    names.into_iter().take(3).map(|(_, name)| format!("`{name}`")).collect()
}
