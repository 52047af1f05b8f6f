//! The files and URLs of messages, fetched for providers that want the bytes.

mod collector;
mod files;
mod public_ip;
mod web;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;

pub(super) use collector::MediaCollector;

use super::transport::BoxFuture;
use crate::format::MediaRef;
use web::{AllowedHosts, Redirects, WebFetcher};

/// Brings the bytes of a file or URL that stands in a message.
///
/// [`MediaFetcher`] is the usual one. Who keeps media elsewhere brings another:
///
/// ```
/// use bytes::Bytes;
/// use recount_model::Provider;
/// use recount_model::client::{BoxFuture, FetchMedia, MediaError, MediaErrorKind, MediaFetcher, Model};
/// use recount_model::format::MediaRef;
///
/// /// Knows `blob:` URLs, and leaves all others to the usual fetcher.
/// struct Blobs(MediaFetcher);
///
/// impl FetchMedia for Blobs {
///     fn fetch<'a>(&'a self, wanted: &'a MediaRef) -> BoxFuture<'a, Result<Bytes, MediaError>> {
///         match wanted.url.strip_prefix("blob:") {
///             Some("logo") => Box::pin(async { Ok(Bytes::from_static(b"\x89PNG")) }),
///             Some(_) => Box::pin(async { Err(MediaError::new(wanted, MediaErrorKind::NotFound, "no such blob")) }),
///             None => self.0.fetch(wanted),
///         }
///     }
/// }
///
/// let model = Model::new(Provider::Anthropic, "claude-opus-4-5").media(Blobs(MediaFetcher::new()));
/// ```
pub trait FetchMedia: Send + Sync + 'static {
    /// Brings the bytes.
    ///
    /// # Errors
    ///
    /// When they cannot or must not be had. The model is then told that something was there, and the call goes on.
    fn fetch<'a>(&'a self, wanted: &'a MediaRef) -> BoxFuture<'a, Result<Bytes, MediaError>>;
}

/// Brings media from the public internet, and from directories that are allowed.
///
/// A message may come from anybody, so what it points to is fetched with care:
///
/// - Addresses of this machine and of private networks are refused, after the name was looked up and for every redirect; the
///   connection goes to the very address that was checked.
/// - Files are read only below directories that were named, after links and `..` were resolved.
/// - Size and time have limits.
///
/// ```
/// use std::time::Duration;
///
/// use recount_model::Provider;
/// use recount_model::client::{MediaFetcher, Model};
///
/// let fetcher = MediaFetcher::new()
///     .allow_directory("/srv/uploads")
///     .max_bytes(5 << 20)
///     .timeout(Duration::from_secs(10));
/// let model = Model::new(Provider::Anthropic, "claude-opus-4-5").media(fetcher);
/// ```
#[derive(Debug)]
pub struct MediaFetcher {
    directories: Vec<PathBuf>,
    max_bytes: usize,
    timeout: Duration,
    web: WebFetcher,
}

impl Default for MediaFetcher {
    fn default() -> Self {
        Self::new()
    }
}

impl MediaFetcher {
    /// The public internet and no files, 20 MiB and 30 seconds for each.
    #[must_use]
    pub fn new() -> Self {
        Self {
            directories: Vec::new(),
            max_bytes: 20 << 20,
            timeout: Duration::from_secs(30),
            web: WebFetcher::new(AllowedHosts::PublicInternet, Redirects::Anywhere),
        }
    }

    /// Files below a directory may be read.
    #[must_use]
    pub fn allow_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directories.push(directory.into());
        self
    }

    /// Addresses of this machine and of private networks may be fetched from. Only where no message comes from a stranger.
    #[must_use]
    pub fn allow_private_networks(mut self) -> Self {
        self.web = WebFetcher::new(AllowedHosts::Everywhere, self.web.redirects);
        self
    }

    /// A redirect to another host is not followed, and told. For those who were allowed this host and no other.
    #[must_use]
    pub fn stay_on_host(mut self) -> Self {
        self.web = WebFetcher::new(self.web.hosts, Redirects::SameHost);
        self
    }

    /// How large a file or response may be.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How long it may take to bring one.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    async fn fetch_one(&self, wanted: &MediaRef) -> Result<Bytes, Failure> {
        let scheme = wanted.url.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        match scheme.as_str() {
            "http" | "https" => self.web.fetch(&wanted.url, self.max_bytes).await,
            "file" => {
                let path = wanted.path().ok_or_else(|| Failure::forbidden("not a file of this machine"))?;
                files::read(path.as_ref(), &self.directories, self.max_bytes).await
            }
            _ => Err(Failure::new(MediaErrorKind::Unsupported, format!("nobody knows how to fetch `{scheme}:`"))),
        }
    }
}

impl FetchMedia for MediaFetcher {
    fn fetch<'a>(&'a self, wanted: &'a MediaRef) -> BoxFuture<'a, Result<Bytes, MediaError>> {
        Box::pin(async move {
            let fetched = tokio::time::timeout(self.timeout, self.fetch_one(wanted)).await.unwrap_or_else(|_| {
                Err(Failure::new(MediaErrorKind::TimedOut, format!("it took longer than {:?}", self.timeout)))
            });
            fetched.map_err(|failure| MediaError::new(wanted, failure.kind, failure.reason))
        })
    }
}

/// Why a file or URL was not fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaError {
    url: String,
    kind: MediaErrorKind,
    reason: String,
}

/// In which way a file or URL was not to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MediaErrorKind {
    /// It must not be fetched: an address of a private network, a file outside of the allowed directories.
    Forbidden,
    /// It is not there.
    NotFound,
    /// It is at another host, and only this one is asked.
    Redirected,
    /// It is too large.
    TooLarge,
    /// It took too long.
    TimedOut,
    /// The network or the disk failed.
    Unreachable,
    /// Nobody knows how to fetch such a URL.
    Unsupported,
}

impl MediaError {
    /// Says why something was not fetched.
    #[must_use]
    pub fn new(wanted: &MediaRef, kind: MediaErrorKind, reason: impl Into<String>) -> Self {
        Self { url: wanted.url.clone(), kind, reason: reason.into() }
    }

    /// The URL as the message has it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// In which way it was not to be had.
    #[must_use]
    pub fn kind(&self) -> MediaErrorKind {
        self.kind
    }
}

impl fmt::Display for MediaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What follows a question mark is often a signature.
        let shown = self.url.split(['?', '#']).next().unwrap_or_default();
        write!(f, "{shown}: {}", self.reason)
    }
}

impl std::error::Error for MediaError {}

/// Why something could not be fetched, by whoever tried.
#[derive(Debug, Clone)]
struct Failure {
    kind: MediaErrorKind,
    reason: String,
}

impl Failure {
    fn new(kind: MediaErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }

    fn forbidden(reason: impl Into<String>) -> Self {
        Self::new(MediaErrorKind::Forbidden, reason)
    }

    fn too_large(limit: usize) -> Self {
        Self::new(MediaErrorKind::TooLarge, format!("it is larger than {limit} bytes"))
    }
}
