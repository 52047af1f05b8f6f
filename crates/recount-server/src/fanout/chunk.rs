//! Frames in one piece of memory, shared by all who get them.

use std::sync::Arc;

use bytes::Bytes;

/// Some frames that belong together, such as those of one commit.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// The number of the last entry, whether or not it is shown.
    pub(crate) last: u64,
    bytes: Bytes,
    frames: Box<[Mark]>,
}

/// The end of a frame.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// The number of the entry that it tells of.
    seq: u64,
    end: usize,
}

/// A chunk in the making.
#[derive(Debug, Default)]
pub(crate) struct ChunkBuilder {
    pub(crate) text: String,
    frames: Vec<Mark>,
}

impl ChunkBuilder {
    /// ConnInfo a frame, which tells of an entry.
    pub(crate) fn end_frame(&mut self, seq: u64) {
        self.frames.push(Mark { seq, end: self.text.len() });
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
    pub(crate) fn weight(&self) -> usize {
        self.bytes.len() + self.frames.len() * size_of::<Mark>()
    }
}

/// The frames of a chunk that are after a place.
#[derive(Debug, Clone)]
pub(crate) struct ChunkSlice {
    chunk: Arc<Chunk>,
    /// The first frame.
    first: usize,
}

impl ChunkSlice {
    /// All of a chunk.
    pub(crate) fn whole(chunk: Chunk) -> Self {
        Self { chunk: Arc::new(chunk), first: 0 }
    }

    /// What is after an entry.
    pub(crate) fn after(chunk: &Arc<Chunk>, seq: u64) -> Self {
        Self { chunk: Arc::clone(chunk), first: chunk.frames.partition_point(|frame| frame.seq <= seq) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.chunk.frames.len()
    }

    /// All frames in one piece.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.chunk.bytes.get(self.start(self.first)..).unwrap_or_default()
    }

    /// The same, to be kept.
    pub(crate) fn bytes(&self) -> Bytes {
        self.chunk.bytes.slice(self.start(self.first)..)
    }

    /// The frames one by one.
    pub(crate) fn frames(&self) -> impl Iterator<Item = Bytes> {
        (self.first..self.chunk.frames.len()).filter_map(|index| {
            let end = self.chunk.frames.get(index)?.end;
            Some(self.chunk.bytes.slice(self.start(index)..end))
        })
    }

    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).and_then(|before| self.chunk.frames.get(before)).map_or(0, |mark| mark.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_begins_after_a_place() {
        let mut builder = ChunkBuilder::default();
        for (seq, text) in [(2, "a"), (4, "b1"), (4, "b2"), (5, "c")] {
            builder.text.push_str(text);
            builder.end_frame(seq);
        }
        let chunk = Arc::new(builder.finish(6));
        let of = |seq| ChunkSlice::after(&chunk, seq).frames().collect::<Vec<_>>();
        assert_eq!(of(1), ["a", "b1", "b2", "c"]);
        assert_eq!(of(3), ["b1", "b2", "c"]);
        assert_eq!(ChunkSlice::after(&chunk, 4).bytes(), "c");
        assert!(ChunkSlice::after(&chunk, 5).is_empty());
    }
}
