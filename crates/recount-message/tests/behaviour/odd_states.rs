//! Events on messages in invalid states: no panics, and no partial effects of ignored events.

use pretty_assertions::assert_eq;
use recount_message::{Checkpoint, CheckpointReply, Event, Fold, Msg, Outcome, ToolResultBlock, ToolResultState};

const START: &str = r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"F"}"#;
const CALL: &str = r#"{"type":"TOOL_CALL_START","reply_id":"r","tool_call_id":"c","tool_call_name":"t"}"#;

fn fold(lines: &[&str]) -> Fold {
    lines.iter().map(|line| Event::from_json(line).unwrap()).collect::<Vec<_>>().iter().collect()
}

fn whole_block(block: &str) -> String {
    format!(r#"{{"type":"CUSTOM","name":"recount.block","value":{{"reply_id":"r","block":{block}}}}}"#)
}

fn text_of(fold: &Fold) -> String {
    fold.message("r").unwrap().to_json()
}

/// Applies an event and checks that it is ignored without effect.
#[track_caller]
fn check_ignored(before: &[&str], event: &str) {
    let mut folded = fold(before);
    let text = text_of(&folded);
    let outcome = folded.apply(&Event::from_json(event).unwrap());
    assert!(matches!(outcome, Outcome::Ignored(_)), "{outcome:?}");
    assert_eq!(text_of(&folded), text);
}

#[test]
fn append_to_invalid_base64_is_rejected() {
    for (held, piece) in [("aaaéaa=", "QUJD"), ("aaaé", "a=="), ("A==", "=")] {
        let source = format!(r#"{{"type":"base64","data":"{held}","media_type":"x"}}"#);
        let block = whole_block(&format!(r#"{{"type":"data","id":"d","source":{source}}}"#));
        let delta =
            format!(r#"{{"type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"d","media_type":"x","data":"{piece}"}}"#);
        check_ignored(&[START, &block], &delta);
    }
}

#[test]
fn invalid_data_leaves_string_result_unchanged() {
    let block = whole_block(r#"{"type":"tool_result","id":"c","name":"t","output":"text"}"#);
    let delta = r#"{"type":"TOOL_RESULT_DATA_DELTA","reply_id":"r","tool_call_id":"c","block_id":"d","media_type":"x","data":"*"}"#;
    check_ignored(&[START, CALL, &block], delta);
}

#[test]
fn data_in_complete_result_is_continued() {
    let source = r#"{"type":"base64","data":"QUJD","media_type":"x"}"#;
    let output = format!(r#"[{{"type":"data","id":"d","source":{source}}}]"#);
    let block = whole_block(&format!(r#"{{"type":"tool_result","id":"c","name":"t","output":{output}}}"#));
    let delta = r#"{"type":"TOOL_RESULT_DATA_DELTA","reply_id":"r","tool_call_id":"c","block_id":"d","media_type":"x","data":"QUJD"}"#;

    let whole = fold(&[START, CALL, &block, delta]);
    let mut cut = Fold::resume(fold(&[START, CALL, &block]).checkpoint());
    let _ = cut.apply(&Event::from_json(delta).unwrap());
    assert!(text_of(&whole).contains("QUJDQUJD"));
    assert_eq!(text_of(&cut), text_of(&whole));
}

#[test]
fn a_result_without_a_call_can_end() {
    let running = ToolResultBlock::new("c", "t", "x", ToolResultState::Running);
    let mut message = Msg::assistant("F", running).with_id("r");
    let end = r#"{"type":"TOOL_RESULT_END","reply_id":"r","tool_call_id":"c","state":"success"}"#;
    assert_eq!(message.append_event(&Event::from_json(end).unwrap()), Outcome::Applied);
    assert_eq!(message.first::<ToolResultBlock>().unwrap().state, ToolResultState::Success);
}

#[test]
fn the_deepest_message_survives_a_checkpoint() {
    let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
    let source = format!(r#"{{"type":"base64","data":"","media_type":"x","note":{deep}}}"#);
    let output = format!(r#"[{{"type":"data","id":"d","source":{source}}}]"#);
    let result = format!(r#"{{"type":"tool_result","id":"c","name":"t","output":{output}}}"#);
    let text = format!(r#"{{"name":"A","role":"assistant","id":"r","created_at":"","content":[{result}]}}"#);
    let message = Msg::from_json(&text).unwrap();
    let replies = vec![CheckpointReply { message, call_floor: Some(0) }];
    let checkpoint = Checkpoint { cursor: 1, replies, taken: Vec::new() };
    assert_eq!(Checkpoint::from_json(&checkpoint.to_json()).unwrap(), checkpoint);
}

#[test]
fn call_floor_above_last_block_is_clamped() {
    let block = |kind: &str| format!(r#"{{"type":"TEXT_BLOCK_{kind}","reply_id":"r","block_id":"t"}}"#);
    let folded = |floor: usize| {
        let message = r#"{"name":"F","role":"assistant","content":[],"id":"r","created_at":""}"#;
        let replies = format!(r#"[{{"message":{message},"call_floor":{floor}}}]"#);
        let checkpoint = format!(r#"{{"version":1,"cursor":"0","replies":{replies}}}"#);
        let mut fold = Fold::resume(Checkpoint::from_json(&checkpoint).unwrap());
        for kind in ["START", "END", "START"] {
            let _ = fold.apply(&Event::from_json(&block(kind)).unwrap());
        }
        text_of(&fold)
    };
    assert_eq!(folded(100), folded(0));
}
