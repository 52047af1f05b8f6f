//! The thread of the writer: it takes what has come in the meantime and commits it at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use crate::hub::Hub;
use crate::request::{Answer, Request};
use crate::storage::Storage;
use crate::writer::{Notice, Outbox, Writer};
use crate::{Error, StorageError};

/// How many requests are committed at once.
const GROUP: usize = 2_048;

/// Something for the thread to do.
pub(crate) enum Job {
    Request {
        request: Box<Request>,
        answer: oneshot::Sender<Result<Answer, Error>>,
        /// The room that the request takes up until it is answered.
        _room: OwnedSemaphorePermit,
    },
    Shrink(oneshot::Sender<Result<(), Error>>),
    Close(oneshot::Sender<Result<(), Error>>),
}

/// Starts the thread. It ends when it is told to, or when nobody can ask it any more.
pub(crate) fn start(
    storage: Box<dyn Storage>,
    writer: Writer,
    jobs: mpsc::Receiver<Job>,
    hub: Arc<Hub>,
) -> Result<(), Error> {
    let desk = Desk { storage, writer, jobs, hub };
    std::thread::Builder::new()
        .name("recount-writer".to_owned())
        .spawn(move || desk.run())
        .map(drop)
        .map_err(|error| StorageError::Failed(format!("cannot start a thread: {error}")).into())
}

struct Desk {
    storage: Box<dyn Storage>,
    writer: Writer,
    jobs: mpsc::Receiver<Job>,
    hub: Arc<Hub>,
}

impl Desk {
    fn run(mut self) {
        let mut answers = Vec::with_capacity(GROUP);
        let mut requests = Vec::with_capacity(GROUP);
        let mut next = self.jobs.blocking_recv();
        while let Some(job) = next.take() {
            let other = match job {
                Job::Request { request, answer, _room } => {
                    requests.push(*request);
                    answers.push(Some((answer, _room)));
                    self.gather(&mut requests, &mut answers)
                }
                other => Some(other),
            };
            if !requests.is_empty() {
                let mut outbox = Delivery { answers: &mut answers, hub: &self.hub };
                self.writer.run(&mut *self.storage, &requests, &mut outbox);
                requests.clear();
                answers.clear();
            }
            match other {
                Some(Job::Shrink(answer)) => {
                    let _ = answer.send(self.storage.shrink().map_err(Error::from));
                }
                Some(Job::Close(answer)) => {
                    self.jobs.close();
                    let result = self.storage.close().map_err(Error::from);
                    // The lock is free when the caller knows that it is closed.
                    drop(self.storage);
                    self.hub.close();
                    let _ = answer.send(result);
                    return;
                }
                Some(Job::Request { .. }) | None => {}
            }
            next = self.jobs.blocking_recv();
        }
        // Nobody is left to be told.
        let _ = self.storage.close();
        self.hub.close();
    }

    /// Takes what else is there, without waiting for it, up to something that is no request.
    fn gather(&mut self, requests: &mut Vec<Request>, answers: &mut Vec<Waiting>) -> Option<Job> {
        while requests.len() < GROUP {
            match self.jobs.try_recv() {
                Ok(Job::Request { request, answer, _room }) => {
                    requests.push(*request);
                    answers.push(Some((answer, _room)));
                }
                Ok(other) => return Some(other),
                Err(_) => break,
            }
        }
        None
    }
}

type Waiting = Option<(oneshot::Sender<Result<Answer, Error>>, OwnedSemaphorePermit)>;

struct Delivery<'d> {
    answers: &'d mut Vec<Waiting>,
    hub: &'d Hub,
}

impl Outbox for Delivery<'_> {
    fn answer(&mut self, index: usize, answer: Result<Answer, Error>) {
        if let Some((waiting, _room)) = self.answers.get_mut(index).and_then(Option::take) {
            // Deltas are not waited for.
            let _ = waiting.send(answer);
        }
    }

    fn notice(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Appended { key, epoch, after, entries } => self.hub.push(key, epoch, after, entries),
            Notice::Replaced(key) => self.hub.clear(key),
        }
    }
}
