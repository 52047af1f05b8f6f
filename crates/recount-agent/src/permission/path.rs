//! Where a path leads, and whether rules and working directories are about it.
//!
//! A path is judged by where it leads: `.`, `..` and double slashes are resolved, and symbolic links are followed as far as
//! the file system has them now. What this promises holds at the moment of judging. Between then and the use of the path
//! somebody else may put a link in its place; so the built-in tools open files without following a link in the last step
//! and look again, on the open file, where it lies.

use std::io;
use std::path::{Component, Path, PathBuf};

use recount_message::PermissionBehavior;

use super::Coverage;
use super::wildcard;

/// Links that are followed one after the other, at most.
const MAX_LINKS: usize = 40;

/// The directories in which an agent works. Relative paths begin in the first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathResolver {
    directories: Vec<PathBuf>,
}

impl PathResolver {
    /// These directories. What does not exist stays as it is written.
    pub fn new(directories: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let directories = directories.into_iter().map(|path| resolved(Path::new("/"), path.as_ref()));
        Self { directories: directories.filter_map(Result::ok).collect() }
    }

    /// The same with more directories.
    #[must_use]
    pub fn with_directories(mut self, directories: &[PathBuf]) -> Self {
        self.directories.extend(Self::new(directories).directories);
        self
    }

    /// The directories, the one in which relative paths begin first.
    #[cfg(feature = "builtin")]
    pub(crate) fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// The directory in which relative paths begin.
    pub fn base(&self) -> &Path {
        self.directories.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// Where a path leads.
    ///
    /// # Errors
    ///
    /// Links lead in a circle.
    pub fn resolve(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        resolved(self.base(), path.as_ref())
    }

    /// Whether a path that was [resolved](Self::resolve) lies in one of the directories or is one.
    pub fn contains(&self, resolved: &Path) -> bool {
        self.directories.iter().any(|directory| resolved.starts_with(directory))
    }

    /// Whether a path that was resolved lies inside of one of the directories, and not where Git keeps what it runs.
    #[cfg(feature = "builtin")]
    pub(crate) fn contains_editable(&self, resolved: &Path) -> bool {
        self.contains(resolved)
            && !self.directories.iter().any(|directory| directory.starts_with(resolved))
            && !is_guarded(resolved)
    }

    /// Whether rules are about a file.
    ///
    /// ```
    /// use recount_agent::permission::{Coverage, path::PathResolver};
    /// use recount_message::PermissionBehavior::{Allow, Deny};
    ///
    /// let paths = PathResolver::new(["/srv/src"]);
    /// assert_eq!(paths.coverage("/srv/src/lib.rs", &["/srv/src/**"], Allow), Coverage::Yes);
    /// assert_eq!(paths.coverage("/srv/src/../../opt/x", &["/srv/src/**"], Allow), Coverage::No);
    /// assert_eq!(paths.coverage("./../..//opt/./x", &["/opt/**"], Deny), Coverage::Yes);
    ///
    /// // A relative pattern is about the directory itself, whatever characters its name has.
    /// let paths = PathResolver::new(["/srv/[id]"]);
    /// assert_eq!(paths.coverage("src/x", &["src/**"], Deny), Coverage::Yes);
    /// assert_eq!(paths.coverage("/srv/i/src/x", &["src/**"], Allow), Coverage::No);
    /// ```
    pub fn coverage(&self, path: &str, patterns: &[&str], behavior: PermissionBehavior) -> Coverage {
        let written = lexical(&self.base().join(path));
        let Ok(leads_to) = self.resolve(path) else { return Coverage::Unclear };
        let denies = behavior != PermissionBehavior::Allow;
        let about = |pattern: &str, path: &Path| {
            let fold = |text: &str| if denies && FOLDS { text.to_lowercase() } else { text.to_owned() };
            wildcard::matches(&wildcard::path(&fold(pattern)), &fold(&path.to_string_lossy()))
        };
        let covered = patterns.iter().flat_map(|pattern| self.forms(pattern)).any(|pattern| {
            // A rule that forbids a link, or what it leads to, forbids both.
            about(&pattern, &leads_to) || (denies && about(&pattern, &written))
        });
        Coverage::from(covered)
    }

    /// A pattern as it is written, absolute, and with the links before its first special character followed.
    fn forms(&self, pattern: &str) -> Vec<String> {
        if pattern.starts_with('*') {
            return vec![pattern.to_owned()];
        }
        let special = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
        let split = pattern.get(..special).and_then(|start| start.rfind('/')).map_or(0, |slash| slash + 1);
        let (directory, rest) = pattern.split_at(split);
        let written = lexical(&self.base().join(directory));
        let mut forms = vec![joined(&written, rest)];
        if let Ok(resolved) = self.resolve(directory) {
            forms.push(joined(&resolved, rest));
        }
        forms
    }
}

/// Whether names that differ in case are the same file here.
const FOLDS: bool = cfg!(any(target_os = "macos", windows));

/// Whether Git would run or obey what lies there.
#[cfg(feature = "builtin")]
pub(crate) fn is_guarded(path: &Path) -> bool {
    path.components().any(|part| matches!(part, Component::Normal(name) if name.eq_ignore_ascii_case(".git")))
}

fn joined(directory: &Path, rest: &str) -> String {
    let directory = wildcard::escape_path(&directory.to_string_lossy());
    format!("{}/{rest}", directory.trim_end_matches('/'))
}

/// A path without `.`, `..` and double slashes, links not being looked at.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut result = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                result.pop();
            }
            Component::Normal(name) => result.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    result
}

/// Where a path leads, as far as the file system has it; the rest of it without `.` and `..`.
fn resolved(base: &Path, path: &Path) -> io::Result<PathBuf> {
    let mut result = PathBuf::from("/");
    // What is still to be walked, the next part last.
    let mut rest: Vec<PathBuf> = parts(&base.join(path));
    let mut links = 0;
    while let Some(part) = rest.pop() {
        if part == Path::new("..") {
            result.pop();
            continue;
        }
        let next = result.join(&part);
        match std::fs::read_link(&next) {
            Ok(target) => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(io::Error::other(format!("links lead in a circle at `{}`", next.display())));
                }
                if target.is_absolute() {
                    result = PathBuf::from("/");
                }
                rest.extend(parts(&target));
            }
            // It is no link, or not there.
            Err(_) => result = next,
        }
    }
    Ok(result)
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(part).collect()
}
