//! Leases give one run the exclusive right to work on a subject of a session, such as a reply.
//!
//! Expiry only decides when another run may take a lease over. The writer checks the lease of every append when it writes
//! it, so after a take-over no append under the old lease succeeds.

use std::time::Duration;

use hashbrown::HashMap;
use recount_message::jiff::{SignedDuration, Timestamp};

use crate::{Error, SessionKey};

/// The exclusive right to work on a subject of a session, valid until it is released or taken over.
///
/// [`Session::appender`](crate::Session::appender) appends under it. Its token is random, so a lease of an earlier process
/// is never valid.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lease {
    pub(crate) session: SessionKey,
    pub(crate) subject: String,
    pub(crate) token: u64,
}

impl Lease {
    /// The session.
    pub fn session(&self) -> &SessionKey {
        &self.session
    }

    /// The leased subject, such as the id of a reply.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    pub(crate) fn lost(&self) -> Error {
        Error::LeaseLost { session: self.session.clone(), subject: self.subject.clone() }
    }
}

/// The parameters of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRequest {
    /// The subject, such as the id of a reply.
    pub subject: String,
    /// The name of the holder, for error messages and logs.
    pub holder: String,
    /// The time until another holder may take the lease over. [`Session::renew`](crate::Session::renew) restarts it.
    pub ttl: Duration,
    /// Whether to take over an unexpired lease.
    pub force: bool,
}

impl LeaseRequest {
    /// Creates a request for a lease of 30 seconds that takes over expired leases only.
    ///
    /// ```
    /// use recount_log::LeaseRequest;
    ///
    /// let request = LeaseRequest::new("reply-7", "node-1").force();
    /// assert_eq!((request.ttl.as_secs(), request.force), (30, true));
    /// ```
    pub fn new(subject: impl Into<String>, holder: impl Into<String>) -> Self {
        Self { subject: subject.into(), holder: holder.into(), ttl: Duration::from_secs(30), force: false }
    }

    /// Sets the time until another holder may take the lease over.
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Takes over the lease even if another holder has an unexpired one.
    pub fn force(mut self) -> Self {
        self.force = true;
        self
    }
}

/// All leases of a log.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    held: HashMap<SessionKey, HashMap<String, Held>>,
}

#[derive(Debug, Clone)]
struct Held {
    holder: String,
    token: u64,
    until: Timestamp,
}

/// A granted lease. `taken_from` is the previous holder, if there was one.
pub(crate) struct Granted {
    pub(crate) lease: Lease,
    pub(crate) taken_from: Option<String>,
}

/// The leases of a session before a change, to undo the change.
#[derive(Debug)]
pub(crate) struct SavedLeases {
    session: SessionKey,
    held: Option<HashMap<String, Held>>,
}

impl Leases {
    pub(crate) fn acquire(
        &mut self,
        session: &SessionKey,
        request: &LeaseRequest,
        now: Timestamp,
        token: u64,
    ) -> Result<Granted, Error> {
        let subjects = self.held.entry(session.clone()).or_default();
        let before = subjects.get(&request.subject);
        if let Some(held) = before
            && !request.force
            && held.until > now
        {
            return Err(Error::LeaseHeld {
                session: session.clone(),
                subject: request.subject.clone(),
                holder: held.holder.clone(),
            });
        }
        let taken_from = before.map(|held| held.holder.clone());
        let held = Held { holder: request.holder.clone(), token, until: end(now, request.ttl) };
        subjects.insert(request.subject.clone(), held);
        let lease = Lease { session: session.clone(), subject: request.subject.clone(), token };
        Ok(Granted { lease, taken_from })
    }

    pub(crate) fn renew(&mut self, lease: &Lease, time: Duration, now: Timestamp) -> Result<(), Error> {
        let held = self.held.get_mut(&lease.session).and_then(|subjects| subjects.get_mut(&lease.subject));
        let held = held.filter(|held| held.token == lease.token).ok_or_else(|| lease.lost())?;
        held.until = end(now, time);
        Ok(())
    }

    pub(crate) fn release(&mut self, lease: &Lease) -> Result<(), Error> {
        self.check(lease)?;
        if let Some(subjects) = self.held.get_mut(&lease.session) {
            subjects.remove(&lease.subject);
            if subjects.is_empty() {
                self.held.remove(&lease.session);
            }
        }
        Ok(())
    }

    /// Checks that a lease is held. An expired lease stays valid until it is taken over.
    pub(crate) fn check(&self, lease: &Lease) -> Result<(), Error> {
        let held = self.held.get(&lease.session).and_then(|subjects| subjects.get(&lease.subject));
        if held.is_some_and(|held| held.token == lease.token) { Ok(()) } else { Err(lease.lost()) }
    }

    pub(crate) fn remove_session(&mut self, session: &SessionKey) {
        self.held.remove(session);
    }

    pub(crate) fn save(&self, session: &SessionKey) -> SavedLeases {
        SavedLeases { session: session.clone(), held: self.held.get(session).cloned() }
    }

    pub(crate) fn restore(&mut self, saved: SavedLeases) {
        match saved.held {
            Some(held) => self.held.insert(saved.session, held),
            None => self.held.remove(&saved.session),
        };
    }
}

fn end(now: Timestamp, time: Duration) -> Timestamp {
    let time = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
    now.checked_add(time).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_leases_leave_no_state() {
        let (mut leases, key) = (Leases::default(), "chat".parse().unwrap());
        let mut acquire = |subject, token| {
            let request = LeaseRequest::new(subject, "run 1");
            leases.acquire(&key, &request, Timestamp::UNIX_EPOCH, token).map(|granted| granted.lease).unwrap()
        };
        let (one, other) = (acquire("one", 1), acquire("other", 2));
        leases.release(&one).unwrap();
        assert!(leases.release(&one).is_err());
        leases.check(&other).unwrap();
        leases.release(&other).unwrap();
        assert!(leases.held.is_empty());
    }
}
