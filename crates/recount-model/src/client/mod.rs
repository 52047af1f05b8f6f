//! Calling models over HTTP.
//!
//! A [`Model`] connects formatter, transport and decoder: it sends messages and writes what comes back to a
//! [`ReplyWriter`](recount_message::ReplyWriter), as events.
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
//! - Keys come from the environment ([`Provider::api_key_env_vars`](crate::Provider::api_key_env_vars)) or from
//!   [`Model::key`]. They are never printed.
//! - [`Timeouts`] say how long a call waits, [`Retries`] how often it is made again, [`Model::fallback`] who is asked then.
//!   All of it ends where something was shown, because a reader cannot forget.
//! - Files and URLs in messages are fetched by a [`MediaFetcher`] where the provider wants the bytes, with care.
//! - [`Transport`] and [`FetchMedia`] are what a test, or a platform of its own kind, replaces.
//!
//! What goes wrong is never a Rust error: it is the [end](crate::decode::CallEnd) of the call, with a class, and the events
//! say it too.

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
