//! Media from HTTP URLs.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::LOCATION;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Response, StatusCode, Url};

use super::public_ip::is_public;
use super::{Failure, MediaErrorKind};
use crate::client::http::{builder, transport_error};

/// The hosts that may be contacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AllowedHosts {
    PublicInternet,
    Everywhere,
}

impl AllowedHosts {
    fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::PublicInternet => is_public(address),
            Self::Everywhere => true,
        }
    }
}

/// The maximum number of redirects.
const REDIRECTS: usize = 5;

/// The redirects that are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Redirects {
    Anywhere,
    SameHost,
}

/// An HTTP client that checks each address before it connects.
#[derive(Debug)]
pub(super) struct WebFetcher {
    pub(super) hosts: AllowedHosts,
    pub(super) redirects: Redirects,
    client: OnceLock<Result<Client, Failure>>,
}

impl WebFetcher {
    pub(super) fn new(hosts: AllowedHosts, redirects: Redirects) -> Self {
        Self { hosts, redirects, client: OnceLock::new() }
    }

    pub(super) async fn fetch(&self, url: &str, max_bytes: usize) -> Result<Bytes, Failure> {
        let url = Url::parse(url)
            .map_err(|error| Failure::new(MediaErrorKind::Unsupported, format!("invalid URL: {error}")))?;
        check(&url, self.hosts).map_err(|refused| Failure::forbidden(refused.to_string()))?;
        let client = self.client.get_or_init(|| self.make_client()).as_ref().map_err(Clone::clone)?;
        let mut response = client.get(url).send().await.map_err(|error| failure(&error))?;
        match response.status() {
            status if status.is_success() => {}
            status if status.is_redirection() => return Err(redirect_failure(&response)),
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                return Err(Failure::new(MediaErrorKind::NotFound, response.status().to_string()));
            }
            status => return Err(Failure::new(MediaErrorKind::Unreachable, status.to_string())),
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error))? {
            if bytes.len() + chunk.len() > max_bytes {
                return Err(Failure::too_large(max_bytes));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes.into())
    }

    fn make_client(&self) -> Result<Client, Failure> {
        let (hosts, redirects) = (self.hosts, self.redirects);
        builder()
            // A proxy would resolve names itself, without the address check.
            .no_proxy()
            .dns_resolver(Arc::new(FilteringResolver { hosts }))
            .redirect(Policy::custom(move |attempt| follow(attempt, hosts, redirects)))
            .build()
            .map_err(|error| failure(&error))
    }
}

fn follow(attempt: Attempt<'_>, hosts: AllowedHosts, redirects: Redirects) -> reqwest::redirect::Action {
    if attempt.previous().len() > REDIRECTS {
        return attempt.error(Blocked("too many redirects"));
    }
    if let Err(refused) = check(attempt.url(), hosts) {
        return attempt.error(refused);
    }
    let from = attempt.previous().last().and_then(Url::host_str).unwrap_or_default();
    match redirects {
        Redirects::SameHost if without_www(from) != without_www(attempt.url().host_str().unwrap_or_default()) => {
            attempt.stop()
        }
        Redirects::SameHost | Redirects::Anywhere => attempt.follow(),
    }
}

/// Sites redirect between these two names of one host.
fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

/// Returns the error for a redirect that was not followed.
fn redirect_failure(response: &Response) -> Failure {
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let url = location.and_then(|location| response.url().join(location).ok());
    let reason = match url {
        Some(url) => format!("redirects to another host: {url}"),
        None => response.status().to_string(),
    };
    Failure::new(MediaErrorKind::Redirected, reason)
}

/// The error of an address that must not be fetched.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("{0}")]
struct Blocked(&'static str);

const PRIVATE: Blocked = Blocked("the address is not on the public internet");

/// Checks the scheme and a literal address. The resolver checks names.
fn check(url: &Url, hosts: AllowedHosts) -> Result<(), Blocked> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Blocked("unsupported URL scheme, expected `http` or `https`"));
    }
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match literal {
        Ok(address) if !hosts.allows(address) => Err(PRIVATE),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Resolves names to allowed addresses only. The connection uses the returned addresses, so a name cannot resolve to
/// another address between check and use.
#[derive(Debug)]
struct FilteringResolver {
    hosts: AllowedHosts,
}

impl Resolve for FilteringResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let hosts = self.hosts;
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let was_found = !found.is_empty();
            let allowed: Vec<SocketAddr> = found.into_iter().filter(|address| hosts.allows(address.ip())).collect();
            if was_found && allowed.is_empty() {
                return Err(Box::new(PRIVATE) as Box<dyn Error + Send + Sync>);
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

fn failure(error: &reqwest::Error) -> Failure {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<Blocked>() {
            return Failure::forbidden(refused.to_string());
        }
        cause = error.source();
    }
    Failure::new(MediaErrorKind::Unreachable, transport_error(error, None).to_string())
}
