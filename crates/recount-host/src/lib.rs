//! Agents that live on a log.
//!
//! A run belongs to its session and not to whoever asked: what an agent says goes to the session's log, and what people
//! answer comes from there. Whoever wants to see it reads the log, wherever they join.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use recount_agent::{Agent, scripted::ScriptedModel};
//! use recount_host::{Host, HostOptions, SingleAgent, OnBusy};
//! use recount_log::{Frame, Log, Start};
//! use recount_message::{Event, Fold, Msg};
//!
//! let log = Log::in_memory();
//! let session = log.create("chat".parse()?).await?;
//! let model = ScriptedModel::new().says("Hello, Alice.");
//! let friday = SingleAgent::new("friday", move || Agent::builder("Friday").model(model.clone()));
//! let host = Host::start(log, Arc::new(friday), HostOptions::default()).await?;
//!
//! // The answer says that the message is kept, and which reply will answer it.
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
//! - An [`AgentSource`] knows which agents there are, and makes one for each run. The crate `recount-agent-config` has one for
//!   agents from a TOML file.
//! - [`Host::post`] writes a user's message together with the start of its reply, in one commit. So there is no moment in
//!   which a message was taken and its answer could be forgotten. The reply's id follows from the message's, and a message
//!   that is posted again gets the first answer.
//! - While a reply is under way or waits, the next message is refused, queued, or interrupts it ([`OnBusy`]). A queued
//!   message's reply begins in the commit that ends the one before it.
//! - Confirmations, results from outside and interrupts are entries of the log. The log's writer decides which one comes
//!   first; the run takes them from there, whoever wrote them.
//! - Bytes that were uploaded to the log are shown to models wherever a message names them by their URL.
//! - A hint is told to the model before it is asked the next time; an idle session wakes up for it.
//! - A host that dies leaves nothing behind but the log. The next one ([`Host::start`]) goes on with what was under way.
//! - One run per session: a lease says whose. A host that has lost it writes nothing more.

mod append_queue;
mod batch;
mod error;
mod find_duplicate;
mod host;
mod options;
mod run;
mod run_counts;
mod run_metadata;
mod run_state;
mod scan;
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
