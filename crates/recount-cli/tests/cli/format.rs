//! `recount format`.

use std::fs;

use pretty_assertions::assert_eq;

use crate::run::{cases, directory, recount};

/// A system prompt, a question with an image and a video, a truncated tool call, and an answer.
const MESSAGES: &str = r#"[
  {"name": "system", "role": "system", "content": [{"type": "text", "text": "Be brief."}]},
  {"name": "Alice", "role": "user", "metadata": {"secret": 1}, "content": [
    {"type": "text", "text": "What are these?"},
    {"type": "data", "id": "picture", "source": {"type": "url", "url": "file:///photos/my%20cat.png", "media_type": "image/png"}},
    {"type": "data", "id": "film", "source": {"type": "base64", "data": "bXA0", "media_type": "video/mp4"}}]},
  {"name": "Friday", "role": "assistant", "content": [
    {"type": "tool_call", "id": "call.1", "name": "look", "input": "{\"at\": 1.0"},
    {"type": "tool_result", "id": "call.1", "name": "look", "output": "a cat"},
    {"type": "text", "text": "A cat."}]}
]"#;

const LINES: &str = r#"{"name": "AgentA", "role": "assistant", "content": [{"type": "text", "text": "View A"}]}

{"name": "AgentB", "role": "assistant", "content": [{"type": "text", "text": "View B"}]}
"#;

const BROKEN: &str =
    r#"[{"name": "Alice", "role": "user", "content": []}, {"name": "Bob", "role": "king", "content": []}]"#;

const EVENT: &str = r#"{"type":"REPLY_START","session_id":"s1","reply_id":"r1","name":"Friday"}"#;

cases! {
    openai: "format --provider openai --notes" < MESSAGES;
    anthropic: "format --provider anthropic --notes" < MESSAGES;
    gemini_whole: "format --provider gemini --whole" < MESSAGES;
    ollama_whole: "format --provider ollama --whole --model qwen3" < MESSAGES;
    without_images: "format --provider openai --input-types text/plain" < MESSAGES;
    multi_agent: "format --provider openai --multi-agent" < LINES;
    multi_agent_brackets: "format --provider dashscope --multi-agent=brackets" < LINES;
    nothing: "format --provider openai" < "[]";
    broken_message: "format --provider openai" < BROKEN;
    events_instead: "format --provider openai" < EVENT;
    whole_without_model: "format --provider openai --whole" < "[]";
    no_array: "format --provider openai" < "[1, 2";
    not_utf8: "format --provider openai" < b"[\"\xff\"]";
    unknown_provider: "format --provider acme";
    unknown_form: "format --provider openai --multi-agent=lines";
    no_provider: "format";
    missing_media: "format --provider openai --media no/such/file.json" < "[]";
    model_without_whole: "format --provider openai --model gpt" < "[]";
}

#[test]
fn media_map_is_looked_up_by_url_or_path() {
    let directory = directory("format_media");
    for place in ["file:///photos/my%20cat.png", "/photos/my cat.png"] {
        let map = directory.join("media.json");
        fs::write(&map, format!(r#"{{"{place}": "cG5n"}}"#)).unwrap();
        let run = recount(&format!("format --provider anthropic --media {}", map.display()), MESSAGES.as_bytes());
        assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""));
        assert!(run.stdout.contains(r#"{"type":"base64","media_type":"image/png","data":"cG5n"}"#), "{}", run.stdout);
    }
}

#[test]
fn request_omits_message_metadata() {
    let run = recount("format --provider openai --whole", MESSAGES.as_bytes());
    assert!(!run.stdout.contains("secret"));
}
