//! Agents on a log.
//!
//! A run belongs to its session, not to the caller that started it. The host appends the agent's events to the session's log,
//! and reads confirmations and tool results from there. Clients read the log, and can join at any time.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use recount_agent::{Agent, scripted::ScriptedModel};
//! use recount_host::{Host, HostOptions, OnBusy, SingleAgent};
//! use recount_log::{Frame, Log, Start};
//! use recount_message::{Event, Fold, Msg};
//!
//! let log = Log::in_memory();
//! let session = log.create("chat".parse()?).await?;
//! let model = ScriptedModel::new().says("Hello, Alice.");
//! let friday = SingleAgent::new("friday", move || Agent::builder("Friday").model(model.clone()));
//! let host = Host::start(log, Arc::new(friday), HostOptions::default()).await?;
//!
//! // The message is committed when `post` returns. The result names the reply that will answer it.
//! let posted = host.post(session.key(), Msg::user("Alice", "Hi"), OnBusy::Reject).await?;
//!
//! let mut reader = session.subscribe(Start::Beginning)?;
//! let mut fold = Fold::new();
//! while fold.message(&posted.reply_id).is_none_or(|reply| reply.finished_at().is_none()) {
//!     let Frame::Entry(entry) = reader.next().await? else { unreachable!() };
//!     fold.apply_at(entry.cursor.seq, &Event::from_slice(&entry.event)?);
//! }
//! assert_eq!(fold.message(&posted.reply_id).unwrap().text().as_deref(), Some("Hello, Alice."));
//! # Ok(()) }
//! ```
//!
//! # The contract
//!
//! - An [`AgentSource`] lists the available agents and builds one for each run. The crate `recount-agent-config` has a source
//!   for agents from a TOML file.
//! - [`Host::post`] commits a user's message together with the start of its reply, so a committed message is always answered.
//!   The reply's id is derived from the message's id. Posting the same message again returns the same result.
//! - While a reply is running or waiting, the next message is rejected, queued, or interrupts the reply ([`OnBusy`]). The
//!   reply to a queued message starts in the commit that ends the previous reply.
//! - Confirmations, external tool results and interrupts are entries of the log. The log's writer decides their order, and the
//!   run reads them from there, regardless of which client appended them.
//! - Uploads to the log are inlined for the model wherever a message references them by URL.
//! - A hint is passed to the model with its next call. If the session is idle, the hint starts a reply.
//! - A host keeps no state outside the log. After a crash, the next host ([`Host::start`]) resumes the open replies.
//! - A session has at most one run, which holds a lease. A host that has lost the lease appends nothing more.

mod append_queue;
mod error;
mod host;
mod options;
mod routing;
mod run;
mod run_counts;
mod run_metadata;
mod run_state;
mod shared;
mod sink;
mod source;
mod telemetry;
mod trace_context;
mod uploads;

pub use error::{Error, PostError};
pub use host::Host;
pub use options::{HostOptions, LEASE, OnBusy, Posted};
pub use run::failing_agent;
pub use run_counts::HostLoad;
pub use source::{AgentInfo, AgentSource, SingleAgent, SourceError};
pub use telemetry::SPAN_TARGET;
