//! Text and thinking blocks, and the arguments of calls.

use pretty_assertions::assert_eq;

use super::{blocks, folded, read, summarize};

/// Returns the events of one model call.
fn model_call_events(stream: &str) -> Vec<String> {
    let events = read(&format!(
        r#"AGENT_START "replyId":"a","name":"Friday"
        MODEL_CALL_START "replyId":"m"
        {stream}
        MODEL_CALL_END "replyId":"m"
        AGENT_END "replyId":"a""#
    ));
    let summaries = summarize(&events);
    summaries[2..summaries.len() - 1].to_vec()
}

fn content(stream: &str) -> Vec<String> {
    blocks(&folded(&read(&format!("AGENT_START \"replyId\":\"a\",\"name\":\"Friday\"\n{stream}")))[0])
}

#[test]
fn block_id_is_unique_per_model_call() {
    let call = |id: &str, text: &str| {
        format!(
            r#"MODEL_CALL_START "replyId":"{id}"
            TEXT_BLOCK_START "replyId":"{id}","blockId":"text"
            TEXT_BLOCK_DELTA "replyId":"{id}","blockId":"text","delta":"{text}"
            TEXT_BLOCK_END "replyId":"{id}","blockId":"text"
            MODEL_CALL_END "replyId":"{id}"
            "#
        )
    };
    let both = call("m1", "one") + &call("m2", "two");
    assert_eq!(content(&both), ["text one", "text two"]);
    // The documentation uses one id for all model calls.
    let same = call("m1", "one") + &call("m1", "two");
    assert_eq!(content(&same), ["text one", "text two"]);
}

#[test]
fn restarted_block_is_continued() {
    let summaries = model_call_events(
        r#"TEXT_BLOCK_START "replyId":"m","blockId":"text"
        TEXT_BLOCK_DELTA "replyId":"m","blockId":"text","delta":"before "
        TEXT_BLOCK_END "replyId":"m","blockId":"text"
        TEXT_BLOCK_START "replyId":"m","blockId":"text"
        TEXT_BLOCK_DELTA "replyId":"m","blockId":"text","delta":"after"
        TEXT_BLOCK_END "replyId":"m","blockId":"text""#,
    );
    assert_eq!(
        summaries[..6],
        [
            "TEXT_BLOCK_START a.text.1",
            "TEXT_BLOCK_DELTA a.text.1 before ",
            "TEXT_BLOCK_END a.text.1",
            "TEXT_BLOCK_START a.text.1",
            "TEXT_BLOCK_DELTA a.text.1 after",
            "TEXT_BLOCK_END a.text.1",
        ]
        .map(str::to_owned)
    );
}

#[test]
fn text_continues_after_thinking() {
    let summaries = model_call_events(
        r#"TEXT_BLOCK_START "replyId":"m","blockId":"text"
        TEXT_BLOCK_DELTA "replyId":"m","blockId":"text","delta":"First"
        THINKING_BLOCK_START "replyId":"m","blockId":"thinking"
        THINKING_BLOCK_DELTA "replyId":"m","blockId":"thinking","delta":"hm"
        THINKING_BLOCK_END "replyId":"m","blockId":"thinking"
        TEXT_BLOCK_DELTA "replyId":"m","blockId":"text","delta":", second"
        TEXT_BLOCK_END "replyId":"m","blockId":"text""#,
    );
    assert_eq!(
        summaries[..9],
        [
            "TEXT_BLOCK_START a.text.1",
            "TEXT_BLOCK_DELTA a.text.1 First",
            "+TEXT_BLOCK_END a.text.1",
            "THINKING_BLOCK_START a.thinking.2",
            "THINKING_BLOCK_DELTA a.thinking.2 hm",
            "THINKING_BLOCK_END a.thinking.2",
            "+TEXT_BLOCK_START a.text.1",
            "TEXT_BLOCK_DELTA a.text.1 , second",
            "TEXT_BLOCK_END a.text.1",
        ]
        .map(str::to_owned)
    );
}

#[test]
fn delta_without_start_begins_block() {
    let summaries = model_call_events(r#"TEXT_BLOCK_DELTA "replyId":"m","blockId":"text","delta":"x""#);
    assert_eq!(summaries[..2], ["+TEXT_BLOCK_START a.text.1", "TEXT_BLOCK_DELTA a.text.1 x"].map(str::to_owned));
}

#[test]
fn next_model_call_ends_open_blocks() {
    let summaries = model_call_events(
        r#"TEXT_BLOCK_START "replyId":"m","blockId":"text"
        MODEL_CALL_START "replyId":"m2""#,
    );
    assert_eq!(
        summaries[1..4],
        ["+MODEL_CALL_END interrupted", "+TEXT_BLOCK_END a.text.1", "MODEL_CALL_START"].map(str::to_owned)
    );
}

#[test]
fn arguments_after_call_end_are_appended() {
    let summaries = model_call_events(
        r#"TOOL_CALL_START "replyId":"m","toolCallId":"c1","toolCallName":"look"
        TOOL_CALL_END "replyId":"m","toolCallId":"c1","toolCallName":"look"
        TOOL_CALL_START "replyId":"m","toolCallId":"c2","toolCallName":"look"
        TOOL_CALL_END "replyId":"m","toolCallId":"c2","toolCallName":"look"
        TOOL_CALL_DELTA "replyId":"m","toolCallId":"c1","toolCallName":"__fragment__","delta":"{}"
        TOOL_CALL_DELTA "replyId":"m","toolCallId":"c2","toolCallName":"__fragment__","delta":"[]""#,
    );
    assert_eq!(
        summaries[..7],
        [
            "TOOL_CALL_START c1 look",
            "TOOL_CALL_START c2 look",
            "TOOL_CALL_DELTA c1 {}",
            "TOOL_CALL_DELTA c2 []",
            "TOOL_CALL_END c1",
            "TOOL_CALL_END c2",
            "MODEL_CALL_END completed",
        ]
        .map(str::to_owned)
    );
}

#[test]
fn restarted_call_is_continued() {
    let summaries = model_call_events(
        r#"TOOL_CALL_START "replyId":"m","toolCallId":"c","toolCallName":"look"
        TOOL_CALL_DELTA "replyId":"m","toolCallId":"c","toolCallName":"look","delta":"{\"x\":"
        TOOL_CALL_END "replyId":"m","toolCallId":"c","toolCallName":"look"
        TOOL_CALL_START "replyId":"m","toolCallId":"c","toolCallName":"look"
        TOOL_CALL_DELTA "replyId":"m","toolCallId":"c","toolCallName":"look","delta":"1}"
        TOOL_CALL_END "replyId":"m","toolCallId":"c","toolCallName":"look""#,
    );
    assert_eq!(
        summaries[..4],
        ["TOOL_CALL_START c look", "TOOL_CALL_DELTA c {\"x\":", "TOOL_CALL_DELTA c 1}", "TOOL_CALL_END c"]
            .map(str::to_owned)
    );
}

#[test]
fn arguments_without_start_begin_call() {
    for (name, expected_name) in [("__internal", " __internal"), ("__fragment__", "")] {
        let summaries = model_call_events(&format!(
            r#"TOOL_CALL_DELTA "replyId":"m","toolCallId":"c","toolCallName":"{name}","delta":"{{}}""#
        ));
        assert_eq!(summaries[0], format!("+TOOL_CALL_START c{expected_name}"));
        assert_eq!(summaries[1..3], ["TOOL_CALL_DELTA c {}", "+TOOL_CALL_END c"].map(str::to_owned));
    }
}

const WHOLE: &str = r#"MODEL_CALL_START "replyId":"m"
    TOOL_CALL_START "replyId":"m","toolCallId":"c","toolCallName":"look"
    TOOL_CALL_END "replyId":"m","toolCallId":"c","toolCallName":"look"
    MODEL_CALL_END "replyId":"m"
    "#;

#[test]
fn call_without_arguments_gets_them_from_request() {
    let block = r#"{"type":"tool_use","id":"c","name":"look","input":{"at":"it"},"content":"{}"}"#;
    let asked = format!("{WHOLE}REQUIRE_USER_CONFIRM \"replyId\":\"t\",\"toolCalls\":[{block}]");
    assert_eq!(content(&asked), [r#"call c look {"at":"it"} asking"#]);

    let result = format!(
        r#"{WHOLE}AGENT_RESULT "result":{{"role":"ASSISTANT","content":[{block}],"metadata":{{"agentscope_generate_reason":"PERMISSION_ASKING"}}}}"#
    );
    assert_eq!(content(&result), [r#"call c look {"at":"it"} pending"#]);
}

#[test]
fn call_without_arguments_defaults_to_empty_object() {
    let ran = format!(
        r#"{WHOLE}TOOL_RESULT_START "replyId":"t","toolCallId":"c","toolCallName":"look"
        TOOL_RESULT_END "replyId":"t","toolCallId":"c","toolCallName":"look","state":"success""#
    );
    assert_eq!(content(&ran), ["call c look {} finished", "result c success "]);
}
