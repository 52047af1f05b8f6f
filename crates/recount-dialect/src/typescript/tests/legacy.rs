//! The format of 0.0.2.

use pretty_assertions::assert_eq;
use recount_message::{Event, Fold, Msg, ToolCallBlock, ToolCallState};

use super::*;

const STREAM: &str = r#"
{"id":"1","createdAt":"t1","type":"RUN_STARTED","sessionId":"s","replyId":"r","name":"Friday","role":"assistant"}
{"id":"2","createdAt":"t2","type":"MODEL_CALL_STARTED","replyId":"r","modelName":"m"}
{"id":"3","createdAt":"t3","type":"TEXT_BLOCK_START","replyId":"r","blockId":"t"}
{"id":"4","createdAt":"t4","type":"TEXT_BLOCK_DELTA","replyId":"r","blockId":"t","delta":"Look:"}
{"id":"5","createdAt":"t5","type":"TEXT_BLOCK_END","replyId":"r","blockId":"t"}
{"id":"6","createdAt":"t6","type":"BINARY_BLOCK_START","replyId":"r","blockId":"d","mediaType":"image/png"}
{"id":"7","createdAt":"t7","type":"BINARY_BLOCK_DELTA","replyId":"r","blockId":"d","data":"QQ==","mediaType":"image/png"}
{"id":"8","createdAt":"t8","type":"BINARY_BLOCK_END","replyId":"r","blockId":"d"}
{"id":"9","createdAt":"t9","type":"TOOL_CALL_START","replyId":"r","toolCallId":"c","toolCallName":"shell"}
{"id":"10","createdAt":"t10","type":"TOOL_CALL_DELTA","replyId":"r","toolCallId":"c","delta":"{}"}
{"id":"11","createdAt":"t11","type":"TOOL_CALL_END","replyId":"r","toolCallId":"c"}
{"id":"12","createdAt":"t12","type":"MODEL_CALL_ENDED","replyId":"r","inputTokens":3,"outputTokens":4}
{"id":"13","createdAt":"t13","type":"REQUIRE_USER_CONFIRM","replyId":"r","toolCalls":[{"type":"tool_call","id":"c","name":"shell","input":"{}","awaitUserConfirmation":true}]}
{"id":"14","createdAt":"t14","type":"USER_CONFIRM_RESULT","replyId":"r","confirmResults":[{"confirmed":true,"toolCall":{"type":"tool_call","id":"c","name":"shell","input":"{}"}}]}
{"id":"15","createdAt":"t15","type":"TOOL_RESULT_START","replyId":"r","toolCallId":"c","toolCallName":"shell"}
{"id":"16","createdAt":"t16","type":"TOOL_RESULT_TEXT_DELTA","replyId":"r","toolCallId":"c","delta":"ok"}
{"id":"17","createdAt":"t17","type":"TOOL_RESULT_BINARY_DELTA","replyId":"r","toolCallId":"c","mediaType":"image/png","url":"https://example.com/a.png"}
{"id":"18","createdAt":"t18","type":"TOOL_RESULT_END","replyId":"r","toolCallId":"c","state":"success"}
{"id":"19","createdAt":"t19","type":"EXCEED_MAX_ITERS","replyId":"r","agentId":"a","name":"Friday"}
{"id":"20","createdAt":"t20","type":"RUN_FINISHED","sessionId":"s","replyId":"r"}
"#;

#[test]
fn parses_stream() {
    let mut fold = Fold::new();
    for line in STREAM.trim().lines() {
        let event = read_event(line).unwrap();
        assert_eq!(fold.apply(&event).reason(), None, "{line}");
        // The converted event is written in the newer format and parsed again.
        assert_eq!(read_event(&event_text(&event)).unwrap(), event);
    }
    let message = fold.into_messages().next().unwrap();
    assert_eq!((message.id(), message.created_at(), message.finished_at()), ("r", "t1", Some("t20")));
    assert_eq!(message.text().as_deref(), Some("Look:"));
    assert_eq!(message.images().count(), 1);
    assert_eq!(message.usage().unwrap().input_tokens, 3);
    let (call, result) = message.tool_pairs().next().unwrap();
    assert_eq!((call.state, call.input.as_str()), (ToolCallState::Finished, "{}"));
    assert_eq!(result.unwrap().output.blocks().len(), 2);
}

#[test]
fn keeps_agent_id() {
    let line = r#"{"id":"1","createdAt":"t","type":"EXCEED_MAX_ITERS","replyId":"r","agentId":"a","name":"Friday"}"#;
    let event = read_event(line).unwrap();
    assert_eq!(event.extra.to_json(), r#"{"agentId":"a"}"#);
    assert_eq!(
        event_text(&event),
        r#"{"id":"1","created_at":"t","type":"EXCEED_MAX_ITERS","reply_id":"r","name":"Friday","agentId":"a"}"#
    );
}

#[test]
fn parses_message() {
    let text = r#"{"id":"m","name":"Friday","role":"assistant","content":[
        {"type":"thinking","thinking":"Hm.","id":"a"},
        {"type":"tool_call","id":"c1","name":"f","input":"{}"},
        {"type":"tool_result","id":"c1","name":"f","output":[{"type":"data","id":"d","source":{"type":"base64","data":"QQ==","mediaType":"image/png"}}],"state":"success"},
        {"type":"tool_call","id":"c2","name":"f","input":"{}","awaitUserConfirmation":true},
        {"type":"tool_call","id":"c3","name":"f","input":"{}"}
    ],"metadata":{"replyId":1},"timestamp":"2026-04-07T10:00:00.000Z","usage":{"inputTokens":3,"outputTokens":4}}"#;
    let message = read_message(text).unwrap();
    let states: Vec<ToolCallState> = message.blocks::<ToolCallBlock>().map(|call| call.state).collect();
    assert_eq!(states, [ToolCallState::Finished, ToolCallState::Asking, ToolCallState::Pending]);
    assert_eq!((message.created_at(), message.usage().unwrap().output_tokens), ("2026-04-07T10:00:00.000Z", 4));
    assert_eq!(message.metadata().to_json(), r#"{"replyId":1}"#);
    assert_eq!(message.result_of("c1").unwrap().output.blocks().len(), 1);
    assert_eq!(read_message(&message_text(&message)).unwrap(), message);
    assert_eq!(Msg::from_json(&message.to_json()).unwrap(), message);
}

#[test]
fn parses_block() {
    let text = r#"{"type":"data","id":"d","source":{"type":"url","url":"u","mediaType":"image/png"}}"#;
    let ContentBlock::Data(block) = read_block(text).unwrap() else { panic!() };
    assert_eq!(block.media_type(), "image/png");
    let text = r#"{"type":"tool_call","id":"c","name":"f","input":"{}","awaitUserConfirmation":true}"#;
    let ContentBlock::ToolCall(block) = read_block(text).unwrap() else { panic!() };
    assert_eq!(block.state, ToolCallState::Asking);
}

/// A newer event can contain a field with an older name.
#[test]
fn does_not_convert_newer_events() {
    let text = r#"{"id":"1","created_at":"t","type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"x","replyId":"y"}"#;
    let event = read_event(text).unwrap();
    assert_eq!((event.reply_id(), event.extra.to_json()), (Some("r"), r#"{"replyId":"y"}"#.to_owned()));
    assert_eq!(event_text(&Event::from_json(&event.to_json()).unwrap()), text);
}
