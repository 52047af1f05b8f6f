//! How bytes get to a provider and back.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

/// A boxed future, which traits return so that they can be used as trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sends requests. [`HttpTransport`](super::HttpTransport) is the usual one; a test, a recorder or a platform with an HTTP
/// client of its own brings another.
///
/// A transport sends each request once. It follows no redirects, because a key must not go where the user did not send it,
/// and it does not retry, because the [`Model`](super::Model) does.
///
/// ```
/// use bytes::Bytes;
/// use recount_message::{Msg, ReplyWriter, Stamps};
/// use recount_model::Provider;
/// use recount_model::client::{Body, BoxFuture, CallOptions, Model, Transport, TransportError};
///
/// /// Answers every request with the same words.
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
    /// Sends a request and gives the response as soon as its head is there.
    ///
    /// # Errors
    ///
    /// When there is no response at all. One that says that something went wrong is a response.
    fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Box<dyn Body>>, TransportError>>;
}

/// The body of a response, as it comes. Dropping it closes the connection.
pub trait Body: Send {
    /// The next bytes; nothing at the end.
    ///
    /// # Errors
    ///
    /// When the connection breaks.
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, TransportError>>;
}

/// A body that is there already.
impl Body for Bytes {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, TransportError>> {
        let all = std::mem::take(self);
        Box::pin(async move { Ok(Some(all).filter(|all| !all.is_empty())) })
    }
}

/// Why there is no response, or no more of it.
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
    /// An error of the network, in words for a person. They should not hold the request's headers.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_timeout: false }
    }

    /// The same, because it took too long.
    #[must_use]
    pub fn timeout(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_timeout: true }
    }

    /// Whether it took too long.
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
