//! Merges streamed messages and whole messages into one order.

use std::collections::VecDeque;

use recount_message::{Event, Fold, Msg, Outcome};

/// Orders messages by their start, whether they arrive as events or whole.
#[derive(Default)]
pub(crate) struct Timeline {
    fold: Fold,
    /// The number of messages taken out of the fold.
    taken_from_fold: u64,
    /// Whole messages that wait for an open reply, each with the number of folded messages that started before it.
    whole_messages: VecDeque<(u64, Msg)>,
}

impl Timeline {
    pub(crate) fn event(&mut self, event: &Event<'_>) -> Outcome {
        self.fold.apply(event)
    }

    /// Adds a whole message. Unlike the fold, it accepts duplicate ids.
    pub(crate) fn message(&mut self, message: Msg) {
        let started_before = self.taken_from_fold + self.fold.messages().count() as u64;
        self.whole_messages.push_back((started_before, message));
    }

    /// Takes the ended messages, up to the first open one.
    pub(crate) fn take_ready(&mut self) -> Vec<Msg> {
        let mut ready = Vec::new();
        let ended = self.fold.take_ended();
        self.merge(ended, &mut ready);
        ready
    }

    /// Returns the remaining messages, including open replies in their current state.
    pub(crate) fn into_rest(mut self) -> Vec<Msg> {
        let mut rest = Vec::new();
        let folded = std::mem::take(&mut self.fold).into_messages();
        self.merge(folded, &mut rest);
        rest
    }

    fn merge(&mut self, folded: impl IntoIterator<Item = Msg>, out: &mut Vec<Msg>) {
        for message in folded {
            self.push_unblocked(out);
            out.push(message);
            self.taken_from_fold += 1;
        }
        self.push_unblocked(out);
    }

    /// Moves the whole messages that no longer wait for a folded one to `out`.
    fn push_unblocked(&mut self, out: &mut Vec<Msg>) {
        while let Some((_, message)) =
            self.whole_messages.pop_front_if(|(started_before, _)| *started_before <= self.taken_from_fold)
        {
            out.push(message);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn start(timeline: &mut Timeline, id: &str) {
        let json = format!(r#"{{"type":"REPLY_START","session_id":"s","reply_id":"{id}","name":"Friday"}}"#);
        assert_eq!(timeline.event(&Event::from_json(&json).unwrap()), Outcome::Applied);
    }

    fn end(timeline: &mut Timeline, id: &str) {
        let json = format!(r#"{{"type":"REPLY_END","session_id":"s","reply_id":"{id}"}}"#);
        assert_eq!(timeline.event(&Event::from_json(&json).unwrap()), Outcome::Applied);
    }

    fn message(timeline: &mut Timeline, id: &str) {
        timeline.message(Msg::user("Alice", "Hello").with_id(id));
    }

    fn ids(messages: &[Msg]) -> Vec<&str> {
        messages.iter().map(Msg::id).collect()
    }

    #[test]
    fn messages_are_ordered_by_their_start() {
        let mut timeline = Timeline::default();
        message(&mut timeline, "m1");
        assert_eq!(ids(&timeline.take_ready()), ["m1"]);
        start(&mut timeline, "r1");
        message(&mut timeline, "m2");
        start(&mut timeline, "r2");
        message(&mut timeline, "m3");
        end(&mut timeline, "r2");
        assert!(timeline.take_ready().is_empty());
        end(&mut timeline, "r1");
        message(&mut timeline, "m4");
        assert_eq!(ids(&timeline.take_ready()), ["r1", "m2", "r2", "m3", "m4"]);
    }

    #[test]
    fn open_replies_are_returned_at_the_end() {
        let mut timeline = Timeline::default();
        start(&mut timeline, "r1");
        message(&mut timeline, "m1");
        message(&mut timeline, "m1");
        assert_eq!(ids(&timeline.into_rest()), ["r1", "m1", "m1"]);
    }
}
