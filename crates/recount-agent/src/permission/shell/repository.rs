//! Whether `git` looks at a repository without running anything that the repository names.
//!
//! Monitors, filters, converters and hooks are named by the configuration that lies among the files, which may have come with
//! them. Even `git status` runs some of them. What the user has configured for all repositories is theirs and not looked at.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::whereabouts::Whereabouts;

/// Larger ones are not looked into.
const LARGEST: u64 = 64 << 20;

/// What is configured under these names runs nothing when `git` only looks. `*` is any name in quotes.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "abbrev",
            "autocrlf",
            "bare",
            "checkstat",
            "commitgraph",
            "compression",
            "eol",
            "filemode",
            "ignorecase",
            "logallrefupdates",
            "longpaths",
            "multipackindex",
            "precomposeunicode",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "symlinks",
            "trustctime",
            "untrackedcache",
            "whitespace",
        ],
    ),
    ("advice", &[]),
    ("alias", &[]),
    ("author", &[]),
    ("branch", &[]),
    ("color", &[]),
    ("commit", &["gpgsign", "verbose"]),
    ("committer", &[]),
    ("extensions", &["objectformat", "refstorage", "relativeworktrees", "worktreeconfig"]),
    ("fetch", &[]),
    ("gc", &[]),
    ("gui", &[]),
    ("init", &[]),
    ("merge", &["conflictstyle", "ff"]),
    ("pull", &[]),
    ("push", &[]),
    ("rebase", &[]),
    ("receive", &[]),
    ("remote", &["fetch", "gh-resolved", "mirror", "prune", "pushurl", "tagopt", "url"]),
    ("rerere", &[]),
    ("user", &[]),
];

impl Whereabouts<'_> {
    /// Whether none of the repositories in which the script may be names anything that `git` would run when it only looks.
    pub(super) fn git_runs_nothing(&self) -> bool {
        self.directories().is_some_and(|mut directories| directories.all(is_plain))
    }
}

/// Whether the repository that a directory is in is a plain one. Without a repository there is nothing to run.
fn is_plain(directory: &Path) -> bool {
    let Some(dot_git) = directory.ancestors().map(|above| above.join(".git")).find(|path| path.exists()) else {
        return true;
    };
    let Some((own, common)) = git_directories(&dot_git) else { return false };
    let work_tree = dot_git.parent().unwrap_or(directory);
    // In submodules `git` looks too, and each has a configuration of its own.
    let has_submodules = work_tree.join(".gitmodules").exists()
        || common.join("modules").exists()
        || [&own, &common].into_iter().any(|place| has_links_to_repositories(place));
    let has_hook = [&own, &common].into_iter().any(|place| place.join("hooks/post-index-change").exists());
    let configurations = [common.join("config"), common.join("config.worktree"), own.join("config.worktree")];
    !has_submodules && !has_hook && configurations.iter().all(|file| is_harmless(file))
}

/// The directory of a work tree, and the one that all work trees of a repository have in common.
fn git_directories(dot_git: &Path) -> Option<(PathBuf, PathBuf)> {
    let line = |file: &Path| fs::read_to_string(file).ok().map(|text| text.trim_end().to_owned());
    let own = if dot_git.is_dir() {
        dot_git.to_owned()
    } else {
        dot_git.parent()?.join(line(dot_git)?.strip_prefix("gitdir: ")?)
    };
    let common = own.join("commondir");
    let common = if common.exists() { own.join(line(&common)?) } else { own.clone() };
    Some((own, common))
}

/// Whether the index may have another repository in it: its mode stands there as four bytes. That they may stand for something
/// else as well costs a question and nothing more.
fn has_links_to_repositories(place: &Path) -> bool {
    const MODE: [u8; 4] = 0o160_000_u32.to_be_bytes();
    let names = fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut indexes = names.filter(|name| name == "index" || name.to_string_lossy().starts_with("sharedindex."));
    indexes
        .any(|name| read(&place.join(name)).is_none_or(|bytes| bytes.windows(MODE.len()).any(|window| window == MODE)))
}

/// The bytes of a file of no unusual size.
fn read(file: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(file).ok().filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()))?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LARGEST).then_some(bytes)
}

/// Whether all that is configured in a file is known to run nothing. What is not there configures nothing.
fn is_harmless(file: &Path) -> bool {
    if !file.exists() {
        return true;
    }
    let Some(text) = read(file).and_then(|bytes| String::from_utf8(bytes).ok()) else { return false };
    let mut known: Option<&[&str]> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
        if let Some(header) = line.strip_prefix('[') {
            // Whatever follows on the same line is not looked for.
            let Some(name) = header.strip_suffix(']').filter(|name| !name.contains(']')) else { return false };
            let name = name.split(|c: char| c.is_whitespace() || c == '.' || c == '"').next().unwrap_or_default();
            let name = name.to_ascii_lowercase();
            let Some((_, keys)) = HARMLESS.iter().find(|(section, _)| *section == name) else { return false };
            known = Some(keys);
            continue;
        }
        let key = line.split(|c: char| c.is_whitespace() || c == '=').next().unwrap_or_default().to_ascii_lowercase();
        let is_known = known.is_some_and(|keys| keys.is_empty() || keys.contains(&key.as_str()));
        // A value that goes on in the next line could hide where the next key begins.
        if !is_known || line.ends_with('\\') {
            return false;
        }
    }
    true
}
