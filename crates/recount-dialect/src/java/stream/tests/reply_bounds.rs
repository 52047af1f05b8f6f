//! Where replies begin and end.

use pretty_assertions::assert_eq;
use recount_message::FinishedReason;

use super::{Msg, blocks, folded, read, told};

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
fn a_reply_has_the_id_of_its_first_invocation_and_ends_with_it() {
    let events = read(ANSWERS);
    assert_eq!(
        told(&events),
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
fn a_reply_that_waits_stays_open() {
    let events = read(ASKS);
    assert_eq!(
        told(&events)[6..],
        ["REQUIRE_USER_CONFIRM c", "CUSTOM REQUEST_STOP", "CUSTOM AGENT_RESULT"].map(str::to_owned)
    );
    let message = &folded(&events)[0];
    assert_eq!(message.finished_at(), None);
    assert_eq!(blocks(message), [r#"call c erase {"x":1} asking"#]);
}

#[test]
fn the_next_invocation_goes_on_with_a_reply_that_waits() {
    let messages = folded(&read(&format!("{ASKS}{ANSWERS}")));
    assert_eq!(messages.len(), 1);
    assert_eq!((messages[0].id(), messages[0].finished_reason()), ("a", Some(FinishedReason::Completed)));
}

#[test]
fn a_message_of_the_user_closes_a_reply_that_waits() {
    let events = read(&format!("{ASKS}\nUSER\n{ANSWERS}"));
    assert_eq!(
        told(&events)[9..14],
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
fn a_message_of_the_user_leaves_a_reply_that_works() {
    let begun: String = ANSWERS.lines().take(5).collect::<Vec<_>>().join("\n");
    let rest: String = ANSWERS.lines().skip(5).collect::<Vec<_>>().join("\n");
    assert_eq!(told(&read(&format!("{begun}\nUSER\n{rest}"))), told(&read(ANSWERS)));
}

#[test]
fn an_invocation_that_breaks_off_is_closed_by_the_next_one() {
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
        told(&events)[6..14],
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
    assert_eq!(messages[0].error().map(|error| error.message.as_str()), Some("the stream of events broke off"));
    assert_eq!((messages[0].usage(), messages.len()), (None, 2));
}

#[test]
fn the_end_of_input_closes_an_invocation_that_breaks_off() {
    let events = read(
        r#"AGENT_START "replyId":"a","name":"Friday"
        MODEL_CALL_START "replyId":"m1""#,
    );
    assert_eq!(
        told(&events),
        ["REPLY_START a Friday", "MODEL_CALL_START", "+MODEL_CALL_END interrupted", "+REPLY_END a error"]
    );
}

#[test]
fn an_invocation_that_fails_for_want_of_an_answer_waits_on() {
    let alone = "AGENT_START \"replyId\":\"x\",\"name\":\"Friday\"\n";
    assert_eq!(told(&read(&format!("{ASKS}{alone}"))), told(&read(ASKS)));
    assert_eq!(folded(&read(&format!("{ASKS}{alone}{ANSWERS}"))).len(), 1);
}

#[test]
fn a_reader_who_joins_late_gets_what_is_left() {
    let late: String = ANSWERS.lines().skip(4).collect::<Vec<_>>().join("\n");
    let events = read(&late);
    assert_eq!(
        told(&events)[..3],
        ["+REPLY_START m2", "+TEXT_BLOCK_START m2.text.1", "TEXT_BLOCK_DELTA m2.text.1 Done."].map(str::to_owned)
    );
    assert_eq!(folded(&events)[0].finished_reason(), Some(FinishedReason::Completed));
}

#[test]
fn the_id_of_a_reply_that_has_ended_is_not_used_again() {
    let messages = folded(&read(&format!("{ANSWERS}{ANSWERS}{ANSWERS}")));
    assert_eq!(messages.iter().map(Msg::id).collect::<Vec<_>>(), ["b", "b.2", "b.3"]);
}

#[test]
fn a_line_that_is_no_event_changes_nothing() {
    let mut stream = super::JavaStream::default();
    let before = stream.clone();
    for line in ["", "{", "{}", r#"{"type":"AGENT_RESULT","result":7}"#, r#"{"type":"NOVEL"}"#] {
        assert!(stream.push(line).is_err(), "{line}");
    }
    assert_eq!(stream, before);
    assert!(super::JavaStream::from_state(&super::Object::new()).is_err());
}
