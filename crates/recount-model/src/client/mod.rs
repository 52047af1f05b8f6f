//! HTTP calls to models.
//!
//! A [`Model`] connects a formatter, a transport and a decoder: it sends messages and writes the response as events to
//! a [`ReplyWriter`](recount_message::ReplyWriter).
//!
//! ```no_run
//! use recount_message::{Msg, ReplyWriter, Stamps};
//! use recount_model::client::{CallOptions, Model};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let model: Model = "anthropic/claude-opus-4-5".parse()?;
//! let messages = [Msg::system("system", "Be brief."), Msg::user("Alice", "Why is the sky blue?")];
//! let reply = ReplyWriter::start(|event| println!("{}", event.to_json()), Stamps::default(), "s1", "Friday");
//! let (message, outcome) = model.reply(&messages, &CallOptions::new(), reply).await;
//! if let Some(error) = outcome.end.error {
//!     println!("{}: {error}", error.class());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! - API keys come from the environment ([`Provider::api_key_env_vars`](crate::Provider::api_key_env_vars)) or from
//!   [`Model::key`]. They are never printed.
//! - [`Timeouts`] limit each wait, [`Retries`] the number of attempts, and [`Model::fallback`] adds models to try
//!   afterwards. A call that has written a block is not repeated, because readers have already received it.
//! - If the provider requires the bytes of files and URLs in messages, a [`MediaFetcher`] fetches them under
//!   restrictions.
//! - Tests and other platforms can replace [`Transport`] and [`FetchMedia`].
//!
//! Calls do not return a `Result`: an error is part of the [end](crate::decode::CallEnd) of the call, with a class, and
//! of the events.

mod call;
mod endpoint;
mod error_response;
mod http;
mod key;
mod media;
mod model;
mod options;
mod retry;
mod transport;

pub use endpoint::BaseUrlError;
pub use http::HttpTransport;
pub use key::ApiKey;
pub use media::{FetchMedia, MediaError, MediaErrorKind, MediaFetcher};
pub use model::{Model, ModelNameError};
pub use options::{CallOptions, CallOutcome, Timeouts};
pub use retry::Retries;
pub use tokio_util::sync::CancellationToken;
pub use transport::{Body, BoxFuture, Transport, TransportError};
