//! The handle of the log.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use recount_message::Object;
use recount_message::jiff::Timestamp;
use tokio::sync::{Semaphore, broadcast, oneshot};

use crate::commit_observer::ObservedStorage;
use crate::fold_cache::FoldCache;
use crate::hub::{Activity, Hub};
use crate::inbox::Inbox;
use crate::request::{Compacted, Request, Response};
use crate::session::Session;
use crate::sqlite::{Options, SqliteStorage};
use crate::staging::StagedSession;
use crate::storage::{SessionRow, Storage, Upload, View, Views};
use crate::writer_thread::{self, Job, PendingResponse, ResponseSender};
use crate::{Digest, Env, Error, MemoryStorage, SessionKey, Writer};

/// The maximum number of concurrent reads. Further reads wait; each one is short.
const READS: usize = 8;
/// The maximum number of concurrent reads of whole sessions, which take long and are limited apart from the others.
const LONG_READS: usize = 2;

/// A log: any number of sessions, each a durable sequence of events.
///
/// The handle is cheap to clone. All clones share one writer, which commits concurrent requests in groups. A log must be
/// used within a Tokio runtime.
#[derive(Debug, Clone)]
pub struct Log {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    inbox: Arc<Inbox>,
    views: Arc<dyn Views + Send + Sync>,
    hub: Arc<Hub>,
    fold_cache: Arc<FoldCache>,
    reads: Semaphore,
    long_reads: Semaphore,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.inbox.close();
    }
}

impl Log {
    /// Opens the log in a data directory, which is created if it does not exist.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// use recount_log::{Log, Options};
    ///
    /// let log = Log::open(directory, Options::default())?;
    /// let second = Log::open(directory, Options::default()).unwrap_err();
    /// assert!(second.to_string().ends_with(&format!("is in use by the process {}", std::process::id())));
    /// log.close().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If another process uses the directory, if its content is damaged or not a log, or if it cannot be read or written.
    pub fn open(directory: impl AsRef<Path>, mut options: Options) -> Result<Self, Error> {
        let storage = SqliteStorage::open(directory.as_ref(), &mut options)?;
        let observer = options.take_observer();
        let writer = Writer::new(options.into_env());
        match observer {
            Some(observer) => Self::with(ObservedStorage::new(storage, observer), writer),
            None => Self::with(storage, writer),
        }
    }

    /// Creates a log in memory. It is lost when the process ends.
    pub fn in_memory() -> Self {
        let writer = Writer::new(Env::default());
        let storage = MemoryStorage::default();
        let views = storage.readers();
        match Self::with(storage, writer) {
            Ok(log) => log,
            // The writer thread could not be started. Every append fails with `Error::Closed`.
            Err(_) => Self::without_writer(views),
        }
    }

    /// Creates a log on a storage.
    ///
    /// # Errors
    ///
    /// If the writer thread cannot be started.
    pub fn with(storage: impl Storage + 'static, writer: Writer) -> Result<Self, Error> {
        let views = storage.readers();
        let (inbox, hub) = (Arc::new(Inbox::default()), Arc::new(Hub::default()));
        writer_thread::start(Box::new(storage), writer, &inbox, Arc::clone(&hub))?;
        Ok(Self::from_parts(inbox, views, hub))
    }

    fn without_writer(views: Arc<dyn Views + Send + Sync>) -> Self {
        let inbox = Inbox::default();
        inbox.close();
        Self::from_parts(Arc::new(inbox), views, Arc::default())
    }

    fn from_parts(inbox: Arc<Inbox>, views: Arc<dyn Views + Send + Sync>, hub: Arc<Hub>) -> Self {
        let (reads, long_reads) = (Semaphore::new(READS), Semaphore::new(LONG_READS));
        Self { shared: Arc::new(Shared { inbox, views, hub, fold_cache: Arc::default(), reads, long_reads }) }
    }

    /// Creates a session.
    ///
    /// # Errors
    ///
    /// [`Error::SessionExists`] if the key is in use.
    pub async fn create(&self, key: SessionKey) -> Result<Session, Error> {
        self.create_with(key, &Object::new()).await
    }

    /// Creates a session with properties, such as a title.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::Log;
    /// use recount_message::Object;
    ///
    /// let log = Log::in_memory();
    /// let session = log.create_with("chat".parse()?, &Object::from([("title", "Holidays")])).await?;
    /// assert_eq!(session.info().await?.properties, r#"{"title":"Holidays"}"#);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::SessionExists`] if the key is in use.
    pub async fn create_with(&self, key: SessionKey, properties: &Object) -> Result<Session, Error> {
        self.request(Request::Create { key: key.clone(), properties: properties.to_json() }).await?;
        Ok(self.session(key))
    }

    /// Returns the session with a key, and creates it if it does not exist.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::Log;
    ///
    /// let log = Log::in_memory();
    /// let created = log.create_or_open("chat".parse()?).await?;
    /// let opened = log.create_or_open("chat".parse()?).await?;
    /// assert_eq!(created.info().await?, opened.info().await?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If the storage fails, or the log is closed.
    pub async fn create_or_open(&self, key: SessionKey) -> Result<Session, Error> {
        let session = self.session(key.clone());
        match session.info().await {
            Err(Error::UnknownSession(_)) => {}
            Ok(_) => return Ok(session),
            Err(error) => return Err(error),
        }
        match self.create(key).await {
            // Another caller was faster.
            Err(Error::SessionExists(_)) => Ok(session),
            created => created,
        }
    }

    /// Returns a handle of a session, without checking whether the session exists. Operations on it fail if it does not.
    pub fn session(&self, key: SessionKey) -> Session {
        Session::new(self.clone(), key)
    }

    /// Lists up to `count` sessions in the order of their keys, starting behind `after`; of one tenant, or of all.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    pub async fn sessions(
        &self,
        tenant: Option<&str>,
        after: Option<SessionKey>,
        count: usize,
    ) -> Result<Vec<SessionRow>, Error> {
        let tenant = tenant.map(str::to_owned);
        self.read(move |view| Ok(view.sessions(tenant.as_deref(), after.as_ref(), count)?)).await
    }

    /// Lists the sessions with open replies of this service, which must be resumed after a restart.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    pub async fn hosted_sessions(&self) -> Result<Vec<SessionKey>, Error> {
        self.read(|view| Ok(view.hosted_sessions()?)).await
    }

    /// Subscribes to the commits of all sessions, for notifications and metrics. A slow receiver misses commits and gets
    /// an error that says so. To read a session without gaps, use [`Session::subscribe`].
    pub fn activity(&self) -> broadcast::Receiver<Activity> {
        self.shared.hub.activity()
    }

    /// Creates a staged session, which is written in pieces and published in one step.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    pub async fn stage(&self, key: SessionKey, properties: &Object) -> Result<StagedSession, Error> {
        StagedSession::create(self, key, properties.to_json()).await
    }

    /// Compacts all sessions, or those of one tenant, and returns unused space to the file system. The deltas of replies
    /// that ended at least this long ago are merged.
    ///
    /// # Errors
    ///
    /// If the storage fails. Sessions that were compacted before stay compacted.
    pub async fn compact(&self, tenant: Option<&str>, older_than: Duration) -> Result<Compacted, Error> {
        let mut total = Compacted::default();
        let mut after = None;
        loop {
            let page = self.sessions(tenant, after.clone(), 256).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.key.clone());
            for row in page {
                let compacted = self.session(row.key).compact(older_than).await?;
                total.entries += compacted.entries;
                total.rows += compacted.rows;
            }
        }
        self.shrink().await?;
        Ok(total)
    }

    /// Returns unused space to the file system, in small steps between which requests are handled.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    pub async fn shrink(&self) -> Result<(), Error> {
        while self.shrink_step().await? {}
        let (sender, receiver) = oneshot::channel();
        self.shared.inbox.push(Job::Flush(sender))?;
        receiver.await.map_err(|_| Error::Closed)?
    }

    /// Returns some unused space to the file system. Returns whether there is more.
    pub(crate) async fn shrink_step(&self) -> Result<bool, Error> {
        let (sender, receiver) = oneshot::channel();
        self.shared.inbox.push(Job::Shrink(sender))?;
        receiver.await.map_err(|_| Error::Closed)?
    }

    /// Stores bytes and returns their digest, whose [URL](Digest::url) messages can reference.
    ///
    /// The upload belongs to the tenant. [`sweep`](Self::sweep) deletes uploads that no entry of the tenant references.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let log = recount_log::Log::in_memory();
    /// let digest = log.upload("acme", "image/png", &b"\x89PNG"[..]).await?;
    /// assert!(digest.url().starts_with("recount-blob:sha256:"));
    /// assert_eq!(log.uploaded("acme", digest).await?.unwrap().bytes, &b"\x89PNG"[..]);
    /// assert_eq!(log.uploaded("another", digest).await?, None);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If the storage fails.
    pub async fn upload(&self, tenant: &str, media_type: &str, bytes: impl Into<Bytes>) -> Result<Digest, Error> {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        let (tenant, media_type) = (tenant.to_owned(), media_type.to_owned());
        let at = Timestamp::now().as_millisecond();
        self.request(Request::Upload(Upload { tenant, digest, media_type, at, bytes })).await?;
        Ok(digest)
    }

    /// Looks up an upload of a tenant.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    pub async fn uploaded(&self, tenant: &str, digest: Digest) -> Result<Option<Upload>, Error> {
        let tenant = tenant.to_owned();
        self.read(move |view| Ok(view.upload(&tenant, digest)?)).await
    }

    /// Deletes uploads that no entry references and that are older than this, and bytes that are no longer used.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    pub async fn sweep(&self, older_than: Duration) -> Result<(), Error> {
        self.request(Request::Sweep { before: before(older_than) }).await.map(drop)
    }

    /// Writes a copy of the log to another directory while the log is in use. Opening the copy for the first time gives
    /// every session a new epoch, because later entries are missing from it.
    ///
    /// # Errors
    ///
    /// If the copy cannot be written.
    pub async fn back_up(&self, to: impl AsRef<Path>) -> Result<(), Error> {
        let (views, to) = (Arc::clone(&self.shared.views), to.as_ref().to_owned());
        let copied = tokio::task::spawn_blocking(move || views.back_up(&to)).await;
        Ok(copied.map_err(|_| Error::Closed)??)
    }

    /// Reads the committed data on a thread for blocking work.
    ///
    /// # Errors
    ///
    /// The error of the function, or if the storage cannot be read.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn View) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.read_limited(&self.shared.reads, read).await
    }

    /// As [`read`](Self::read), for functions that read a whole session.
    pub(crate) async fn read_long<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn View) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.read_limited(&self.shared.long_reads, read).await
    }

    async fn read_limited<T: Send + 'static>(
        &self,
        limit: &Semaphore,
        read: impl FnOnce(&dyn View) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let _permit = limit.acquire().await.map_err(|_| Error::Closed)?;
        let views = Arc::clone(&self.shared.views);
        let result = tokio::task::spawn_blocking(move || {
            let view = views.view()?;
            read(&*view)
        });
        result.await.map_err(|_| Error::Closed)?
    }

    /// Commits all queued requests and closes the log. Clones of the handle can still read.
    ///
    /// Dropping all handles does the same in the background.
    ///
    /// # Errors
    ///
    /// If the storage fails. Acknowledged entries are not lost.
    pub async fn close(self) -> Result<(), Error> {
        let (sender, receiver) = oneshot::channel();
        self.shared.inbox.push(Job::Close(sender))?;
        receiver.await.map_err(|_| Error::Closed)?
    }

    pub(crate) fn fold_cache(&self) -> Arc<FoldCache> {
        Arc::clone(&self.shared.fold_cache)
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.shared.hub
    }

    /// Queues a request for the writer, waiting for space in the inbox. Requests are handled in the order in which this
    /// returns.
    pub(crate) async fn send(&self, request: Request, response: Option<ResponseSender>) -> Result<(), Error> {
        let permits = self.shared.inbox.acquire(request.bytes()).await?;
        self.shared.inbox.push(Job::Request(request, PendingResponse { response, permits }))
    }

    /// Queues a small request if the inbox has space. Its result is discarded.
    pub(crate) fn try_send(&self, request: Request) {
        let Some(permits) = self.shared.inbox.try_acquire() else { return };
        // The log may be closed; the caller cannot handle that.
        let _ = self.shared.inbox.push(Job::Request(request, PendingResponse { response: None, permits }));
    }

    /// Queues a request and waits for its response.
    pub(crate) async fn request(&self, request: Request) -> Result<Response, Error> {
        let (sender, receiver) = oneshot::channel();
        self.send(request, Some(sender)).await?;
        receiver.await.map_err(|_| Error::Closed)?
    }
}

/// The time this long ago, in milliseconds since 1970. One millisecond is added so that the instant itself is included.
pub(crate) fn before(age: Duration) -> i64 {
    let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    Timestamp::now().as_millisecond().saturating_sub(age).saturating_add(1)
}
