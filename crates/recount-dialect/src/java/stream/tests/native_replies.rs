//! Streams that were written by Recount.

use pretty_assertions::assert_eq;
use recount_message::{AgentEvent, Event, Fold, Json, Object};

use super::super::super::frames::frames;
use super::{JavaStream, read, summarize};

/// Returns a valid stream with everything that would be repaired in other streams.
fn native() -> Vec<AgentEvent> {
    let lines = r#"
        {"id":"1","created_at":"2026-01-01T00:00:00.000001+00:00","type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}
        {"id":"2","created_at":"2026-01-01T00:00:00.000002+00:00","type":"MODEL_CALL_START","reply_id":"r","model_name":"some-model"}
        {"id":"3","created_at":"2026-01-01T00:00:00.000003+00:00","type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t1"}
        {"id":"4","created_at":"2026-01-01T00:00:00.000004+00:00","type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t1","delta":"Hello"}
        {"id":"5","created_at":"2026-01-01T00:00:00.000005+00:00","type":"TEXT_BLOCK_END","reply_id":"r","block_id":"t1","text":"Hello."}
        {"id":"6","created_at":"2026-01-01T00:00:00.000006+00:00","type":"TOOL_CALL_START","reply_id":"r","tool_call_id":"c","tool_call_name":"look"}
        {"id":"7","created_at":"2026-01-01T00:00:00.000007+00:00","type":"TOOL_CALL_END","reply_id":"r","tool_call_id":"c"}
        {"id":"8","created_at":"2026-01-01T00:00:00.000008+00:00","type":"REQUIRE_USER_CONFIRM","reply_id":"r","tool_calls":[{"type":"tool_call","id":"c","name":"look","input":""}]}
        {"id":"9","created_at":"2026-01-01T00:00:00.000009+00:00","type":"USER_INTERRUPT","reply_id":"r"}
        {"id":"10","created_at":"2026-01-01T00:00:00.000010+00:00","type":"TOOL_RESULT_START","reply_id":"r","tool_call_id":"c","tool_call_name":"look"}
        {"id":"11","created_at":"2026-01-01T00:00:00.000011+00:00","type":"TOOL_RESULT_END","reply_id":"r","tool_call_id":"c","state":"running","metadata":{"ms":1}}
        {"id":"12","created_at":"2026-01-01T00:00:00.000012+00:00","type":"REPLY_END","session_id":"s","reply_id":"r","finished_reason":"interrupted"}
    "#;
    lines.trim().lines().map(|line| Event::from_json(line.trim()).unwrap().into_owned()).collect()
}

#[test]
fn native_replies_round_trip_without_repairs() {
    let (mut fold, mut stream, mut read) = (Fold::new(), JavaStream::new(), Vec::new());
    for event in native() {
        for frame in frames(&fold, &event) {
            read.extend(stream.push(&frame).unwrap());
        }
        let _ = fold.apply(&event);
    }
    read.extend(stream.finish());
    let json = |events: &[AgentEvent]| events.iter().map(Event::to_json).collect::<Vec<_>>();
    assert_eq!(json(&read), json(&native()));
    assert_eq!(stream.agents, []);
}

#[test]
fn carrier_frame_gives_its_events() {
    let events = read(
        r#"AGENT_START "replyId":"a","name":"Friday"
        CUSTOM "name":"x","metadata":{"recount":{"native":{"events":[{"id":"n","created_at":"2026-01-01T00:00:00Z","type":"USER_INTERRUPT","reply_id":"a"}]}}}
        CUSTOM "name":"y","metadata":{"recount":{"native":{"skip":true}}}
        AGENT_END "replyId":"a""#,
    );
    assert_eq!(summarize(&events), ["REPLY_START a Friday", "USER_INTERRUPT", "REPLY_END a completed"]);
}

#[test]
fn java_reply_is_written_with_one_result() {
    let events = read(
        r#"AGENT_START "replyId":"a","name":"Friday"
        MODEL_CALL_START "replyId":"m"
        TOOL_CALL_START "replyId":"m","toolCallId":"c","toolCallName":"erase"
        TOOL_CALL_END "replyId":"m","toolCallId":"c","toolCallName":"erase"
        MODEL_CALL_END "replyId":"m"
        REQUIRE_USER_CONFIRM "replyId":"t","toolCalls":[{"type":"tool_use","id":"c","name":"erase","input":{},"state":"pending"}]
        AGENT_RESULT "result":{"name":"Friday","role":"ASSISTANT","content":[],"metadata":{"agentscope_generate_reason":"PERMISSION_ASKING"}}
        AGENT_END "replyId":"a"
        AGENT_START "replyId":"b","name":"Friday"
        TOOL_RESULT_START "replyId":"t2","toolCallId":"c","toolCallName":"erase"
        TOOL_RESULT_END "replyId":"t2","toolCallId":"c","toolCallName":"erase","state":"success"
        MODEL_CALL_START "replyId":"m2"
        TEXT_BLOCK_START "replyId":"m2","blockId":"text"
        TEXT_BLOCK_DELTA "replyId":"m2","blockId":"text","delta":"Done."
        TEXT_BLOCK_END "replyId":"m2","blockId":"text"
        MODEL_CALL_END "replyId":"m2"
        AGENT_RESULT "result":{"name":"Friday","role":"ASSISTANT","content":[{"type":"text","text":"Done."}],"metadata":{}}
        AGENT_END "replyId":"b""#,
    );
    let mut fold = Fold::new();
    let mut summaries = Vec::new();
    for event in &events {
        summaries.extend(frames(&fold, event));
        let _ = fold.apply(event);
    }
    let kind =
        |frame: &String| Object::parse(frame).unwrap().get("type").and_then(Json::as_str).map(str::to_owned).unwrap();
    let kinds: Vec<String> = summaries.iter().map(kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "AGENT_RESULT").count(), 1, "{kinds:?}");
    assert_eq!(kinds[kinds.len() - 2..], ["AGENT_RESULT", "AGENT_END"]);
    assert!(summaries[summaries.len() - 2].contains("Done."));
}
