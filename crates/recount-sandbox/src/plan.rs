//! From a profile to the view of the file system that a program gets.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::git::Repository;
use crate::protect::{COMMENT, Held, Hold, Protected, is_placeholder_directory};
use crate::resolve::{Resolved, resolve};
use crate::{LaunchError, Profile, system};

/// The private `/tmp`, and what is provided in place of the machine's own. None of it can be granted.
const PROVIDED: &[&str] = &["/dev", "/proc", "/sys"];

/// How a path appears to the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum View {
    /// Read-only.
    Read,
    /// Readable and writable.
    Write,
    /// An empty directory or file in its place.
    Hide,
    /// A symbolic link to this path.
    Link(PathBuf),
    /// An empty directory.
    Empty,
}

/// Paths with their views. A path comes before those below it.
pub(crate) type Views = BTreeMap<PathBuf, View>;

/// Plans the part of the view that all profiles share: the programs of the system and the toolchains. The commands of a
/// session build it once.
pub(crate) fn system_views() -> Views {
    let mut plan = Plan::default();
    for path in system::readable_paths() {
        plan.add_system(&path);
    }
    for path in system::hidden_paths() {
        plan.views.insert(path, View::Hide);
    }
    if let Some(home) = system::home() {
        plan.views.entry(home).or_insert(View::Empty);
    }
    plan.prune();
    plan.views
}

/// The view of the file system that a program gets. Paths are canonical.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) views: Views,
    /// The directory in which the program starts.
    pub(crate) directory: PathBuf,
    /// Placeholders that have to exist as long as the program runs.
    pub(crate) held: Vec<Held>,
}

impl Plan {
    /// Plans the view of a profile, without what `system` shows already.
    pub(crate) fn of(profile: &Profile, system: &Views) -> Result<Self, LaunchError> {
        let directory = resolved(&profile.workspace)?.path;
        let mut plan = Self { directory, views: system.clone(), held: Vec::new() };
        if profile.access.network {
            plan.add_system(Path::new("/etc/resolv.conf"));
        }
        let directories = plan.add_working_directories(profile)?;
        plan.add_granted(profile, &directories)?;
        plan.prune();
        plan.add_home(&directories)?;
        plan.prune();
        plan.leave_out(system);
        let odd = plan.views.keys().chain([&plan.directory]).find(|path| path.to_str().is_none()).cloned();
        odd.map_or(Ok(plan), |path| Err(LaunchError::NotUnicode(path)))
    }

    /// Whether a path lies below a view of this kind, with no other view in between.
    fn lies_in(&self, path: &Path, view: &View) -> bool {
        self.covering(path) == Some(view)
    }

    /// The view that a path below it gets.
    fn covering(&self, path: &Path) -> Option<&View> {
        path.ancestors().find_map(|ancestor| self.views.get(ancestor))
    }

    /// A path of the system: readable at its canonical path, with a link at the path as it is written.
    fn add_system(&mut self, path: &Path) {
        let Ok(target) = fs::canonicalize(path) else { return };
        if target != path && !self.lies_in(path, &View::Read) {
            self.views.insert(path.to_owned(), View::Link(target.clone()));
        }
        if !self.lies_in(&target, &View::Read) {
            self.views.insert(target, View::Read);
        }
    }

    /// Adds the directories that the program works in, and returns them.
    fn add_working_directories(&mut self, profile: &Profile) -> Result<Vec<PathBuf>, LaunchError> {
        let view = if profile.access.write { View::Write } else { View::Read };
        let named = profile.working_directories();
        let directories: Vec<PathBuf> = named.iter().map(|directory| directory.path.clone()).collect();
        for directory in named {
            let directory = trusted(directory, &directories)?;
            if directory == Path::new("/") || is_provided(&directory) {
                return Err(LaunchError::TooBroad(directory));
            }
            self.views.insert(directory, view.clone());
        }
        for directory in &directories {
            self.pin_parents(directory);
        }
        let written = std::path::absolute(&profile.workspace)?;
        if written != self.directory && matches!(self.covering(&written), None | Some(View::Empty)) {
            self.views.insert(written, View::Link(self.directory.clone()));
        }
        for directory in &directories {
            self.add_repository(&Repository::of(directory), &view)?;
        }
        for path in &profile.hidden {
            self.hide(path)?;
        }
        for file in &profile.protected {
            // The placeholder is a directory, because Git ignores empty ones.
            self.protect(&Protected::directory(std::path::absolute(file)?))?;
        }
        for path in &profile.readable {
            let path = trusted(resolved(path)?, &directories)?;
            self.views.insert(path, View::Read);
        }
        Ok(directories)
    }

    fn add_repository(&mut self, repository: &Repository, view: &View) -> Result<(), LaunchError> {
        for path in &repository.outside {
            self.views.entry(path.clone()).or_insert_with(|| view.clone());
        }
        for path in &repository.pinned {
            if self.lies_in(path, &View::Write) {
                self.views.insert(path.clone(), View::Write);
                self.pin_parents(path);
            }
        }
        repository.protected.iter().try_for_each(|protected| self.protect(protected))
    }

    /// Hides a path. One that does not exist is left out.
    fn hide(&mut self, path: &Path) -> Result<(), LaunchError> {
        let hidden = match resolved(path) {
            Err(LaunchError::Path { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        for link in &hidden.links {
            self.pin(link);
        }
        self.views.insert(hidden.path.clone(), View::Hide);
        self.pin_parents(&hidden.path);
        Ok(())
    }

    /// Makes a path read-only where it would be writable. One that does not exist gets a placeholder.
    fn protect(&mut self, protected: &Protected) -> Result<(), LaunchError> {
        // A chain of symbolic links may be as long as the kernel follows it.
        let mut protected = protected.clone();
        for _ in 0..40 {
            let Some(found) = reachable(&protected)? else { return Ok(()) };
            let path = found.path.clone();
            if !self.lies_in(&path, &View::Write) {
                return Ok(());
            }
            if let Ok(target) = fs::read_link(&path) {
                self.pin(&path);
                let target = path.parent().unwrap_or(Path::new("/")).join(target);
                protected = Protected { path: target, ..found };
                continue;
            }
            match found.hold()? {
                Hold::Held(held) => {
                    self.held.push(held);
                    self.views.insert(path.clone(), View::Read);
                    self.pin_parents(&path);
                }
                // The program could make the directory writable, as its owner.
                Hold::UnwritableParent(parent) => {
                    self.views.insert(parent.clone(), View::Read);
                    self.pin_parents(&parent);
                }
                Hold::Unreachable => {}
            }
            return Ok(());
        }
        Ok(())
    }

    /// Keeps a symbolic link from being replaced where it lies in a writable directory: it becomes a mount of itself.
    fn pin(&mut self, link: &Path) {
        if self.lies_in(link, &View::Write) {
            self.views.insert(link.to_owned(), View::Read);
            self.pin_parents(link);
        }
    }

    /// Keeps the directories that hold a path from being renamed where they are writable: otherwise the path would be another
    /// one in the next command. A mount cannot be renamed.
    fn pin_parents(&mut self, path: &Path) {
        for parent in path.ancestors().skip(1) {
            if !self.lies_in(parent, &View::Write) {
                break;
            }
            self.views.entry(parent.to_owned()).or_insert(View::Write);
        }
    }

    /// Paths that the access names. They may not lie in what is hidden.
    fn add_granted(&mut self, profile: &Profile, directories: &[PathBuf]) -> Result<(), LaunchError> {
        let paths = [(&profile.access.read_paths, View::Read), (&profile.access.write_paths, View::Write)];
        for (paths, view) in paths {
            for path in paths {
                let path = trusted(resolved(path)?, directories)?;
                if path.components().count() < 2 || is_provided(&path) {
                    return Err(LaunchError::TooBroad(path));
                }
                if self.lies_in(&path, &View::Hide) {
                    return Err(LaunchError::Hidden(path));
                }
                if view == View::Write && is_in_repository(&path) {
                    self.views.retain(|protected, view| *view == View::Hide || !protected.starts_with(&path));
                }
                if self.views.get(&path) != Some(&View::Write) {
                    self.views.insert(path.clone(), view.clone());
                }
                self.pin_parents(&path);
                if view == View::Write && path.join(".git").symlink_metadata().is_ok() {
                    self.add_repository(&Repository::of(&path), &view)?;
                }
            }
        }
        Ok(())
    }

    /// Hides the credentials of the user where the home directory is shown as a whole, and keeps what the user's programs
    /// run from being changed.
    fn add_home(&mut self, directories: &[PathBuf]) -> Result<(), LaunchError> {
        let Some(home) = system::home().and_then(|home| fs::canonicalize(home).ok()) else { return Ok(()) };
        for path in system::credentials(&home) {
            let Ok(path) = fs::canonicalize(path) else { continue };
            let is_named = self.views.contains_key(&path);
            if !is_named && matches!(self.covering(&path), Some(View::Read | View::Write)) {
                self.hide(&path)?;
            }
        }
        if directories.iter().any(|directory| home.starts_with(directory)) {
            for path in system::start_up(&home) {
                self.protect(&Protected::file(path, COMMENT))?;
            }
        }
        Ok(())
    }

    /// Leaves out paths that are readable anyway, hidden paths that are not visible anyway, and links and empty directories
    /// that would be created in a directory of the machine.
    fn prune(&mut self) {
        let is_redundant = |(path, view): (&PathBuf, &View)| {
            let above = path.parent().and_then(|parent| self.covering(parent));
            match view {
                View::Read => above == Some(&View::Read) && !path.is_symlink(),
                View::Hide => !matches!(above, Some(View::Read | View::Write)),
                View::Link(_) | View::Empty => !matches!(above, None | Some(View::Empty)),
                View::Write => false,
            }
        };
        let redundant: Vec<PathBuf> =
            self.views.iter().filter(|entry| is_redundant(*entry)).map(|(path, _)| path.clone()).collect();
        for path in redundant {
            self.views.remove(&path);
        }
    }

    /// Leaves out what the session shows already, unless a directory is shown again that would uncover it.
    fn leave_out(&mut self, system: &Views) {
        let is_own = |path: &Path| self.views.get(path).is_some_and(|view| system.get(path) != Some(view));
        let is_shown_again = |path: &Path| path.ancestors().skip(1).any(is_own);
        // Toolchains stay read-only in a home directory that is shown as a whole. In a project they belong to it.
        let home = system::home().and_then(|home| fs::canonicalize(home).ok());
        let home = home.filter(|home| home.ancestors().any(is_own));
        let is_kept = |path: &Path, view: &View| match view {
            View::Hide => is_shown_again(path),
            View::Read => is_shown_again(path) && home.as_ref().is_some_and(|home| path.starts_with(home)),
            View::Write | View::Link(_) | View::Empty => false,
        };
        let own = |(path, view): &(&PathBuf, &View)| system.get(*path) != Some(view) || is_kept(path, view);
        self.views = self.views.iter().filter(own).map(|(path, view)| (path.clone(), view.clone())).collect();
    }
}

/// The path of something protected with its parents resolved, or the first of them that is missing, which gets a placeholder
/// in its stead. Returns `None` if a parent is not a directory.
fn reachable(protected: &Protected) -> Result<Option<Protected>, LaunchError> {
    let path = std::path::absolute(&protected.path)?;
    for (missing, parent) in path.ancestors().zip(path.ancestors().skip(1)) {
        let Ok(Resolved { path: parent, .. }) = resolve(parent) else { continue };
        // Another command that runs at the same time may have put a placeholder there.
        if is_placeholder_directory(&parent) {
            continue;
        }
        let Some(name) = missing.file_name() else { return Ok(None) };
        let reached = parent.join(name);
        return Ok(parent.is_dir().then(|| match missing == path {
            true => Protected { path: reached, ..protected.clone() },
            false => Protected::directory(reached),
        }));
    }
    Ok(None)
}

/// The path of one that is granted.
///
/// A symbolic link in a working directory may have been put there by a program, to be granted what it leads to. It may only
/// lead to the working directories themselves.
fn trusted(granted: Resolved, directories: &[PathBuf]) -> Result<PathBuf, LaunchError> {
    let is_below = |path: &Path| directories.iter().any(|directory| path != directory && path.starts_with(directory));
    match granted.links.into_iter().find(|link| is_below(link)) {
        Some(link) if !is_below(&granted.path) => Err(LaunchError::Redirected(link)),
        _ => Ok(granted.path),
    }
}

fn resolved(path: &Path) -> Result<Resolved, LaunchError> {
    resolve(path).map_err(|source| LaunchError::Path { path: path.to_owned(), source })
}

/// Whether a path lies in a Git directory or is one. A grant that names it includes the files that are protected there.
fn is_in_repository(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}

fn is_provided(path: &Path) -> bool {
    path == Path::new("/tmp")
        || path == Path::new("/var/tmp")
        || PROVIDED.iter().any(|provided| path.starts_with(provided))
        || path.components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::os::unix::fs::symlink;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn symlink_in_working_directory_grants_nothing_outside() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        let workspace = root.join("ws");
        fs::create_dir_all(workspace.join("inside")).unwrap();
        fs::create_dir(root.join("outside")).unwrap();
        symlink("../outside", workspace.join("out")).unwrap();
        symlink("inside", workspace.join("in")).unwrap();
        let check = |path: PathBuf| trusted(resolve(&path).unwrap(), std::slice::from_ref(&workspace));
        assert!(matches!(check(workspace.join("out")), Err(LaunchError::Redirected(_))));
        assert_eq!(check(workspace.join("in")).unwrap(), workspace.join("inside"));
        assert_eq!(check(root.join("outside")).unwrap(), root.join("outside"));
    }
}
