//! The bounded queue of jobs for the writer thread.
//!
//! Any thread adds jobs, and the writer thread takes all of them at once. So an append costs one short lock, and permits
//! are returned once per commit and not once per request.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

use crate::Error;
use crate::writer_thread::Job;

/// The number of permits for requests without a response. A permit stands for [`BYTES_PER_PERMIT`] bytes.
const PERMITS: u32 = 64 * 1024;
const BYTES_PER_PERMIT: usize = 1_024;
/// The permits of the smallest request. They bound the number of requests.
const MIN_PERMITS: u32 = 16;

/// The shared side of the queue.
#[derive(Debug)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    has_jobs: Condvar,
    permits: Semaphore,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Whether the writer thread is waiting for `has_jobs`.
    is_waiting: bool,
    is_closed: bool,
}

/// The permits of a request, held until its response. They must be [released](Inbox::release).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Permits(usize);

impl std::ops::AddAssign for Permits {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Default for Inbox {
    fn default() -> Self {
        Self { state: Mutex::default(), has_jobs: Condvar::new(), permits: Semaphore::new(PERMITS as usize) }
    }
}

impl Inbox {
    /// Waits for the permits of a request. Callers are served in order.
    pub(crate) async fn acquire(&self, bytes: usize) -> Result<Permits, Error> {
        // A larger request than the queue gets all permits.
        let permits = u32::try_from(bytes / BYTES_PER_PERMIT).unwrap_or(PERMITS).clamp(MIN_PERMITS, PERMITS);
        self.permits.acquire_many(permits).await.map_err(|_| Error::Closed)?.forget();
        Ok(Permits(permits as usize))
    }

    /// Acquires the permits of a small request without waiting. `None` if there are not enough.
    pub(crate) fn try_acquire(&self) -> Option<Permits> {
        self.permits.try_acquire_many(MIN_PERMITS).ok()?.forget();
        Some(Permits(MIN_PERMITS as usize))
    }

    pub(crate) fn release(&self, permits: Permits) {
        self.permits.add_permits(permits.0);
    }

    /// Adds a job. Fails if the inbox is closed.
    pub(crate) fn push(&self, job: Job) -> Result<(), Error> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(Error::Closed);
        }
        state.jobs.push_back(job);
        let is_waiting = std::mem::take(&mut state.is_waiting);
        drop(state);
        if is_waiting {
            self.has_jobs.notify_one();
        }
        Ok(())
    }

    /// Rejects further jobs. Jobs that were added before can still be taken.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.permits.close();
        self.has_jobs.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The writer thread's side of the queue. Dropping it closes the inbox and drops the remaining jobs.
#[derive(Debug)]
pub(crate) struct JobReceiver {
    inbox: Arc<Inbox>,
    /// Jobs that were taken from the inbox and not returned yet.
    taken: VecDeque<Job>,
}

impl JobReceiver {
    pub(crate) fn new(inbox: Arc<Inbox>) -> Self {
        Self { inbox, taken: VecDeque::new() }
    }

    /// Returns the next job, or `None` if the queue is empty.
    pub(crate) fn try_next(&mut self) -> Option<Job> {
        if self.taken.is_empty() {
            std::mem::swap(&mut self.taken, &mut self.inbox.lock().jobs);
        }
        self.taken.pop_front()
    }

    /// Waits for the next job. `None` if the inbox is closed and empty.
    pub(crate) fn next(&mut self) -> Option<Job> {
        if let Some(job) = self.taken.pop_front() {
            return Some(job);
        }
        let mut state = self.inbox.lock();
        while state.jobs.is_empty() {
            if state.is_closed {
                return None;
            }
            state.is_waiting = true;
            state = self.inbox.has_jobs.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::swap(&mut self.taken, &mut state.jobs);
        drop(state);
        self.taken.pop_front()
    }

    /// The number of queued jobs.
    pub(crate) fn len(&self) -> usize {
        self.taken.len() + self.inbox.lock().jobs.len()
    }

    pub(crate) fn release(&self, permits: Permits) {
        self.inbox.release(permits);
    }
}

impl Drop for JobReceiver {
    fn drop(&mut self) {
        self.inbox.close();
        // Dropping a job drops its response channel, which ends the caller's wait.
        let rest = std::mem::take(&mut self.inbox.lock().jobs);
        drop(rest);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    fn job() -> (Job, oneshot::Receiver<Result<(), Error>>) {
        let (sender, receiver) = oneshot::channel();
        (Job::Flush(sender), receiver)
    }

    #[test]
    fn jobs_pushed_before_close_are_received() {
        let inbox = Arc::new(Inbox::default());
        let mut jobs = JobReceiver::new(Arc::clone(&inbox));
        inbox.push(job().0).unwrap();
        inbox.close();
        assert!(matches!(inbox.push(job().0), Err(Error::Closed)));
        assert!(jobs.next().is_some());
        assert!(jobs.next().is_none());
    }

    #[test]
    fn waiters_fail_when_receiver_is_dropped() {
        let inbox = Arc::new(Inbox::default());
        let jobs = JobReceiver::new(Arc::clone(&inbox));
        let (job, response) = job();
        inbox.push(job).unwrap();
        drop(jobs);
        assert!(response.blocking_recv().is_err());
    }

    #[test]
    fn push_wakes_waiting_receiver() {
        let inbox = Arc::new(Inbox::default());
        let mut jobs = JobReceiver::new(Arc::clone(&inbox));
        let receiver = std::thread::spawn(move || std::iter::from_fn(|| jobs.next()).count());
        for _ in 0..1_000 {
            inbox.push(job().0).unwrap();
        }
        inbox.close();
        assert_eq!(receiver.join().unwrap(), 1_000);
    }

    #[tokio::test]
    async fn permits_bound_bytes_and_number_of_requests() {
        let inbox = Inbox::default();
        let all = inbox.acquire(usize::MAX).await.unwrap();
        assert_eq!(inbox.try_acquire(), None);
        inbox.release(all);
        let small = std::iter::from_fn(|| inbox.try_acquire()).count();
        assert_eq!(small, (PERMITS / MIN_PERMITS) as usize);
    }
}
