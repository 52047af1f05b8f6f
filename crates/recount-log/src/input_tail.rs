//! The newest inputs of a session, in memory.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::hub::NewEntries;
use crate::{Cursor, Epoch};

/// The number of inputs that are kept per session.
const COUNT: usize = 256;

/// An input that is not decoded yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawInput {
    pub(crate) cursor: Cursor,
    pub(crate) event: Bytes,
}

/// The inputs among a range of a session's entries.
#[derive(Debug, Default)]
pub(crate) struct InputTail {
    epoch: Option<Epoch>,
    /// The inputs cover the entries after this number …
    after: u64,
    /// … up to and including this one.
    until: u64,
    inputs: VecDeque<RawInput>,
}

impl InputTail {
    /// Adds committed entries. Returns whether subscribers must be woken: there is a new input, or the entries do not
    /// continue the range, so that inputs before them must be read from the storage.
    pub(crate) fn push(&mut self, new: NewEntries<'_>) -> bool {
        let NewEntries { epoch, after, entries, inputs } = new;
        let is_continued = self.epoch == Some(epoch) && self.until == after;
        if !is_continued {
            *self = Self { epoch: Some(epoch), after, until: after, inputs: VecDeque::new() };
        }
        self.until = after + entries.len() as u64;
        for &index in inputs {
            let Some(event) = entries.get(index) else { continue };
            let cursor = Cursor { epoch, seq: after + index as u64 + 1 };
            self.inputs.push_back(RawInput { cursor, event: event.clone() });
        }
        while self.inputs.len() > COUNT {
            let Some(oldest) = self.inputs.pop_front() else { break };
            self.after = oldest.cursor.seq;
        }
        !is_continued || !inputs.is_empty()
    }

    /// Forgets everything, because the session was replaced.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the inputs after a cursor and the last position that they cover. `None` if the cursor is outside the range.
    pub(crate) fn after(&self, at: Cursor) -> Option<(Vec<RawInput>, Cursor)> {
        if self.epoch != Some(at.epoch) || !(self.after..=self.until).contains(&at.seq) {
            return None;
        }
        let inputs = self.inputs.iter().filter(|input| input.cursor.seq > at.seq).cloned().collect();
        Some((inputs, Cursor { seq: self.until, ..at }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(tail: &mut InputTail, after: u64, count: usize, inputs: &[usize]) -> bool {
        let entries = vec![Bytes::from_static(b"{}"); count];
        tail.push(NewEntries { epoch: Epoch::from_random(7), after, entries: &entries, inputs })
    }

    fn seqs(tail: &InputTail, seq: u64) -> Option<(Vec<u64>, u64)> {
        let (inputs, until) = tail.after(Cursor { epoch: Epoch::from_random(7), seq })?;
        Some((inputs.iter().map(|input| input.cursor.seq).collect(), until.seq))
    }

    #[test]
    fn tail_wakes_subscribers_for_inputs_only() {
        let mut tail = InputTail::default();
        assert!(push(&mut tail, 4, 2, &[]), "the entries before the first ones are not known");
        assert!(!push(&mut tail, 6, 3, &[]));
        assert!(push(&mut tail, 9, 3, &[1]));
        assert_eq!(seqs(&tail, 4), Some((vec![11], 12)));
        assert_eq!(seqs(&tail, 11), Some((vec![], 12)));
        assert_eq!((seqs(&tail, 3), seqs(&tail, 13)), (None, None));
    }

    #[test]
    fn tail_starts_over_after_a_hole() {
        let mut tail = InputTail::default();
        push(&mut tail, 0, 2, &[0]);
        assert!(push(&mut tail, 5, 1, &[]));
        assert_eq!((seqs(&tail, 0), seqs(&tail, 5)), (None, Some((vec![], 6))));
    }

    #[test]
    fn tail_keeps_the_newest_inputs() {
        let mut tail = InputTail::default();
        for seq in 0..300 {
            push(&mut tail, seq, 1, &[0]);
        }
        assert_eq!(seqs(&tail, 43), None);
        assert_eq!(seqs(&tail, 44).map(|(inputs, until)| (inputs.len(), until)), Some((256, 300)));
    }
}
