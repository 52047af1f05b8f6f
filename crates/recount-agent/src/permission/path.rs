//! Path resolution, and matching of paths against rules and working directories.
//!
//! A path is matched by its target: `.`, `..`, double slashes and symbolic links are resolved. The target can change between
//! the decision and the use of the path. The built-in tools therefore resolve it again, and open files without following
//! links.

use std::io;
use std::path::{Component, Path, PathBuf};

use recount_message::PermissionBehavior;

use super::Coverage;
use super::wildcard;

/// The maximum number of symbolic links in one path.
const MAX_LINKS: usize = 40;

/// The working directories of an agent. Relative paths are resolved in the first one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathResolver {
    directories: Vec<PathBuf>,
}

impl PathResolver {
    /// Creates a resolver. Directories with circular links are ignored.
    pub fn new(directories: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let directories = directories.into_iter().map(|path| resolved(Path::new("/"), path.as_ref()));
        Self { directories: directories.filter_map(Result::ok).collect() }
    }

    /// Adds directories.
    #[must_use]
    pub fn with_directories(mut self, directories: &[PathBuf]) -> Self {
        self.directories.extend(Self::new(directories).directories);
        self
    }

    /// The directories. Relative paths are resolved in the first one.
    #[cfg(feature = "builtin")]
    pub(crate) fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// The directory in which relative paths are resolved, `/` if there is none.
    pub fn base(&self) -> &Path {
        self.directories.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// Resolves a path to its target. Parts that do not exist are kept.
    ///
    /// # Errors
    ///
    /// The path contains too many links, usually because they are circular.
    pub fn resolve(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        resolved(self.base(), path.as_ref())
    }

    /// Returns whether a [resolved](Self::resolve) path is one of the directories or is inside of one.
    pub fn contains(&self, resolved: &Path) -> bool {
        self.directories.iter().any(|directory| resolved.starts_with(directory))
    }

    /// Returns whether a resolved path is inside of one of the directories, and not in a `.git` directory.
    #[cfg(feature = "builtin")]
    pub(crate) fn contains_editable(&self, resolved: &Path) -> bool {
        self.contains(resolved)
            && !self.directories.iter().any(|directory| directory.starts_with(resolved))
            && !is_in_git_directory(resolved)
    }

    /// Returns whether rules, given by their patterns, match a path.
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
    /// // Special characters in the name of the working directory are escaped in relative patterns.
    /// let paths = PathResolver::new(["/srv/[id]"]);
    /// assert_eq!(paths.coverage("src/x", &["src/**"], Deny), Coverage::Yes);
    /// assert_eq!(paths.coverage("/srv/i/src/x", &["src/**"], Allow), Coverage::No);
    /// ```
    pub fn coverage(&self, path: &str, patterns: &[&str], behavior: PermissionBehavior) -> Coverage {
        let written = lexical(&self.base().join(path));
        let Ok(target) = self.resolve(path) else { return Coverage::Unclear };
        let denies = behavior != PermissionBehavior::Allow;
        let is_match = |pattern: &str, path: &Path| {
            let fold = |text: &str| if denies && FOLDS { text.to_lowercase() } else { text.to_owned() };
            wildcard::matches(&wildcard::path(&fold(pattern)), &fold(&path.to_string_lossy()))
        };
        let matches = patterns.iter().flat_map(|pattern| self.forms(pattern)).any(|pattern| {
            // A deny rule for a link or for its target denies both.
            is_match(&pattern, &target) || (denies && is_match(&pattern, &written))
        });
        Coverage::from(matches)
    }

    /// Returns a pattern as an absolute pattern, and also with resolved links before its first wildcard.
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

/// Whether file names are case-insensitive on this platform.
const FOLDS: bool = cfg!(any(target_os = "macos", windows));

/// Returns whether a path is in a `.git` directory, whose hooks and configuration Git executes.
#[cfg(feature = "builtin")]
pub(crate) fn is_in_git_directory(path: &Path) -> bool {
    path.components().any(|part| matches!(part, Component::Normal(name) if name.eq_ignore_ascii_case(".git")))
}

fn joined(directory: &Path, rest: &str) -> String {
    let directory = wildcard::escape_path(&directory.to_string_lossy());
    format!("{}/{rest}", directory.trim_end_matches('/'))
}

/// Removes `.`, `..` and double slashes from a path without resolving links.
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

/// Resolves a path with its links. Parts that do not exist are kept, without `.` and `..`.
fn resolved(base: &Path, path: &Path) -> io::Result<PathBuf> {
    let mut result = PathBuf::from("/");
    // The remaining parts, the next one last.
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
                    return Err(io::Error::other(format!("too many symbolic links at `{}`", next.display())));
                }
                if target.is_absolute() {
                    result = PathBuf::from("/");
                }
                rest.extend(parts(&target));
            }
            // It is not a link, or does not exist.
            Err(_) => result = next,
        }
    }
    Ok(result)
}

/// Returns the parts of a path in reverse order.
fn parts(path: &Path) -> Vec<PathBuf> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(part).collect()
}
