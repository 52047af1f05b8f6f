//! Fetching the files and URLs of messages, for providers that require the bytes.

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

/// Fetches the bytes of a file or URL in a message.
///
/// [`MediaFetcher`] is the default. Implement this trait for media in other storage:
///
/// ```
/// use bytes::Bytes;
/// use recount_model::Provider;
/// use recount_model::client::{BoxFuture, FetchMedia, MediaError, MediaErrorKind, MediaFetcher, Model};
/// use recount_model::format::MediaRef;
///
/// /// Resolves `blob:` URLs, and passes all others to the default fetcher.
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
    /// Fetches the bytes.
    ///
    /// # Errors
    ///
    /// If the media cannot or must not be fetched. The call continues, and a text in the request tells the model that
    /// the media is missing.
    fn fetch<'a>(&'a self, wanted: &'a MediaRef) -> BoxFuture<'a, Result<Bytes, MediaError>>;
}

/// Fetches media from the public internet and from allowed directories.
///
/// Messages may come from untrusted users, so fetching is restricted:
///
/// - Loopback and private addresses are rejected, after DNS resolution and for every redirect. The connection uses the
///   address that was checked.
/// - Files are read only from allowed directories, after links and `..` are resolved.
/// - Size and time are limited.
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
    /// Creates a fetcher for the public internet, without files, limited to 20 MiB and 30 seconds per item.
    #[must_use]
    pub fn new() -> Self {
        Self {
            directories: Vec::new(),
            max_bytes: 20 << 20,
            timeout: Duration::from_secs(30),
            web: WebFetcher::new(AllowedHosts::PublicInternet, Redirects::Anywhere),
        }
    }

    /// Allows reading files in a directory.
    #[must_use]
    pub fn allow_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directories.push(directory.into());
        self
    }

    /// Allows loopback and private addresses. Use this only if all messages are trusted.
    #[must_use]
    pub fn allow_private_networks(mut self) -> Self {
        self.web = WebFetcher::new(AllowedHosts::Everywhere, self.web.redirects);
        self
    }

    /// Rejects redirects to another host, with [`MediaErrorKind::Redirected`].
    #[must_use]
    pub fn stay_on_host(mut self) -> Self {
        self.web = WebFetcher::new(self.web.hosts, Redirects::SameHost);
        self
    }

    /// Sets the maximum size of a file or response, in bytes.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the time limit of one fetch.
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
                let path = wanted.path().ok_or_else(|| Failure::forbidden("not a local file"))?;
                files::read(path.as_ref(), &self.directories, self.max_bytes).await
            }
            _ => Err(Failure::new(MediaErrorKind::Unsupported, format!("unsupported URL scheme `{scheme}`"))),
        }
    }
}

impl FetchMedia for MediaFetcher {
    fn fetch<'a>(&'a self, wanted: &'a MediaRef) -> BoxFuture<'a, Result<Bytes, MediaError>> {
        Box::pin(async move {
            let fetched = tokio::time::timeout(self.timeout, self.fetch_one(wanted)).await.unwrap_or_else(|_| {
                Err(Failure::new(MediaErrorKind::TimedOut, format!("timed out after {:?}", self.timeout)))
            });
            fetched.map_err(|failure| MediaError::new(wanted, failure.kind, failure.reason))
        })
    }
}

/// The error of fetching a file or URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaError {
    url: String,
    kind: MediaErrorKind,
    reason: String,
}

/// The kind of a [`MediaError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MediaErrorKind {
    /// Not allowed: a private address, or a file outside the allowed directories.
    Forbidden,
    /// The file or URL does not exist.
    NotFound,
    /// The URL redirects to another host, which is not allowed.
    Redirected,
    /// Larger than the limit.
    TooLarge,
    /// Slower than the time limit.
    TimedOut,
    /// A network or I/O error.
    Unreachable,
    /// The URL scheme is not supported.
    Unsupported,
}

impl MediaError {
    /// Creates an error.
    #[must_use]
    pub fn new(wanted: &MediaRef, kind: MediaErrorKind, reason: impl Into<String>) -> Self {
        Self { url: wanted.url.clone(), kind, reason: reason.into() }
    }

    /// Returns the URL as given in the message.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> MediaErrorKind {
        self.kind
    }
}

impl fmt::Display for MediaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The query often holds a signature.
        let url = self.url.split(['?', '#']).next().unwrap_or_default();
        write!(f, "{url}: {}", self.reason)
    }
}

impl std::error::Error for MediaError {}

/// The error of a single fetch, without its URL.
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
        Self::new(MediaErrorKind::TooLarge, format!("larger than {limit} bytes"))
    }
}
