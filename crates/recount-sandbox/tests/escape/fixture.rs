//! The files that attempts are about, and what has become of them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// The directories of a worker.
pub(crate) struct Fixture {
    /// Everything that belongs to the user of the worker.
    pub(crate) own: PathBuf,
    /// The directory that is built again for each attempt.
    pub(crate) run: PathBuf,
    template: PathBuf,
}

/// The state of one file: its type and mode, its links, and its content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    mode: u32,
    links: u64,
    modified: i64,
    content: Vec<u8>,
}

impl State {
    fn is_directory(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    fn write(&self, path: &Path) {
        if self.is_directory() {
            let _ = fs::create_dir(path);
            return;
        }
        fs::write(path, &self.content).unwrap();
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(self.modified.unsigned_abs());
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_times(fs::FileTimes::new().set_modified(modified)).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(self.mode & 0o7777)).unwrap();
    }
}

pub(crate) type Snapshot = BTreeMap<PathBuf, State>;

/// Paths below the directory of a run that no profile can write, as prefixes.
const PROTECTED: &[&str] = &[
    "outside",
    "linked",
    "ws/data",
    "ws/deep/er/data",
    "ws/.git/config",
    "ws/.git/config.worktree",
    "ws/.git/commondir",
    "ws/.git/hooks",
    "ws/.git/modules",
    "ws/.git/worktrees/linked/commondir",
    "ws/.git/worktrees/linked/gitdir",
    "ws/.git/worktrees/linked/config.worktree",
    "ws/.git/worktrees/tree/commondir",
    "ws/.git/worktrees/tree/gitdir",
    "ws/.git/worktrees/tree/config.worktree",
    "ws/included.gitconfig",
    "ws/githooks",
    "ws/recount.toml",
    "ws/conf/recount.toml",
    "ws/missing",
    "ws/linked.toml",
    "ws/target.toml",
    "ws2/.git/config",
    "ws2/.git/config.worktree",
    "ws2/.git/commondir",
    "ws2/.git/hooks",
    "ws2/.git/modules",
    "ws2/tracked-hooks",
    "plain/.git",
    "plain/HEAD",
    "plain/recount.toml",
    "bare/config",
    "bare/hooks",
    "bare/commondir",
    "bare/config.worktree",
    "bare/modules",
    "tree/.git",
    "sym/.git",
    "sym/store/config",
    "sym/store/config.worktree",
    "sym/store/commondir",
    "sym/store/hooks",
    "sym/store/modules",
];

impl Fixture {
    /// Creates the home directory and the template of a run. `secret` is in every file that must not be read. Only some levels
    /// can hide a part of the workspace; otherwise it holds `hidden` in its stead.
    pub(crate) fn create(own: &Path, secret: &str, hidden: &str) -> Self {
        let fixture = Self { own: own.to_owned(), run: own.join("run"), template: own.join("template") };
        fixture.create_home(secret);
        fixture.create_run(secret, hidden);
        let copied = Command::new("cp").arg("-a").args([&fixture.run, &fixture.template]).status().unwrap();
        assert!(copied.success());
        fixture
    }

    fn create_home(&self, secret: &str) {
        let home = self.own.join("home");
        for file in [
            ".ssh/id_ed25519",
            ".aws/credentials",
            ".azure/token",
            ".gnupg/private-keys-v1.d/key",
            ".config/gcloud/credentials.db",
            ".config/gh/hosts.yml",
            ".kube/config",
            ".docker/config.json",
            ".netrc",
            ".npmrc",
            ".pypirc",
            ".git-credentials",
            ".cargo/credentials.toml",
            ".local/share/keyrings/login.keyring",
        ] {
            write(&home.join(file), secret);
        }
        write(&home.join(format!(".ssh/{secret}")), "");
        write(&home.join(format!(".config/gh/{secret}")), "");
        write(&home.join(".bashrc"), "# start\n");
        write(&home.join(".profile"), "# start\n");
        write(&home.join(".gitconfig"), "[user]\nname = Ada\nemail = ada@example.org\n");
        write(&home.join(".config/autostart/tool.desktop"), "[Desktop Entry]\n");
        write(&home.join(".cargo/bin/tool"), "#!/bin/sh\n");
        write(&home.join(".local/bin/tool"), "#!/bin/sh\n");
        write(&self.own.join("victim-data/secret.db"), secret);
    }

    fn create_run(&self, secret: &str, hidden: &str) {
        let run = &self.run;
        write(&run.join("outside/secret.txt"), secret);
        write(&run.join("outside/victim.txt"), "untouched\n");
        let ws = run.join("ws");
        for (data, text) in [("ws/data", hidden), ("ws/deep/er/data", hidden), ("outside/data", secret)] {
            write(&run.join(data).join("secret.db"), text);
            write(&run.join(data).join(format!("{text}.key")), "");
        }
        for (file, text) in [
            ("README", "read me\n"),
            ("file.txt", "text\n"),
            ("src/lib.rs", "// source\n"),
            ("recount.toml", "[agents.a]\n"),
            ("conf/recount.toml", "[agents.b]\n"),
            ("target.toml", "[agents.c]\n"),
            ("included.gitconfig", "[alias]\nst = status\n"),
            ("githooks/README", "hooks\n"),
            (".venv/bin/activate", "# venv\n"),
        ] {
            write(&ws.join(file), text);
        }
        symlink("target.toml", ws.join("linked.toml")).unwrap();
        symlink("data", ws.join("link-data")).unwrap();
        symlink("../outside", ws.join("link-out")).unwrap();
        symlink("../outside/victim.txt", ws.join("link-file")).unwrap();
        git(&ws, &["init", "--quiet", "--template="]);
        fs::create_dir(ws.join(".git/hooks")).unwrap();
        git(&ws, &["config", "include.path", "../included.gitconfig"]);
        git(&ws, &["config", "core.hooksPath", "githooks"]);
        git(&ws, &["add", "README", "file.txt", "src"]);
        git(&ws, &["commit", "--quiet", "--message", "first"]);
        git(&ws, &["worktree", "add", "--quiet", "../tree"]);
        git(&ws, &["worktree", "add", "--quiet", "../linked"]);
        let second = run.join("ws2");
        write(&second.join("tracked-hooks/README"), "hooks\n");
        git(&second, &["init", "--quiet", "--template="]);
        symlink("../tracked-hooks", second.join(".git/hooks")).unwrap();
        let third = run.join("sym");
        fs::create_dir(&third).unwrap();
        git(&third, &["init", "--quiet", "--template="]);
        fs::rename(third.join(".git"), third.join("store")).unwrap();
        symlink("store", third.join(".git")).unwrap();
        write(&run.join("plain/file.txt"), "text\n");
        write(&run.join("plain/src/lib.rs"), "// source\n");
        git(run, &["init", "--quiet", "--bare", "--template=", "bare"]);
        fs::create_dir(run.join("bare/hooks")).unwrap();
    }

    /// Builds the directory of a run again, for which only the paths that changed are touched.
    pub(crate) fn restore(&self, before: &Snapshot) {
        let after = self.snapshot();
        let is_changed = |path: &&PathBuf| before.get(*path) != after.get(*path);
        let mut changed: Vec<&PathBuf> = before.keys().chain(after.keys()).filter(is_changed).collect();
        changed.sort();
        changed.dedup();
        for path in changed.iter().filter(|path| after.contains_key(**path)) {
            let is_kept = path.is_dir() && !path.is_symlink() && before.get(*path).is_some_and(State::is_directory);
            if is_kept {
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            } else {
                let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
            }
        }
        for path in changed {
            if let Some(state) = before.get(path) {
                self.restore_one(path, state);
            }
        }
    }

    fn restore_one(&self, path: &Path, state: &State) {
        let Ok(below) = path.strip_prefix(&self.run) else {
            // A file of the home directory.
            return state.write(path);
        };
        let source = self.template.join(below);
        // Sockets are not part of the template.
        let Ok(metadata) = source.symlink_metadata() else { return };
        if metadata.is_dir() {
            let _ = fs::create_dir(path);
        } else if metadata.is_symlink() {
            return symlink(fs::read_link(&source).unwrap(), path).unwrap();
        } else {
            fs::copy(&source, path).unwrap();
            let times = fs::FileTimes::new().set_modified(metadata.modified().unwrap());
            fs::File::options()
                .append(true)
                .open(path)
                .or_else(|_| fs::File::open(path))
                .unwrap()
                .set_times(times)
                .unwrap();
        }
        fs::set_permissions(path, metadata.permissions()).unwrap();
    }

    /// The state of every file.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new();
        for part in ["home", "run", "leaked.txt", "victim-data"] {
            add_to_snapshot(&self.own.join(part), &mut snapshot);
        }
        snapshot
    }

    /// Whether no profile can write a path.
    pub(crate) fn is_protected(&self, path: &Path) -> bool {
        match path.strip_prefix(&self.run) {
            Ok(below) => {
                let is_in_run = |prefix: &&str| below.starts_with(prefix);
                let is_directory_of_run = below.components().count() < 2 && !is_working_directory(below);
                is_directory_of_run || PROTECTED.iter().any(is_in_run)
            }
            Err(_) => true,
        }
    }
}

fn is_working_directory(below_run: &Path) -> bool {
    ["ws", "ws2", "plain", "bare", "tree", "sym"].iter().any(|name| below_run == Path::new(name))
}

/// Whether a file runs with the rights of its owner, for every user.
pub(crate) fn is_setuid(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o4000 != 0)
}

fn add_to_snapshot(path: &Path, snapshot: &mut Snapshot) {
    let Ok(metadata) = path.symlink_metadata() else { return };
    let kind = metadata.file_type();
    let content = if kind.is_symlink() {
        fs::read_link(path).map(|target| target.into_os_string().into_encoded_bytes())
    } else if kind.is_file() {
        fs::read(path)
    } else {
        Ok(Vec::new())
    };
    // The links and times of directories change with placeholders.
    let links = if kind.is_dir() { 0 } else { metadata.nlink() };
    let modified = if kind.is_file() { metadata.mtime() } else { 0 };
    let state = State { mode: metadata.mode(), links, modified, content: content.unwrap_or_default() };
    snapshot.insert(path.to_owned(), state);
    if kind.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            add_to_snapshot(&entry.path(), snapshot);
        }
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(directory: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(arguments).current_dir(directory);
    let output = git.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
