//! One durable log per session.
//!
//! A session is a sequence of [events](recount_message::Event). Agents, browsers, terminals and other services each are
//! a writer or a reader at a cursor; a connection is never the run. Whoever reads, wherever they join and however often
//! they drop off, ends up with exactly the same messages, byte for byte.
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
//! // A user writes. When this answers, the message is on the disk.
//! let hello = Msg::user("Alice", "Hello");
//! session.append([&Event::new(CustomEvent::message(&hello))]).await?;
//!
//! // An agent answers. Its deltas are handed over; only the end is waited for.
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
//! // Anybody reads, from anywhere.
//! let mut reader = session.subscribe(Start::Beginning)?;
//! let mut fold = Fold::new();
//! while reader.position() != Some(head) || fold.cursor() < head.seq {
//!     let Frame::Entry(entry) = reader.next().await? else { unreachable!() };
//!     fold.apply_at(entry.cursor.seq, &Event::from_slice(&entry.event)?);
//! }
//! assert!(fold.messages().eq([&hello, &answer]));
//! log.close().await?;
//! # Ok(()) }
//! ```
//!
//! # The contract
//!
//! **What an acknowledgement means.** When [`Session::append`] or [`Appender::append`] answers, its events are committed.
//! Under [`Durability::Disk`], the default, they survive a power loss; under [`Durability::Process`] they survive the end
//! of the process, `kill -9` too. An entry is visible to readers after its commit and never before. What ends in an error
//! has changed nothing; what was never answered may or may not be there, and sending the same events again settles it.
//!
//! **Order.** One writer orders all entries of a session. They are numbered 1, 2, 3 … without a hole and never anew.
//! Replies may interleave. The appends of an [`Appender`] keep their order, and when one of them fails, so do all behind
//! it: nothing is ever missing in the middle. No order is taken from a time.
//!
//! **Once.** The id of an event is its idempotency key, per session. An event that is among the last [`WINDOW`] entries
//! is counted as a duplicate and not written; batches may be cut anew. Beyond the window, events for a reply that has
//! ended and messages that exist are not written either ([`Ignored::is_written`]). For more than that there is
//! [`Session::append_if`], which writes only if a cursor is still the head.
//!
//! **Inputs.** A confirmation, a result from outside and an interrupt are checked against the fold of everything before
//! them, by the writer, at their place. The first one wins. One that does not fit is refused with its whole batch and
//! never enters the log: `late` (the reply has ended), `duplicate` (somebody has answered), `foreign` (no such reply or
//! call), `not_waiting`. The check for repetition comes first: the same input sent again gets its first answer.
//!
//! **Fencing.** A [`Lease`] says who goes on with something, such as a reply. Time only says when it may be taken from
//! somebody; what keeps a former holder out is that every append under a lease is checked when it is written. A lease that
//! was taken over leaves an entry (`recount.taken_over`). Leases end with the process.
//!
//! **Joining** ([`Session::subscribe`]) is one operation from any place, the same for new, live and lagging readers. Entries
//! come in order, each once. Nobody is dropped for slowness, nobody waits for a slow one, and nothing is kept for it:
//! whoever falls behind the entries in memory reads the storage.
//!
//! **Gaps.** A cursor is continued exactly or not at all. One of another epoch, beyond the head, or inside of entries that
//! were compacted gets [`Frame::Gap`] and then [`Frame::Snapshot`], never a silent hole.
//!
//! **Epochs** change only when acknowledged entries may be gone or rewritten: when a backup is opened for the first time,
//! when a session is imported over, and after a power loss under [`Durability::Process`]. They stay through restarts,
//! take-overs and compaction.
//!
//! **Snapshots** hold the newest fifty complete messages and every open reply as far as it has come, and say where each of
//! those stands among them. Complete messages are stored in the commit of the entry that completes them. Open replies are folded from a checkpoint, which is written so
//! that all of them together weigh no more than the entries.
//!
//! **Documents**, such as an agent's state, are stored in the commit of the events that they belong to
//! ([`Appender::append_with`]).
//!
//! **Drafts** ([`Log::draft`]) are sessions in the making: written piece by piece, seen by nobody, and adopted at once. What
//! a process leaves behind that dies in the middle is gone when the log is opened again.
//!
//! **Compaction** ([`Session::compact`]) joins neighbouring deltas of replies that ended long ago. Every fold comes to the
//! same messages. The joined event has the first one's id and time, and the cursor of the last one.
//!
//! **Bytes.** Events come back as they were written. Large ones are kept apart from the others, which nobody notices.
//! Uploads ([`Log::upload`]) have a URL that messages name; what no entry names is removed by [`Log::sweep`].
//!
//! # What survives what
//!
//! | | `process` | `disk` |
//! |---|---|---|
//! | the process is killed | everything acknowledged | everything acknowledged |
//! | the machine loses power | up to the last moments; epochs change | everything acknowledged |
//! | the disk is full | what was written before; the append is an error | the same |
//! | the file is cut off, or another program's | an error that says so | the same |
//!
//! # How it is made
//!
//! [`Writer`], [`Subscription`](subscription::Subscription) and the leases are state machines without I/O: requests and a
//! [`Storage`](storage::Storage) go in, answers come out, and time, chance and ids come from the [`Env`]. Threads
//! drive them for real: one plans, and another commits what was planned before, so that neither waits for the other
//! ([`writer::Pipeline`]). The simulator of `recount-simulator` drives them from a seed, through crashes, full disks, lost
//! power and lost leases. Another backend implements [`storage::Storage`] and [`storage::View`] and passes the same suite.

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
