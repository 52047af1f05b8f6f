//! Every JSON example and every builder in the documentation of Java 1.

use pretty_assertions::assert_eq;
use recount_message::{
    ContentBlock, DataBlock, Json, LegacyMedia, Msg, MsgParts, Role, Source, TextBlock, ThinkingBlock, ToolCallBlock,
    ToolResultBlock, ToolResultState,
};

use super::sorted;
use crate::java1::{read_block, read_message, write_block, write_message};

fn block(text: &str) -> ContentBlock {
    read_block(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn message(text: &str) -> Msg {
    read_message(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn data(block: &ContentBlock) -> &DataBlock {
    let ContentBlock::Data(block) = block else { panic!("{block:?}") };
    block
}

fn result(block: &ContentBlock) -> &ToolResultBlock {
    let ContentBlock::ToolResult(block) = block else { panic!("{block:?}") };
    block
}

fn written(message: &Msg) -> String {
    let mut out = String::new();
    write_message(message, &mut out);
    out
}

#[test]
fn parses_text_block() {
    let text = r#"{"type": "text", "text": "Hello, how can I help you?"}"#;
    let ContentBlock::Text(read) = block(text) else { panic!("{text}") };
    assert_eq!(read.text, "Hello, how can I help you?");
    let mut out = String::new();
    write_block(&read.into(), &mut out);
    assert_eq!(sorted(&out), sorted(text));
}

#[test]
fn parses_images_from_url_base64_and_file() {
    let url = block(r#"{"type":"image","source":{"type":"url","url":"https://example.com/image.jpg"}}"#);
    assert_eq!((data(&url).legacy(), data(&url).media_type()), (Some(LegacyMedia::Image), "image/jpeg"));
    let base64 = block(r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#);
    let Source::Base64(source) = &data(&base64).source else { panic!("{base64:?}") };
    assert_eq!((source.media_type.as_str(), source.data.as_str()), ("image/png", "iVBORw0KGgo="));
    let file = block(r#"{"type":"image","source":{"type":"url","url":"file:///path/to/image.jpg"}}"#);
    let Source::Url(source) = &data(&file).source else { panic!("{file:?}") };
    assert_eq!((source.url(), data(&file).is_image()), ("file:///path/to/image.jpg", true));
}

#[test]
fn parses_audio_and_video() {
    let audio = block(r#"{"type":"audio","source":{"type":"url","url":"https://example.com/audio.mp3"}}"#);
    assert_eq!((data(&audio).is_audio(), data(&audio).media_type()), (true, "audio/mpeg"));
    let video = block(r#"{"type":"video","source":{"type":"url","url":"https://example.com/video.mp4"}}"#);
    assert_eq!((data(&video).is_video(), data(&video).media_type()), (true, "video/mp4"));
}

#[test]
fn parses_thinking_block() {
    let ContentBlock::Thinking(read) = block(r#"{"type":"thinking","thinking":"Let me analyze this problem..."}"#)
    else {
        panic!()
    };
    assert_eq!(read.thinking, "Let me analyze this problem...");
}

#[test]
fn parses_call_with_input_or_arguments() {
    for text in [
        r#"{"type":"tool_use","id":"call_abc123","name":"get_weather","input":{"city":"Beijing"}}"#,
        r#"{"type":"tool_use","id":"call_abc123","name":"get_weather","arguments":{"city":"Beijing"}}"#,
    ] {
        let ContentBlock::ToolCall(call) = block(text) else { panic!("{text}") };
        assert_eq!((call.id.as_str(), call.name.as_str()), ("call_abc123", "get_weather"));
        assert_eq!(call.input, r#"{"city":"Beijing"}"#);
        let mut out = String::new();
        write_block(&call.into(), &mut out);
        assert!(out.contains(r#""input":{"city":"Beijing"}"#), "{out}");
    }
}

#[test]
fn parses_result_with_tool_use_id() {
    let text =
        r#"{"type":"tool_result","toolUseId":"call_abc123","output":[{"type":"text","text":"Beijing: Sunny, 25°C"}]}"#;
    let read = block(text);
    let success = result(&read);
    assert_eq!((success.id.as_str(), success.state), ("call_abc123", ToolResultState::Success));
    assert!(!success.has_name());
    assert_eq!(success.output.text().as_deref(), Some("Beijing: Sunny, 25°C"));
    let mut out = String::new();
    write_block(&read, &mut out);
    assert!(out.starts_with(r#"{"type":"tool_result","id":"call_abc123","name":null,"#), "{out}");
}

#[test]
fn error_text_sets_error_state() {
    let text = r#"{"type":"tool_result","toolUseId":"call_abc123","output":
        [{"type":"text","text":"[ERROR] API call failed: Connection timeout"}]}"#;
    let read = block(text);
    assert_eq!((result(&read).id.as_str(), result(&read).state), ("call_abc123", ToolResultState::Error));
}

#[test]
fn parses_result_with_single_block() {
    let text =
        r#"{"type":"tool_result","id":"call_123","name":"get_weather","result":{"type":"text","text":"Sunny, 25°C"}}"#;
    let read = block(text);
    assert_eq!((result(&read).name.as_str(), result(&read).state), ("get_weather", ToolResultState::Success));
    assert_eq!(result(&read).output.text().as_deref(), Some("Sunny, 25°C"));
    let mut out = String::new();
    write_block(&read, &mut out);
    assert!(out.contains(r#""output":[{"type":"text","text":"Sunny, 25°C"}]"#), "{out}");
}

#[test]
fn parses_states_in_any_case() {
    let read = |state: &str| block(&format!(r#"{{"type":"tool_result","id":"c","output":[],"state":"{state}"}}"#));
    assert_eq!(result(&read("ERROR")).state, ToolResultState::Error);
    assert_eq!(result(&read("error")).state, ToolResultState::Error);
}

#[test]
fn message_without_role_is_from_user() {
    let read = message(r#"{"content":[{"type":"text","text":"Hello"}]}"#);
    assert_eq!((read.role(), read.text_or_empty().as_str(), read.name()), (Role::User, "Hello", ""));
    let out = written(&read);
    assert!(out.contains(r#""name":null,"role":null"#), "{out}");
}

/// The complete example of the first page, in its order of keys.
#[test]
fn serialization_example_round_trips() {
    let text = r#"{
  "name": "user",
  "role": "USER",
  "content": [
    {
      "type": "text",
      "text": "What is this image?"
    },
    {
      "type": "image",
      "source": {
        "type": "url",
        "url": "https://example.com/photo.jpg"
      }
    }
  ],
  "metadata": {},
  "id": "msg_001",
  "timestamp": "2024-01-15T10:30:00Z"
}"#;
    let read = message(text);
    assert_eq!((read.name(), read.role(), read.id()), ("user", Role::User, "msg_001"));
    assert_eq!(read.created_at(), "2024-01-15T10:30:00Z");
    assert_eq!(read.text_or_empty(), "What is this image?");
    assert_eq!(read.images().next().map(DataBlock::media_type), Some("image/jpeg"));
    assert_eq!(sorted(&written(&read)), sorted(text));
}

#[test]
fn parses_call_and_result_messages() {
    let call = message(
        r#"{"role":"ASSISTANT","content":[{"type":"text","text":"Let me check the weather"},
        {"type":"tool_use","id":"call_001","name":"get_weather","input":{"city":"Beijing"}}]}"#,
    );
    assert_eq!((call.role(), call.text_or_empty().as_str()), (Role::Assistant, "Let me check the weather"));
    assert_eq!(call.blocks::<ToolCallBlock>().count(), 1);
    let tool_message = message(
        r#"{"role":"TOOL","content":[{"type":"tool_result","toolUseId":"call_001",
        "output":[{"type":"text","text":"Beijing: Sunny"}]}]}"#,
    );
    assert_eq!(tool_message.role(), Role::Tool);
    let results: Vec<&ToolResultBlock> = tool_message.blocks().collect();
    assert_eq!((results[0].id.as_str(), results[0].output.text().as_deref()), ("call_001", Some("Beijing: Sunny")));
}

#[test]
fn parses_agent_names() {
    for (name, text) in [("AgentA", "I think we should do this..."), ("AgentB", "I disagree because...")] {
        let read = message(&format!(
            r#"{{"name":"{name}","role":"ASSISTANT","content":[{{"type":"text","text":"{text}"}}]}}"#
        ));
        assert_eq!((read.name(), read.text_or_empty().as_str()), (name, text));
    }
}

#[test]
fn parses_message_with_sender() {
    let read = message(r#"{"name":"Alice","role":"USER","content":[{"type":"text","text":"Hello, AgentScope!"}]}"#);
    assert_eq!((read.name(), read.role(), read.text_or_empty().as_str()), ("Alice", Role::User, "Hello, AgentScope!"));
}

#[test]
fn parses_assistant_message_with_image() {
    let read = message(
        r#"{"name":"Assistant","role":"ASSISTANT","content":[{"type":"text","text":"Here is the image you requested:"},
        {"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"/9j/4AAQSkZ..."}}]}"#,
    );
    let image = read.images().next().unwrap();
    let Source::Base64(source) = &image.source else { panic!("{image:?}") };
    assert_eq!((source.media_type.as_str(), source.data.as_str()), ("image/jpeg", "/9j/4AAQSkZ..."));
    let read = message(
        r#"{"name":"Assistant","role":"ASSISTANT","content":[{"type":"text","text":"Processing image from URL:"},
        {"type":"image","source":{"type":"url","url":"https://example.com/image.jpg"}}]}"#,
    );
    assert_eq!((read.images().count(), read.text_or_empty().as_str()), (1, "Processing image from URL:"));
}

#[test]
fn parses_thinking_before_text() {
    let read = message(
        r#"{"name":"Reasoner","role":"ASSISTANT","content":[{"type":"thinking","thinking":"First, I need to understand the problem... Then I should break it down into steps..."},
        {"type":"text","text":"Based on my analysis, the answer is 42."}]}"#,
    );
    assert_eq!(read.text_or_empty(), "Based on my analysis, the answer is 42.");
    let thinking: Vec<&ThinkingBlock> = read.blocks().collect();
    assert!(thinking[0].thinking.starts_with("First, I need"));
}

#[test]
fn metadata_keeps_its_types() {
    let read = message(
        r#"{"name":"Assistant","role":"ASSISTANT","content":[{"type":"text","text":"Task completed"}],
        "metadata":{"task_id":"12345","priority":3,"tags":["important","urgent"]}}"#,
    );
    assert!(read.has_structured());
    assert_eq!(read.metadata().get("priority"), Some(&Json::from(3)));
    assert_eq!(read.metadata().get("tags").map(Json::as_raw), Some(r#"["important","urgent"]"#));
}

#[test]
fn parses_structured_output() {
    let text = r#"{"id":"m","name":"planner","role":"ASSISTANT","content":[],"metadata":{"_structured_output":
        {"goal":"g","steps":["a","b"],"estimatedHours":3}},"timestamp":null}"#;
    let read = message(text);
    let output = read.structured_output().unwrap();
    assert_eq!(output.get("goal").and_then(Json::as_str), Some("g"));
    assert_eq!(sorted(&written(&read)), sorted(text));
}

#[test]
fn renamed_copy_round_trips() {
    let read = message(r#"{"id":"m","name":"Alice","role":"USER","content":[{"type":"text","text":"Hi"}]}"#);
    let renamed = Msg::from_parts_lenient(MsgParts { name: "Bob".into(), ..read.into_parts() });
    assert!(written(&renamed).contains(r#""name":"Bob""#));
}

/// The complete example of the second page.
#[test]
fn parses_conversation() {
    let lines = [
        r#"{"name":"User","role":"USER","content":[{"type":"text","text":"What's the weather like?"}]}"#,
        r#"{"name":"Assistant","role":"ASSISTANT","content":[{"type":"thinking","thinking":"I need to call the weather API..."},{"type":"text","text":"Let me check the weather for you."}]}"#,
        r#"{"name":"Assistant","role":"ASSISTANT","content":[{"type":"tool_use","id":"call_001","name":"get_weather","arguments":{"location":"Beijing"}}]}"#,
        r#"{"name":"system","role":"TOOL","content":[{"type":"tool_result","id":"call_001","name":"get_weather","result":{"type":"text","text":"Sunny, 25°C"}}]}"#,
        r#"{"name":"Assistant","role":"ASSISTANT","content":[{"type":"text","text":"The weather in Beijing is sunny with 25°C."}],"metadata":{"temperature":25,"condition":"sunny","location":"Beijing"}}"#,
    ];
    let read: Vec<Msg> = lines.iter().map(|line| message(line)).collect();
    assert_eq!(read[0].text_or_empty(), "What's the weather like?");
    assert_eq!(read[1].blocks::<TextBlock>().count(), 1);
    assert_eq!(read[2].blocks::<ToolCallBlock>().next().unwrap().input, r#"{"location":"Beijing"}"#);
    assert_eq!(read[3].blocks::<ToolResultBlock>().next().unwrap().output.text().as_deref(), Some("Sunny, 25°C"));
    assert_eq!(read[4].metadata().get("temperature"), Some(&Json::from(25)));
    assert_eq!(read[4].text_or_empty(), "The weather in Beijing is sunny with 25°C.");
}

/// In Java 1, every role allows every block.
#[test]
fn roles_allow_any_block() {
    for text in [
        r#"{"id":"m","name":"s","role":"SYSTEM","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}],"metadata":{},"timestamp":"2026-01-02 03:04:05.678"}"#,
        r#"{"id":"m","name":"u","role":"USER","content":[{"type":"tool_result","id":"c","name":"f","output":[],"metadata":{}}],"metadata":{},"timestamp":"2026-01-02 03:04:05.678"}"#,
    ] {
        let read = message(text);
        assert_eq!(written(&read), text);
        assert_eq!(written(&Msg::from_json(&read.to_json()).unwrap()), text);
    }
}

/// Java 1 has no data and hint blocks. Media is written by its kind, and everything else as text.
#[test]
fn unsupported_values_round_trip() {
    let cases = [
        (
            r#"{"type":"data","id":"d","source":{"type":"base64","data":"AAAA","media_type":"audio/wav"},"name":null,"created_at":"","finished_at":null}"#,
            r#"{"type":"audio","source":{"type":"base64","media_type":"audio/wav","data":"AAAA"}"#,
        ),
        (
            r#"{"type":"data","id":"d","source":{"type":"url","url":"https://example.com/a.pdf","media_type":"application/pdf"},"name":"a","created_at":"","finished_at":null}"#,
            r#"{"type":"text","text":"https://example.com/a.pdf""#,
        ),
        (
            r#"{"type":"data","id":"d","source":{"type":"base64","data":"AAAA","media_type":"application/pdf"},"name":null,"created_at":"","finished_at":null}"#,
            r#"{"type":"text","text":"data:application/pdf;base64,AAAA""#,
        ),
        (
            r#"{"type":"hint","hint":"Be brief.","id":"h","source":"user","created_at":"","finished_at":""}"#,
            r#"{"type":"text","text":"Be brief.""#,
        ),
    ];
    for (native, java) in cases {
        let read = ContentBlock::from_json(native, "", "").unwrap();
        let mut out = String::new();
        write_block(&read, &mut out);
        assert!(out.starts_with(java), "{out}");
        assert_eq!(block(&out), read, "{out}");
    }
}

/// Edits between two conversions take precedence.
#[test]
fn edits_override_stored_fields() {
    let native = r#"{"type":"hint","hint":"Be brief.","id":"h","source":"user","created_at":"","finished_at":""}"#;
    let mut out = String::new();
    write_block(&ContentBlock::from_json(native, "", "").unwrap(), &mut out);
    let ContentBlock::Hint(hint) = block(&out.replace("Be brief.", "Be kind.")) else { panic!("{out}") };
    assert_eq!((hint.hint.text().as_deref(), hint.source.as_deref()), (Some("Be kind."), Some("user")));

    let given = r#"{"type":"tool_use","id":"c","name":"f","input":{},"content":"{}","metadata":{},"state":"pending"}"#;
    let ContentBlock::ToolCall(mut call) = block(given) else { panic!() };
    call.state = recount_message::ToolCallState::Finished;
    let mut out = String::new();
    write_block(&call.clone().into(), &mut out);
    assert!(!out.contains(r#""state":"pending""#), "{out}");
    let ContentBlock::ToolCall(again) = block(&out) else { panic!("{out}") };
    assert_eq!(again.state, call.state);
}
