//! Sessions on their way into the writer's memory.
//!
//! The first append to a session needs its last ids and its open replies, up to [`WINDOW`](crate::WINDOW) entries. They are
//! read on other threads, so that nobody else's append waits for it; what comes for the session meanwhile is put aside.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Weak};

use hashbrown::HashMap;

use crate::SessionKey;
use crate::inbox::Inbox;
use crate::request::Request;
use crate::storage::Views;
use crate::writer::LoadedSession;
use crate::writer_thread::{Job, PendingResponse};

/// How many sessions are read at the same time. Others wait for their turn.
const THREADS: usize = 4;

/// Starts a thread that does something.
type Spawn = fn(Box<dyn FnOnce() + Send>) -> io::Result<()>;

/// The sessions that are being read, and what waits for them.
pub(crate) struct SessionLoader {
    views: Arc<dyn Views + Send + Sync>,
    inbox: Weak<Inbox>,
    aside: HashMap<SessionKey, Vec<(Request, PendingResponse)>>,
    /// Those that are not being read yet.
    next: VecDeque<SessionKey>,
    threads: usize,
    spawn: Spawn,
}

impl SessionLoader {
    pub(crate) fn new(views: Arc<dyn Views + Send + Sync>, inbox: Weak<Inbox>) -> Self {
        Self { views, inbox, aside: HashMap::new(), next: VecDeque::new(), threads: 0, spawn }
    }

    /// Puts a request aside if its session is being read, or has to be. Gives it back if it can be done now.
    pub(crate) fn put_aside(
        &mut self,
        request: Request,
        waiting: PendingResponse,
        needs_load: bool,
    ) -> Option<(Request, PendingResponse)> {
        let Some(key) = request.key() else { return Some((request, waiting)) };
        if let Some(others) = self.aside.get_mut(key) {
            others.push((request, waiting));
            return None;
        }
        if !needs_load {
            return Some((request, waiting));
        }
        let key = key.clone();
        self.next.push_back(key.clone());
        self.aside.insert(key, vec![(request, waiting)]);
        self.start().pop()
    }

    /// A session has been read: what can be done now.
    pub(crate) fn loaded(&mut self, key: &SessionKey) -> Vec<(Request, PendingResponse)> {
        self.threads = self.threads.saturating_sub(1);
        let mut waiting = self.aside.remove(key).unwrap_or_default();
        waiting.extend(self.start());
        waiting
    }

    /// All that waits, when there is no time to wait any longer.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = (Request, PendingResponse)> {
        self.next.clear();
        self.aside.drain().flat_map(|(_, requests)| requests)
    }

    /// Begins to read, as far as threads are free. If there are none at all, gives what waits: the writer then reads by
    /// itself what it needs.
    fn start(&mut self) -> Vec<(Request, PendingResponse)> {
        while self.threads < THREADS
            && let Some(key) = self.next.pop_front()
        {
            if self.read(key.clone()).is_ok() {
                self.threads += 1;
                continue;
            }
            // Tried again when another one is done.
            self.next.push_front(key);
            if self.threads == 0 {
                return self.next.drain(..).filter_map(|key| self.aside.remove(&key)).flatten().collect();
            }
            break;
        }
        Vec::new()
    }

    /// Reads a session on another thread.
    fn read(&self, key: SessionKey) -> io::Result<()> {
        let (views, inbox) = (Arc::clone(&self.views), Weak::clone(&self.inbox));
        (self.spawn)(Box::new(move || {
            // If this fails, the writer finds the same and tells those who wait.
            let loaded = views.view().ok().and_then(|view| LoadedSession::read(&*view, &key).ok());
            // When nobody can ask any more, the writer does what waits by itself.
            if let Some(inbox) = inbox.upgrade() {
                let _ = inbox.put(Job::Loaded { key, loaded: loaded.map(Box::new) });
            }
        }))
    }
}

fn spawn(work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    std::thread::Builder::new().name("recount-loader".to_owned()).spawn(work).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::Room;
    use crate::storage::Storage;
    use crate::{AppendRequest, Events, MemoryStorage};

    fn request(name: &str) -> Request {
        Request::Append(AppendRequest::new(name.parse().unwrap(), Events::default()))
    }

    fn waiting() -> PendingResponse {
        PendingResponse { answer: None, room: Room::default() }
    }

    #[test]
    fn without_threads_nothing_waits_for_them() {
        let mut loading = SessionLoader::new(MemoryStorage::default().readers(), Weak::new());
        loading.spawn = |_| Err(io::Error::from(io::ErrorKind::WouldBlock));
        for _ in 0..2 {
            assert!(loading.put_aside(request("a"), waiting(), true).is_some());
        }

        // With one under way, the others wait for its end and are tried again then.
        loading.spawn = |_| Ok(());
        assert!(loading.put_aside(request("a"), waiting(), true).is_none());
        loading.spawn = |_| Err(io::Error::from(io::ErrorKind::WouldBlock));
        for name in ["b", "b", "c"] {
            assert!(loading.put_aside(request(name), waiting(), true).is_none());
        }
        let done: Vec<String> =
            loading.loaded(&"a".parse().unwrap()).iter().map(|(request, _)| name(request)).collect();
        assert_eq!(done, ["a", "b", "b", "c"]);
    }

    fn name(request: &Request) -> String {
        request.key().unwrap().to_string()
    }
}
