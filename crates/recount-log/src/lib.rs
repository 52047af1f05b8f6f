//! One durable log per session.
//!
//! A session is a sequence of [events](recount_message::Event). Agents, browsers, terminals and other services are writers
//! and readers at a cursor, independent of connections. Every reader ends up with the same messages, byte for byte,
//! regardless of where it starts and how often it reconnects.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! use recount_log::{Frame, Log, Options, Start};
//! use recount_message::{CustomEvent, Event, Fold, Msg, ReplyEnd, ReplyWriter, Stamps};
//!
//! let log = Log::open(directory, Options::default())?;
//! let session = log.create("chat".parse()?).await?;
//!
//! // Append a user message. It is on the disk when `append` returns.
//! let hello = Msg::user("Alice", "Hello");
//! session.append([&Event::new(CustomEvent::message(&hello))]).await?;
//!
//! // Stream a reply. `send` only queues its deltas; `flush` waits until all of them are durable.
//! let mut events = Vec::new();
//! let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "chat", "Friday");
//! reply.text("Hello, ");
//! reply.text("Alice");
//! let answer = reply.end(ReplyEnd::completed());
//! let appender = session.appender(None);
//! for event in &events {
//!     appender.send(event).await?;
//! }
//! let head = appender.flush().await?;
//!
//! // Read the session from the beginning.
//! let mut reader = session.subscribe(Start::Beginning)?;
//! let mut fold = Fold::new();
//! while fold.cursor() < head.seq {
//!     let Frame::Entry(entry) = reader.next().await? else { unreachable!() };
//!     fold.apply_at(entry.cursor.seq, &entry.decode()?);
//! }
//! assert!(fold.messages().eq([&hello, &answer]));
//! log.close().await?;
//! # Ok(()) }
//! ```
//!
//! # The contract
//!
//! **Acknowledgement.** When [`Session::append`] or [`Appender::append`] returns, its events are committed. Under
//! [`Durability::Disk`], the default, they survive a power loss. Under [`Durability::Process`] they survive the end of the
//! process, including `kill -9`. Readers see an entry after its commit and never before. A request that fails has changed
//! nothing. If no response arrived, the events may or may not be committed; sending them again is safe.
//!
//! **Order.** One writer orders all entries of a session. They are numbered 1, 2, 3 … without holes, and a number is never
//! reused. Replies may interleave. The appends of an [`Appender`] keep their order, and after one of them fails all later
//! ones fail too, so no entry is missing in the middle. Timestamps do not affect the order.
//!
//! **Deduplication.** The id of an event is its idempotency key within the session. An event that is among the last
//! [`WINDOW`] entries is counted as a duplicate and not written again, also if the batches are cut differently. Beyond the
//! window, events of ended replies and messages that already exist are not written either ([`Ignored::is_written`]). For
//! stronger guarantees, [`Session::append_if`] writes only if a cursor is still the head.
//!
//! **Inputs.** Confirmations, external results and interrupts are validated by the writer against the fold of all earlier
//! entries. The first valid input wins. An invalid one is rejected with its whole batch and never enters the log: `late`
//! (the reply has ended), `duplicate` (there is an earlier answer), `foreign` (unknown reply or call), `not_waiting`.
//! Deduplication comes first: sending the same input again returns the first result.
//!
//! **Fencing.** A [`Lease`] decides which run works on a subject, such as a reply. Its expiry only decides when another
//! holder may take it over. Every append under a lease is checked when it is written, which excludes former holders. A
//! take-over appends an entry (`recount.taken_over`). Leases end with the process.
//!
//! **Subscribing** ([`Session::subscribe`]) works the same from every position, for new, live and lagging readers. Entries
//! arrive in order, each once. Slow readers are not dropped, do not delay others, and are not buffered for: a reader that
//! falls behind the entries in memory reads from the storage.
//!
//! **Gaps.** A reader either continues exactly at its cursor or receives [`Frame::Gap`] and [`Frame::Snapshot`]. There is a
//! gap if the cursor belongs to another epoch, is beyond the head, or is inside of compacted entries.
//!
//! **Epochs** change only when acknowledged entries may be lost or rewritten: when a backup is opened for the first time,
//! when an import replaces a session, and after a power loss under [`Durability::Process`]. Restarts, take-overs and
//! compaction keep the epoch.
//!
//! **Snapshots** contain the newest [`SNAPSHOT_MESSAGES`] complete messages and all open replies with their positions. A
//! complete message is stored in the commit of the entry that completes it. Open replies are rebuilt from a checkpoint;
//! all checkpoints together are at most as large as the entries.
//!
//! **Documents**, such as an agent's state, are stored in the commit of the events that they belong to
//! ([`Appender::append_with`]).
//!
//! **Staged sessions** ([`Log::stage`]) are written in pieces, hidden until they are published, and published in one step.
//! If the process dies before that, they are deleted when the log is opened again.
//!
//! **Compaction** ([`Session::compact`]) merges adjacent deltas of replies that ended long enough ago. All folds stay the
//! same. The merged event has the id and time of the first one, and the cursor of the last one.
//!
//! **Bytes.** Events are returned as they were written. Large ones are stored separately, without a visible difference.
//! Uploads ([`Log::upload`]) have a URL for use in messages; [`Log::sweep`] deletes those that no entry references.
//!
//! # Failures
//!
//! | | `process` | `disk` |
//! |---|---|---|
//! | the process is killed | nothing acknowledged is lost | nothing acknowledged is lost |
//! | the machine loses power | the last moments may be lost; epochs change | nothing acknowledged is lost |
//! | the disk is full | appends fail; earlier entries stay | the same |
//! | the file is truncated or not a log | opening fails with an error | the same |
//!
//! # Implementation
//!
//! [`Writer`], [`Subscription`](subscription::Subscription) and the leases are state machines without I/O: requests and a
//! [`Storage`](storage::Storage) are inputs, responses are outputs, and time, random numbers and ids come from [`Env`]. Two
//! threads drive them: one plans the next batch while the other commits the previous one ([`writer::Pipeline`]). The
//! simulator in `recount-simulator` drives the same state machines from a seed, through crashes, full disks, power losses
//! and lost leases. Another backend implements [`storage::Storage`] and [`storage::View`] and must pass the same suite.

mod appender;
mod commit_observer;
mod commit_thread;
mod compaction;
mod cursor;
mod data_dir;
mod dedup_window;
mod digest;
mod encoded;
mod env;
mod error;
mod events;
mod fold_cache;
mod fork;
mod frame_stream;
mod hub;
mod inbox;
mod input_reader;
mod input_tail;
mod inputs;
mod key;
mod lease;
mod log;
mod maintenance;
mod memory;
mod reader;
mod rebuild;
mod replies;
mod request;
mod session;
mod session_loader;
mod snapshot;
mod sqlite;
mod staging;
pub mod storage;
pub mod subscription;
pub mod verify;
pub mod writer;
mod writer_thread;

pub use appender::Appender;
pub use commit_observer::CommitInfo;
pub use cursor::{Cursor, CursorError, Epoch, GapReason, Start};
pub use data_dir::make_private_directory;
pub use dedup_window::WINDOW;
pub use digest::{Digest, DigestError};
pub use encoded::{EncodedMessage, EncodedReply};
pub use env::{Env, Rng, SystemRng};
pub use error::{Error, Refusal, RefusalReason, StorageError};
pub use events::{Events, LineError};
pub use fork::ForkPoint;
pub use frame_stream::FrameStream;
pub use hub::Activity;
pub use input_reader::{InputEntry, InputReader};
pub use inputs::InputKind;
pub use key::{KeyError, SessionKey};
pub use lease::{Lease, LeaseRequest};
pub use log::Log;
pub use maintenance::{Maintenance, MaintenanceReport, MaintenanceStep};
pub use memory::MemoryStorage;
pub use reader::Reader;
pub use rebuild::{RebuiltReplies, RebuiltReply};
pub use request::{AppendRequest, AppendSequence, Appended, Compacted, Ignored, Request, Response};
pub use session::Session;
pub use snapshot::{FoundMessage, MessagePage, OpenReply, SNAPSHOT_MESSAGES, Snapshot, SnapshotItem};
pub use sqlite::{Durability, Options, SqliteReaders, SqliteStorage};
pub use staging::StagedSession;
pub use storage::Visibility;
pub use subscription::{Entry, Frame};
pub use writer::{LoadedSession, Writer};
