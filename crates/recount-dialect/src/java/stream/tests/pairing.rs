//! Every call has exactly one result.

use pretty_assertions::assert_eq;

use super::{NOT_STREAMED, blocks, folded, is_inserted, read, summarize};

/// A model call with two tool calls.
const TWO_CALLS: &str = r#"
    AGENT_START "replyId":"a","name":"Friday"
    MODEL_CALL_START "replyId":"m1"
    TOOL_CALL_START "replyId":"m1","toolCallId":"c1","toolCallName":"look"
    TOOL_CALL_DELTA "replyId":"m1","toolCallId":"c1","toolCallName":"look","delta":"{}"
    TOOL_CALL_END "replyId":"m1","toolCallId":"c1","toolCallName":"look"
    TOOL_CALL_START "replyId":"m1","toolCallId":"c2","toolCallName":"erase"
    TOOL_CALL_DELTA "replyId":"m1","toolCallId":"c2","toolCallName":"erase","delta":"{}"
    TOOL_CALL_END "replyId":"m1","toolCallId":"c2","toolCallName":"erase"
    MODEL_CALL_END "replyId":"m1"
"#;

const ASKS_ABOUT_ONE: &str = r#"
    REQUIRE_USER_CONFIRM "replyId":"t","toolCalls":[{"type":"tool_use","id":"c2","name":"erase","input":{},"content":"{}"}]
    REQUEST_STOP "generateReason":"PERMISSION_ASKING"
    AGENT_END "replyId":"a"
    AGENT_START "replyId":"b","name":"Friday"
"#;

const SUSPENDS_ONE: &str = r#"
    TOOL_RESULT_START "replyId":"t","toolCallId":"c1","toolCallName":"look"
    TOOL_RESULT_START "replyId":"t","toolCallId":"c2","toolCallName":"erase"
    TOOL_RESULT_TEXT_DELTA "replyId":"t","toolCallId":"c1","toolCallName":"look","delta":"seen"
    TOOL_RESULT_END "replyId":"t","toolCallId":"c1","toolCallName":"look","state":"success"
    TOOL_RESULT_TEXT_DELTA "replyId":"t","toolCallId":"c2","toolCallName":"erase","delta":"[Awaiting external execution]"
    TOOL_RESULT_END "replyId":"t","toolCallId":"c2","toolCallName":"erase","state":"running"
"#;

const WAITS_FOR_IT: &str = r#"
    AGENT_RESULT "result":{"role":"ASSISTANT","content":[{"type":"tool_use","id":"c2","name":"erase","input":{"all":true},"content":"{}"},{"type":"tool_result","id":"c2","name":"erase","output":[{"type":"text","text":"[Awaiting external execution]"}],"metadata":{"agentscope_suspended":true},"state":"running"}],"metadata":{"agentscope_generate_reason":"TOOL_SUSPENDED"}}
    AGENT_END "replyId":"a"
"#;

const NEXT_MODEL_CALL: &str = r#"
    MODEL_CALL_START "replyId":"m2"
    MODEL_CALL_END "replyId":"m2"
    AGENT_END "replyId":"b"
"#;

fn content(stream: &str) -> Vec<String> {
    let messages = folded(&read(stream));
    assert_eq!(messages.len(), 1);
    blocks(&messages[0])
}

fn result(id: &str, name: &str, text: &str, state: &str) -> String {
    format!(
        r#"TOOL_RESULT_START "replyId":"t","toolCallId":"{id}","toolCallName":"{name}"
        TOOL_RESULT_TEXT_DELTA "replyId":"t","toolCallId":"{id}","toolCallName":"{name}","delta":"{text}"
        TOOL_RESULT_END "replyId":"t","toolCallId":"{id}","toolCallName":"{name}","state":"{state}"
        "#
    )
}

#[test]
fn calls_denied_by_user_and_by_rule_are_denied() {
    let events = read(&format!("{TWO_CALLS}{ASKS_ABOUT_ONE}{NEXT_MODEL_CALL}"));
    assert_eq!(
        blocks(&folded(&events)[0]),
        [
            "call c1 look {} finished",
            "call c2 erase {} finished",
            "result c1 denied Permission denied by rules",
            "result c2 denied Permission denied by user",
        ]
    );
    let results: Vec<_> = events.iter().filter(|event| event.type_name().starts_with("TOOL_RESULT")).collect();
    assert!(results.len() == 6 && results.into_iter().all(is_inserted));
}

#[test]
fn approved_call_is_allowed_when_it_runs() {
    let ran = result("c2", "erase", "gone", "success");
    let events = read(&format!("{TWO_CALLS}{ASKS_ABOUT_ONE}{ran}{NEXT_MODEL_CALL}"));
    let summaries = summarize(&events);
    let allowed = summaries.iter().position(|summary| summary == "+CUSTOM recount.call allowed").unwrap();
    assert_eq!(summaries[allowed + 1], "TOOL_RESULT_START c2");
    assert_eq!(
        blocks(&folded(&events)[0])[2..],
        ["result c2 success gone", "result c1 denied Permission denied by rules"].map(str::to_owned)
    );
}

#[test]
fn streamed_decisions_are_applied() {
    let text = r#"
        USER_CONFIRM_RESULT "replyId":"t","confirmResults":[{"confirmed":true,"toolCall":{"type":"tool_use","id":"c2","name":"erase","input":{"x":1},"content":"{\"x\":1}"}},{"confirmed":true,"toolCall":{"type":"tool_use","id":"c9","name":"nobody","input":{}}}]
    "#;
    let ran = result("c1", "look", "seen", "success") + &result("c2", "erase", "gone", "success");
    assert_eq!(
        content(&format!("{TWO_CALLS}{ASKS_ABOUT_ONE}{text}{ran}{NEXT_MODEL_CALL}")),
        [
            "call c1 look {} finished",
            r#"call c2 erase {"x":1} finished"#,
            "result c1 success seen",
            "result c2 success gone",
        ]
    );
    let refusal = text.replace("true", "false");
    assert_eq!(
        content(&format!("{TWO_CALLS}{ASKS_ABOUT_ONE}{refusal}{NEXT_MODEL_CALL}"))[3],
        "result c2 denied Permission denied by user"
    );
}

#[test]
fn all_tools_denied_event_denies_calls() {
    let denied = r#"ALL_TOOLS_DENIED "deniedToolCalls":[{"type":"tool_use","id":"c1","name":"look","input":{}},{"type":"tool_use","id":"c2","name":"erase","input":{}}]
        AGENT_END "replyId":"a""#;
    assert_eq!(
        content(&format!("{TWO_CALLS}{denied}"))[2..],
        ["result c1 denied Permission denied by user", "result c2 denied Permission denied by user"].map(str::to_owned)
    );
}

#[test]
fn suspended_call_requires_external_execution() {
    let events = read(&format!("{TWO_CALLS}{SUSPENDS_ONE}{WAITS_FOR_IT}"));
    let summaries = summarize(&events);
    assert_eq!(
        summaries[8..],
        [
            "MODEL_CALL_END completed",
            "TOOL_RESULT_START c1",
            "TOOL_RESULT_TEXT_DELTA c1 seen",
            "TOOL_RESULT_END c1 success",
            "+REQUIRE_EXTERNAL_EXECUTION c2",
            "CUSTOM AGENT_RESULT",
        ]
        .map(str::to_owned)
    );
    assert_eq!(
        blocks(&folded(&events)[0]),
        ["call c1 look {} finished", "call c2 erase {} submitted", "result c1 success seen"]
    );
}

#[test]
fn missing_external_result_is_reported() {
    assert_eq!(
        content(&format!(
            "{TWO_CALLS}{SUSPENDS_ONE}{WAITS_FOR_IT}AGENT_START \"replyId\":\"b\",\"name\":\"Friday\"{NEXT_MODEL_CALL}"
        ))[3],
        format!("result c2 interrupted {NOT_STREAMED}")
    );
}

#[test]
fn streamed_external_result_is_applied() {
    let waiting = format!("{TWO_CALLS}{SUSPENDS_ONE}{WAITS_FOR_IT}AGENT_START \"replyId\":\"b\",\"name\":\"Friday\"\n");
    let as_input = r#"EXTERNAL_EXECUTION_RESULT "replyId":"t","toolResults":[{"type":"tool_result","id":"c2","name":"erase","output":[{"type":"text","text":"gone"}],"state":"success"}]"#;
    assert_eq!(content(&format!("{waiting}{as_input}{NEXT_MODEL_CALL}"))[3], "result c2 success gone");
    let as_result = result("c2", "erase", "gone", "success");
    assert_eq!(content(&format!("{waiting}{as_result}{NEXT_MODEL_CALL}"))[3], "result c2 success gone");
}

#[test]
fn running_result_is_final_if_reply_does_not_wait() {
    let continues = NEXT_MODEL_CALL.replace("\"b\"", "\"a\"");
    assert_eq!(
        content(&format!("{TWO_CALLS}{SUSPENDS_ONE}{continues}"))[3],
        "result c2 running [Awaiting external execution]"
    );
}

#[test]
fn chunked_result_is_forwarded_with_second_chunk() {
    let pieces = r#"
        TOOL_RESULT_START "replyId":"t","toolCallId":"c1","toolCallName":"look"
        TOOL_RESULT_TEXT_DELTA "replyId":"t","toolCallId":"c1","toolCallName":"look","delta":"10%"
        TOOL_RESULT_TEXT_DELTA "replyId":"t","toolCallId":"c1","toolCallName":"look","delta":"50%"
    "#;
    let mut stream = super::JavaStream::new();
    let counts: Vec<usize> =
        super::lines(&format!("{TWO_CALLS}{pieces}")).map(|line| stream.push(&line).unwrap().len()).collect();
    assert_eq!(counts[counts.len() - 3..], [0, 0, 3]);
}

#[test]
fn reused_call_id_begins_new_call() {
    let again = r#"
        MODEL_CALL_START "replyId":"m2"
        TOOL_CALL_START "replyId":"m2","toolCallId":"c1","toolCallName":"look"
        TOOL_CALL_DELTA "replyId":"m2","toolCallId":"c1","toolCallName":"look","delta":"{\"again\":true}"
        TOOL_CALL_END "replyId":"m2","toolCallId":"c1","toolCallName":"look"
        MODEL_CALL_END "replyId":"m2"
        MODEL_CALL_START "replyId":"m3"
        MODEL_CALL_END "replyId":"m3"
        AGENT_END "replyId":"a"
    "#;
    let ran = result("c1", "look", "seen", "success") + &result("c2", "erase", "gone", "success");
    let events = read(&format!("{TWO_CALLS}{ran}{again}"));
    let message = &folded(&events)[0];
    assert_eq!(
        blocks(message)[4..],
        [r#"call c1_2 look {"again":true} finished"#.to_owned(), format!("result c1_2 interrupted {NOT_STREAMED}")]
    );
    assert_eq!(message.call("c1_2").unwrap().extra.to_json(), r#"{"provider_id":"c1"}"#);
}

#[test]
fn result_without_matching_call_is_kept() {
    let stray = result("c9", "look", "seen", "success");
    let content = content(&format!("{TWO_CALLS}{stray}{}", NEXT_MODEL_CALL.replace("\"b\"", "\"a\"")));
    assert_eq!(
        content,
        [
            "call c1 look {} finished".to_owned(),
            "call c2 erase {} finished".to_owned(),
            "call c9 look {} finished".to_owned(),
            "result c9 success seen".to_owned(),
            format!("result c1 interrupted {NOT_STREAMED}"),
            format!("result c2 interrupted {NOT_STREAMED}"),
        ]
    );
}

#[test]
fn second_result_of_call_is_dropped() {
    let twice = result("c1", "look", "seen", "success") + &result("c1", "look", "seen again", "success");
    assert_eq!(content(&format!("{TWO_CALLS}{twice}{}", NEXT_MODEL_CALL.replace("\"b\"", "\"a\""))).len(), 4);
}

#[test]
fn inserted_events_are_marked_and_have_unique_ids() {
    let events = read(&format!("{TWO_CALLS}{ASKS_ABOUT_ONE}{NEXT_MODEL_CALL}"));
    let inserted: Vec<_> = events.iter().filter(|event| is_inserted(event)).collect();
    assert_eq!(
        inserted.iter().map(|event| &*event.id).collect::<Vec<_>>(),
        ["e14.1", "e14.2", "e14.3", "e14.4", "e14.5", "e14.6"]
    );
    assert!(inserted.iter().all(|event| event.created_at == "2026-01-01T00:00:14.000000+00:00"));
    // The metadata of TOOL_RESULT_END belongs to the tool.
    assert_eq!(inserted[2].metadata.len(), 0);
    assert_eq!(inserted[2].extra.to_json(), r#"{"recount":{"java":{"synthetic":true}}}"#);
    assert_eq!(inserted[0].metadata.to_json(), r#"{"recount":{"java":{"synthetic":true}}}"#);
}
