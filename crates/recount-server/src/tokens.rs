//! Who may do what: tokens, kept as hashes in a file of the data directory.

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
/// How every token begins, so that people and scanners recognise one.
const PREFIX: &str = "rct_";

/// How much a token allows. Each scope includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scope {
    /// To read sessions.
    Read,
    /// To write to them.
    Write,
    /// To look at the service itself.
    Admin,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Its name.
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

/// What is known of a token. The token itself is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenInfo {
    /// Names it in lists, and to revoke it.
    pub id: String,
    /// Its SHA-256 digest, in hexadecimal.
    pub hash: String,
    /// Whose sessions it opens.
    pub tenant: String,
    /// How much it allows.
    pub scope: Scope,
    /// When it was made.
    pub created_at: String,
}

/// The tokens of a data directory.
///
/// The file is looked at whenever somebody asks, so that tokens can be made and revoked while a service runs. As soon as
/// there is a file, everybody needs a token: to revoke the last one opens nothing.
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
    known: Mutex<TokenCache>,
}

#[derive(Debug, Default)]
struct TokenCache {
    /// The file as it was last read; nothing where there is none.
    stamp: Option<FileVersion>,
    /// There has been a file. One that is removed while the service runs does not open it.
    are_required: bool,
    by_hash: HashMap<String, TokenInfo>,
}

/// What changes when the file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileVersion {
    modified: Option<SystemTime>,
    length: u64,
    /// ReplySelector file it is. Times are coarse, and one that takes the place of another may be as long.
    file: u64,
}

impl FileVersion {
    fn of(metadata: &fs::Metadata) -> Self {
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let file = 0;
        Self { modified: metadata.modified().ok(), length: metadata.len(), file }
    }
}

impl Tokens {
    /// Those of a data directory, whether or not there is a file by now.
    pub fn in_directory(directory: &Path) -> Self {
        Self { path: Some(directory.join(FILE)), known: Mutex::default() }
    }

    /// None at all, and never any.
    pub fn none() -> Self {
        Self { path: None, known: Mutex::default() }
    }

    /// Whether everybody needs one.
    pub fn are_required(&self) -> bool {
        self.known().are_required
    }

    /// What is known of a token.
    pub fn find(&self, token: &str) -> Option<TokenInfo> {
        // The hash of what somebody sends says nothing about how close it is to one that is kept.
        self.known().by_hash.get(&hash(token)).cloned()
    }

    /// Whether a token is still good, by its id. Nobody's is good as long as nobody needs one.
    pub(crate) fn is_valid(&self, id: Option<&str>) -> bool {
        let known = self.known();
        match id {
            Some(id) => known.by_hash.values().any(|token| token.id == id),
            None => !known.are_required,
        }
    }

    /// Another one whenever tokens were made or revoked.
    pub(crate) fn file_version(&self) -> Option<FileVersion> {
        self.known().stamp
    }

    /// Makes a token.
    ///
    /// # Errors
    ///
    /// When the tenant is no name, or the file cannot be written.
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
        // What somebody could not write to its end spoils one line and not the next one too.
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        if !text.is_empty() && !text.ends_with('\n') {
            line.insert(0, '\n');
        }
        file.write_all(line.as_bytes())?;
        Ok((info, SecretString::from(token)))
    }

    /// All of them, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn list(&self) -> io::Result<Vec<TokenInfo>> {
        match fs::read_to_string(self.path()?) {
            Ok(text) => Ok(read(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The lines of the file that are no tokens, counted from one. Whoever has such a token is not let in.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn invalid_lines(&self) -> io::Result<Vec<usize>> {
        match fs::read_to_string(self.path()?) {
            Ok(text) => Ok(text.lines().zip(1..).filter(|(line, _)| is_invalid(line)).map(|(_, at)| at).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Revokes a token by its id. Says whether there was one.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn revoke(&self, id: &str) -> io::Result<bool> {
        let path = self.path()?;
        let _lock = lock_file(path)?;
        let tokens = self.list()?;
        let kept: Vec<&TokenInfo> = tokens.iter().filter(|token| token.id != id).collect();
        if kept.len() == tokens.len() {
            return Ok(false);
        }
        let mut text = String::new();
        for token in kept {
            text.push_str(&serde_json::to_string(token)?);
            text.push('\n');
        }
        // Whoever reads in between sees the old file or the new one.
        let replacement = path.with_extension("jsonl.new");
        private(fs::OpenOptions::new().create(true).truncate(true).write(true))
            .open(&replacement)?
            .write_all(text.as_bytes())?;
        fs::rename(&replacement, path)?;
        Ok(true)
    }

    fn path(&self) -> io::Result<&Path> {
        self.path.as_deref().ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "there is no data directory"))
    }

    /// What the file says now.
    fn known(&self) -> MutexGuard<'_, TokenCache> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = &self.path else { return known };
        let stamp = match fs::metadata(path) {
            Ok(metadata) => Some(FileVersion::of(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // What cannot be read lets nobody in.
            Err(_) => Some(FileVersion { modified: None, length: 0, file: 0 }),
        };
        if stamp != known.stamp {
            let tokens = fs::read_to_string(path).map(|text| read(&text)).unwrap_or_default();
            known.by_hash = tokens.into_iter().map(|token| (token.hash.clone(), token)).collect();
            known.are_required |= stamp.is_some();
            known.stamp = stamp;
        }
        known
    }
}

/// Holds off whoever else would change the file, for as long as what this gives lives. A token that was made while another one
/// is revoked would be gone with it.
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

fn read(text: &str) -> Vec<TokenInfo> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn hash(token: &str) -> String {
    Digest::of(token.as_bytes()).to_string()
}

/// A secret, where something else than this module needs its text.
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
    fn a_torn_line_spoils_no_other() {
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
    fn a_token_that_is_made_while_others_are_revoked_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let make = |count: usize| -> Vec<TokenInfo> {
            let tokens = Tokens::in_directory(directory.path());
            (0..count).map(|_| tokens.create("acme", Scope::Read).unwrap().0).collect()
        };
        let revoked = make(50);
        let kept = std::thread::scope(|scope| {
            let making = scope.spawn(|| make(200));
            let tokens = Tokens::in_directory(directory.path());
            for token in &revoked {
                assert!(tokens.revoke(&token.id).unwrap());
            }
            making.join().unwrap()
        });
        assert_eq!(Tokens::in_directory(directory.path()).list().unwrap(), kept);
    }
}
