//! Request formatting, response decoding and HTTP calls for LLM providers.
//!
//! - A [formatter](format::Formatter) converts messages to a provider's request JSON. A [decoder](decode::Decoder)
//!   converts the provider's response stream to events. Both are pure: no file access, no network, no clock.
//! - A [model](client::Model) connects both over HTTP, with timeouts, retries and fallbacks. It requires the feature
//!   `client`, which is enabled by default.
//! - [`sse`] parses server-sent events, [`repair`] parses the malformed JSON that models write.
//!
//! ```
//! use recount_message::{Msg, ReplyWriter, Stamps};
//! use recount_model::client::{CallOptions, Model};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let model: Model = "ollama/qwen3".parse()?;
//! # let model = model.base_url("http://127.0.0.1:1")?.retries(recount_model::client::Retries::none());
//! let reply = ReplyWriter::start(|event| println!("{}", event.to_json()), Stamps::default(), "s1", "Friday");
//! let (message, outcome) = model.reply(&[Msg::user("Alice", "Hello")], &CallOptions::new(), reply).await;
//! match outcome.end.error {
//!     None => println!("{:?}", message.text()),
//!     Some(error) => println!("{}: {error}", error.class()),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

#[cfg(feature = "client")]
pub mod client;
mod context_window;
pub mod decode;
pub mod format;
mod provider;
pub mod repair;
pub mod sse;
mod tokens;

pub use context_window::context_window;
pub use provider::{Provider, UnknownProvider};
pub use tokens::{estimate_block_tokens, estimate_tokens};
