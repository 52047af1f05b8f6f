//! Streams that Recount has written itself.

use pretty_assertions::assert_eq;
use recount_message::{AgentEvent, Event, Fold};

use super::super::super::frames::frames;
use super::{JavaStream, read, told};

/// A stream that is legal and has everything that a reader of foreign streams would repair.
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
fn they_come_back_without_repairs() {
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
fn a_frame_may_stand_for_other_events() {
    let events = read(
        r#"AGENT_START "replyId":"a","name":"Friday"
        CUSTOM "name":"x","metadata":{"recount":{"native":{"events":[{"id":"n","created_at":"2026-01-01T00:00:00Z","type":"USER_INTERRUPT","reply_id":"a"}]}}}
        CUSTOM "name":"y","metadata":{"recount":{"native":{"skip":true}}}
        AGENT_END "replyId":"a""#,
    );
    assert_eq!(told(&events), ["REPLY_START a Friday", "USER_INTERRUPT", "REPLY_END a completed"]);
}
