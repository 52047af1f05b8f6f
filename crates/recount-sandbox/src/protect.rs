//! Files that stay read-only in a writable workspace, and cannot be created there.
//!
//! A mount can only cover a path that exists. A protected path that does not exist gets a placeholder as long as a program
//! runs that could otherwise create it. Placeholders mean nothing to the programs that read them: an empty directory, a
//! comment, or a `commondir` that names its own directory. Each holder of a placeholder has a shared lock on it, also across
//! processes; the last one removes it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use rustix::process::geteuid;

/// A path that a program must not write to or create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Protected {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

/// The placeholder of a protected path that does not exist.
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

/// The modification time of a directory that is a placeholder, in seconds. No program sets it.
const DIRECTORY_MARK: u64 = 1_000_000_000;

/// How often a lock that another program holds is tried again, and the pause between two attempts.
const LOCK_ATTEMPTS: u32 = 40;
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// How often the removal of a placeholder is tried again, and the pause between two attempts.
const REMOVAL_ATTEMPTS: u32 = 100;
const REMOVAL_PAUSE: Duration = Duration::from_millis(20);

/// The holders of each path in this process.
static HOLDERS: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

/// The outcome of [`Protected::hold`].
#[derive(Debug)]
pub(crate) enum Hold {
    /// The path exists and can be covered.
    Held(Held),
    /// The path does not exist, and this user cannot create it, but can make this directory writable as its owner.
    UnwritableParent(PathBuf),
    /// The path does not exist, and no program of this user can create it.
    Unreachable,
}

/// A protected path that exists as long as this is held.
#[derive(Debug)]
pub(crate) struct Held {
    protected: Protected,
    place: Place,
    /// `None` if the file cannot be read, or if a program keeps a lock on it. It is not a placeholder then.
    lock: Option<File>,
}

impl Protected {
    pub(crate) fn directory(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), kind: Kind::Directory }
    }

    pub(crate) fn file(path: impl Into<PathBuf>, content: &'static str) -> Self {
        Self { path: path.into(), kind: Kind::File(content) }
    }

    /// Makes sure that the path exists. It must not be a symbolic link.
    pub(crate) fn hold(&self) -> io::Result<Hold> {
        // This process does not remove the placeholder from now on.
        let place = match Place::of(&self.path) {
            Ok(place) => place,
            Err(error) if is_unwritable(&error) => return Ok(Hold::Unreachable),
            Err(error) => return Err(error),
        };
        *holders().entry(self.path.clone()).or_default() += 1;
        let mut held = Held { protected: self.clone(), place, lock: None };
        // Another process may remove its placeholder between any two steps.
        for attempt in 0.. {
            match self.create(&held.place) {
                Ok(()) => {}
                Err(error) if is_unwritable(&error) => return Ok(self.unwritable(&error)),
                Err(error) => return Err(error),
            }
            let lock = match open(&held.place.entry()) {
                Ok(lock) => lock,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(Hold::Held(held)),
                Err(_) if attempt < LOCK_ATTEMPTS => continue,
                Err(error) => return Err(error),
            };
            match flock(&lock, FlockOperation::NonBlockingLockShared) {
                Ok(()) if is_at(&lock, &held.place.entry()) => {
                    held.lock = Some(lock);
                    return Ok(Hold::Held(held));
                }
                Ok(()) | Err(_) if attempt < LOCK_ATTEMPTS => std::thread::sleep(LOCK_PAUSE),
                // A program holds the lock, which must not keep others from starting.
                Err(Errno::WOULDBLOCK) => return Ok(Hold::Held(held)),
                Err(error) => return Err(error.into()),
                Ok(()) => break,
            }
        }
        Err(io::Error::other(format!("`{}` is created and removed all the time", self.path.display())))
    }

    /// Creates the placeholder unless the path exists. Other programs never see an incomplete file or an unmarked directory.
    fn create(&self, place: &Place) -> io::Result<()> {
        let entry = place.entry();
        if entry.symlink_metadata().is_ok() {
            return Ok(());
        }
        let created = match self.kind {
            Kind::Directory => {
                let builder = &mut tempfile::Builder::new();
                builder.prefix(".recount-").permissions(fs::Permissions::from_mode(0o755));
                let marked = builder.tempdir_in(place.directory())?;
                let mark = SystemTime::UNIX_EPOCH + Duration::from_secs(DIRECTORY_MARK);
                open(marked.path())?.set_times(FileTimes::new().set_modified(mark))?;
                rename_noreplace(marked.path(), &entry).map(|()| drop(marked.keep()))
            }
            Kind::File(content) => {
                let mut written = tempfile::Builder::new().prefix(".recount-").tempfile_in(place.directory())?;
                written.write_all(content.as_bytes())?;
                fs::set_permissions(written.path(), fs::Permissions::from_mode(0o644))?;
                written.persist_noclobber(&entry).map(drop).map_err(|error| error.error)
            }
        };
        match created {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    fn unwritable(&self, error: &io::Error) -> Hold {
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        let is_own = parent.metadata().is_ok_and(|metadata| metadata.uid() == geteuid().as_raw());
        if error.kind() == io::ErrorKind::PermissionDenied && is_own {
            return Hold::UnwritableParent(parent.to_owned());
        }
        Hold::Unreachable
    }

    /// Whether the open file is a placeholder, of this process or one that was left behind.
    fn is_placeholder(&self, mut file: &File) -> bool {
        let Ok(metadata) = file.metadata() else { return false };
        match self.kind {
            Kind::Directory => is_marked(&metadata),
            Kind::File(content) => {
                let mut text = String::new();
                metadata.is_file()
                    && metadata.len() == content.len() as u64
                    && file.rewind().is_ok()
                    && file.read_to_string(&mut text).is_ok()
                    && text == content
            }
        }
    }

    /// Removes the placeholder, unless a holder needs it or something else is at its path. Fails if a program keeps a lock.
    fn remove(&self, place: &Place, lock: &File) -> rustix::io::Result<()> {
        let holders = holders();
        if holders.contains_key(&self.path) || !self.is_placeholder(lock) {
            return Ok(());
        }
        flock(lock, FlockOperation::NonBlockingLockExclusive)?;
        let entry = place.entry();
        if is_at(lock, &entry) {
            // A directory that is no longer empty is not a placeholder any more.
            let _ = match self.kind {
                Kind::Directory => fs::remove_dir(entry),
                Kind::File(_) => fs::remove_file(entry),
            };
        }
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let protected = self.protected.clone();
        {
            let mut holders = holders();
            match holders.get_mut(&protected.path) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(holders.remove(&protected.path)),
            }
        }
        let Some(lock) = self.lock.take() else { return };
        if protected.remove(&self.place, &lock).is_err() {
            let Ok(place) = self.place.try_clone() else { return };
            // Another process needs it and removes it, or a confined program holds a lock until it has ended.
            std::thread::spawn(move || {
                for _ in 0..REMOVAL_ATTEMPTS {
                    std::thread::sleep(REMOVAL_PAUSE);
                    if protected.remove(&place, &lock).is_ok() {
                        break;
                    }
                }
            });
        }
    }
}

/// The directory that holds a path, kept open: a program may put another one, or a symbolic link, at its path.
#[derive(Debug)]
struct Place {
    directory: OwnedFd,
    /// The path where descriptors cannot be used as paths.
    path: PathBuf,
    name: OsString,
}

impl Place {
    /// Opens the directory. Its path must not contain a symbolic link.
    fn of(path: &Path) -> io::Result<Self> {
        let (directory, name) = path.parent().zip(path.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
        #[cfg(target_os = "linux")]
        let opened = {
            use rustix::fs::{CWD, Mode, ResolveFlags, openat2};
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            openat2(CWD, directory, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?
        };
        #[cfg(not(target_os = "linux"))]
        let opened = File::open(directory)?.into();
        Ok(Self { directory: opened, path: directory.to_owned(), name: name.to_owned() })
    }

    /// A path of the open directory.
    fn directory(&self) -> PathBuf {
        if cfg!(target_os = "linux") {
            return PathBuf::from(format!("/proc/self/fd/{}", self.directory.as_raw_fd()));
        }
        self.path.clone()
    }

    fn entry(&self) -> PathBuf {
        self.directory().join(&self.name)
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { directory: self.directory.try_clone()?, path: self.path.clone(), name: self.name.clone() })
    }
}

/// Renames a directory. Fails if the new path exists, unless it is an empty directory on a file system without this check.
fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            other => return Ok(other?),
        }
    }
    fs::rename(from, to)
}

/// Whether a directory is a placeholder.
pub(crate) fn is_placeholder_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| is_marked(&metadata))
}

fn is_marked(metadata: &fs::Metadata) -> bool {
    metadata.is_dir() && u64::try_from(metadata.mtime()) == Ok(DIRECTORY_MARK)
}

fn holders() -> MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    HOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
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
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]
mod tests {
    use super::*;

    fn held(protected: &Protected) -> Held {
        match protected.hold().unwrap() {
            Hold::Held(held) => held,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn last_holder_removes_the_placeholder() {
        let directory = tempfile::tempdir().unwrap();
        for protected in [
            Protected::file(directory.path().join("recount.toml"), COMMENT),
            Protected::file(directory.path().join("commondir"), OWN_DIRECTORY),
            Protected::directory(directory.path().join("hooks")),
        ] {
            let first = held(&protected);
            let second = held(&protected);
            drop(first);
            assert!(protected.path.exists());
            drop(second);
            assert!(!protected.path.exists(), "{protected:?}");
        }
    }

    #[test]
    fn existing_files_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recount.toml");
        fs::write(&path, "[agents.a]\n").unwrap();
        drop(held(&Protected::file(&path, COMMENT)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "[agents.a]\n");
        let empty = directory.path().join("hooks");
        fs::create_dir(&empty).unwrap();
        drop(held(&Protected::directory(&empty)));
        assert!(empty.exists());
    }

    #[test]
    fn placeholder_of_a_killed_process_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        for protected in [
            Protected::file(directory.path().join("recount.toml"), COMMENT),
            Protected::directory(directory.path().join("hooks")),
        ] {
            protected.create(&Place::of(&protected.path).unwrap()).unwrap();
            drop(held(&protected));
            assert!(!protected.path.exists(), "{protected:?}");
        }
    }

    #[test]
    fn placeholder_that_was_filled_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let hooks = Protected::directory(directory.path().join("hooks"));
        let holder = held(&hooks);
        fs::write(hooks.path.join("pre-commit"), "").unwrap();
        drop(holder);
        assert!(hooks.path.join("pre-commit").exists());
    }

    #[test]
    fn locked_file_is_held_without_a_lock() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recount.toml");
        fs::write(&path, "[agents.a]\n").unwrap();
        let foreign = open(&path).unwrap();
        flock(&foreign, FlockOperation::LockExclusive).unwrap();
        assert!(held(&Protected::file(&path, COMMENT)).lock.is_none());
    }

    #[test]
    fn placeholder_is_removed_when_a_program_releases_its_lock() {
        let directory = tempfile::tempdir().unwrap();
        let protected = Protected::file(directory.path().join("recount.toml"), COMMENT);
        let holder = held(&protected);
        let foreign = open(&protected.path).unwrap();
        flock(&foreign, FlockOperation::LockShared).unwrap();
        drop(holder);
        assert!(protected.path.exists());
        drop(foreign);
        for _ in 0..200 {
            if !protected.path.exists() {
                return;
            }
            std::thread::sleep(REMOVAL_PAUSE);
        }
        panic!("the placeholder was not removed");
    }

    #[test]
    fn missing_parent_needs_no_placeholder() {
        let directory = tempfile::tempdir().unwrap();
        let protected = Protected::directory(directory.path().join("a/b"));
        assert!(matches!(protected.hold().unwrap(), Hold::Unreachable));
    }
}
