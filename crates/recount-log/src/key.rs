//! Session keys.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

/// The key of a session: a name within a tenant.
///
/// Names have 1 to 64 characters of `A-Z a-z 0-9 _ -`. The tenant may be empty, for a log with one owner. As text a key is
/// `name` or `tenant/name`.
///
/// ```
/// use recount_log::SessionKey;
///
/// let key: SessionKey = "acme/chat-7".parse()?;
/// assert_eq!((key.tenant(), key.name()), ("acme", "chat-7"));
/// assert_eq!(SessionKey::new("chat-7")?.to_string(), "chat-7");
/// assert!(SessionKey::new("no spaces").is_err());
/// # Ok::<(), recount_log::KeyError>(())
/// ```
#[derive(Clone)]
pub struct SessionKey(Arc<Names>);

/// Keys are looked up for every request and created rarely, so their hash is computed once.
struct Names {
    hash: u64,
    tenant: Box<str>,
    name: Box<str>,
}

/// Hashes keys with a random key per process, so that clients cannot choose keys that collide.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The error of an invalid session or tenant name.
///
/// ```
/// let error = recount_log::SessionKey::new("").unwrap_err();
/// assert_eq!(error.to_string(), "\"\" is not a session name: expected 1 to 64 of A-Z a-z 0-9 _ -");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {what} name: expected 1 to 64 of A-Z a-z 0-9 _ -")]
pub struct KeyError {
    text: String,
    what: &'static str,
}

const LONGEST: usize = 64;
/// The prefix of the names of staged sessions. It sorts after all other names.
const STAGED: char = '~';

impl SessionKey {
    /// Creates a key with an empty tenant.
    ///
    /// # Errors
    ///
    /// If the name is empty, too long, or contains other characters.
    pub fn new(name: &str) -> Result<Self, KeyError> {
        check(name, "session")?;
        Ok(Self::unchecked("", name))
    }

    /// Creates a key of a tenant, which may be empty.
    ///
    /// ```
    /// use recount_log::SessionKey;
    ///
    /// assert_eq!(SessionKey::of_tenant("acme", "chat")?, "acme/chat".parse()?);
    /// # Ok::<(), recount_log::KeyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If either name is invalid, as in [`new`](Self::new).
    pub fn of_tenant(tenant: &str, name: &str) -> Result<Self, KeyError> {
        if !tenant.is_empty() {
            check(tenant, "tenant")?;
        }
        check(name, "session")?;
        Ok(Self::unchecked(tenant, name))
    }

    /// Creates the key of a staged session from its tenant and a random number. Such a key cannot be parsed from text, and
    /// [`View::sessions`](crate::storage::View::sessions) does not list it.
    ///
    /// ```
    /// use recount_log::SessionKey;
    ///
    /// let draft = SessionKey::staged("acme", 7);
    /// assert!(draft.is_staged());
    /// assert!(draft.to_string().parse::<SessionKey>().is_err());
    /// ```
    pub fn staged(tenant: &str, number: u64) -> Self {
        Self::unchecked(tenant, &format!("{STAGED}{number:016x}"))
    }

    /// Returns whether this is the key of a [staged session](Self::staged).
    pub fn is_staged(&self) -> bool {
        self.name().starts_with(STAGED)
    }

    /// Parses a stored key, including those of staged sessions.
    pub(crate) fn stored(tenant: &str, name: &str) -> Result<Self, KeyError> {
        match name.strip_prefix(STAGED) {
            Some(number) => Self::of_tenant(tenant, number).map(|_| Self::unchecked(tenant, name)),
            None => Self::of_tenant(tenant, name),
        }
    }

    fn unchecked(tenant: &str, name: &str) -> Self {
        Self(Arc::new(Names { hash: HASHER.hash_one((tenant, name)), tenant: tenant.into(), name: name.into() }))
    }

    /// The tenant. Empty for a log with one owner.
    pub fn tenant(&self) -> &str {
        &self.0.tenant
    }

    /// The name within the tenant.
    pub fn name(&self) -> &str {
        &self.0.name
    }
}

fn check(text: &str, what: &'static str) -> Result<(), KeyError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_allowed) {
        return Ok(());
    }
    Err(KeyError { text: text.to_owned(), what })
}

impl PartialEq for SessionKey {
    fn eq(&self, other: &Self) -> bool {
        let (one, two) = (&*self.0, &*other.0);
        Arc::ptr_eq(&self.0, &other.0) || (one.hash == two.hash && one.name == two.name && one.tenant == two.tenant)
    }
}

impl Eq for SessionKey {}

impl Hash for SessionKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl Ord for SessionKey {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.tenant(), self.name()).cmp(&(other.tenant(), other.name()))
    }
}

impl PartialOrd for SessionKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SessionKey").field(&self.to_string()).finish()
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tenant().is_empty() { f.pad(self.name()) } else { f.pad(&format!("{}/{}", self.tenant(), self.name())) }
    }
}

impl FromStr for SessionKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        match text.split_once('/') {
            None => Self::new(text),
            Some((tenant, name)) => Self::of_tenant(tenant, name),
        }
    }
}
