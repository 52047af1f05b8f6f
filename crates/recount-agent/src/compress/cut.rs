//! Where a conversation can be cut, and where it is.

use recount_message::{ContentBlock, Msg, Role};

use crate::state::CutPoint;

/// A message as far as requests have it.
#[derive(Debug)]
pub(crate) struct Shown<'a> {
    pub(crate) message: &'a Msg,
    /// It is the reply that is being worked on: nothing after it can be left out, since it will grow.
    pub(crate) is_open: bool,
}

/// Where to cut, so that what comes after takes no more than `keep` tokens. `tokens` says what a block takes.
///
/// What cannot be made to fit is cut as late as possible, and before what the user said last if that leaves less than
/// `trigger`. Nothing where all fits, or nothing can be left out.
pub(crate) fn best_cut(
    shown: &[Shown<'_>],
    keep: u64,
    trigger: u64,
    tokens: impl Fn(&Msg, &ContentBlock) -> u64,
) -> Option<CutPoint> {
    let mut left: u64 = shown
        .iter()
        .flat_map(|shown| shown.message.content().iter().map(|block| tokens(shown.message, block)))
        .fold(0, u64::saturating_add);
    if left <= keep {
        return None;
    }
    let asked_last = shown.iter().rposition(|shown| shown.message.role() == Role::User);
    let mut before_question = None;
    let mut last = None;
    for (index, shown) in shown.iter().enumerate() {
        let blocks = shown.message.content();
        let can_cut = cuts(blocks, shown.is_open);
        for (count, block) in blocks.iter().enumerate() {
            left = left.saturating_sub(tokens(shown.message, block));
            if !can_cut.get(count).copied().unwrap_or(false) {
                continue;
            }
            let mark = CutPoint { message_id: shown.message.id().to_owned(), blocks: count + 1 };
            if left <= keep {
                // What was asked last is left out only if it has been worked on, or if nothing else helps.
                let is_question = asked_last == Some(index);
                return before_question.filter(|_| is_question).or(Some(mark));
            }
            if asked_last.is_some_and(|asked| index < asked) && left < trigger {
                before_question = Some(mark.clone());
            }
            last = Some(mark);
        }
        if shown.is_open {
            break;
        }
    }
    before_question.or(last)
}

/// For each block whether one can cut behind it.
fn cuts(blocks: &[ContentBlock], is_open: bool) -> Vec<bool> {
    let mut cuts = Vec::with_capacity(blocks.len());
    // Calls whose results have not come yet, and whether thinking stands before what follows from it.
    let mut unanswered: Vec<&str> = Vec::new();
    let mut is_thought = false;
    for block in blocks {
        match block {
            ContentBlock::ToolCall(call) => unanswered.push(&call.id),
            ContentBlock::ToolResult(result) => {
                if result.finished_at.is_some() {
                    unanswered.retain(|id| *id != result.id);
                }
                is_thought = false;
            }
            ContentBlock::Thinking(_) => is_thought = true,
            ContentBlock::Text(_) | ContentBlock::Data(_) | ContentBlock::Hint(_) | ContentBlock::Unknown(_) | _ => {}
        }
        cuts.push(unanswered.is_empty() && !is_thought);
    }
    // A message that is complete can be left out whole, whatever it lacks.
    if let Some(end) = cuts.last_mut().filter(|_| !is_open) {
        *end = true;
    }
    cuts
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use recount_message::{ThinkingBlock, ToolCallBlock, ToolResultState};

    use super::*;

    fn call(id: &str) -> ContentBlock {
        ToolCallBlock::new(id, "calc", "{}").into()
    }

    fn result(id: &str) -> ContentBlock {
        let mut result = recount_message::ToolResultBlock::new(id, "calc", "1", ToolResultState::Success);
        result.finished_at = Some("2026-01-01T00:00:00+00:00".into());
        result.into()
    }

    fn cut(messages: &[Msg], keep: u64) -> Option<(String, usize)> {
        let last = messages.len() - 1;
        let shown: Vec<_> =
            messages.iter().enumerate().map(|(index, message)| Shown { message, is_open: index == last }).collect();
        best_cut(&shown, keep, 100, |_, _| 10).map(|mark| (mark.message_id, mark.blocks))
    }

    #[test]
    fn calls_and_results_stay_together() {
        let blocks = [call("a"), call("b"), result("a"), result("b"), "text".into(), call("c")];
        assert_eq!(cuts(&blocks, true), [false, false, false, true, true, false]);
        assert_eq!(cuts(&blocks, false), [false, false, false, true, true, true]);
    }

    #[test]
    fn thinking_stays_with_what_follows_from_it() {
        let blocks = [ThinkingBlock::new("hm").into(), "text".into(), call("a"), result("a"), "done".into()];
        assert_eq!(cuts(&blocks, true), [false, false, false, true, true]);
    }

    #[test]
    fn as_much_is_left_out_as_has_to_be() {
        let talk = [
            Msg::user("Alice", "one").with_id("m1"),
            Msg::assistant("Friday", [call("a"), result("a"), "two".into()]).with_id("m2"),
            Msg::user("Alice", "three").with_id("m3"),
            Msg::assistant("Friday", [call("b"), result("b"), call("c")]).with_id("m4"),
        ];
        assert_eq!(cut(&talk, 80), None);
        assert_eq!(cut(&talk, 70), Some(("m1".to_owned(), 1)));
        // Not between the call and its result.
        assert_eq!(cut(&talk, 60), Some(("m2".to_owned(), 2)));
        // What was asked last is left out only with some of the work on it.
        assert_eq!(cut(&talk, 30), Some(("m2".to_owned(), 3)));
        assert_eq!(cut(&talk, 20), Some(("m4".to_owned(), 2)));
        // The call that runs stays, whatever it takes.
        assert_eq!(cut(&talk, 5), Some(("m2".to_owned(), 3)));
    }

    #[test]
    fn a_reply_that_grows_is_never_passed() {
        let talk = [
            Msg::assistant("Friday", [call("a")]).with_id("open"),
            Msg::user("Alice", "meanwhile").with_id("observed"),
        ];
        let shown = [Shown { message: &talk[0], is_open: true }, Shown { message: &talk[1], is_open: false }];
        assert_eq!(best_cut(&shown, 0, 100, |_, _| 10), None);
    }
}
