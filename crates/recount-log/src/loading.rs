//! Sessions on their way into the writer's memory.
//!
//! The first append to a session needs its last ids and its open replies, up to [`WINDOW`](crate::WINDOW) entries. They are
//! read on other threads, so that nobody else's append waits for it; what comes for the session meanwhile is put aside.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use tokio::sync::mpsc;

use crate::SessionKey;
use crate::desk::{Job, Waiting};
use crate::request::Request;
use crate::storage::Views;
use crate::writer::Loaded;

/// How many sessions are read at the same time. Others wait for their turn.
const THREADS: usize = 4;

/// The sessions that are being read, and what waits for them.
pub(crate) struct Loading {
    views: Arc<dyn Views + Send + Sync>,
    queue: mpsc::WeakSender<Job>,
    aside: HashMap<SessionKey, Vec<(Request, Waiting)>>,
    /// Those that are not being read yet.
    next: VecDeque<SessionKey>,
    threads: usize,
}

impl Loading {
    pub(crate) fn new(views: Arc<dyn Views + Send + Sync>, queue: mpsc::WeakSender<Job>) -> Self {
        Self { views, queue, aside: HashMap::new(), next: VecDeque::new(), threads: 0 }
    }

    /// Puts a request aside if its session is being read, or has to be. Gives it back if it can be done now.
    pub(crate) fn put_aside(
        &mut self,
        request: Request,
        waiting: Waiting,
        must_load: bool,
    ) -> Option<(Request, Waiting)> {
        let Some(key) = request.key() else { return Some((request, waiting)) };
        if let Some(others) = self.aside.get_mut(key) {
            others.push((request, waiting));
            return None;
        }
        if !must_load {
            return Some((request, waiting));
        }
        let key = key.clone();
        self.next.push_back(key.clone());
        self.aside.insert(key, vec![(request, waiting)]);
        self.start();
        None
    }

    /// A session has been read: what has waited for it.
    pub(crate) fn loaded(&mut self, key: &SessionKey) -> Vec<(Request, Waiting)> {
        self.threads = self.threads.saturating_sub(1);
        self.start();
        self.aside.remove(key).unwrap_or_default()
    }

    /// All that waits, when there is no time to wait any longer.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = (Request, Waiting)> {
        self.next.clear();
        self.aside.drain().flat_map(|(_, requests)| requests)
    }

    /// Begins to read, as far as threads are free.
    fn start(&mut self) {
        while self.threads < THREADS
            && let Some(key) = self.next.pop_front()
        {
            let (views, queue) = (Arc::clone(&self.views), self.queue.clone());
            let read = move || {
                // If this fails, the writer finds the same and tells those who wait.
                let loaded = views.view().ok().and_then(|view| Loaded::read(&*view, &key).ok());
                // When nobody can ask any more, the writer does what waits by itself.
                if let Some(queue) = queue.upgrade() {
                    let _ = queue.blocking_send(Job::Loaded { key, loaded: loaded.map(Box::new) });
                }
            };
            let thread = std::thread::Builder::new().name("recount-loader".to_owned());
            self.threads += 1;
            if thread.spawn(read).is_err() {
                // Tried again when the next one is done. With none under way there is nobody to wait for.
                self.threads -= 1;
                return;
            }
        }
    }
}
