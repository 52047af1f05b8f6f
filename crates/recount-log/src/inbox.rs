//! What has come for the writer's thread and was not taken yet.
//!
//! Everybody who appends puts something in, and one thread takes all that is there at once. So an append costs a short lock, and
//! the room that requests take up is given back once for each commit and not once for each request.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

use crate::Error;
use crate::writer_thread::Job;

/// How much room there is for requests that were not answered yet, in pieces of [`UNIT`] bytes.
const ROOM: u32 = 64 * 1024;
const UNIT: usize = 1_024;
/// The room of the smallest request, so that their number is bounded too.
const LEAST: u32 = 16;

/// The way of jobs to the writer's thread.
#[derive(Debug)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    bell: Condvar,
    room: Semaphore,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Whether the thread has nothing to do and waits for the bell.
    is_awaited: bool,
    is_closed: bool,
}

/// The room that a request takes up until it is answered.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room(usize);

impl std::ops::AddAssign for Room {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Default for Inbox {
    fn default() -> Self {
        Self { state: Mutex::default(), bell: Condvar::new(), room: Semaphore::new(ROOM as usize) }
    }
}

impl Inbox {
    /// Waits for room, in the order of those who ask. It has to be [given back](Self::give_back).
    pub(crate) async fn room(&self, bytes: usize) -> Result<Room, Error> {
        // Whoever asks for more room than there is gets all of it.
        let units = u32::try_from(bytes / UNIT).unwrap_or(ROOM).clamp(LEAST, ROOM);
        self.room.acquire_many(units).await.map_err(|_| Error::Closed)?.forget();
        Ok(Room(units as usize))
    }

    /// Room for a small request, if there is some now.
    pub(crate) fn room_now(&self) -> Option<Room> {
        self.room.try_acquire_many(LEAST).ok()?.forget();
        Some(Room(LEAST as usize))
    }

    pub(crate) fn give_back(&self, room: Room) {
        self.room.add_permits(room.0);
    }

    /// Puts something in.
    pub(crate) fn put(&self, job: Job) -> Result<(), Error> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(Error::Closed);
        }
        state.jobs.push_back(job);
        let is_awaited = std::mem::take(&mut state.is_awaited);
        drop(state);
        if is_awaited {
            self.bell.notify_one();
        }
        Ok(())
    }

    /// Nothing more is put in. What is there can still be taken.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.room.close();
        self.bell.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The side of the thread that takes jobs out. When it is gone, what was not taken is dropped, and nothing more is put in.
#[derive(Debug)]
pub(crate) struct Jobs {
    inbox: Arc<Inbox>,
    /// What was taken and is still to be done.
    taken: VecDeque<Job>,
}

impl Jobs {
    pub(crate) fn of(inbox: Arc<Inbox>) -> Self {
        Self { inbox, taken: VecDeque::new() }
    }

    /// The next job, if there is one now.
    pub(crate) fn next_now(&mut self) -> Option<Job> {
        if self.taken.is_empty() {
            std::mem::swap(&mut self.taken, &mut self.inbox.lock().jobs);
        }
        self.taken.pop_front()
    }

    /// Waits for the next job. Nothing when there will be none.
    pub(crate) fn next(&mut self) -> Option<Job> {
        if let Some(job) = self.taken.pop_front() {
            return Some(job);
        }
        let mut state = self.inbox.lock();
        while state.jobs.is_empty() {
            if state.is_closed {
                return None;
            }
            state.is_awaited = true;
            state = self.inbox.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::swap(&mut self.taken, &mut state.jobs);
        drop(state);
        self.taken.pop_front()
    }

    /// How many there are now.
    pub(crate) fn waiting(&self) -> usize {
        self.taken.len() + self.inbox.lock().jobs.len()
    }

    pub(crate) fn give_back(&self, room: Room) {
        self.inbox.give_back(room);
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.inbox.close();
        // Whoever waits for an answer learns that there will be none.
        let left = std::mem::take(&mut self.inbox.lock().jobs);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    fn job() -> (Job, oneshot::Receiver<Result<(), Error>>) {
        let (answer, answered) = oneshot::channel();
        (Job::Flush(answer), answered)
    }

    #[test]
    fn what_was_put_in_before_the_end_is_still_taken() {
        let inbox = Arc::new(Inbox::default());
        let mut jobs = Jobs::of(Arc::clone(&inbox));
        inbox.put(job().0).unwrap();
        inbox.close();
        assert!(matches!(inbox.put(job().0), Err(Error::Closed)));
        assert!(jobs.next().is_some());
        assert!(jobs.next().is_none());
    }

    #[test]
    fn who_waits_is_told_when_nobody_takes_anything_out_any_more() {
        let inbox = Arc::new(Inbox::default());
        let jobs = Jobs::of(Arc::clone(&inbox));
        let (job, answered) = job();
        inbox.put(job).unwrap();
        drop(jobs);
        assert!(answered.blocking_recv().is_err());
    }

    #[test]
    fn a_thread_that_waits_is_woken() {
        let inbox = Arc::new(Inbox::default());
        let mut jobs = Jobs::of(Arc::clone(&inbox));
        let taking = std::thread::spawn(move || std::iter::from_fn(|| jobs.next()).count());
        for _ in 0..1_000 {
            inbox.put(job().0).unwrap();
        }
        inbox.close();
        assert_eq!(taking.join().unwrap(), 1_000);
    }

    #[tokio::test]
    async fn room_is_bounded_in_bytes_and_in_number() {
        let inbox = Inbox::default();
        let all = inbox.room(usize::MAX).await.unwrap();
        assert_eq!(inbox.room_now(), None);
        inbox.give_back(all);
        let small = std::iter::from_fn(|| inbox.room_now()).count();
        assert_eq!(small, (ROOM / LEAST) as usize);
    }
}
