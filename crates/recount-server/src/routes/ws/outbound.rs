//! Frames on their way to a client.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// How many frames wait for a connection.
const FRAMES: usize = 64;
/// How many bytes they have together. A larger frame waits alone.
const BYTES: usize = 64 * 1024;

/// Where frames are put that are to be sent. Clones are the same place.
#[derive(Debug, Clone)]
pub(super) struct Outbound {
    frames: mpsc::Sender<Frame>,
    room: Arc<Semaphore>,
}

/// A frame, and the room that it takes until it is sent.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) bytes: Bytes,
    pub(super) room: OwnedSemaphorePermit,
}

/// Nobody listens any more.
#[derive(Debug)]
pub(super) struct Disconnected;

/// A place for frames, and where they come out.
pub(super) fn channel() -> (Outbound, mpsc::Receiver<Frame>) {
    let (frames, waiting) = mpsc::channel(FRAMES);
    (Outbound { frames, room: Arc::new(Semaphore::new(BYTES)) }, waiting)
}

impl Outbound {
    /// Puts a frame in as soon as there is room. Who waits for that keeps nothing, and reads the log later.
    pub(super) async fn send(&self, bytes: Bytes) -> Result<(), Disconnected> {
        let wanted = u32::try_from(bytes.len().min(BYTES)).map_err(|_| Disconnected)?;
        let room = Arc::clone(&self.room).acquire_many_owned(wanted).await.map_err(|_| Disconnected)?;
        self.frames.send(Frame { bytes, room }).await.map_err(|_| Disconnected)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn frames_wait_for_room() {
        let (outbound, mut waiting) = channel();
        let sent = async |length: usize| outbound.send(Bytes::from(vec![0; length])).now_or_never().is_some();
        assert!(sent(BYTES / 2).await && sent(BYTES / 2).await);
        assert!(!sent(1).await);
        drop(waiting.recv().await);
        assert!(sent(1).await);
        while waiting.try_recv().is_ok() {}
        // One that is larger than all the room has it to itself.
        assert!(sent(BYTES * 10).await);
        assert!(!sent(1).await);
        drop(waiting);
        assert!(outbound.send(Bytes::new()).await.is_err());
    }
}
