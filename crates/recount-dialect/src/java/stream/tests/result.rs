//! The result of an invocation.

use pretty_assertions::assert_eq;
use recount_message::{FinishedReason, Msg};

use super::{blocks, folded, read};

const TALKS: &str = r#"
    AGENT_START "replyId":"a","name":"Friday"
    MODEL_CALL_START "replyId":"m"
    TEXT_BLOCK_START "replyId":"m","blockId":"text"
    TEXT_BLOCK_DELTA "replyId":"m","blockId":"text","delta":"Hel"
    TEXT_BLOCK_DELTA "replyId":"m","blockId":"text","delta":"lo"
"#;

const ENDS: &str = r#"
    TEXT_BLOCK_END "replyId":"m","blockId":"text"
    MODEL_CALL_END "replyId":"m"
"#;

/// Returns the message of a reply with a result.
fn reply(before: &str, result: &str) -> Msg {
    let events = read(&format!(
        "{before}AGENT_RESULT \"result\":{{\"name\":\"Friday\",\"role\":\"ASSISTANT\",{result}}}\nAGENT_END \"replyId\":\"a\""
    ));
    let mut messages = folded(&events);
    assert_eq!(messages.len(), 1);
    messages.remove(0)
}

#[test]
fn streamed_text_is_not_added_again() {
    let message = reply(&format!("{TALKS}{ENDS}"), r#""content":[{"type":"text","text":"Hello"}]"#);
    assert_eq!(blocks(&message), ["text Hello"]);
    assert_eq!(message.finished_reason(), Some(FinishedReason::Completed));
}

#[test]
fn missing_text_is_added() {
    let message = reply(&format!("{TALKS}{ENDS}"), r#""content":[{"type":"text","text":"Bye"}]"#);
    assert_eq!(blocks(&message), ["text Hello", "text Bye"]);
}

#[test]
fn structured_output_is_not_added_as_text() {
    let message = reply(
        "AGENT_START \"replyId\":\"a\",\"name\":\"Friday\"\n",
        r#""content":[{"type":"text","text":"{\"b\":[1], \"a\":1}"}],"metadata":{"_structured_output":{"a":1,"b":[1]}}"#,
    );
    assert_eq!(blocks(&message), [""; 0]);
    assert_eq!(message.structured_output().unwrap().to_json(), r#"{"a":1,"b":[1]}"#);
}

#[test]
fn structured_output_that_is_not_an_object_stays_in_metadata() {
    let message = reply(
        "AGENT_START \"replyId\":\"a\",\"name\":\"Friday\"\n",
        r#""content":[{"type":"text","text":"[1]"}],"metadata":{"_structured_output":[1]}"#,
    );
    assert_eq!(blocks(&message), ["text [1]"]);
    assert_eq!(message.metadata().to_json(), r#"{"_structured_output":[1]}"#);
}

#[test]
fn usage_is_counted_once() {
    let usage = r#""usage":{"inputTokens":20,"outputTokens":5,"cachedTokens":1,"time":0.5}"#;
    let result = format!(r#""content":[{{"type":"text","text":"Hello"}}],{usage}"#);
    let summaries =
        ENDS.replace("MODEL_CALL_END \"replyId\":\"m\"", &format!("MODEL_CALL_END \"replyId\":\"m\",{usage}"));
    for before in [format!("{TALKS}{summaries}"), format!("{TALKS}{ENDS}"), TALKS.to_owned()] {
        let message = reply(&before, &result);
        let usage = message.usage().unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.cache_input_tokens), (20, 5, 1));
    }
    let message = reply(&format!("{TALKS}{ENDS}"), r#""content":[]"#);
    assert_eq!(message.usage(), None);
}

#[test]
fn finished_reason_is_taken_from_java() {
    let reason = |word: &str| {
        let message = reply(
            &format!("{TALKS}{ENDS}"),
            &format!(r#""content":[],"metadata":{{"agentscope_generate_reason":"{word}"}}"#),
        );
        (message.finished_reason().unwrap(), message.generate_reason().as_str())
    };
    assert_eq!(reason("MODEL_STOP"), (FinishedReason::Completed, "MODEL_STOP"));
    assert_eq!(reason("STRUCTURED_OUTPUT"), (FinishedReason::Completed, "STRUCTURED_OUTPUT"));
    assert_eq!(reason("INTERRUPTED"), (FinishedReason::Interrupted, "INTERRUPTED"));
    assert_eq!(reason("MAX_ITERATIONS"), (FinishedReason::ExceedMaxIters, "MAX_ITERATIONS"));
    for word in ["MIDDLEWARE_STOP_REQUESTED", "ACTING_STOP_REQUESTED", "ALL_TOOLS_DENIED", "TOOL_CALLS"] {
        assert_eq!(reason(word), (FinishedReason::Completed, word));
    }
}

#[test]
fn open_blocks_at_result_are_interrupted() {
    let interrupted = r#""content":[{"type":"text","text":"I noticed that you have interrupted me."}]"#;
    let message = reply(TALKS, interrupted);
    assert_eq!(message.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(blocks(&message), ["text Hello", "text I noticed that you have interrupted me."]);

    let call = r#"AGENT_START "replyId":"a","name":"Friday"
        MODEL_CALL_START "replyId":"m"
        TOOL_CALL_START "replyId":"m","toolCallId":"c","toolCallName":"look"
        TOOL_CALL_DELTA "replyId":"m","toolCallId":"c","toolCallName":"look","delta":"{\"x"
        "#;
    assert_eq!(
        blocks(&reply(call, interrupted)),
        [
            "call c look {\"x finished",
            "result c interrupted The result of this call was not streamed.",
            "text I noticed that you have interrupted me.",
        ]
    );
}

#[test]
fn exceeded_iterations_are_the_reason_if_summary_fails() {
    let exceeds = format!(
        "{TALKS}{ENDS}EXCEED_MAX_ITERS \"replyId\":\"\",\"maxIters\":2,\"currentIter\":2\nMODEL_CALL_START \"replyId\":\"m2\"\n"
    );
    let message = reply(&exceeds, r#""content":[{"type":"text","text":"Error generating summary"}]"#);
    assert_eq!(message.finished_reason(), Some(FinishedReason::ExceedMaxIters));
    assert_eq!(blocks(&message), ["text Hello", "text Error generating summary"]);
}

#[test]
fn stop_request_waits_unless_result_has_final_reason() {
    let stop = format!("{TALKS}{ENDS}REQUEST_STOP \"generateReason\":\"MIDDLEWARE_STOP_REQUESTED\"\n");
    assert_eq!(reply(&stop, r#""content":[]"#).finished_at(), None);
    let ended = reply(&stop, r#""content":[],"metadata":{"agentscope_generate_reason":"MODEL_STOP"}"#);
    assert_eq!(ended.finished_reason(), Some(FinishedReason::Completed));
}

#[test]
fn calls_missing_in_stream_are_inserted() {
    let message = reply(
        "AGENT_START \"replyId\":\"a\",\"name\":\"Friday\"\n",
        r#""content":[{"type":"tool_use","id":"c","name":"look","input":{"x":1},"content":"{\"x\":1}"}],"metadata":{"agentscope_generate_reason":"PERMISSION_ASKING"}"#,
    );
    assert_eq!(blocks(&message), [r#"call c look {"x":1} pending"#]);
}
