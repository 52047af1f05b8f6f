//! The start and the end of replies.

use pretty_assertions::assert_eq;
use recount_message::FinishedReason;

use super::{Msg, blocks, folded, read, summarize};

const ASKS: &str = r#"
    AGENT_START "replyId":"a","name":"Friday","role":"assistant"
    MODEL_CALL_START "replyId":"m1"
    TOOL_CALL_START "replyId":"m1","toolCallId":"c","toolCallName":"erase"
    TOOL_CALL_DELTA "replyId":"m1","toolCallId":"c","toolCallName":"erase","delta":"{\"x\":1}"
    TOOL_CALL_END "replyId":"m1","toolCallId":"c","toolCallName":"erase"
    MODEL_CALL_END "replyId":"m1"
    REQUIRE_USER_CONFIRM "replyId":"t1","toolCalls":[{"type":"tool_use","id":"c","name":"erase","input":{"x":1},"content":"{\"x\":1}","state":"pending"}]
    REQUEST_STOP "reason":"permission asking","generateReason":"PERMISSION_ASKING"
    AGENT_RESULT "result":{"id":"m","name":"Friday","role":"ASSISTANT","content":[{"type":"tool_use","id":"c","name":"erase","input":{"x":1},"content":"{\"x\":1}","state":"asking"}],"metadata":{"agentscope_generate_reason":"PERMISSION_ASKING"}}
    AGENT_END "replyId":"a"
"#;

const ANSWERS: &str = r#"
    AGENT_START "replyId":"b","name":"Friday","role":"assistant"
    MODEL_CALL_START "replyId":"m2"
    TEXT_BLOCK_START "replyId":"m2","blockId":"text"
    TEXT_BLOCK_DELTA "replyId":"m2","blockId":"text","delta":"Done."
    TEXT_BLOCK_END "replyId":"m2","blockId":"text"
    MODEL_CALL_END "replyId":"m2"
    AGENT_RESULT "result":{"id":"m","name":"Friday","role":"ASSISTANT","content":[{"type":"text","text":"Done."}],"metadata":{}}
    AGENT_END "replyId":"b"
"#;

#[test]
fn reply_has_id_of_first_invocation_and_ends_with_it() {
    let events = read(ANSWERS);
    assert_eq!(
        summarize(&events),
        [
            "REPLY_START b Friday",
            "MODEL_CALL_START",
            "TEXT_BLOCK_START b.text.1",
            "TEXT_BLOCK_DELTA b.text.1 Done.",
            "TEXT_BLOCK_END b.text.1",
            "MODEL_CALL_END completed",
            "CUSTOM AGENT_RESULT",
            "REPLY_END b completed",
        ]
    );
    let delta = &events[3];
    assert_eq!((&*delta.id, &*delta.created_at), ("e4", "2026-01-01T00:00:04.000000+00:00"));
    assert_eq!(delta.metadata.to_json(), "{}");
}

#[test]
fn waiting_reply_stays_open() {
    let events = read(ASKS);
    assert_eq!(
        summarize(&events)[6..],
        ["REQUIRE_USER_CONFIRM c", "CUSTOM REQUEST_STOP", "CUSTOM AGENT_RESULT"].map(str::to_owned)
    );
    let message = &folded(&events)[0];
    assert_eq!(message.finished_at(), None);
    assert_eq!(blocks(message), [r#"call c erase {"x":1} asking"#]);
}

#[test]
fn next_invocation_continues_waiting_reply() {
    let messages = folded(&read(&format!("{ASKS}{ANSWERS}")));
    assert_eq!(messages.len(), 1);
    assert_eq!((messages[0].id(), messages[0].finished_reason()), ("a", Some(FinishedReason::Completed)));
}

#[test]
fn user_message_closes_waiting_reply() {
    let events = read(&format!("{ASKS}\nUSER\n{ANSWERS}"));
    assert_eq!(
        summarize(&events)[9..14],
        [
            "+TOOL_RESULT_START c",
            "+TOOL_RESULT_TEXT_DELTA c The result of this call was not streamed.",
            "+TOOL_RESULT_END c interrupted",
            "+REPLY_END a interrupted",
            "REPLY_START b Friday",
        ]
        .map(str::to_owned)
    );
    assert_eq!((&*events[9].id, &*events[9].created_at), ("a.closed.1", "2026-01-01T01:00:00Z"));
    assert_eq!(folded(&events).len(), 2);
}

#[test]
fn user_message_does_not_close_running_reply() {
    let start: String = ANSWERS.lines().take(5).collect::<Vec<_>>().join("\n");
    let rest: String = ANSWERS.lines().skip(5).collect::<Vec<_>>().join("\n");
    assert_eq!(summarize(&read(&format!("{start}\nUSER\n{rest}"))), summarize(&read(ANSWERS)));
}

#[test]
fn next_invocation_closes_truncated_one() {
    let events = read(&format!(
        r#"AGENT_START "replyId":"a","name":"Friday"
        MODEL_CALL_START "replyId":"m1"
        TEXT_BLOCK_START "replyId":"m1","blockId":"text"
        TEXT_BLOCK_DELTA "replyId":"m1","blockId":"text","delta":"Half an ans"
        TOOL_CALL_START "replyId":"m1","toolCallId":"c","toolCallName":"look"
        TOOL_CALL_DELTA "replyId":"m1","toolCallId":"c","toolCallName":"look","delta":"{{"
        {ANSWERS}"#
    ));
    assert_eq!(
        summarize(&events)[6..14],
        [
            "+TOOL_CALL_END c",
            "+MODEL_CALL_END interrupted",
            "+TEXT_BLOCK_END a.text.1",
            "+TOOL_RESULT_START c",
            "+TOOL_RESULT_TEXT_DELTA c The result of this call was not streamed.",
            "+TOOL_RESULT_END c interrupted",
            "+REPLY_END a error",
            "REPLY_START b Friday",
        ]
        .map(str::to_owned)
    );
    let messages = folded(&events);
    assert_eq!(
        messages[0].error().map(|error| error.message.as_str()),
        Some("the event stream ended before the reply")
    );
    assert_eq!((messages[0].usage(), messages.len()), (None, 2));
}

#[test]
fn end_of_input_closes_truncated_invocation() {
    let events = read(
        r#"AGENT_START "replyId":"a","name":"Friday"
        MODEL_CALL_START "replyId":"m1""#,
    );
    assert_eq!(
        summarize(&events),
        ["REPLY_START a Friday", "MODEL_CALL_START", "+MODEL_CALL_END interrupted", "+REPLY_END a error"]
    );
}

#[test]
fn invocation_without_required_answer_keeps_waiting() {
    let alone = "AGENT_START \"replyId\":\"x\",\"name\":\"Friday\"\n";
    assert_eq!(summarize(&read(&format!("{ASKS}{alone}"))), summarize(&read(ASKS)));
    assert_eq!(folded(&read(&format!("{ASKS}{alone}{ANSWERS}"))).len(), 1);
}

#[test]
fn stream_can_start_within_a_reply() {
    let late: String = ANSWERS.lines().skip(4).collect::<Vec<_>>().join("\n");
    let events = read(&late);
    assert_eq!(
        summarize(&events)[..3],
        ["+REPLY_START m2", "+TEXT_BLOCK_START m2.text.1", "TEXT_BLOCK_DELTA m2.text.1 Done."].map(str::to_owned)
    );
    assert_eq!(folded(&events)[0].finished_reason(), Some(FinishedReason::Completed));
}

#[test]
fn reply_ids_are_not_reused() {
    let messages = folded(&read(&format!("{ANSWERS}{ANSWERS}{ANSWERS}")));
    assert_eq!(messages.iter().map(Msg::id).collect::<Vec<_>>(), ["b", "b.2", "b.3"]);
}

#[test]
fn invalid_line_does_not_change_state() {
    let mut stream = super::JavaStream::default();
    let before = stream.clone();
    for line in ["", "{", "{}", r#"{"type":"AGENT_RESULT","result":7}"#, r#"{"type":"NOVEL"}"#] {
        assert!(stream.push(line).is_err(), "{line}");
    }
    assert_eq!(stream, before);
    assert!(super::JavaStream::from_state(&super::Object::new()).is_err());
}
