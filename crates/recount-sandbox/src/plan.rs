//! From a profile to the view of the file system that a program gets.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::git::Repository;
use crate::protect::{COMMENT, Held, Protected};
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
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()) {
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
        let directory = canonical(&profile.workspace)?;
        let mut plan = Self { directory, views: system.clone(), held: Vec::new() };
        if profile.access.network {
            plan.add_system(Path::new("/etc/resolv.conf"));
        }
        plan.add_working_directories(profile)?;
        plan.add_granted(profile)?;
        plan.prune();
        let own: Views = plan.views.iter().filter(|(path, view)| system.get(*path) != Some(view)).map(owned).collect();
        // A directory that is shown again would uncover what the system hides in it.
        let is_uncovered = |path: &Path| path.ancestors().skip(1).any(|ancestor| own.contains_key(ancestor));
        let hidden = system.iter().filter(|(path, view)| **view == View::Hide && is_uncovered(path)).map(owned);
        plan.views = hidden.chain(own.clone()).collect();
        Ok(plan)
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

    fn add_working_directories(&mut self, profile: &Profile) -> Result<(), LaunchError> {
        let view = if profile.access.write { View::Write } else { View::Read };
        let directories = profile.working_directories();
        for directory in &directories {
            if directory == Path::new("/") || is_provided(directory) {
                return Err(LaunchError::TooBroad(directory.clone()));
            }
            self.views.insert(directory.clone(), view.clone());
        }
        let written = std::path::absolute(&profile.workspace)?;
        if written != self.directory && self.covering(&written).is_none() {
            self.views.insert(written, View::Link(self.directory.clone()));
        }
        for directory in &directories {
            self.add_repository(&Repository::of(directory), &view)?;
        }
        for path in profile.hidden.iter().filter_map(|path| fs::canonicalize(path).ok()) {
            self.views.insert(path, View::Hide);
        }
        for file in &profile.protected {
            let file = std::path::absolute(file)?;
            self.protect(&Protected::file(file, COMMENT))?;
        }
        for path in &profile.readable {
            self.views.insert(canonical(path)?, View::Read);
        }
        Ok(())
    }

    fn add_repository(&mut self, repository: &Repository, view: &View) -> Result<(), LaunchError> {
        for path in &repository.outside {
            self.views.entry(path.clone()).or_insert_with(|| view.clone());
        }
        for path in &repository.pinned {
            self.views.insert(path.clone(), view.clone());
        }
        repository.protected.iter().try_for_each(|protected| self.protect(protected))
    }

    /// Makes a path read-only where it would be writable. One that does not exist gets a placeholder.
    fn protect(&mut self, protected: &Protected) -> Result<(), LaunchError> {
        if !self.lies_in(&protected.path, &View::Write) {
            return Ok(());
        }
        if let Some(held) = protected.hold()? {
            self.held.push(held);
        }
        // A symbolic link is covered where it leads; the link itself lies in a directory that is writable.
        if let Ok(path) = fs::canonicalize(&protected.path) {
            self.views.insert(path, View::Read);
        }
        Ok(())
    }

    /// Paths that the access names. They may not lie in what is hidden.
    fn add_granted(&mut self, profile: &Profile) -> Result<(), LaunchError> {
        let paths = [(&profile.access.read_paths, View::Read), (&profile.access.write_paths, View::Write)];
        for (paths, view) in paths {
            for path in paths {
                let path = canonical(path)?;
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
                    self.views.insert(path, view.clone());
                }
            }
        }
        Ok(())
    }

    /// Leaves out paths that are readable anyway, and hidden paths that are not visible anyway.
    fn prune(&mut self) {
        let is_redundant = |(path, view): (&PathBuf, &View)| {
            let above = path.parent().and_then(|parent| self.covering(parent));
            match view {
                View::Read => above == Some(&View::Read),
                View::Hide => !matches!(above, Some(View::Read | View::Write)),
                View::Write | View::Link(_) | View::Empty => false,
            }
        };
        let redundant: Vec<PathBuf> =
            self.views.iter().filter(|entry| is_redundant(*entry)).map(|(path, _)| path.clone()).collect();
        for path in redundant {
            self.views.remove(&path);
        }
    }
}

fn owned((path, view): (&PathBuf, &View)) -> (PathBuf, View) {
    (path.clone(), view.clone())
}

fn canonical(path: &Path) -> Result<PathBuf, LaunchError> {
    fs::canonicalize(path).map_err(|source| LaunchError::Path { path: path.to_owned(), source })
}

/// Whether a path lies in a Git directory or is one. Who grants that by name means what is protected there.
fn is_in_repository(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}

fn is_provided(path: &Path) -> bool {
    path == Path::new("/tmp")
        || PROVIDED.iter().any(|provided| path.starts_with(provided))
        || path.components().any(|part| part == Component::ParentDir)
}
