//! The queue of frames to a client.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The maximum number of queued frames.
const MAX_FRAMES: usize = 64;
/// The maximum size of all queued frames, in bytes. A larger frame is queued alone.
const MAX_BYTES: usize = 64 * 1024;

/// The sender of the queue. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Outbound {
    frames: mpsc::Sender<Frame>,
    capacity: Arc<Semaphore>,
}

/// A frame, and its share of the queue's capacity until it is sent.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: Bytes,
    pub(super) permit: OwnedSemaphorePermit,
}

/// The connection is closed.
#[derive(Debug)]
pub(super) struct Disconnected;

/// Creates a queue.
pub(super) fn channel() -> (Outbound, mpsc::Receiver<Frame>) {
    let (frames, receiver) = mpsc::channel(MAX_FRAMES);
    (Outbound { frames, capacity: Arc::new(Semaphore::new(MAX_BYTES)) }, receiver)
}

impl Outbound {
    /// Waits for capacity and queues a frame. A sender that waits buffers nothing: it reads the log afterwards.
    pub(super) async fn send(&self, bytes: Bytes) -> Result<(), Disconnected> {
        let size = u32::try_from(bytes.len().min(MAX_BYTES)).map_err(|_| Disconnected)?;
        let permit = Arc::clone(&self.capacity).acquire_many_owned(size).await.map_err(|_| Disconnected)?;
        self.frames.send(Frame { bytes, permit }).await.map_err(|_| Disconnected)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn send_waits_until_queue_has_capacity() {
        let (outbound, mut receiver) = channel();
        let try_send = async |length: usize| outbound.send(Bytes::from(vec![0; length])).now_or_never().is_some();
        assert!(try_send(MAX_BYTES / 2).await && try_send(MAX_BYTES / 2).await);
        assert!(!try_send(1).await);
        drop(receiver.recv().await);
        assert!(try_send(1).await);
        while receiver.try_recv().is_ok() {}
        // A frame larger than the capacity takes all of it.
        assert!(try_send(MAX_BYTES * 10).await);
        assert!(!try_send(1).await);
        drop(receiver);
        assert!(outbound.send(Bytes::new()).await.is_err());
    }
}
