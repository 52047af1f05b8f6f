//! The parts of a Git repository that stay read-only in a writable workspace.
//!
//! `git status` alone runs programs that the repository's `config` names. A program that can write to it, or can put another
//! repository in its place, runs code the next time that a user calls Git there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::protect::{COMMENT, OWN_DIRECTORY, Protected, is_placeholder_directory};

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
    /// A directory without one must not get one: its `.git` is protected, and its `HEAD`, without which Git does not take the
    /// directory itself for a repository.
    pub(crate) fn of(directory: &Path) -> Self {
        let dot_git = directory.join(".git");
        match dot_git.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() && !is_placeholder_directory(&dot_git) => Self::at(&dot_git, directory),
            Ok(metadata) if metadata.is_file() => {
                let mut repository = linked(&dot_git).unwrap_or_default();
                repository.protected.push(Protected::file(&dot_git, COMMENT));
                repository
            }
            Ok(metadata) if metadata.is_symlink() => {
                let target = fs::canonicalize(&dot_git).ok().filter(|target| target.is_dir());
                let mut repository = target.map(|target| Self::at(&target, directory)).unwrap_or_default();
                repository.protected.push(Protected::file(&dot_git, COMMENT));
                repository
            }
            _ if is_repository(directory) => {
                let mut repository = Self::at(directory, directory);
                repository.protected.push(Protected::directory(&dot_git));
                repository
            }
            _ => {
                // The directory may be a part of a larger repository, and Git ignores empty directories.
                let protected = [dot_git, directory.join("HEAD")].map(Protected::directory).into();
                Self { protected, ..Self::default() }
            }
        }
    }

    /// The repository in a Git directory.
    fn at(git: &Path, work_tree: &Path) -> Self {
        let mut repository = Self { pinned: vec![git.to_owned()], ..Self::default() };
        repository.protected = vec![
            Protected::file(git.join("config"), COMMENT),
            Protected::file(git.join("config.worktree"), COMMENT),
            Protected::file(git.join("commondir"), OWN_DIRECTORY),
            Protected::directory(git.join("hooks")),
            Protected::directory(git.join("modules")),
        ];
        repository.protected.extend(named_by_config(git, work_tree));
        repository.add_work_trees(&git.join("worktrees"));
        repository
    }

    /// Each linked work tree reads these files to find its repository.
    fn add_work_trees(&mut self, directory: &Path) {
        let Ok(entries) = fs::read_dir(directory) else { return };
        self.pinned.push(directory.to_owned());
        for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            self.pinned.push(entry.path());
            let names = ["commondir", "gitdir", "config.worktree"];
            self.protected.extend(names.map(|name| Protected::file(entry.path().join(name), COMMENT)));
        }
    }
}

/// Whether Git takes a directory itself for a repository.
fn is_repository(directory: &Path) -> bool {
    directory.join("HEAD").is_file() && directory.join("objects").is_dir() && directory.join("refs").is_dir()
}

/// The files and directories that the configuration of a repository obeys: the files that it includes, and its hooks.
fn named_by_config(git: &Path, work_tree: &Path) -> Vec<Protected> {
    let text = fs::read_to_string(git.join("config")).unwrap_or_default();
    let mut named = Vec::new();
    let mut section = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.split([' ', ']', '"']).next().unwrap_or_default().to_lowercase();
        }
        // A key may follow its section on the same line.
        let line = line.rsplit_once(']').map_or(line, |(_, rest)| rest);
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim().trim_matches('"');
        match (section.as_str(), key.trim().to_lowercase().as_str()) {
            ("include" | "includeif", "path") => named.push(Protected::file(git.join(value), COMMENT)),
            ("core", "hookspath") => named.push(Protected::directory(work_tree.join(value))),
            _ => {}
        }
    }
    // The whole work tree may be named, and has to stay writable.
    let is_part = |path: &Path| fs::canonicalize(path).map_or(true, |target| !work_tree.starts_with(target));
    named.retain(|protected| is_part(&protected.path));
    named
}

/// The repository of a linked work tree, whose `.git` is a file.
///
/// Any program can write a file that names any directory. Only a directory that names the file in turn, as Git writes it, is
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
    let mut repository = Repository::at(&common, dot_git.parent()?);
    repository.outside.push(common);
    Some(repository)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::protect::Hold;

    fn git(directory: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(arguments).current_dir(directory);
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    }

    fn paths(repository: &Repository) -> Vec<&Path> {
        repository.protected.iter().map(|protected| protected.path.as_path()).collect()
    }

    #[test]
    fn directory_without_repository_must_not_get_one() {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::of(directory.path());
        let expected =
            [Protected::directory(directory.path().join(".git")), Protected::directory(directory.path().join("HEAD"))];
        assert_eq!(repository.protected, expected);
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
        let repository = Repository::of(&tree);
        assert_eq!(repository.outside, [main.join(".git")]);
        assert!(repository.pinned.contains(&main.join(".git/worktrees/tree")));
        assert!(paths(&repository).contains(&main.join(".git/worktrees/tree/commondir").as_path()));

        // A file that names a directory which does not name it in turn grants nothing.
        let forged = root.join("forged");
        fs::create_dir(&forged).unwrap();
        fs::copy(tree.join(".git"), forged.join(".git")).unwrap();
        assert_eq!(Repository::of(&forged).outside, Vec::<PathBuf>::new());
    }

    #[test]
    fn bare_repository_is_protected_in_place() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        git(&root, &["init", "--quiet", "--bare"]);
        let repository = Repository::of(&root);
        for name in ["config", "hooks", ".git"] {
            assert!(paths(&repository).contains(&root.join(name).as_path()), "{name}");
        }
    }

    #[test]
    fn files_named_by_the_configuration_are_protected() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        git(&root, &["init", "--quiet"]);
        git(&root, &["config", "include.path", "../shared.gitconfig"]);
        git(&root, &["config", "includeIf.onbranch:main.path", "/srv/main.gitconfig"]);
        git(&root, &["config", "core.hooksPath", ".husky"]);
        git(&root, &["config", "remote.origin.url", "x"]);
        let named = named_by_config(&root.join(".git"), &root);
        let expected = [
            Protected::directory(root.join(".husky")),
            Protected::file(root.join(".git/../shared.gitconfig"), COMMENT),
            Protected::file("/srv/main.gitconfig", COMMENT),
        ];
        assert_eq!(named, expected);
    }

    #[test]
    fn placeholders_change_nothing_for_git() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        git(&root, &["init", "--quiet"]);
        fs::remove_dir_all(root.join(".git/hooks")).unwrap();
        let hold = |path: &Protected| match path.hold().unwrap() {
            Hold::Held(held) => held,
            other => panic!("{other:?}"),
        };
        let held: Vec<_> = Repository::of(&root).protected.iter().map(hold).collect();
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
