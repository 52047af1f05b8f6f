//! Limits on requests and connections.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::sync::Semaphore;

/// Limits on requests and connections.
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
    /// The maximum size of a request body, in bytes. Default: 32 MiB.
    pub body: usize,
    /// The maximum size of one event or message, in bytes. Default: 16 MiB.
    pub event: usize,
    /// The maximum number of sessions per tenant. Default: 1,000,000.
    pub sessions: usize,
    /// The maximum number of connections. `None` (default): the number of files that the process may open, minus 256.
    pub connections: Option<usize>,
    /// The sustained number of requests per second for each token; without tokens, for each remote address. Default: 2,000.
    pub rate: u32,
    /// The time limit for the head of a request. Default: 30 s.
    pub head_time: Duration,
    /// The time limit for a body, plus one second for each MiB. Default: 30 s.
    pub body_time: Duration,
    /// The time after which a connection is closed if its client reads nothing. Default: 60 s.
    pub write_time: Duration,
}

/// File descriptors reserved for the log and the agents.
const RESERVED_FILES: u64 = 256;
/// The memory for bodies, in bodies of the maximum size.
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
    /// Returns the maximum number of connections. Raises the process's soft limit of open files to its hard limit.
    pub fn max_connections(&self) -> usize {
        let available = raise_open_file_limit().saturating_sub(RESERVED_FILES);
        self.connections.unwrap_or_else(|| usize::try_from(available).unwrap_or(usize::MAX).max(16))
    }

    /// Returns the memory that request bodies share, one permit per byte. A body that gets no permits is not read until others
    /// are done.
    pub(crate) fn body_memory(&self) -> Arc<Semaphore> {
        Arc::new(Semaphore::new(self.body.saturating_mul(LARGE_BODIES).min(Semaphore::MAX_PERMITS)))
    }
}

/// Raises the soft limit of open files to the hard limit and returns the limit in effect.
fn raise_open_file_limit() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let before = std::mem::replace(&mut limit.current, limit.maximum);
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "cannot raise the limit of open files");
            limit.current = before;
        }
    }
    limit.current.unwrap_or(1 << 20)
}

/// The key under which requests are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RateLimitKey {
    /// The id of a token.
    Token(String),
    Address(IpAddr),
}

/// A token bucket per key. Each holds the requests of two seconds.
#[derive(Debug, Default)]
pub(crate) struct RateLimiter {
    buckets: Mutex<HashMap<RateLimitKey, Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    remaining: f64,
    updated: Instant,
}

/// The maximum number of buckets. Full ones are dropped first.
const MAX_BUCKETS: usize = 16_384;

impl RateLimiter {
    /// Counts a request against `rate` requests per second. The error is the number of seconds to wait.
    pub(crate) fn check(&self, key: RateLimitKey, rate: u32, now: Instant) -> Result<(), u64> {
        let (rate, capacity) = (f64::from(rate.max(1)), f64::from(rate.max(1)) * 2.0);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(&key) {
            let refilled = |bucket: &Bucket| now.duration_since(bucket.updated).as_secs_f64() * rate;
            buckets.retain(|_, bucket| bucket.remaining + refilled(bucket) < capacity);
            if buckets.len() >= MAX_BUCKETS {
                return Err(1);
            }
        }
        let bucket = buckets.entry(key).or_insert(Bucket { remaining: capacity, updated: now });
        let refill = now.saturating_duration_since(bucket.updated).as_secs_f64() * rate;
        bucket.remaining = (bucket.remaining + refill).min(capacity);
        bucket.updated = now;
        if bucket.remaining < 1.0 {
            return Err(1);
        }
        bucket.remaining -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_limiter_rejects_until_bucket_refills() {
        let (limiter, start) = (RateLimiter::default(), Instant::now());
        let key = || RateLimitKey::Token("a".to_owned());
        for _ in 0..20 {
            assert_eq!(limiter.check(key(), 10, start), Ok(()));
        }
        assert_eq!(limiter.check(key(), 10, start), Err(1));
        assert_eq!(limiter.check(RateLimitKey::Token("b".to_owned()), 10, start), Ok(()));
        assert_eq!(limiter.check(key(), 10, start + Duration::from_millis(100)), Ok(()));
    }
}
