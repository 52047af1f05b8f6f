//! Access beyond the read-only profile.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Access that a program needs, or is granted, beyond the `read-only` profile.
///
/// In JSON and TOML it is a list of words: `write` (the workspace), `network`, `unsandboxed`, `read:/path` and
/// `write:/path`. `~/` at the start of a path stands for the home directory.
///
/// ```
/// use recount_sandbox::Access;
///
/// let requested: Access = serde_json::from_str(r#"["write", "read:/srv/data"]"#)?;
/// assert!(requested.write && !requested.network);
/// assert!(!requested.is_within(&Access::workspace()));
/// assert_eq!(serde_json::to_string(&requested)?, r#"["write","read:/srv/data"]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// The workspace and the other working directories are writable.
    pub write: bool,
    /// The network of the host is reachable.
    pub network: bool,
    /// The program is not confined at all.
    pub unsandboxed: bool,
    /// Further paths that are readable, absolute.
    pub read_paths: Vec<PathBuf>,
    /// Further paths that are readable and writable, absolute.
    pub write_paths: Vec<PathBuf>,
}

/// A word that is not an access.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown access `{0}`: expected `write`, `network`, `unsandboxed`, `read:/path` or `write:/path`")]
pub struct InvalidAccess(String);

impl Access {
    /// The access of the `read-only` profile: nothing beyond it.
    pub fn read_only() -> Self {
        Self::default()
    }

    /// The access of the `workspace` profile.
    pub fn workspace() -> Self {
        Self { write: true, ..Self::default() }
    }

    /// Whether this is the access of the `read-only` profile.
    pub fn is_read_only(&self) -> bool {
        *self == Self::default()
    }

    /// Whether everything that this allows is also allowed by `granted`.
    pub fn is_within(&self, granted: &Self) -> bool {
        let below = |paths: &[PathBuf], path: &Path| paths.iter().any(|granted| path.starts_with(granted));
        let readable = |path: &PathBuf| below(&granted.read_paths, path) || below(&granted.write_paths, path);
        granted.unsandboxed
            || (!self.unsandboxed
                && (granted.write || !self.write)
                && (granted.network || !self.network)
                && self.read_paths.iter().all(readable)
                && self.write_paths.iter().all(|path| below(&granted.write_paths, path)))
    }

    /// Everything that this or `other` allows.
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        self.write |= other.write;
        self.network |= other.network;
        self.unsandboxed |= other.unsandboxed;
        for path in &other.read_paths {
            self.add_read_path(path);
        }
        for path in &other.write_paths {
            self.add_write_path(path);
        }
        self
    }

    /// Parses a list of words.
    ///
    /// # Errors
    ///
    /// A word is not an access, or its path is not absolute.
    pub fn parse(words: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, InvalidAccess> {
        let mut access = Self::default();
        for word in words {
            access = access.union(&word.as_ref().parse()?);
        }
        Ok(access)
    }

    /// The list of words that stands for this access.
    pub fn words(&self) -> Vec<String> {
        let flags = [(self.write, "write"), (self.network, "network"), (self.unsandboxed, "unsandboxed")];
        let flags = flags.into_iter().filter(|(set, _)| *set).map(|(_, word)| word.to_owned());
        let read = self.read_paths.iter().map(|path| format!("read:{}", path.display()));
        let write = self.write_paths.iter().map(|path| format!("write:{}", path.display()));
        flags.chain(read).chain(write).collect()
    }

    fn add_read_path(&mut self, path: &Path) {
        if !self.read_paths.iter().any(|known| known == path) {
            self.read_paths.push(path.to_owned());
        }
    }

    fn add_write_path(&mut self, path: &Path) {
        if !self.write_paths.iter().any(|known| known == path) {
            self.write_paths.push(path.to_owned());
        }
    }
}

impl FromStr for Access {
    type Err = InvalidAccess;

    fn from_str(word: &str) -> Result<Self, InvalidAccess> {
        let path = |path: &str| match expanded(path) {
            Some(path) if path.is_absolute() => Ok(vec![path]),
            _ => Err(InvalidAccess(word.to_owned())),
        };
        match word.split_once(':') {
            None if word == "write" => Ok(Self::workspace()),
            None if word == "network" => Ok(Self { network: true, ..Self::default() }),
            None if word == "unsandboxed" => Ok(Self { unsandboxed: true, ..Self::default() }),
            Some(("read", rest)) => Ok(Self { read_paths: path(rest)?, ..Self::default() }),
            Some(("write", rest)) => Ok(Self { write_paths: path(rest)?, ..Self::default() }),
            _ => Err(InvalidAccess(word.to_owned())),
        }
    }
}

/// A path whose `~/` stands for the home directory.
fn expanded(path: &str) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(rest) => Some(PathBuf::from(std::env::var_os("HOME")?).join(rest)),
        None => Some(PathBuf::from(path)),
    }
}

/// In words for users: `write to the workspace, use the network`.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.unsandboxed {
            parts.push("run without a sandbox".to_owned());
        }
        if self.write {
            parts.push("write to the workspace".to_owned());
        }
        if self.network {
            parts.push("use the network".to_owned());
        }
        parts.extend(self.read_paths.iter().map(|path| format!("read `{}`", path.display())));
        parts.extend(self.write_paths.iter().map(|path| format!("write to `{}`", path.display())));
        if parts.is_empty() {
            parts.push("read the workspace".to_owned());
        }
        f.write_str(&parts.join(", "))
    }
}

impl Serialize for Access {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.words())
    }
}

impl<'de> Deserialize<'de> for Access {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Vec::<String>::deserialize(deserializer)?;
        Self::parse(words).map_err(serde::de::Error::custom)
    }
}
