//! Every call has exactly one result.

use pretty_assertions::assert_eq;

use super::{NOT_STREAMED, blocks, folded, is_put_in, read, told};

/// Two calls of one model call.
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

const GOES_ON: &str = r#"
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
fn a_refused_call_and_one_denied_by_rule_beside_it_are_denied() {
    let events = read(&format!("{TWO_CALLS}{ASKS_ABOUT_ONE}{GOES_ON}"));
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
    assert!(results.len() == 6 && results.into_iter().all(is_put_in));
}

#[test]
fn a_call_that_the_user_agrees_to_is_allowed_as_soon_as_it_runs() {
    let ran = result("c2", "erase", "gone", "success");
    let events = read(&format!("{TWO_CALLS}{ASKS_ABOUT_ONE}{ran}{GOES_ON}"));
    let told = told(&events);
    let allowed = told.iter().position(|told| told == "+CUSTOM recount.call allowed").unwrap();
    assert_eq!(told[allowed + 1], "TOOL_RESULT_START c2");
    assert_eq!(
        blocks(&folded(&events)[0])[2..],
        ["result c2 success gone", "result c1 denied Permission denied by rules"].map(str::to_owned)
    );
}

#[test]
fn the_users_answers_count_where_they_are_streamed() {
    let answer = r#"
        USER_CONFIRM_RESULT "replyId":"t","confirmResults":[{"confirmed":true,"toolCall":{"type":"tool_use","id":"c2","name":"erase","input":{"x":1},"content":"{\"x\":1}"}},{"confirmed":true,"toolCall":{"type":"tool_use","id":"c9","name":"nobody","input":{}}}]
    "#;
    let ran = result("c1", "look", "seen", "success") + &result("c2", "erase", "gone", "success");
    assert_eq!(
        content(&format!("{TWO_CALLS}{ASKS_ABOUT_ONE}{answer}{ran}{GOES_ON}")),
        [
            "call c1 look {} finished",
            r#"call c2 erase {"x":1} finished"#,
            "result c1 success seen",
            "result c2 success gone",
        ]
    );
    let refusal = answer.replace("true", "false");
    assert_eq!(
        content(&format!("{TWO_CALLS}{ASKS_ABOUT_ONE}{refusal}{GOES_ON}"))[3],
        "result c2 denied Permission denied by user"
    );
}

#[test]
fn java_may_say_that_all_was_denied() {
    let denied = r#"ALL_TOOLS_DENIED "deniedToolCalls":[{"type":"tool_use","id":"c1","name":"look","input":{}},{"type":"tool_use","id":"c2","name":"erase","input":{}}]
        AGENT_END "replyId":"a""#;
    assert_eq!(
        content(&format!("{TWO_CALLS}{denied}"))[2..],
        ["result c1 denied Permission denied by user", "result c2 denied Permission denied by user"].map(str::to_owned)
    );
}

#[test]
fn a_suspended_call_waits_for_somebody_else() {
    let events = read(&format!("{TWO_CALLS}{SUSPENDS_ONE}{WAITS_FOR_IT}"));
    let told = told(&events);
    assert_eq!(
        told[8..],
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
fn a_result_from_elsewhere_that_is_not_streamed_says_so() {
    assert_eq!(
        content(&format!(
            "{TWO_CALLS}{SUSPENDS_ONE}{WAITS_FOR_IT}AGENT_START \"replyId\":\"b\",\"name\":\"Friday\"{GOES_ON}"
        ))[3],
        format!("result c2 interrupted {NOT_STREAMED}")
    );
}

#[test]
fn a_result_from_elsewhere_counts_where_it_is_streamed() {
    let waiting = format!("{TWO_CALLS}{SUSPENDS_ONE}{WAITS_FOR_IT}AGENT_START \"replyId\":\"b\",\"name\":\"Friday\"\n");
    let as_input = r#"EXTERNAL_EXECUTION_RESULT "replyId":"t","toolResults":[{"type":"tool_result","id":"c2","name":"erase","output":[{"type":"text","text":"gone"}],"state":"success"}]"#;
    assert_eq!(content(&format!("{waiting}{as_input}{GOES_ON}"))[3], "result c2 success gone");
    let as_result = result("c2", "erase", "gone", "success");
    assert_eq!(content(&format!("{waiting}{as_result}{GOES_ON}"))[3], "result c2 success gone");
}

#[test]
fn a_result_that_ends_as_running_is_one_where_nobody_waits() {
    let goes_on = GOES_ON.replace("\"b\"", "\"a\"");
    assert_eq!(
        content(&format!("{TWO_CALLS}{SUSPENDS_ONE}{goes_on}"))[3],
        "result c2 running [Awaiting external execution]"
    );
}

#[test]
fn a_result_that_comes_in_pieces_is_passed_on_with_the_second() {
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
fn a_call_id_that_is_used_again_is_another_call_and_is_interrupted() {
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
fn a_result_with_another_id_than_its_call_is_not_lost() {
    let stray = result("c9", "look", "seen", "success");
    let content = content(&format!("{TWO_CALLS}{stray}{}", GOES_ON.replace("\"b\"", "\"a\"")));
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
fn a_second_result_of_a_call_is_left_out() {
    let twice = result("c1", "look", "seen", "success") + &result("c1", "look", "seen again", "success");
    assert_eq!(content(&format!("{TWO_CALLS}{twice}{}", GOES_ON.replace("\"b\"", "\"a\""))).len(), 4);
}

#[test]
fn what_is_put_in_is_marked_and_has_an_id_of_its_own() {
    let events = read(&format!("{TWO_CALLS}{ASKS_ABOUT_ONE}{GOES_ON}"));
    let put_in: Vec<_> = events.iter().filter(|event| is_put_in(event)).collect();
    assert_eq!(
        put_in.iter().map(|event| &*event.id).collect::<Vec<_>>(),
        ["e14.1", "e14.2", "e14.3", "e14.4", "e14.5", "e14.6"]
    );
    assert!(put_in.iter().all(|event| event.created_at == "2026-01-01T00:00:14.000000+00:00"));
    // The metadata of a result's end is the tool's own.
    assert_eq!(put_in[2].metadata.len(), 0);
    assert_eq!(put_in[2].extra.to_json(), r#"{"recount":{"java":{"synthetic":true}}}"#);
    assert_eq!(put_in[0].metadata.to_json(), r#"{"recount":{"java":{"synthetic":true}}}"#);
}
