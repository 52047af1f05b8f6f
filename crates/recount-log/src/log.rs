//! The log, as programs use it.

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
use crate::{Digest, Error, MemoryStorage, SessionKey, Writer};

/// How many readers look into the storage at the same time. Others wait, and what they wait for is short.
const LOOKS: usize = 8;
/// How many sessions are copied at the same time. That is not short, and readers do not wait for it.
const COPIES: usize = 2;

/// A log: any number of sessions, one durable sequence of events for each.
///
/// It is a handle, cheap to clone. All clones write through one writer, which commits everything that has come in the
/// meantime at once. It must be used within a tokio runtime.
#[derive(Debug, Clone)]
pub struct Log {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    inbox: Arc<Inbox>,
    views: Arc<dyn Views + Send + Sync>,
    hub: Arc<Hub>,
    folds: Arc<FoldCache>,
    looks: Semaphore,
    copies: Semaphore,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.inbox.close();
    }
}

impl Log {
    /// Opens the log in a data directory, which is made if it does not exist.
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
    /// When another process works with the directory, when what is in it is no log or a damaged one, or when it cannot
    /// be read or written.
    pub fn open(directory: impl AsRef<Path>, mut options: Options) -> Result<Self, Error> {
        let storage = SqliteStorage::open(directory.as_ref(), &mut options)?;
        let observer = options.take_observer();
        let writer = Writer::new(options.into_env());
        match observer {
            Some(observer) => Self::with(ObservedStorage::new(storage, observer), writer),
            None => Self::with(storage, writer),
        }
    }

    /// A log that is gone when the process is.
    pub fn in_memory() -> Self {
        let writer = Writer::new(crate::Env::default());
        let storage = MemoryStorage::default();
        let views = storage.readers();
        match Self::with(storage, writer) {
            Ok(log) => log,
            // Without a thread there is nobody to write, and that is what every append then says.
            Err(_) => Self::unwritten(views),
        }
    }

    /// A log over any storage.
    ///
    /// # Errors
    ///
    /// When the writer's thread cannot be started.
    pub fn with(storage: impl Storage + 'static, writer: Writer) -> Result<Self, Error> {
        let views = storage.readers();
        let (inbox, hub) = (Arc::new(Inbox::default()), Arc::new(Hub::default()));
        writer_thread::start(Box::new(storage), writer, &inbox, Arc::clone(&hub))?;
        Ok(Self::of(inbox, views, hub))
    }

    fn unwritten(views: Arc<dyn Views + Send + Sync>) -> Self {
        let inbox = Inbox::default();
        inbox.close();
        Self::of(Arc::new(inbox), views, Arc::default())
    }

    fn of(inbox: Arc<Inbox>, views: Arc<dyn Views + Send + Sync>, hub: Arc<Hub>) -> Self {
        let (looks, copies) = (Semaphore::new(LOOKS), Semaphore::new(COPIES));
        Self { shared: Arc::new(Shared { inbox, views, hub, folds: Arc::default(), looks, copies }) }
    }

    /// Makes a session.
    ///
    /// # Errors
    ///
    /// When there is one with that name.
    pub async fn create(&self, key: SessionKey) -> Result<Session, Error> {
        self.create_with(key, &Object::new()).await
    }

    /// Makes a session about which something is known, such as its title.
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
    /// When there is one with that name.
    pub async fn create_with(&self, key: SessionKey, properties: &Object) -> Result<Session, Error> {
        self.ask(Request::Create { key: key.clone(), properties: properties.to_json() }).await?;
        Ok(self.session(key))
    }

    /// A session by its name, whether or not it exists. What is done with it says so.
    pub fn session(&self, key: SessionKey) -> Session {
        Session::new(self.clone(), key)
    }

    /// Sessions in the order of their names, from the one after `after`, at most so many; of one tenant, or of all.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    pub async fn sessions(
        &self,
        tenant: Option<&str>,
        after: Option<SessionKey>,
        count: usize,
    ) -> Result<Vec<SessionRow>, Error> {
        let tenant = tenant.map(str::to_owned);
        self.read(move |view| Ok(view.sessions(tenant.as_deref(), after.as_ref(), count)?)).await
    }

    /// The sessions that have open replies of this service: what a start has to go on with.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    pub async fn hosted_sessions(&self) -> Result<Vec<SessionKey>, Error> {
        self.read(|view| Ok(view.hosted_sessions()?)).await
    }

    /// What is committed from now on, of all sessions: for who wants to know that something happens anywhere. It is no way
    /// to read a session; who is too slow for it misses some, and is told so.
    pub fn activity(&self) -> broadcast::Receiver<Activity> {
        self.shared.hub.activity()
    }

    /// Begins a session that is made of what exists already, piece by piece. Nobody sees it before it is adopted.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    pub async fn stage(&self, key: SessionKey, properties: &Object) -> Result<StagedSession, Error> {
        StagedSession::begin(self, key, properties.to_json()).await
    }

    /// Joins the deltas of what was complete so long ago, in every session or in those of a tenant, and gives the room
    /// back.
    ///
    /// # Errors
    ///
    /// When the storage fails. What was done until then is done.
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

    /// Gives room that is not used any more back to the file system, piece by piece, so that nobody waits for all of it.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    pub async fn shrink(&self) -> Result<(), Error> {
        while self.shrink_some().await? {}
        let (answer, answered) = oneshot::channel();
        self.shared.inbox.put(Job::Flush(answer))?;
        answered.await.map_err(|_| Error::Closed)?
    }

    /// Gives one piece of room back, and says whether there is more.
    pub(crate) async fn shrink_some(&self) -> Result<bool, Error> {
        let (answer, answered) = oneshot::channel();
        self.shared.inbox.put(Job::Shrink(answer))?;
        answered.await.map_err(|_| Error::Closed)?
    }

    /// Keeps bytes, and gives the URL by which messages name them.
    ///
    /// They belong to the tenant. Bytes that no entry of the tenant's sessions names are removed by
    /// [`sweep`](Self::sweep).
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
    /// When the storage fails.
    pub async fn upload(&self, tenant: &str, media_type: &str, bytes: impl Into<Bytes>) -> Result<Digest, Error> {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        let (tenant, media_type) = (tenant.to_owned(), media_type.to_owned());
        let at = Timestamp::now().as_millisecond();
        self.ask(Request::Upload(Upload { tenant, digest, media_type, at, bytes })).await?;
        Ok(digest)
    }

    /// What a tenant has uploaded.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    pub async fn uploaded(&self, tenant: &str, digest: Digest) -> Result<Option<Upload>, Error> {
        let tenant = tenant.to_owned();
        self.read(move |view| Ok(view.upload(&tenant, digest)?)).await
    }

    /// Removes uploads that no entry names and that are older than this, and bytes that nobody needs any more.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    pub async fn sweep(&self, older_than: Duration) -> Result<(), Error> {
        self.ask(Request::Sweep { before: before(older_than) }).await.map(drop)
    }

    /// Writes a copy of everything to another directory, while the log is in use. Its first opening gives every session a
    /// new epoch, because what was written since is not in it.
    ///
    /// # Errors
    ///
    /// When the copy cannot be written.
    pub async fn back_up(&self, to: impl AsRef<Path>) -> Result<(), Error> {
        let (views, to) = (Arc::clone(&self.shared.views), to.as_ref().to_owned());
        let copied = tokio::task::spawn_blocking(move || views.back_up(&to)).await;
        Ok(copied.map_err(|_| Error::Closed)??)
    }

    /// Looks at what is committed, off the threads of the runtime.
    ///
    /// # Errors
    ///
    /// What the look answers, or when the storage cannot be read.
    pub async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&dyn View) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.read_limited(&self.shared.looks, look).await
    }

    /// The same for what takes as long as to read a whole session.
    pub(crate) async fn read_long<T: Send + 'static>(
        &self,
        look: impl FnOnce(&dyn View) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.read_limited(&self.shared.copies, look).await
    }

    async fn read_limited<T: Send + 'static>(
        &self,
        turns: &Semaphore,
        look: impl FnOnce(&dyn View) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let _turn = turns.acquire().await.map_err(|_| Error::Closed)?;
        let views = Arc::clone(&self.shared.views);
        let looked = tokio::task::spawn_blocking(move || {
            let view = views.view()?;
            look(&*view)
        });
        looked.await.map_err(|_| Error::Closed)?
    }

    /// Commits what is in the queue and ends in good order. Clones of the handle can still read.
    ///
    /// To drop all handles does the same and does not wait for it.
    ///
    /// # Errors
    ///
    /// When the storage fails. Everything that was acknowledged is there nevertheless.
    pub async fn close(self) -> Result<(), Error> {
        let (answer, answered) = oneshot::channel();
        self.shared.inbox.put(Job::Close(answer))?;
        answered.await.map_err(|_| Error::Closed)?
    }

    pub(crate) fn folds(&self) -> Arc<FoldCache> {
        Arc::clone(&self.shared.folds)
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.shared.hub
    }

    /// Hands a request to the writer, and says whom to tell what has become of it. It is in its place when this is there.
    pub(crate) async fn send(&self, request: Request, answer: Option<ResponseSender>) -> Result<(), Error> {
        let room = self.shared.inbox.room(request.bytes()).await?;
        self.shared.inbox.put(Job::Request(request, PendingResponse { answer, room }))
    }

    /// Hands a small request to the writer if there is room for it, and waits for nothing.
    pub(crate) fn try_send(&self, request: Request) {
        let Some(room) = self.shared.inbox.room_now() else { return };
        // Who cannot wait cannot be told either.
        let _ = self.shared.inbox.put(Job::Request(request, PendingResponse { answer: None, room }));
    }

    pub(crate) async fn ask(&self, request: Request) -> Result<Response, Error> {
        let (answer, answered) = oneshot::channel();
        self.send(request, Some(answer)).await?;
        answered.await.map_err(|_| Error::Closed)?
    }
}

/// The time so long ago, in milliseconds since 1970; what happened in that very one counts.
pub(crate) fn before(age: Duration) -> i64 {
    let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    Timestamp::now().as_millisecond().saturating_sub(age).saturating_add(1)
}
