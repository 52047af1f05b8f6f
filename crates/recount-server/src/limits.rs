//! How much anybody may ask for.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::sync::Semaphore;

/// How much anybody may ask for.
///
/// ```
/// use recount_server::Limits;
///
/// let limits = Limits::default();
/// assert_eq!(limits.body, 32 * 1024 * 1024);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How many bytes the body of a request may have.
    pub body: usize,
    /// How many bytes one event or message may have.
    pub event: usize,
    /// How many sessions a tenant may have.
    pub sessions: usize,
    /// How many connections there may be; nothing means as many as files may be open, less 256.
    pub connections: Option<usize>,
    /// How many requests a second each token, or each address where there are no tokens, may make in the long run.
    pub rate: u32,
    /// How long the head of a request may take to arrive.
    pub head_time: Duration,
    /// How long a body may take, beside a second for each MiB.
    pub body_time: Duration,
    /// How long a reader may take nothing of what it is sent.
    pub write_time: Duration,
}

/// What the log and the agents need.
const FILES_OF_OUR_OWN: u64 = 256;
/// All bodies together may take as much memory as so many of the largest.
const LARGE_BODIES: usize = 8;
const MIB: usize = 1024 * 1024;

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 32 * MIB,
            event: 16 * MIB,
            sessions: 1_000_000,
            connections: None,
            rate: 2_000,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            write_time: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// How many connections there may be. This process is let open as many files as it is allowed to.
    pub fn connections(&self) -> usize {
        let for_connections = raised_open_file_limit().saturating_sub(FILES_OF_OUR_OWN);
        self.connections.unwrap_or_else(|| usize::try_from(for_connections).unwrap_or(usize::MAX).max(16))
    }

    /// The memory that the bodies of requests share. Who finds none left is not read from until there is some.
    pub(crate) fn room_for_bodies(&self) -> Arc<Semaphore> {
        Arc::new(Semaphore::new(self.body.saturating_mul(LARGE_BODIES).min(Semaphore::MAX_PERMITS)))
    }
}

/// Lets this process open as many files as it is allowed to, and says how many.
fn raised_open_file_limit() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let before = std::mem::replace(&mut limit.current, limit.maximum);
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "the limit of open files stays as it is");
            limit.current = before;
        }
    }
    limit.current.unwrap_or(1 << 20)
}

/// Who is counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Asker {
    Token(String),
    Address(IpAddr),
}

/// Counts requests. Each asker has a bucket that holds two seconds' worth.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    buckets: Mutex<HashMap<Asker, Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// How many askers are remembered. A full bucket need not be.
const ASKERS: usize = 16_384;

impl Rates {
    /// Counts a request; the error says how many seconds to wait.
    pub(crate) fn take(&self, asker: Asker, rate: u32, now: Instant) -> Result<(), u64> {
        let (rate, most) = (f64::from(rate.max(1)), f64::from(rate.max(1)) * 2.0);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= ASKERS && !buckets.contains_key(&asker) {
            buckets.retain(|_, bucket| bucket.left + now.duration_since(bucket.at).as_secs_f64() * rate < most);
            if buckets.len() >= ASKERS {
                return Err(1);
            }
        }
        let bucket = buckets.entry(asker).or_insert(Bucket { left: most, at: now });
        bucket.left = (bucket.left + now.saturating_duration_since(bucket.at).as_secs_f64() * rate).min(most);
        bucket.at = now;
        if bucket.left < 1.0 {
            return Err(1);
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_again() {
        let (rates, start) = (Rates::default(), Instant::now());
        let asker = || Asker::Token("a".to_owned());
        for _ in 0..20 {
            assert_eq!(rates.take(asker(), 10, start), Ok(()));
        }
        assert_eq!(rates.take(asker(), 10, start), Err(1));
        assert_eq!(rates.take(Asker::Token("b".to_owned()), 10, start), Ok(()));
        assert_eq!(rates.take(asker(), 10, start + Duration::from_millis(100)), Ok(()));
    }
}
