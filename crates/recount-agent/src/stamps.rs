//! Ids and timestamps for all replies of an agent.

use std::sync::{Arc, Mutex, PoisonError};

use recount_message::jiff::Timestamp;
use recount_message::{Clock, IdSource, Stamps, format_time};

/// A source of ids and timestamps that several replies share.
#[derive(Debug, Clone)]
pub(crate) struct SharedStamps(Arc<Mutex<Stamps>>);

impl SharedStamps {
    pub(crate) fn new(stamps: Stamps) -> Self {
        Self(Arc::new(Mutex::new(stamps)))
    }

    /// Returns a source for one reply.
    pub(crate) fn stamps(&self) -> Stamps {
        Stamps::new(self.clone(), self.clone())
    }

    pub(crate) fn id(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).id()
    }

    pub(crate) fn time(&self) -> Timestamp {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).now()
    }

    pub(crate) fn time_text(&self) -> String {
        format_time(self.time())
    }
}

impl IdSource for SharedStamps {
    fn next_id(&mut self) -> String {
        self.id()
    }
}

impl Clock for SharedStamps {
    fn now(&mut self) -> Timestamp {
        self.time()
    }
}
