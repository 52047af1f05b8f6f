//! Server-sent events, as the service sends them.

use anyhow::{Result, bail};

/// More than the largest event that a service takes.
const LONGEST: usize = 256 << 20;

/// Takes frames out of bytes that come in any pieces.
#[derive(Debug, Default)]
pub(super) struct Frames {
    buffer: Vec<u8>,
}

/// A frame.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) event: Option<String>,
    pub(super) id: Option<String>,
    pub(super) data: String,
    /// Everything that was there has been told.
    pub(super) is_live: bool,
}

impl Frames {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() > LONGEST {
            bail!("the service sends a frame without an end");
        }
        Ok(())
    }

    /// The next frame that is whole. Comments that say nothing are passed over.
    pub(super) fn next(&mut self) -> Option<Frame> {
        loop {
            let end = self.buffer.windows(2).position(|window| window == b"\n\n")?;
            let text: Vec<u8> = self.buffer.drain(..end + 2).collect();
            let mut frame = Frame::default();
            for line in String::from_utf8_lossy(&text).lines() {
                match line.split_once(": ") {
                    Some(("event", event)) => frame.event = Some(event.to_owned()),
                    Some(("id", id)) => frame.id = Some(id.to_owned()),
                    Some(("data", data)) => frame.data.push_str(data),
                    Some(("", "live")) => frame.is_live = true,
                    _ => {}
                }
            }
            if frame != Frame::default() {
                return Some(frame);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_of_any_pieces() {
        let text = b":\n\n: live\nid: 1.1\n\nid: 1.2\ndata: {\"a\":1}\n\nevent: gap\ndata: {}\n\n";
        for size in 1..text.len() {
            let (mut frames, mut seen) = (Frames::default(), Vec::new());
            for piece in text.chunks(size) {
                assert!(frames.push(piece).is_ok());
                seen.extend(std::iter::from_fn(|| frames.next()));
            }
            assert_eq!(seen.len(), 3);
            assert_eq!((seen[0].is_live, seen[0].id.as_deref()), (true, Some("1.1")));
            assert_eq!((seen[1].id.as_deref(), seen[1].data.as_str()), (Some("1.2"), "{\"a\":1}"));
            assert_eq!((seen[2].event.as_deref(), seen[2].data.as_str()), (Some("gap"), "{}"));
        }
    }
}
