//! Creating messages.

use pretty_assertions::assert_eq;
use recount_message::{
    Base64Source, Content, ContentBlock, DataBlock, FinishedReason, GenerateReason, Json, MediaBlock, Msg, Object,
    Role, TextBlock, ThinkingBlock, ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState, Usage,
};
use serde_json::json;

use crate::support::{at, json};

fn types(message: &Msg) -> Vec<String> {
    message.content().iter().map(|block| block.type_name().to_owned()).collect()
}

#[test]
fn a_string_becomes_one_text_block() {
    for message in [
        Msg::user("user", "What's in this image?"),
        Msg::assistant("agent", "What's in this image?"),
        Msg::system("system", "What's in this image?"),
        Msg::builder().text_content("What's in this image?").build().unwrap(),
    ] {
        let [ContentBlock::Text(block)] = message.content() else { panic!("{message:?}") };
        assert_eq!(block.text, "What's in this image?");
    }
}

#[test]
fn each_role_has_its_constructor() {
    for (message, role) in [
        (Msg::user("n", "t"), Role::User),
        (Msg::assistant("n", "t"), Role::Assistant),
        (Msg::system("n", "t"), Role::System),
        (Msg::tool("n", ToolResultBlock::success("c", "t", "ok")), Role::Tool),
    ] {
        assert_eq!((message.role(), message.name()), (role, "n"));
    }
}

#[test]
fn empty_message_can_have_given_id() {
    let message = Msg::assistant("Friday", []).with_id("reply-1");
    assert_eq!((message.id(), message.content()), ("reply-1", &[][..]));
}

#[test]
fn a_user_message_is_made_of_text_and_data() {
    let image = DataBlock::new(Base64Source::new(b"\x89PNG\r\n\x1a\n", "image/png"));
    let message = Msg::user("user", (TextBlock::new("Describe this image:"), image.clone()));
    assert_eq!(types(&message), ["text", "data"]);

    let as_list: Vec<MediaBlock> = vec!["Describe this image:".into(), image.into()];
    assert_eq!(types(&Msg::user("user", as_list)), ["text", "data"]);
}

#[test]
fn a_system_message_is_made_of_text_blocks() {
    let message = Msg::system("system", ("You are Friday.", "Be brief."));
    assert_eq!(message.text().as_deref(), Some("You are Friday.\nBe brief."));
    let collected: Content<TextBlock> = ["You are Friday.", "Be brief."].into_iter().collect();
    assert_eq!(Msg::system("system", collected).text(), message.text());
}

#[test]
fn one_assistant_message_holds_thinking_text_a_call_and_its_result() {
    let message = Msg::assistant(
        "Friday",
        (
            ThinkingBlock::new("I should invoke a tool to search for the weather."),
            TextBlock::new("Let me search the weather in Beijing."),
            ToolCallBlock::new("tool_call_1", "weather_search", r#"{"city": "Beijing"}"#)
                .with_state(ToolCallState::Finished),
            ToolResultBlock::new("tool_call_1", "weather_search", "Sunny, 25°C.", ToolResultState::Success),
        ),
    );
    assert_eq!(types(&message), ["thinking", "text", "tool_call", "tool_result"]);
    assert_eq!(message.call("tool_call_1").unwrap().state, ToolCallState::Finished);
    assert_eq!(message.result_of("tool_call_1").unwrap().state, ToolResultState::Success);
}

#[test]
fn the_builder_sets_every_field() {
    let message = Msg::builder()
        .id("m1")
        .name("Assistant")
        .role(Role::Assistant)
        .content(TextBlock::stamped("t1", at(1), "Task completed"))
        .metadata([
            ("task_id", Json::from("12345")),
            ("priority", Json::from(3)),
            ("tags", Json::from(["important", "urgent"])),
        ])
        .created_at(at(1))
        .finished_at(at(2))
        .usage(Usage::new(10, 2))
        .generate_reason(GenerateReason::ModelStop)
        .build()
        .unwrap();
    assert_eq!(
        json(&message),
        json!({
            "name": "Assistant",
            "content": [{"type": "text", "text": "Task completed", "id": "t1", "created_at": at(1), "finished_at": null}],
            "role": "assistant",
            "id": "m1",
            "metadata": {
                "task_id": "12345",
                "priority": 3,
                "tags": ["important", "urgent"],
                "agentscope_generate_reason": "MODEL_STOP",
            },
            "created_at": at(1),
            "usage": {
                "input_tokens": 10,
                "output_tokens": 2,
                "cache_input_tokens": 0,
                "cache_creation_input_tokens": 0,
            },
            "finished_at": at(2),
            "finished_reason": "completed",
            "structured_output": null,
            "error": null,
        })
    );
    assert_eq!(message.finished_reason(), Some(FinishedReason::Completed));
}

#[test]
fn text_content_sets_one_text_block() {
    let block = TextBlock::new("Hello").with_id("t1");
    let short = Msg::builder().text_content("Hello").build().unwrap();
    let long = Msg::builder().content(block).build().unwrap();
    assert_eq!((short.text(), short.content().len()), (long.text(), long.content().len()));
}

#[test]
fn a_copy_may_be_renamed() {
    let message = Msg::user("Alice", "Hello").with_metadata([("priority", 3)]);
    let renamed = message.to_builder().name("Bob").build().unwrap();
    assert_eq!(renamed, message.clone().with_name("Bob"));
    assert_eq!((message.name(), renamed.name()), ("Alice", "Bob"));
    assert_eq!(renamed.to_builder().name("Alice").build().unwrap(), message);
}

#[test]
fn block_constructors_take_required_fields() {
    let image = DataBlock::from_url("https://example.com/img")
        .unwrap()
        .with_id("d1")
        .with_name("img")
        .with_media_type("image/webp");
    assert_eq!((image.id.as_str(), image.name.as_deref(), image.media_type()), ("d1", Some("img"), "image/webp"));
    let result = ToolResultBlock::success("c", "t", "ok").with_metadata([("took", 3)]);
    assert_eq!(result.metadata, Object::from([("took", 3)]));
}
