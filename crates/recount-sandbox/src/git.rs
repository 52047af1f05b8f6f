//! What a writable workspace must not change of its Git repository.
//!
//! `git status` alone runs programs that the repository's `config` names. Whoever can write to it, or can put another
//! repository in its place, runs code the next time that somebody uses Git there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::protect::{COMMENT, OWN_DIRECTORY, Protected};

/// The repository that a directory is the work tree of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Repository {
    /// Directories outside of the work tree that Git needs: those of a linked work tree.
    pub(crate) outside: Vec<PathBuf>,
    /// Paths that must not be renamed or replaced. Their content is writable.
    pub(crate) pinned: Vec<PathBuf>,
    /// Paths that must not be written to or created.
    pub(crate) protected: Vec<Protected>,
}

impl Repository {
    /// Finds the repository of a directory, given by its canonical path.
    ///
    /// A directory without one must not get one: its `.git` is protected.
    pub(crate) fn of(directory: &Path) -> Self {
        let dot_git = directory.join(".git");
        match dot_git.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {
                Self { outside: Vec::new(), pinned: vec![dot_git.clone()], protected: obeyed(&dot_git) }
            }
            Ok(metadata) if metadata.is_file() => {
                let mut repository = linked(&dot_git).unwrap_or_default();
                repository.protected.push(Protected::file(&dot_git, COMMENT));
                repository
            }
            Ok(_) => Self { protected: vec![Protected::file(&dot_git, COMMENT)], ..Self::default() },
            Err(_) => Self { protected: vec![Protected::directory(&dot_git)], ..Self::default() },
        }
    }
}

/// The paths of a Git directory by which it names programs or another directory.
fn obeyed(git: &Path) -> Vec<Protected> {
    vec![
        Protected::file(git.join("config"), COMMENT),
        Protected::file(git.join("config.worktree"), COMMENT),
        Protected::file(git.join("commondir"), OWN_DIRECTORY),
        Protected::directory(git.join("hooks")),
        Protected::directory(git.join("modules")),
    ]
}

/// The repository of a linked work tree, whose `.git` is a file.
///
/// Anybody can write a file that names any directory. Only a directory that names the file in turn, as Git writes it, is
/// one of this work tree.
fn linked(dot_git: &Path) -> Option<Repository> {
    let text = fs::read_to_string(dot_git).ok()?;
    let named = dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim());
    let own = fs::canonicalize(named).ok()?;
    let back = fs::read_to_string(own.join("gitdir")).ok()?;
    if fs::canonicalize(back.trim()).ok()? != fs::canonicalize(dot_git).ok()? {
        return None;
    }
    let common = fs::read_to_string(own.join("commondir")).ok()?;
    let common = fs::canonicalize(own.join(common.trim())).ok()?;
    // The directory of a linked work tree lies in the one that all share.
    if own.parent()?.file_name()? != "worktrees" || own.parent()?.parent()? != common {
        return None;
    }
    let mut protected = obeyed(&common);
    protected.extend(["commondir", "gitdir", "config.worktree"].map(|name| Protected::file(own.join(name), COMMENT)));
    Some(Repository { outside: vec![common], pinned: Vec::new(), protected })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(directory: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(arguments).current_dir(directory);
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    }

    #[test]
    fn directory_without_repository_must_not_get_one() {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::of(directory.path());
        assert_eq!(repository.protected, [Protected::directory(directory.path().join(".git"))]);
    }

    #[test]
    fn linked_work_tree_needs_the_directory_it_came_from() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let (main, tree) = (root.join("main"), root.join("tree"));
        fs::create_dir(&main).unwrap();
        git(&main, &["init", "--quiet"]);
        git(&main, &["commit", "--quiet", "--allow-empty", "--message", "first"]);
        git(&main, &["worktree", "add", "--quiet", tree.to_str().unwrap()]);
        assert_eq!(Repository::of(&tree).outside, [main.join(".git")]);

        // A file that names a directory which does not name it in turn grants nothing.
        let forged = root.join("forged");
        fs::create_dir(&forged).unwrap();
        fs::copy(tree.join(".git"), forged.join(".git")).unwrap();
        assert_eq!(Repository::of(&forged).outside, Vec::<PathBuf>::new());
    }

    #[test]
    fn placeholders_change_nothing_for_git() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        git(&root, &["init", "--quiet"]);
        fs::remove_dir_all(root.join(".git/hooks")).unwrap();
        let held: Vec<_> = Repository::of(&root).protected.iter().map(|path| path.hold().unwrap().unwrap()).collect();
        assert!(root.join(".git/commondir").exists() && root.join(".git/hooks").exists());
        fs::write(root.join("a"), "a").unwrap();
        git(&root, &["add", "a"]);
        git(&root, &["commit", "--quiet", "--message", "first"]);
        git(&root, &["status"]);
        git(&root, &["branch", "other"]);
        git(&root, &["gc", "--quiet"]);
        git(&root, &["fsck"]);
        drop(held);
        assert!(!root.join(".git/commondir").exists() && !root.join(".git/hooks").exists());
        git(&root, &["log"]);
    }
}
