//! Chunks: encoded frames in one shared buffer.

use std::sync::Arc;

use bytes::Bytes;

/// Encoded frames, usually those of one commit.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// The sequence number of the last entry, even if that entry has no frame.
    pub(crate) last: u64,
    bytes: Bytes,
    frames: Box<[FrameEnd]>,
}

#[derive(Debug, Clone, Copy)]
struct FrameEnd {
    /// The sequence number of the entry that the frame belongs to.
    seq: u64,
    /// The byte offset after the frame.
    offset: usize,
}

/// Collects the frames of a chunk.
#[derive(Debug, Default)]
pub(crate) struct ChunkBuilder {
    pub(crate) text: String,
    frames: Vec<FrameEnd>,
}

impl ChunkBuilder {
    /// Ends the frame of an entry.
    pub(crate) fn end_frame(&mut self, seq: u64) {
        self.frames.push(FrameEnd { seq, offset: self.text.len() });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn finish(self, last: u64) -> Chunk {
        Chunk { last, bytes: Bytes::from(self.text), frames: self.frames.into() }
    }
}

impl Chunk {
    /// The memory that the chunk occupies, in bytes.
    pub(crate) fn weight(&self) -> usize {
        self.bytes.len() + self.frames.len() * size_of::<FrameEnd>()
    }
}

/// The frames of a chunk after some entry.
#[derive(Debug, Clone)]
pub(crate) struct ChunkSlice {
    chunk: Arc<Chunk>,
    /// The index of the first frame.
    first: usize,
}

impl ChunkSlice {
    /// Returns all frames of a chunk.
    pub(crate) fn whole(chunk: Chunk) -> Self {
        Self { chunk: Arc::new(chunk), first: 0 }
    }

    /// Returns the frames of entries after `seq`.
    pub(crate) fn after(chunk: &Arc<Chunk>, seq: u64) -> Self {
        Self { chunk: Arc::clone(chunk), first: chunk.frames.partition_point(|frame| frame.seq <= seq) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.chunk.frames.len()
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.chunk.bytes.get(self.start(self.first)..).unwrap_or_default()
    }

    /// Returns the bytes as a reference-counted slice of the chunk.
    pub(crate) fn bytes(&self) -> Bytes {
        self.chunk.bytes.slice(self.start(self.first)..)
    }

    pub(crate) fn frames(&self) -> impl Iterator<Item = Bytes> {
        (self.first..self.chunk.frames.len()).filter_map(|index| {
            let end = self.chunk.frames.get(index)?.offset;
            Some(self.chunk.bytes.slice(self.start(index)..end))
        })
    }

    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).and_then(|before| self.chunk.frames.get(before)).map_or(0, |frame| frame.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slice_after_returns_frames_of_later_entries() {
        let mut builder = ChunkBuilder::default();
        for (seq, text) in [(2, "a"), (4, "b1"), (4, "b2"), (5, "c")] {
            builder.text.push_str(text);
            builder.end_frame(seq);
        }
        let chunk = Arc::new(builder.finish(6));
        let frames_after = |seq| ChunkSlice::after(&chunk, seq).frames().collect::<Vec<_>>();
        assert_eq!(frames_after(1), ["a", "b1", "b2", "c"]);
        assert_eq!(frames_after(3), ["b1", "b2", "c"]);
        assert_eq!(ChunkSlice::after(&chunk, 4).bytes(), "c");
        assert!(ChunkSlice::after(&chunk, 5).is_empty());
    }
}
