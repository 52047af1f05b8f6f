//! The examples in AgentScope's Java documentation. They are parsed by their meaning, even if the published library
//! rejects them.

use pretty_assertions::assert_eq;
use recount_dialect::{Dialect, StreamReader};
use recount_message::{
    ContentBlock, EventKind, Msg, Object, Role, Source, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock,
    ToolResultState,
};

const BOTH: [Dialect; 2] = [Dialect::Java, Dialect::Java1];

fn blocks(text: &str) -> [ContentBlock; 2] {
    BOTH.map(|dialect| dialect.read_block(text).unwrap_or_else(|error| panic!("{dialect}: {error}")))
}

fn messages(text: &str) -> [Msg; 2] {
    BOTH.map(|dialect| dialect.read_message(text).unwrap_or_else(|error| panic!("{dialect}: {error}")))
}

#[test]
fn parses_text_block() {
    for block in blocks("{\n  \"type\": \"text\",\n  \"text\": \"Hello, how can I help you?\"\n}") {
        assert!(matches!(block, ContentBlock::Text(block) if block.text == "Hello, how can I help you?"));
    }
}

#[test]
fn parses_message_in_documented_field_order() {
    let text = r#"{
      "name": "user",
      "role": "USER",
      "content": [
        {"type": "text", "text": "Analyze this image"},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/photo.jpg"}}
      ],
      "metadata": {},
      "id": "msg_001",
      "timestamp": "2024-01-15T10:30:00Z"
    }"#;
    for message in messages(text) {
        assert_eq!((message.id(), message.name(), message.role()), ("msg_001", "user", Role::User));
        assert_eq!(message.text_or_empty(), "Analyze this image");
        assert_eq!(message.created_at(), "2024-01-15T10:30:00Z");
        let image = message.images().next().unwrap();
        assert!(matches!(&image.source, Source::Url(source) if source.url() == "https://example.com/photo.jpg"));
        assert_eq!(image.media_type(), "image/jpeg");
    }
}

#[test]
fn message_without_role_is_from_user() {
    for message in messages(r#"{"content":[{"type":"text","text":"Hello"}]}"#) {
        assert_eq!((message.role(), message.has_name(), message.text_or_empty()), (Role::User, false, "Hello".into()));
    }
}

#[test]
fn parses_media_from_url_file_and_bytes() {
    let source = |text: &str| {
        blocks(text).map(|block| match block {
            ContentBlock::Data(block) => (block.source.clone(), block.legacy().unwrap().as_str()),
            other => panic!("{other:?}"),
        })
    };
    for (source, kind) in source(r#"{"type":"audio","source":{"type":"url","url":"https://example.com/audio.mp3"}}"#) {
        assert_eq!((source.media_type(), kind), ("audio/mpeg", "audio"));
    }
    for (source, kind) in source(r#"{"type":"video","source":{"type":"url","url":"https://example.com/video.mp4"}}"#) {
        assert_eq!((source.media_type(), kind), ("video/mp4", "video"));
    }
    for (source, _) in source(r#"{"type":"image","source":{"type":"url","url":"file:///path/to/image.jpg"}}"#) {
        assert!(matches!(source, Source::Url(source) if source.url() == "file:///path/to/image.jpg"));
    }
    let bytes = r#"{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"/9j/4AAQSkZ"}}"#;
    for (source, _) in source(bytes) {
        assert!(matches!(source, Source::Base64(source) if source.data == "/9j/4AAQSkZ"));
    }
}

#[test]
fn parses_assistant_message_with_image() {
    let text = r#"{"name":"Assistant","role":"ASSISTANT","content":[
        {"type":"text","text":"Here is the image you requested:"},
        {"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"/9j/4AAQSkZ"}}]}"#;
    for message in messages(text) {
        assert_eq!((message.role(), message.images().count()), (Role::Assistant, 1));
    }
}

#[test]
fn parses_thinking_before_text() {
    let text = r#"{"name":"Reasoner","role":"ASSISTANT","content":[
        {"type":"thinking","thinking":"First, I need to understand the problem..."},
        {"type":"text","text":"Based on my analysis, the answer is 42."}]}"#;
    for message in messages(text) {
        assert_eq!(message.first::<ThinkingBlock>().unwrap().thinking, "First, I need to understand the problem...");
        assert_eq!(message.text_or_empty(), "Based on my analysis, the answer is 42.");
    }
}

#[test]
fn parses_call_with_input_or_arguments() {
    for name in ["input", "arguments"] {
        let text =
            format!(r#"{{"type":"tool_use","id":"call_123","name":"get_weather","{name}":{{"location":"Beijing"}}}}"#);
        for block in blocks(&text) {
            let ContentBlock::ToolCall(ToolCallBlock { id, name, input, .. }) = block else { panic!("{block:?}") };
            assert_eq!((&*id, &*name, &*input), ("call_123", "get_weather", r#"{"location":"Beijing"}"#));
        }
    }
}

#[test]
fn parses_result_with_id_or_tool_use_id() {
    for name in ["id", "toolUseId"] {
        let text =
            format!(r#"{{"type":"tool_result","{name}":"call_abc123","output":[{{"type":"text","text":"Sunny"}}]}}"#);
        for block in blocks(&text) {
            let ContentBlock::ToolResult(result) = block else { panic!("{block:?}") };
            assert_eq!((&*result.id, result.output.text().as_deref()), ("call_abc123", Some("Sunny")));
            assert!(!result.has_name());
        }
    }
}

#[test]
fn parses_result_with_single_block() {
    let text =
        r#"{"type":"tool_result","id":"call_123","name":"get_weather","result":{"type":"text","text":"Sunny, 25°C"}}"#;
    for block in blocks(text) {
        assert!(
            matches!(block, ContentBlock::ToolResult(result) if result.output.text().as_deref() == Some("Sunny, 25°C"))
        );
    }
}

#[test]
fn missing_result_state_is_running_in_java_2_and_success_in_java_1() {
    let state = |dialect: Dialect, text: &str| {
        let text = format!(r#"{{"type":"tool_result","id":"c","output":[{{"type":"text","text":"{text}"}}]}}"#);
        match dialect.read_block(&text).unwrap() {
            ContentBlock::ToolResult(result) => result.state,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(state(Dialect::Java, "Sunny"), ToolResultState::Running);
    assert_eq!(state(Dialect::Java1, "Sunny"), ToolResultState::Success);
    assert_eq!(state(Dialect::Java1, "[ERROR] API call failed"), ToolResultState::Error);
}

#[test]
fn parses_tool_message_with_result() {
    let text = r#"{"name":"system","role":"TOOL","content":[{"type":"tool_result","id":"call_123","name":"get_weather",
        "output":[{"type":"text","text":"Sunny, 25°C"}]}]}"#;
    for message in messages(text) {
        assert_eq!((message.role(), message.blocks::<ToolResultBlock>().count()), (Role::Tool, 1));
    }
}

#[test]
fn metadata_keeps_its_types() {
    let text = r#"{"name":"Assistant","role":"ASSISTANT","content":[{"type":"text","text":"Task completed"}],
        "metadata":{"task_id":"12345","priority":3,"tags":["important","urgent"]}}"#;
    for message in messages(text) {
        let metadata = message.metadata();
        let text = |key| metadata.get(key).unwrap().as_raw();
        assert_eq!((text("task_id"), text("priority"), text("tags")), (r#""12345""#, "3", r#"["important","urgent"]"#));
        assert!(message.first::<TextBlock>().is_some());
    }
}

#[test]
fn parses_structured_output() {
    let text = r#"{"role":"ASSISTANT","content":[],"metadata":{"_structured_output":{"goal":"ship","hours":3}}}"#;
    for message in messages(text) {
        assert_eq!(message.structured_output(), Some(&Object::parse(r#"{"goal":"ship","hours":3}"#).unwrap()));
    }
}

#[test]
fn parses_states_in_any_case() {
    for state in ["SUCCESS", "success"] {
        let text = format!(r#"{{"type":"tool_result","id":"c","output":[],"state":"{state}"}}"#);
        let ContentBlock::ToolResult(result) = Dialect::Java.read_block(&text).unwrap() else { panic!() };
        assert_eq!(result.state, ToolResultState::Success);
        assert!(Dialect::Java.write_block(&result.into()).contains(r#""state":"success""#));
    }
}

#[test]
fn parses_documented_event_fields() {
    let kind = |text: &str| Dialect::Java.read_event(text).unwrap().into_owned().kind;
    let EventKind::ModelCallStart(start) = kind(r#"{"type":"MODEL_CALL_START","replyId":"r","modelName":"qwen"}"#)
    else {
        panic!()
    };
    assert_eq!(start.model_name, "qwen");
    let tokens = r#"{"type":"MODEL_CALL_END","replyId":"r","inputTokens":7,"outputTokens":2}"#;
    let EventKind::ModelCallEnd(end) = kind(tokens) else { panic!() };
    assert_eq!((end.input_tokens, end.output_tokens), (7, 2));
    let data = r#"{"type":"DATA_BLOCK_DELTA","replyId":"r","blockId":"b","data":"iVBORw0K","mediaType":"image/png"}"#;
    let EventKind::DataBlockDelta(delta) = kind(data) else { panic!() };
    assert_eq!((delta.data.as_deref(), &*delta.media_type), (Some("iVBORw0K"), "image/png"));
    let data = r#"{"type":"TOOL_RESULT_DATA_DELTA","replyId":"r","toolCallId":"c","url":"https://a.test/b.png","mediaType":"image/png"}"#;
    let EventKind::ToolResultDataDelta(delta) = kind(data) else { panic!() };
    assert_eq!((delta.url.as_deref(), &*delta.media_type), (Some("https://a.test/b.png"), "image/png"));
}

#[test]
fn parses_old_event_names() {
    for (old, new) in [
        ("REPLY_START", "REPLY_START"),
        ("RUN_STARTED", "REPLY_START"),
        ("RUN_FINISHED", "REPLY_END"),
        ("MODEL_CALL_STARTED", "MODEL_CALL_START"),
        ("MODEL_CALL_ENDED", "MODEL_CALL_END"),
        ("BINARY_BLOCK_DELTA", "DATA_BLOCK_DELTA"),
    ] {
        let text = format!(r#"{{"type":"{old}","replyId":"r"}}"#);
        assert_eq!(Dialect::Java.read_event(&text).unwrap().type_name(), new);
    }
}

#[test]
fn documented_stream_folds_into_one_message() {
    let stream = r#"
{"type":"AGENT_START","replyId":"r","name":"Friday","role":"assistant"}
{"type":"MODEL_CALL_START","replyId":"r","modelName":"qwen"}
{"type":"TEXT_BLOCK_START","replyId":"r","blockId":"b1"}
{"type":"TEXT_BLOCK_DELTA","replyId":"r","blockId":"b1","delta":"Let me look."}
{"type":"TEXT_BLOCK_END","replyId":"r","blockId":"b1"}
{"type":"TOOL_CALL_START","replyId":"r","toolCallId":"c1","toolCallName":"search"}
{"type":"TOOL_CALL_DELTA","replyId":"r","toolCallId":"c1","delta":"{}"}
{"type":"TOOL_CALL_END","replyId":"r","toolCallId":"c1"}
{"type":"MODEL_CALL_END","replyId":"r","inputTokens":7,"outputTokens":2}
{"type":"TOOL_RESULT_START","replyId":"r","toolCallId":"c1","toolCallName":"search"}
{"type":"TOOL_RESULT_TEXT_DELTA","replyId":"r","toolCallId":"c1","delta":"found"}
{"type":"TOOL_RESULT_END","replyId":"r","toolCallId":"c1","state":"SUCCESS"}
{"type":"AGENT_END","replyId":"r"}"#;
    let mut reader = StreamReader::new(Dialect::Java);
    let mut fold = recount_message::Fold::new();
    for line in stream.trim().lines() {
        reader.push(line).unwrap().iter().for_each(|event| drop(fold.apply(event)));
    }
    reader.finish().iter().for_each(|event| drop(fold.apply(event)));
    let messages: Vec<Msg> = fold.into_messages().collect();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!((message.name(), message.text_or_empty()), ("Friday", "Let me look.".into()));
    assert_eq!(message.result_of("c1").unwrap().output.text().as_deref(), Some("found"));
    assert_eq!(message.usage().unwrap().total(), 9);
}
