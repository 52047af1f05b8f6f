//! The interface between a model and the network.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

/// A boxed future, which traits return so that they can be used as trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sends HTTP requests. [`HttpTransport`](super::HttpTransport) is the default; implement this trait for tests,
/// recorders, or platforms with their own HTTP client.
///
/// A transport sends each request once. It must not follow redirects, because the request carries an API key, and it
/// must not retry, because the [`Model`](super::Model) does.
///
/// ```
/// use bytes::Bytes;
/// use recount_message::{Msg, ReplyWriter, Stamps};
/// use recount_model::Provider;
/// use recount_model::client::{Body, BoxFuture, CallOptions, Model, Transport, TransportError};
///
/// /// Returns the same body for every request.
/// struct Canned(&'static str);
///
/// impl Transport for Canned {
///     fn send(
///         &self,
///         request: http::Request<Bytes>,
///     ) -> BoxFuture<'_, Result<http::Response<Box<dyn Body>>, TransportError>> {
///         assert_eq!(request.uri().path(), "/api/chat");
///         let body: Box<dyn Body> = Box::new(Bytes::from_static(self.0.as_bytes()));
///         Box::pin(async { Ok(http::Response::new(body)) })
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let answer = r#"{"message":{"content":"Hello"},"done":true,"done_reason":"stop"}"#;
/// let model = Model::new(Provider::Ollama, "qwen3").transport(Canned(answer));
/// let mut reply = ReplyWriter::start(|_event| {}, Stamps::default(), "s1", "Friday");
/// let outcome = model.call(&[Msg::user("Alice", "Hi")], &CallOptions::new(), &mut reply).await;
/// assert_eq!(outcome.end.error, None);
/// assert_eq!(reply.message().text().as_deref(), Some("Hello"));
/// # });
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Sends a request and returns the response as soon as its head has arrived.
    ///
    /// # Errors
    ///
    /// If there is no response. A response with an unsuccessful status is not an error here.
    fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Box<dyn Body>>, TransportError>>;
}

/// A response body that is read in chunks. Dropping it closes the connection.
pub trait Body: Send {
    /// Returns the next chunk, or `None` at the end.
    ///
    /// # Errors
    ///
    /// If the connection breaks.
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, TransportError>>;
}

/// A body that is in memory.
impl Body for Bytes {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, TransportError>> {
        let all = std::mem::take(self);
        Box::pin(async move { Ok(Some(all).filter(|all| !all.is_empty())) })
    }
}

/// A network error: there is no response, or no more of it.
///
/// ```
/// use recount_model::client::TransportError;
///
/// let error = TransportError::new("connection refused");
/// assert_eq!(error.to_string(), "connection refused");
/// assert!(!error.is_timeout());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TransportError {
    message: String,
    is_timeout: bool,
}

impl TransportError {
    /// Creates an error. The message should name the provider's host, and must not contain request headers.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_timeout: false }
    }

    /// Creates an error for a timeout.
    #[must_use]
    pub fn timeout(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_timeout: true }
    }

    /// Whether the request timed out.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.is_timeout
    }
}

impl fmt::Debug for dyn Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dyn Transport")
    }
}

impl fmt::Debug for dyn Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dyn Body")
    }
}
