//! Accessors of messages.

use pretty_assertions::assert_eq;
use recount_message::{
    ContentBlock, DataBlock, HintBlock, LegacyMedia, Msg, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock,
};

/// A message with two texts, a call and its result.
fn message() -> Msg {
    Msg::assistant(
        "Friday",
        (
            ThinkingBlock::new("Hm."),
            "Let me look.",
            ToolCallBlock::new("c1", "search", "{}"),
            ToolResultBlock::success("c1", "search", "found"),
            "Here it is.",
        ),
    )
}

#[test]
fn text_is_joined_by_line_breaks() {
    assert_eq!(message().text().as_deref(), Some("Let me look.\nHere it is."));
}

#[test]
fn text_can_be_joined_by_other_separators() {
    assert_eq!(message().text_joined_by(" ").as_deref(), Some("Let me look. Here it is."));
    assert_eq!(message().text_joined_by("").as_deref(), Some("Let me look.Here it is."));
}

#[test]
fn text_is_none_without_text_blocks() {
    assert_eq!(Msg::assistant("Friday", []).text(), None);
    assert_eq!(Msg::assistant("Friday", ThinkingBlock::new("Hm.")).text_joined_by(" "), None);
}

#[test]
fn text_of_an_empty_text_block_is_empty() {
    assert_eq!(Msg::assistant("Friday", "").text().as_deref(), Some(""));
    assert_eq!(Msg::assistant("Friday", ("", "")).text().as_deref(), Some("\n"));
}

#[test]
fn text_or_empty_is_empty_without_text_blocks() {
    assert_eq!(Msg::assistant("Friday", []).text_or_empty(), "");
    assert_eq!(message().text_or_empty(), "Let me look.\nHere it is.");
}

#[test]
fn text_excludes_hints_and_results() {
    let hint = HintBlock::new(TextBlock::new("Hurry."));
    let result = ToolResultBlock::success("c1", "search", TextBlock::new("found"));
    assert_eq!(Msg::assistant("Friday", (hint, result)).text(), None);
}

#[test]
fn blocks_are_found_by_their_wire_name() {
    let message = message();
    let names: Vec<&str> = message
        .blocks_named(&["tool_call"])
        .map(|block| match block {
            ContentBlock::ToolCall(call) => call.name.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["search"]);
    assert_eq!(message.blocks_named(&["text"]).count(), 2);
    assert_eq!(message.blocks_named(&["hint"]).count(), 0);
}

#[test]
fn blocks_are_found_by_several_wire_names_at_once() {
    let types: Vec<String> =
        message().blocks_named(&["tool_result", "tool_call"]).map(|block| block.type_name().to_owned()).collect();
    assert_eq!(types, ["tool_call", "tool_result"]);
}

#[test]
fn java_name_of_tool_calls_is_accepted() {
    assert_eq!(message().blocks_named(&["tool_use"]).count(), 1);
    assert!(message().has_named(&["tool_use"]));
}

#[test]
fn blocks_are_found_by_their_rust_type() {
    let message = message();
    let texts: Vec<&str> = message.blocks::<TextBlock>().map(|block| block.text.as_str()).collect();
    assert_eq!(texts, ["Let me look.", "Here it is."]);
}

#[test]
fn the_first_block_of_a_type_is_none_when_there_is_none() {
    let message = message();
    assert_eq!(message.first::<TextBlock>().map(|block| block.text.as_str()), Some("Let me look."));
    assert_eq!(message.first::<DataBlock>(), None);
}

#[test]
fn has_reports_blocks_of_a_type() {
    let message = message();
    assert!(message.has::<ToolResultBlock>() && message.has_named(&["tool_result"]));
    assert!(!message.has::<DataBlock>() && !message.has_named(&["data"]));
    assert!(message.has_named(&["data", "text"]));
}

#[test]
fn images_are_found_by_media_type_and_as_legacy_blocks() {
    let url = |url: &str| DataBlock::from_url(url).unwrap();
    let message = Msg::user(
        "Alice",
        (
            url("https://example.com/a.png"),
            url("https://example.com/photo").into_legacy(LegacyMedia::Image),
            url("https://example.com/b.mp3"),
            url("https://example.com/clip").into_legacy(LegacyMedia::Video),
            url("https://example.com/paper.pdf"),
        ),
    );
    let urls = |blocks: Vec<&DataBlock>| blocks.iter().map(|block| block.media_type().to_owned()).collect::<Vec<_>>();
    assert_eq!(urls(message.images().collect()), ["image/png", "application/octet-stream"]);
    assert_eq!(urls(message.audios().collect()), ["audio/mpeg"]);
    assert_eq!(message.videos().count(), 1);
    assert_eq!(message.blocks_named(&["image", "video"]).count(), 2);
}

#[test]
fn content_can_be_filtered_like_any_list() {
    let message = message();
    let calls = message.content().iter().filter(|block| matches!(block, ContentBlock::ToolCall(_))).count();
    assert_eq!(calls, 1);
    assert!(message.content().iter().any(|block| block.type_name() == "tool_call"));
}

#[test]
fn metadata_can_be_read_by_key() {
    let message = Msg::user("Alice", "Hello").with_metadata([("task_id", "12345")]);
    assert_eq!(message.metadata().get("task_id").unwrap().as_str(), Some("12345"));
    assert_eq!(message.metadata().get("other"), None);
}
