//! Leases: who may go on with something.
//!
//! A lease says that one run, and no other, works on something of a session, such as a reply. Time is only a reason to
//! take a lease away from somebody who seems to be gone. What keeps two runs from writing is the check in the writer, at
//! the moment of each append: once a lease has been taken over, nothing comes through under the old one any more.

use std::time::Duration;

use hashbrown::HashMap;
use recount_message::jiff::{SignedDuration, Timestamp};

use crate::{Error, SessionKey};

/// The right to go on with something of a session, until somebody takes it over.
///
/// Append under it with [`Session::appender`](crate::Session::appender). Its token is random, so a lease from before a
/// restart is never taken for one of afterwards: all leases of an earlier process are void.
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

    /// What is leased, such as the id of a reply.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    pub(crate) fn lost(&self) -> Error {
        Error::LeaseLost { session: self.session.clone(), subject: self.subject.clone() }
    }
}

/// What somebody asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRequest {
    /// What is to be leased, such as the id of a reply.
    pub subject: String,
    /// Who asks, in words for people and logs.
    pub holder: String,
    /// How long nobody else may take it without force. Renewing begins it anew.
    pub ttl: Duration,
    /// Whether to take it even from somebody whose time is not over.
    pub force: bool,
}

impl LeaseRequest {
    /// Asks for a lease of half a minute, and not by force.
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

    /// The same request for another length of time.
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// The same request, to be granted even while somebody else holds the lease.
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

/// A lease that was granted, and from whom it was taken.
pub(crate) struct Granted {
    pub(crate) lease: Lease,
    pub(crate) taken_from: Option<String>,
}

/// What the leases of a session were before a change.
#[derive(Debug)]
pub(crate) struct Before {
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

    /// A lease whose time is over holds on until somebody else takes it: nobody is hurt by that.
    pub(crate) fn check(&self, lease: &Lease) -> Result<(), Error> {
        let held = self.held.get(&lease.session).and_then(|subjects| subjects.get(&lease.subject));
        if held.is_some_and(|held| held.token == lease.token) { Ok(()) } else { Err(lease.lost()) }
    }

    pub(crate) fn forget(&mut self, session: &SessionKey) {
        self.held.remove(session);
    }

    pub(crate) fn before(&self, session: &SessionKey) -> Before {
        Before { session: session.clone(), held: self.held.get(session).cloned() }
    }

    pub(crate) fn restore(&mut self, before: Before) {
        match before.held {
            Some(held) => self.held.insert(before.session, held),
            None => self.held.remove(&before.session),
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
    fn nothing_is_kept_of_leases_that_were_given_back() {
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
