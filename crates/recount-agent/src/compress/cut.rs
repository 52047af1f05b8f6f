//! Finding the position at which a conversation is cut.

use recount_message::{ContentBlock, Msg, Role};

use crate::state::CutPoint;

/// A message as it appears in a request.
#[derive(Debug)]
pub(crate) struct RequestMessage<'a> {
    pub(crate) message: &'a Msg,
    /// This is the reply in progress. Nothing after it can be left out, because it still grows.
    pub(crate) is_open: bool,
}

/// Returns the earliest cut that leaves at most `keep` tokens after it. `tokens` estimates the tokens of a block.
///
/// If no cut leaves that little, returns the last possible cut, or the last one before the user's latest message if
/// that leaves fewer tokens than `trigger`. Returns `None` if everything fits or no cut is possible.
pub(crate) fn find_cut(
    messages: &[RequestMessage<'_>],
    keep: u64,
    trigger: u64,
    tokens: impl Fn(&Msg, &ContentBlock) -> u64,
) -> Option<CutPoint> {
    let mut left: u64 = messages
        .iter()
        .flat_map(|messages| messages.message.content().iter().map(|block| tokens(messages.message, block)))
        .fold(0, u64::saturating_add);
    if left <= keep {
        return None;
    }
    let last_user_message = messages.iter().rposition(|messages| messages.message.role() == Role::User);
    let mut before_question = None;
    let mut last = None;
    for (index, messages) in messages.iter().enumerate() {
        let blocks = messages.message.content();
        let can_cut = allowed_cuts(blocks, messages.is_open);
        for (count, block) in blocks.iter().enumerate() {
            left = left.saturating_sub(tokens(messages.message, block));
            if !can_cut.get(count).copied().unwrap_or(false) {
                continue;
            }
            let mark = CutPoint { message_id: messages.message.id().to_owned(), blocks: count + 1 };
            if left <= keep {
                // The user's latest message is only left out if the reply to it has started, or if no earlier cut is
                // enough.
                let is_question = last_user_message == Some(index);
                return before_question.filter(|_| is_question).or(Some(mark));
            }
            if last_user_message.is_some_and(|asked| index < asked) && left < trigger {
                before_question = Some(mark.clone());
            }
            last = Some(mark);
        }
        if messages.is_open {
            break;
        }
    }
    before_question.or(last)
}

/// Returns for each block whether a cut is allowed after it.
fn allowed_cuts(blocks: &[ContentBlock], is_open: bool) -> Vec<bool> {
    let mut allowed_cuts = Vec::with_capacity(blocks.len());
    // Calls without a result, and whether the last block is thinking, which must stay with the block after it.
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
        allowed_cuts.push(unanswered.is_empty() && !is_thought);
    }
    // A complete message can always be left out as a whole.
    if let Some(end) = allowed_cuts.last_mut().filter(|_| !is_open) {
        *end = true;
    }
    allowed_cuts
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
        let messages: Vec<_> = messages
            .iter()
            .enumerate()
            .map(|(index, message)| RequestMessage { message, is_open: index == last })
            .collect();
        find_cut(&messages, keep, 100, |_, _| 10).map(|mark| (mark.message_id, mark.blocks))
    }

    #[test]
    fn calls_stay_with_their_results() {
        let blocks = [call("a"), call("b"), result("a"), result("b"), "text".into(), call("c")];
        assert_eq!(allowed_cuts(&blocks, true), [false, false, false, true, true, false]);
        assert_eq!(allowed_cuts(&blocks, false), [false, false, false, true, true, true]);
    }

    #[test]
    fn thinking_stays_with_the_block_after_it() {
        let blocks = [ThinkingBlock::new("hm").into(), "text".into(), call("a"), result("a"), "done".into()];
        assert_eq!(allowed_cuts(&blocks, true), [false, false, false, true, true]);
    }

    #[test]
    fn find_cut_leaves_out_as_little_as_possible() {
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
        // The user's latest message is only left out together with a part of the reply to it.
        assert_eq!(cut(&talk, 30), Some(("m2".to_owned(), 3)));
        assert_eq!(cut(&talk, 20), Some(("m4".to_owned(), 2)));
        // The call without a result stays, whatever its size.
        assert_eq!(cut(&talk, 5), Some(("m2".to_owned(), 3)));
    }

    #[test]
    fn find_cut_stops_at_an_open_reply() {
        let talk = [
            Msg::assistant("Friday", [call("a")]).with_id("open"),
            Msg::user("Alice", "meanwhile").with_id("observed"),
        ];
        let messages =
            [RequestMessage { message: &talk[0], is_open: true }, RequestMessage { message: &talk[1], is_open: false }];
        assert_eq!(find_cut(&messages, 0, 100, |_, _| 10), None);
    }
}
