//! Sub-agents.

use pretty_assertions::assert_eq;

use super::{blocks, folded, read};

#[test]
fn subagent_has_its_own_reply() {
    let events = read(
        r#"AGENT_START "replyId":"a","name":"Friday"
        MODEL_CALL_START "replyId":"m"
        TEXT_BLOCK_DELTA "replyId":"m","blockId":"text","delta":"I "
        AGENT_START "replyId":"b","name":"Helper","source":"helper"
        TEXT_BLOCK_DELTA "replyId":"n","blockId":"text","delta":"deep","source":"helper"
        AGENT_START "replyId":"c","name":"Below","source":"helper/below"
        TEXT_BLOCK_DELTA "replyId":"m","blockId":"text","delta":"ask."
        AGENT_END "replyId":"c","source":"helper/below"
        AGENT_END "replyId":"b","source":"helper"
        MODEL_CALL_END "replyId":"m"
        AGENT_END "replyId":"a""#,
    );
    let messages = folded(&events);
    let shown = messages.iter().map(|message| (message.name(), message.parent(), blocks(message).join(" ")));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            ("Friday", None, "text I ask.".to_owned()),
            ("Helper", Some("a".to_owned()), "text deep".to_owned()),
            ("Below", Some("b".to_owned()), String::new()),
        ]
    );
}

#[test]
fn subagent_reply_ends_with_its_parent() {
    let messages = folded(&read(
        r#"AGENT_START "replyId":"a","name":"Friday"
        AGENT_START "replyId":"b","name":"Helper","source":"helper"
        AGENT_END "replyId":"a""#,
    ));
    let reasons: Vec<_> = messages.iter().map(|message| message.finished_reason().unwrap().as_str()).collect();
    assert_eq!(reasons, ["completed", "error"]);
}
