//! Roles and the blocks that they allow.

use pretty_assertions::assert_eq;
use recount_message::check::{Checker, Finding, Severity};
use recount_message::{
    ContentBlock, DataBlock, DecodeErrorKind, HintBlock, LegacyMedia, Msg, MsgParts, Role, TextBlock, ThinkingBlock,
    ToolCallBlock, ToolResultBlock,
};
use serde_json::json;

use crate::support::{block, block_json, content, json};

fn one_of_each() -> [ContentBlock; 6] {
    [
        TextBlock::new("Hello").into(),
        DataBlock::from_bytes(b"\x89PNG\r\n\x1a\n").into(),
        ThinkingBlock::new("Hm.").into(),
        ToolCallBlock::new("c", "search", "{}").into(),
        ToolResultBlock::success("c", "search", "found").into(),
        HintBlock::new("Hurry.").into(),
    ]
}

/// Builds and parses a message of each block, and compares which blocks are allowed.
#[track_caller]
fn check_allowed(role: Role, allowed: &[&str]) {
    for block in one_of_each() {
        let name = block.type_name();
        let text = format!(
            r#"{{"name":"n","role":"{role}","id":"m","created_at":"","content":[{}]}}"#,
            block_json(block.clone())
        );
        let read = Msg::from_json(&text);
        let built = Msg::builder().role(role).block(block.clone()).build();
        assert_eq!(built.is_ok(), allowed.contains(&name), "a built {role} message with a {name} block");
        assert_eq!(read.is_ok(), allowed.contains(&name), "a {role} message with a {name} block in JSON");
        assert_eq!(role.allows(&block), allowed.contains(&name));
    }
}

#[test]
fn a_user_message_holds_text_and_data_only() {
    check_allowed(Role::User, &["text", "data"]);
}

#[test]
fn a_system_message_holds_text_only() {
    check_allowed(Role::System, &["text"]);
}

#[test]
fn an_assistant_message_holds_every_block() {
    check_allowed(Role::Assistant, &["text", "data", "thinking", "tool_call", "tool_result", "hint"]);
}

#[test]
fn a_user_message_refuses_a_tool_call_in_json() {
    let text = r#"{"name":"n","role":"user","id":"m","created_at":"","content":[
        {"type":"text","text":"Hello"},
        {"type":"tool_call","id":"c","name":"search","input":"{}"}]}"#;
    let error = Msg::from_json(text).unwrap_err();
    assert_eq!((error.kind(), error.path()), (DecodeErrorKind::Rule, "content[1]"));
    assert_eq!(error.to_string(), "`content[1]`: a user message may not hold a tool_call block");
}

#[test]
fn builder_error_names_disallowed_block() {
    let error = Msg::builder().role(Role::System).content(one_of_each()).build().unwrap_err();
    assert_eq!((error.role, error.index, error.block.as_str()), (Role::System, 1, "data"));
    assert_eq!(error.to_string(), "`content[1]`: a system message may not hold a data block");
}

#[test]
fn an_assistant_may_hold_images_and_tool_results() {
    let image = DataBlock::from_url("https://example.com/image.jpg").unwrap();
    let message = Msg::assistant(
        "Friday",
        ("Here:", image, ToolCallBlock::new("c", "t", "{}"), ToolResultBlock::success("c", "t", "ok")),
    );
    assert_eq!((message.images().count(), message.blocks::<ToolResultBlock>().count()), (1, 1));
}

#[test]
fn a_tool_message_is_made_of_tool_results() {
    let results =
        [ToolResultBlock::success("c1", "get_weather", "Sunny"), ToolResultBlock::error("c2", "search", "no")];
    let message = Msg::tool("system", results);
    assert_eq!((message.role(), message.blocks::<ToolResultBlock>().count()), (Role::Tool, 2));
}

#[test]
fn a_tool_message_is_an_assistants_with_a_mark_in_json() {
    let message = Msg::tool("system", ToolResultBlock::success("c1", "get_weather", "Sunny"));
    let written = json(&message);
    assert_eq!(written["role"], "assistant");
    assert_eq!(written["metadata"], json!({"recount": {"role": "tool"}}));
    assert_eq!(Msg::from_json(&message.to_json()).unwrap(), message);
}

#[test]
fn a_tool_message_with_other_blocks_is_read_and_reported() {
    let text = r#"{"name":"system","role":"tool","id":"m","created_at":"2026-01-01T00:00:00Z","content":[
        {"type":"text","text":"The tool says:"},
        {"type":"tool_result","id":"c","name":"search","output":"found","state":"success"}]}"#;
    let message = Msg::from_json(text).unwrap();
    assert_eq!((message.role(), message.content().len()), (Role::Tool, 2));
    let expected = Finding {
        severity: Severity::Error,
        code: "role",
        message: "`content[0]`: a tool message may not hold a text block".to_owned(),
    };
    assert_eq!(Checker::new().message(&message), [expected]);
}

#[test]
fn disallowed_blocks_of_other_implementations_are_preserved_and_reported() {
    let thinking = Msg::assistant("Alice", ThinkingBlock::new("Let me see.").with_id("t")).into_parts();
    for role in [Role::User, Role::System] {
        let message = Msg::from_parts_lenient(MsgParts { role, ..thinking.clone() });
        let written = json(&message);
        assert_eq!(
            (&written["role"], &written["metadata"]["recount"]["role"]),
            (&json!("assistant"), &json!(role.as_str()))
        );
        assert_eq!(Msg::from_json(&message.to_json()).unwrap(), message);
        let findings = Checker::new().message(&message);
        assert_eq!(findings[0].message, format!("`content[0]`: a {role} message may not hold a thinking block"));
        assert!(Msg::from_parts(message.into_parts()).is_err());
    }
}

#[test]
fn unneeded_role_extension_is_removed() {
    let text = r#"{"name":"Alice","role":"assistant","id":"m","created_at":"2026-01-01T00:00:00Z","content":[],
        "metadata":{"recount":{"role":"user"}}}"#;
    let message = Msg::from_json(text).unwrap();
    assert_eq!((message.role(), message.metadata().to_json()), (Role::User, "{}".to_owned()));
}

#[test]
fn legacy_media_are_data_blocks_with_a_mark() {
    let photo =
        DataBlock::from_url("https://example.com/photo.jpg").unwrap().with_id("d").into_legacy(LegacyMedia::Image);
    let message = Msg::user("Alice", ("What is this image?", photo));
    let mut written = content(&message);
    let written = written[1].as_object_mut().unwrap();
    written.remove("created_at");
    assert_eq!(
        json!(written),
        json!({
            "type": "data",
            "id": "d",
            "source": {"type": "url", "url": "https://example.com/photo.jpg", "media_type": "image/jpeg"},
            "name": null,
            "finished_at": null,
            "recount": {"legacy": "image"},
        })
    );
    let read = Msg::from_json(&message.to_json()).unwrap();
    assert_eq!(read.first::<DataBlock>().unwrap().legacy(), Some(LegacyMedia::Image));
}

#[test]
fn a_block_of_an_unknown_type_is_kept() {
    let text = r#"{"type":"hologram","id":"h","depth":3.0}"#;
    let unknown = block(text);
    assert_eq!((unknown.type_name(), unknown.id()), ("hologram", "h"));
    assert_eq!(block_json(unknown), text);
}

#[test]
fn a_user_message_takes_no_events() {
    let mut message = Msg::user("Alice", "Hello").with_id("m");
    let text = r#"{"type":"TOOL_CALL_START","reply_id":"m","tool_call_id":"c","tool_call_name":"t"}"#;
    let before = message.clone();
    let outcome = message.append_event(&recount_message::Event::from_json(text).unwrap());
    assert_eq!(outcome.reason().unwrap().code(), "not_a_reply");
    assert_eq!(message, before);
}

#[test]
fn a_tool_message_is_built_from_results_only() {
    let error = Msg::builder().role(Role::Tool).text_content("Hello").build().unwrap_err();
    assert_eq!(error.to_string(), "`content[0]`: a tool message may not hold a text block");
}

#[test]
fn the_tool_role_survives_any_metadata() {
    let message = Msg::tool("s", ToolResultBlock::success("c", "t", "x"))
        .with_metadata_entry("recount", recount_message::Object::new())
        .with_metadata([("a", 1)]);
    assert_eq!(Msg::from_json(&message.to_json()).unwrap().role(), Role::Tool);
}
