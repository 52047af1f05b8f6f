//! Access tokens, stored as hashes in a file of the data directory.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use recount_log::{Digest, SessionKey, make_private_directory};
use recount_message::{Clock as _, Object, SystemClock, format_time};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

/// The file in the data directory.
const FILE: &str = "tokens.jsonl";
/// The prefix of each token, by which secret scanners recognize it.
const PREFIX: &str = "rct_";

/// The permissions of a token. Each scope includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scope {
    /// Read sessions.
    Read,
    /// Write to sessions.
    Write,
    /// Read the metrics of the service.
    Admin,
}

impl Scope {
    /// All scopes, in ascending order.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Returns the name of the scope.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| format!("unknown scope {text:?}, expected read, write or admin"))
    }
}

/// The stored information about a token. It does not include the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenInfo {
    /// The id, by which the token is listed and revoked.
    pub id: String,
    /// The SHA-256 digest of the token, in hexadecimal.
    pub hash: String,
    /// The tenant whose sessions the token gives access to.
    pub tenant: String,
    /// The permissions.
    pub scope: Scope,
    /// The time of creation.
    pub created_at: String,
}

/// The tokens of a data directory.
///
/// The file is checked for changes on each access, so that tokens can be created and revoked while a service runs. Once the
/// file exists, every request needs a token, even after the last one was revoked.
///
/// ```
/// use recount_server::{Scope, Tokens};
/// use secrecy::ExposeSecret;
///
/// let directory = tempfile::tempdir()?;
/// let tokens = Tokens::in_directory(directory.path());
/// assert!(!tokens.are_required());
///
/// let (info, token) = tokens.create("acme", Scope::Write)?;
/// assert!(token.expose_secret().starts_with("rct_"));
/// assert_eq!(tokens.find(token.expose_secret()), Some(info.clone()));
/// assert!(tokens.revoke(&info.id)?);
/// assert_eq!(tokens.find(token.expose_secret()), None);
/// assert!(tokens.are_required());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Tokens {
    path: Option<PathBuf>,
    cache: Mutex<TokenCache>,
}

#[derive(Debug, Default)]
struct TokenCache {
    /// The version of the file that was read last; `None` if there is no file.
    version: Option<FileVersion>,
    /// Whether the file has existed since the process started. Deleting it while the service runs does not turn authentication off.
    are_required: bool,
    by_hash: HashMap<String, TokenInfo>,
}

/// A value that changes when the file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileVersion {
    modified: Option<SystemTime>,
    length: u64,
    /// Timestamps are coarse, and a replacement may have the same length.
    inode: u64,
}

impl FileVersion {
    fn of(metadata: &fs::Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self { modified: metadata.modified().ok(), length: metadata.len(), inode }
    }
}

impl Tokens {
    /// Returns the tokens of a data directory, which need not exist yet.
    pub fn in_directory(directory: &Path) -> Self {
        Self { path: Some(directory.join(FILE)), cache: Mutex::default() }
    }

    /// Returns an empty set of tokens. Requests need no token.
    pub fn none() -> Self {
        Self { path: None, cache: Mutex::default() }
    }

    /// Whether requests need a token.
    pub fn are_required(&self) -> bool {
        self.refreshed().are_required
    }

    /// Looks up a token.
    pub fn find(&self, token: &str) -> Option<TokenInfo> {
        // A lookup by hash leaks no timing information about stored tokens.
        self.refreshed().by_hash.get(&hash(token)).cloned()
    }

    /// Whether a token with this id exists. Without an id: whether requests need no token.
    pub(crate) fn is_valid(&self, id: Option<&str>) -> bool {
        let cache = self.refreshed();
        match id {
            Some(id) => cache.by_hash.values().any(|token| token.id == id),
            None => !cache.are_required,
        }
    }

    /// Returns the version of the file, which changes when tokens are created or revoked.
    pub(crate) fn file_version(&self) -> Option<FileVersion> {
        self.refreshed().version
    }

    /// Creates a token. It is returned here only; the file has its hash.
    ///
    /// # Errors
    ///
    /// Returns an error if the tenant is not a valid name, or if the file cannot be written.
    pub fn create(&self, tenant: &str, scope: Scope) -> io::Result<(TokenInfo, SecretString)> {
        SessionKey::of_tenant(tenant, "any").map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let token = format!("{PREFIX}{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        let mut id = uuid::Uuid::new_v4().simple().to_string();
        id.truncate(8);
        let created_at = format_time(SystemClock.now());
        let info = TokenInfo { id, hash: hash(&token), tenant: tenant.to_owned(), scope, created_at };
        let mut line = serde_json::to_string(&info)?;
        line.push('\n');
        let path = self.path()?;
        if let Some(directory) = path.parent() {
            make_private_directory(directory)?;
        }
        let _lock = lock_file(path)?;
        let mut file = private(fs::OpenOptions::new().create(true).append(true).read(true)).open(path)?;
        // An incomplete last line must not corrupt the new one.
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        if !text.is_empty() && !text.ends_with('\n') {
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes())?;
        Ok((info, SecretString::from(token)))
    }

    /// Returns all tokens in the order of their creation.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn list(&self) -> io::Result<Vec<TokenInfo>> {
        match fs::read_to_string(self.path()?) {
            Ok(text) => Ok(parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Returns the numbers of the lines that are not valid, counted from one. Their tokens are rejected.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn invalid_lines(&self) -> io::Result<Vec<usize>> {
        match fs::read_to_string(self.path()?) {
            Ok(text) => Ok(text.lines().zip(1..).filter(|(line, _)| is_invalid(line)).map(|(_, at)| at).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Revokes a token by its id. Returns whether it existed.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn revoke(&self, id: &str) -> io::Result<bool> {
        let path = self.path()?;
        let _lock = lock_file(path)?;
        let tokens = self.list()?;
        let remaining: Vec<&TokenInfo> = tokens.iter().filter(|token| token.id != id).collect();
        if remaining.len() == tokens.len() {
            return Ok(false);
        }
        let mut text = String::new();
        for token in remaining {
            text.push_str(&serde_json::to_string(token)?);
            text.push('\n');
        }
        // Concurrent readers see either the old file or the new one.
        let replacement = path.with_extension("jsonl.new");
        private(fs::OpenOptions::new().create(true).truncate(true).write(true))
            .open(&replacement)?
            .write_all(text.as_bytes())?;
        fs::rename(&replacement, path)?;
        Ok(true)
    }

    fn path(&self) -> io::Result<&Path> {
        self.path.as_deref().ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "no data directory"))
    }

    /// Returns the cache after reading the file again if it has changed.
    fn refreshed(&self) -> MutexGuard<'_, TokenCache> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = &self.path else { return cache };
        let version = match fs::metadata(path) {
            Ok(metadata) => Some(FileVersion::of(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // An unreadable file rejects all tokens.
            Err(_) => Some(FileVersion { modified: None, length: 0, inode: 0 }),
        };
        if version != cache.version {
            let tokens = fs::read_to_string(path).map(|text| parse(&text)).unwrap_or_default();
            cache.by_hash = tokens.into_iter().map(|token| (token.hash.clone(), token)).collect();
            cache.are_required |= version.is_some();
            cache.version = version;
        }
        cache
    }
}

/// Acquires the exclusive lock for changes of the file, until the returned file is dropped. Without it, a token created during
/// a revocation would be lost.
fn lock_file(path: &Path) -> io::Result<fs::File> {
    let lock = private(fs::OpenOptions::new().create(true).truncate(false).write(true))
        .open(path.with_extension("jsonl.lock"))?;
    lock.lock()?;
    Ok(lock)
}

fn private(options: &mut fs::OpenOptions) -> &mut fs::OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn is_invalid(line: &str) -> bool {
    !line.trim().is_empty() && serde_json::from_str::<TokenInfo>(line).is_err()
}

fn parse(text: &str) -> Vec<TokenInfo> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn hash(token: &str) -> String {
    Digest::of(token.as_bytes()).to_string()
}

/// Returns a JSON object with a secret, the only way in which a secret leaves this module.
pub(crate) fn object_with(name: &str, secret: Option<&SecretString>) -> Object {
    let mut object = Object::new();
    object.insert(name, secret.map(|secret| secret.expose_secret().to_owned()));
    object
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn create_keeps_incomplete_line_separate() {
        let directory = tempfile::tempdir().unwrap();
        let tokens = Tokens::in_directory(directory.path());
        let (first, _) = tokens.create("acme", Scope::Read).unwrap();
        let path = directory.path().join(FILE);
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(br#"{"id":"1a2b","ha"#).unwrap();
        let (second, token) = tokens.create("acme", Scope::Read).unwrap();
        assert_eq!(tokens.find(token.expose_secret()), Some(second.clone()));
        assert_eq!(tokens.list().unwrap(), [first, second]);
        assert_eq!(tokens.invalid_lines().unwrap(), [2]);
    }

    #[test]
    fn create_during_revocation_is_not_lost() {
        let directory = tempfile::tempdir().unwrap();
        let create = |count: usize| -> Vec<TokenInfo> {
            let tokens = Tokens::in_directory(directory.path());
            (0..count).map(|_| tokens.create("acme", Scope::Read).unwrap().0).collect()
        };
        let revoked = create(50);
        let remaining = std::thread::scope(|scope| {
            let creation = scope.spawn(|| create(200));
            let tokens = Tokens::in_directory(directory.path());
            for token in &revoked {
                assert!(tokens.revoke(&token.id).unwrap());
            }
            creation.join().unwrap()
        });
        assert_eq!(Tokens::in_directory(directory.path()).list().unwrap(), remaining);
    }
}
