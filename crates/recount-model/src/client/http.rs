//! The default transport: HTTP over TCP and TLS.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use super::endpoint::origin;
use super::transport::{Body, BoxFuture, Transport, TransportError};

/// An HTTP/1.1 transport, with TLS for `https` URLs. It pools connections, follows no redirects, and reads proxies from
/// `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.
///
/// A [`Model`](super::Model) creates its own transport by default. Several models can share one:
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use recount_model::Provider;
/// use recount_model::client::{HttpTransport, Model};
///
/// let transport = Arc::new(HttpTransport::new(Duration::from_secs(5))?);
/// let thinker = Model::new(Provider::Anthropic, "claude-opus-4-5").shared_transport(transport.clone());
/// let namer = Model::new(Provider::OpenAi, "gpt-5-nano").shared_transport(transport);
/// # Ok::<(), recount_model::client::TransportError>(())
/// ```
#[derive(Clone)]
pub struct HttpTransport {
    client: reqwest::Client,
}

impl HttpTransport {
    /// Creates a transport with a limit on the time to connect.
    ///
    /// # Errors
    ///
    /// If TLS cannot be initialized, for example without root certificates.
    pub fn new(connect_timeout: Duration) -> Result<Self, TransportError> {
        let client = builder()
            .connect_timeout(connect_timeout)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| transport_error(&error, None))?;
        Ok(Self { client })
    }
}

/// Returns the common configuration of all HTTP clients of this crate.
pub(super) fn builder() -> reqwest::ClientBuilder {
    // Fails if the program has installed a provider already, which is then used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("recount/", env!("CARGO_PKG_VERSION")))
        // `Model` and `MediaFetcher` decide about retries.
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport").finish_non_exhaustive()
    }
}

impl Transport for HttpTransport {
    fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Box<dyn Body>>, TransportError>> {
        Box::pin(async move {
            let origin = origin(request.uri());
            let failure = |error| transport_error(&error, Some(&origin));
            let request = reqwest::Request::try_from(request).map_err(failure)?;
            let response = self.client.execute(request).await.map_err(failure)?;
            let mut head = http::Response::new(());
            *head.status_mut() = response.status();
            *head.headers_mut() = response.headers().clone();
            Ok(head.map(|()| Box::new(HttpBody { response, origin }) as Box<dyn Body>))
        })
    }
}

struct HttpBody {
    response: reqwest::Response,
    /// The scheme, host and port of the provider, for errors.
    origin: String,
}

impl Body for HttpBody {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, TransportError>> {
        Box::pin(
            async move { self.response.chunk().await.map_err(|error| transport_error(&error, Some(&self.origin))) },
        )
    }
}

/// Describes a failed request with all of its causes, because the outermost error only says "error sending request".
///
/// `origin` is the scheme, host and port of the address. The full address may hold a password or a key.
pub(super) fn transport_error(error: &reqwest::Error, origin: Option<&str>) -> TransportError {
    let (before, after) = if error.is_connect() {
        ("cannot connect", "")
    } else if error.is_body() || error.is_decode() {
        ("the connection", " broke")
    } else {
        ("the request", " failed")
    };
    let to = origin.map(|origin| format!(" to {origin}")).unwrap_or_default();
    let mut parts = vec![format!("{before}{to}{after}")];
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        // hyper's own layer adds nothing to the error below it.
        if parts.last() != Some(&text) && !text.starts_with("client error") {
            parts.push(text);
        }
        cause = error.source();
    }
    let message = parts.join(": ");
    if error.is_timeout() { TransportError::timeout(message) } else { TransportError::new(message) }
}
