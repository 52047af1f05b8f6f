//! Files that stay read-only in a writable workspace, and cannot be created there.
//!
//! A mount can only cover a path that exists. A protected path that does not exist gets a placeholder as long as a program
//! runs that could otherwise create it. Placeholders mean nothing to the programs that read them: an empty directory, a
//! comment, or a `commondir` that names its own directory. Each user of a placeholder holds a shared lock on it, also across
//! processes; the last one removes it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

/// A path that a program must not write to or create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Protected {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

/// What stands for a protected path that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    /// A file with this content.
    File(&'static str),
}

/// A comment in the languages of the files that are protected.
pub(crate) const COMMENT: &str = "# Placeholder of a running sandbox. It is removed when the sandbox ends.\n";

/// Names the directory that the file lies in, in a form that Git itself does not write.
pub(crate) const OWN_DIRECTORY: &str = "././.\n";

/// A protected path that exists as long as this is held.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
    kind: Kind,
    lock: File,
    is_placeholder: bool,
}

impl Protected {
    pub(crate) fn directory(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), kind: Kind::Directory }
    }

    pub(crate) fn file(path: impl Into<PathBuf>, content: &'static str) -> Self {
        Self { path: path.into(), kind: Kind::File(content) }
    }

    /// Makes sure that the path exists.
    ///
    /// Returns `None` if it does not exist and cannot be created, for example in a directory that this user cannot write
    /// to: a confined program cannot create it either.
    pub(crate) fn hold(&self) -> io::Result<Option<Held>> {
        // Another process may remove its placeholder between any two steps.
        for _ in 0..100 {
            let is_created = match self.create() {
                Ok(is_created) => is_created,
                Err(error) if is_unwritable(&error) => return Ok(None),
                Err(error) => return Err(error),
            };
            let lock = match open(&self.path) {
                Ok(lock) => lock,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // A symbolic link, or a file that this user cannot read: it is covered as it is.
                Err(_) => return Ok(None),
            };
            flock(&lock, FlockOperation::LockShared)?;
            if is_at(&lock, &self.path) {
                let is_placeholder = is_created || self.is_placeholder(&lock);
                return Ok(Some(Held { path: self.path.clone(), kind: self.kind, lock, is_placeholder }));
            }
        }
        Err(io::Error::other(format!("`{}` is created and removed all the time", self.path.display())))
    }

    /// Creates the placeholder unless something is there. Other programs never see it half written.
    fn create(&self) -> io::Result<bool> {
        if self.path.symlink_metadata().is_ok() {
            return Ok(false);
        }
        let created = match self.kind {
            Kind::Directory => DirBuilder::new().create(&self.path),
            Kind::File(content) => {
                let parent = self.path.parent().unwrap_or(Path::new("/"));
                let mut written = tempfile::Builder::new().prefix(".recount-").tempfile_in(parent)?;
                written.write_all(content.as_bytes())?;
                fs::set_permissions(written.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
                written.persist_noclobber(&self.path).map(drop).map_err(|error| error.error)
            }
        };
        match created {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the file at the path is a placeholder that another process created or left behind. Directories carry no
    /// mark.
    fn is_placeholder(&self, mut file: &File) -> bool {
        let Kind::File(content) = self.kind else { return false };
        let mut text = String::new();
        file.metadata().is_ok_and(|metadata| metadata.len() == content.len() as u64)
            && file.read_to_string(&mut text).is_ok()
            && text == content
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.is_placeholder || flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        if is_at(&self.lock, &self.path) {
            // A directory that is no longer empty belongs to whoever filled it.
            let _ = match self.kind {
                Kind::Directory => fs::remove_dir(&self.path),
                Kind::File(_) => fs::remove_file(&self.path),
            };
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), path.symlink_metadata()) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

fn is_unwritable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    #[test]
    fn last_holder_removes_the_placeholder() {
        let directory = tempfile::tempdir().unwrap();
        for protected in [
            Protected::file(directory.path().join("recount.toml"), COMMENT),
            Protected::file(directory.path().join("commondir"), OWN_DIRECTORY),
        ] {
            let first = protected.hold().unwrap().unwrap();
            let second = protected.hold().unwrap().unwrap();
            drop(first);
            assert!(protected.path.exists());
            drop(second);
            assert!(!protected.path.exists());
        }
    }

    #[test]
    fn existing_files_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recount.toml");
        fs::write(&path, "[agents.a]\n").unwrap();
        drop(Protected::file(&path, COMMENT).hold().unwrap().unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "[agents.a]\n");
        let empty = directory.path().join("hooks");
        fs::create_dir(&empty).unwrap();
        drop(Protected::directory(&empty).hold().unwrap().unwrap());
        assert!(empty.exists());
    }

    #[test]
    fn placeholder_of_a_killed_process_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recount.toml");
        fs::write(&path, COMMENT).unwrap();
        drop(Protected::file(&path, COMMENT).hold().unwrap().unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn missing_parent_needs_no_placeholder() {
        let directory = tempfile::tempdir().unwrap();
        assert!(Protected::directory(directory.path().join("a/b")).hold().unwrap().is_none());
    }
}
