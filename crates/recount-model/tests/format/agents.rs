//! Conversations with several agents.

use pretty_assertions::assert_eq;
use recount_message::{Base64Source, DataBlock, HintBlock, Json, Msg, ToolCallBlock};
use recount_model::Provider;
use recount_model::format::{Formatter, Media, MultiAgent};

use crate::check;

fn talk() -> Vec<Msg> {
    let call = ToolCallBlock::new("c1", "look", "{}");
    let picture = DataBlock::new(Base64Source::new("png", "image/png"));
    vec![
        Msg::system("system", "You are Friday."),
        Msg::assistant("AgentA", ("View A", picture)),
        Msg::assistant("AgentB", ("View B", HintBlock::new("Be quick."), "Really.")),
        Msg::assistant("Friday", (call.clone(), call.success("home"))),
        Msg::assistant("AgentA", "Thanks"),
    ]
}

#[test]
fn brackets_form_one_user_message_each() {
    check(
        &Formatter::new(Provider::OpenAi).multi_agent(MultiAgent::Brackets),
        &talk(),
        &[
            r#"{"role":"system","content":"You are Friday."}"#,
            r#"{"role":"user","content":[{"type":"text","text":"[AgentA]: View A"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]}"#,
            r#"{"role":"user","content":"[AgentB]: View B"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Be quick."}]}"#,
            r#"{"role":"user","content":"[AgentB]: Really."}"#,
            r#"{"role":"assistant","name":"Friday","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c1","content":"home","name":"look"}"#,
            r#"{"role":"user","content":"[AgentA]: Thanks"}"#,
        ],
        &[],
    );
}

#[test]
fn history_places_tags_hints_and_images() {
    check(
        &Formatter::new(Provider::Anthropic).multi_agent(MultiAgent::History).history_prompt("So far:\n"),
        &talk(),
        &[
            r#"{"role":"system","content":[{"type":"text","text":"You are Friday."}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"So far:\n<history>\nAgentA: View A"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}},{"type":"text","text":"AgentB: View B\n</history>"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Be quick."}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"<history>\nAgentB: Really.\n</history>"}]}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"home"}]}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"<history>\nAgentA: Thanks\n</history>"}]}"#,
        ],
        &[],
    );
}

#[test]
fn xai_uses_chat_completions() {
    check(
        &Formatter::new(Provider::Xai).multi_agent(MultiAgent::History),
        &[Msg::user("Alice", ("One", "Two")), Msg::assistant("Bob", [])],
        &[
            r##"{"role":"user","content":"# Conversation History\nThe content between <history></history> tags contains your conversation history\n<history>\nAlice: One Two\nBob:\n</history>"}"##,
        ],
        &[],
    );
}

#[test]
fn late_system_message_becomes_a_user_message() {
    check(
        &Formatter::new(Provider::Anthropic),
        &[Msg::system("system", "One."), Msg::user("Alice", "Hello"), Msg::system("system", "Two.").with_id("m3")],
        &[
            r#"{"role":"system","content":[{"type":"text","text":"One."}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Hello"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"<system-reminder>Two.</system-reminder>"}]}"#,
        ],
        &["m3: a system message inside the conversation was sent as a user message"],
    );
}

#[test]
fn roles_are_mapped() {
    let call = ToolCallBlock::new("c1", "look", "{}");
    let messages = [
        Msg::system("system", "Be brief."),
        Msg::user("Alice", "Look"),
        Msg::assistant("Friday", call.clone()),
        Msg::tool("look", call.success("home")),
    ];
    for provider in [Provider::DashScope, Provider::OpenAi] {
        let formatted = Formatter::new(provider).format(&messages, &Media::new());
        let role = |message: &Json| {
            message.to_object().and_then(|message| message.get("role")?.as_str().map(str::to_owned)).unwrap()
        };
        let roles: Vec<String> = formatted.messages.iter().map(role).collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    }
}
