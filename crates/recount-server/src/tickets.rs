//! Tickets: short-lived credentials in a URL, for browser APIs that cannot send the `Authorization` header.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use secrecy::SecretString;

use crate::auth::Caller;

/// The lifetime of a ticket.
pub(crate) const TICKET_TTL: Duration = Duration::from_secs(60);
/// The maximum number of tickets. Beyond it, the oldest ticket is dropped before it expires.
const MAX_TICKETS: usize = 16_384;

/// The tickets that were issued.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    issued: Mutex<HashMap<String, (Instant, Caller)>>,
}

impl Tickets {
    /// Issues a ticket with the permissions of a caller.
    pub(crate) fn issue(&self, caller: Caller, now: Instant) -> SecretString {
        let ticket = format!("tkt_{}", uuid::Uuid::new_v4().simple());
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        if issued.len() >= MAX_TICKETS {
            issued.retain(|_, (expires, _)| *expires > now);
            let oldest = issued.iter().min_by_key(|(_, (expires, _))| *expires).map(|(ticket, _)| ticket.clone());
            if let Some(oldest) = oldest.filter(|_| issued.len() >= MAX_TICKETS) {
                issued.remove(&oldest);
            }
        }
        issued.insert(ticket.clone(), (now + TICKET_TTL, caller));
        SecretString::from(ticket)
    }

    /// Returns the caller of a ticket, if it has not expired.
    pub(crate) fn find(&self, ticket: &str, now: Instant) -> Option<Caller> {
        let issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        issued.get(ticket).filter(|(expires, _)| *expires > now).map(|(_, caller)| caller.clone())
    }
}
