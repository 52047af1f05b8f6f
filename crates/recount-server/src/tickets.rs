//! Tickets: for browsers, which cannot send a token along when they open a stream.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use secrecy::SecretString;

use crate::guard::Caller;

/// How long a ticket lasts.
pub(crate) const LIFE: Duration = Duration::from_secs(60);
/// How many are kept at most. Beyond that the oldest end early.
const KEPT: usize = 16_384;

/// The tickets that were given out.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    given: Mutex<HashMap<String, (Instant, Caller)>>,
}

impl Tickets {
    /// A ticket for somebody.
    pub(crate) fn give(&self, caller: Caller, now: Instant) -> SecretString {
        let ticket = format!("tkt_{}", uuid::Uuid::new_v4().simple());
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if given.len() >= KEPT {
            given.retain(|_, (until, _)| *until > now);
            let oldest = given.iter().min_by_key(|(_, (until, _))| *until).map(|(ticket, _)| ticket.clone());
            if let Some(oldest) = oldest.filter(|_| given.len() >= KEPT) {
                given.remove(&oldest);
            }
        }
        given.insert(ticket.clone(), (now + LIFE, caller));
        SecretString::from(ticket)
    }

    /// Whose ticket it is, if it is still good.
    pub(crate) fn find(&self, ticket: &str, now: Instant) -> Option<Caller> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.get(ticket).filter(|(until, _)| *until > now).map(|(_, caller)| caller.clone())
    }
}
