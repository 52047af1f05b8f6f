//! Paths that are resolved step by step, so that every symbolic link on the way is known.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The most symbolic links that are followed, as the kernel does it.
const MOST_LINKS: usize = 40;

/// A path without symbolic links, and the links by which it was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) path: PathBuf,
    /// The links that were followed, each by a path without links.
    pub(crate) links: Vec<PathBuf>,
}

/// Resolves a path. Links that are replaced at the same time cannot make the path and the links contradict each other.
///
/// # Errors
///
/// The path does not exist, or there are too many links.
pub(crate) fn resolve(path: &Path) -> io::Result<Resolved> {
    let mut links = Vec::new();
    let mut reached = PathBuf::from("/");
    let mut left = vec![std::path::absolute(path)?];
    while let Some(next) = left.pop() {
        let mut parts = next.components();
        let Some(part) = parts.next() else { continue };
        left.push(parts.as_path().to_owned());
        match part {
            Component::RootDir => reached = PathBuf::from("/"),
            Component::ParentDir => drop(reached.pop()),
            Component::CurDir | Component::Prefix(_) => {}
            Component::Normal(name) => {
                let entry = reached.join(name);
                if !entry.symlink_metadata()?.is_symlink() {
                    reached = entry;
                    continue;
                }
                if links.len() == MOST_LINKS {
                    return Err(io::Error::other("too many levels of symbolic links"));
                }
                left.push(fs::read_link(&entry)?);
                links.push(entry);
            }
        }
    }
    Ok(Resolved { path: reached, links })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::os::unix::fs::symlink;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn links_are_found_on_the_way() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("a", root.join("one")).unwrap();
        symlink("../one/b", root.join("a/two")).unwrap();
        symlink(root.join("a/two"), root.join("three")).unwrap();
        let check = |path: &str, expected: &str, links: &[&str]| {
            let resolved = resolve(&root.join(path)).unwrap();
            assert_eq!(resolved.path, root.join(expected));
            assert_eq!(resolved.links, links.iter().map(|link| root.join(link)).collect::<Vec<_>>());
        };
        check("a/b", "a/b", &[]);
        check("one/b", "a/b", &["one"]);
        check("three/../b", "a/b", &["three", "a/two", "one"]);
    }

    #[test]
    fn loops_and_missing_paths_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        symlink("loop", directory.path().join("loop")).unwrap();
        assert!(resolve(&directory.path().join("loop")).is_err());
        assert!(resolve(&directory.path().join("missing")).is_err());
    }
}
