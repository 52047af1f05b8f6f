//! Reads sessions into the writer's memory on other threads.
//!
//! The first append to a session needs its last ids and its open replies, up to [`WINDOW`](crate::WINDOW) entries. Reading
//! them on the writer thread would delay all other sessions. Requests for the session are deferred meanwhile.

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

/// The maximum number of sessions that are read at the same time.
const THREADS: usize = 4;

/// Spawns a thread.
type Spawn = fn(Box<dyn FnOnce() + Send>) -> io::Result<()>;

/// The sessions that are being read, and the requests that wait for them.
pub(crate) struct SessionLoader {
    views: Arc<dyn Views + Send + Sync>,
    inbox: Weak<Inbox>,
    deferred: HashMap<SessionKey, Vec<(Request, PendingResponse)>>,
    /// Sessions that no thread reads yet.
    queue: VecDeque<SessionKey>,
    threads: usize,
    spawn: Spawn,
}

impl SessionLoader {
    pub(crate) fn new(views: Arc<dyn Views + Send + Sync>, inbox: Weak<Inbox>) -> Self {
        Self { views, inbox, deferred: HashMap::new(), queue: VecDeque::new(), threads: 0, spawn }
    }

    /// Defers a request if its session is being read or must be read. Returns the request if it can be handled now.
    pub(crate) fn defer(
        &mut self,
        request: Request,
        pending: PendingResponse,
        needs_load: bool,
    ) -> Option<(Request, PendingResponse)> {
        let Some(key) = request.key() else { return Some((request, pending)) };
        if let Some(others) = self.deferred.get_mut(key) {
            others.push((request, pending));
            return None;
        }
        if !needs_load {
            return Some((request, pending));
        }
        let key = key.clone();
        self.queue.push_back(key.clone());
        self.deferred.insert(key, vec![(request, pending)]);
        self.spawn_threads().pop()
    }

    /// Ends the reading of a session. Returns the requests that can be handled now.
    pub(crate) fn finish(&mut self, key: &SessionKey) -> Vec<(Request, PendingResponse)> {
        self.threads = self.threads.saturating_sub(1);
        let mut ready = self.deferred.remove(key).unwrap_or_default();
        ready.extend(self.spawn_threads());
        ready
    }

    /// Returns all deferred requests, because the writer is shutting down.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = (Request, PendingResponse)> {
        self.queue.clear();
        self.deferred.drain().flat_map(|(_, requests)| requests)
    }

    /// Spawns threads for queued sessions, up to the limit. If no thread can be spawned and none is running, returns all
    /// queued requests: the writer then reads their sessions itself.
    fn spawn_threads(&mut self) -> Vec<(Request, PendingResponse)> {
        while self.threads < THREADS
            && let Some(key) = self.queue.pop_front()
        {
            if self.spawn_thread(key.clone()).is_ok() {
                self.threads += 1;
                continue;
            }
            // Retried when a running thread ends.
            self.queue.push_front(key);
            if self.threads == 0 {
                return self.queue.drain(..).filter_map(|key| self.deferred.remove(&key)).flatten().collect();
            }
            break;
        }
        Vec::new()
    }

    fn spawn_thread(&self, key: SessionKey) -> io::Result<()> {
        let (views, inbox) = (Arc::clone(&self.views), Weak::clone(&self.inbox));
        (self.spawn)(Box::new(move || {
            // After a failure the writer reads the session itself and returns the error to the callers.
            let loaded = views.view().ok().and_then(|view| LoadedSession::read(&*view, &key).ok());
            // Without an inbox the writer is shutting down and handles the deferred requests itself.
            if let Some(inbox) = inbox.upgrade() {
                let _ = inbox.push(Job::Loaded { key, loaded: loaded.map(Box::new) });
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
    use crate::inbox::Permits;
    use crate::storage::Storage;
    use crate::{AppendRequest, Events, MemoryStorage};

    fn request(name: &str) -> Request {
        Request::Append(AppendRequest::new(name.parse().unwrap(), Events::default()))
    }

    fn pending() -> PendingResponse {
        PendingResponse { response: None, permits: Permits::default() }
    }

    fn name(request: &Request) -> String {
        request.key().unwrap().to_string()
    }

    #[test]
    fn requests_are_not_deferred_when_no_thread_can_be_spawned() {
        let mut loader = SessionLoader::new(MemoryStorage::default().readers(), Weak::new());
        loader.spawn = |_| Err(io::Error::from(io::ErrorKind::WouldBlock));
        for _ in 0..2 {
            assert!(loader.defer(request("a"), pending(), true).is_some());
        }
    }

    #[test]
    fn failed_spawn_is_retried_when_a_running_thread_ends() {
        let mut loader = SessionLoader::new(MemoryStorage::default().readers(), Weak::new());
        loader.spawn = |_| Ok(());
        assert!(loader.defer(request("a"), pending(), true).is_none());
        loader.spawn = |_| Err(io::Error::from(io::ErrorKind::WouldBlock));
        for name in ["b", "b", "c"] {
            assert!(loader.defer(request(name), pending(), true).is_none());
        }
        let ready: Vec<String> =
            loader.finish(&"a".parse().unwrap()).iter().map(|(request, _)| name(request)).collect();
        assert_eq!(ready, ["a", "b", "b", "c"]);
    }
}
