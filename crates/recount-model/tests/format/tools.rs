//! Calls and results.

use recount_message::{
    Base64Source, ContentBlock, DataBlock, HintBlock, Msg, TextBlock, ToolCallBlock, ToolResultBlock, UnknownBlock,
};
use recount_model::Provider;
use recount_model::format::{Formatter, Media, RequestOptions, Tool, ToolMode};

use crate::check;

fn call(id: &str, input: &str) -> ToolCallBlock {
    ToolCallBlock::new(id, "look", input)
}

fn result(id: &str, text: &str) -> ToolResultBlock {
    ToolResultBlock::success(id, "look", text)
}

#[test]
fn tool_message_yields_all_results() {
    let messages = [
        Msg::assistant("Friday", (call("c1", "{}"), call("c2", "{}"))),
        Msg::tool("tools", [result("c1", "home"), result("c2", "away")]),
    ];
    check(
        &Formatter::new(Provider::DashScope),
        &messages,
        &[
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c1","content":"home","name":"look"}"#,
            r#"{"role":"tool","tool_call_id":"c2","content":"away","name":"look"}"#,
        ],
        &[],
    );
    check(
        &Formatter::new(Provider::Gemini),
        &messages,
        &[
            r#"{"role":"model","parts":[{"function_call":{"id":"c1","name":"look","args":{}}},{"function_call":{"id":"c2","name":"look","args":{}}}]}"#,
            r#"{"role":"user","parts":[{"function_response":{"id":"c1","name":"look","response":{"output":"home"}}},{"function_response":{"id":"c2","name":"look","response":{"output":"away"}}}]}"#,
        ],
        &[],
    );
}

#[test]
fn argument_numbers_keep_their_digits() {
    let input = r#"{"a": 25.0, "b": 12345678901234567890123, "c": 1.0E-4, "d": -0}"#;
    check(
        &Formatter::new(Provider::Ollama),
        &[Msg::assistant("Friday", (call("c1", input), result("c1", "home")))],
        &[
            r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"a":25.0,"b":12345678901234567890123,"c":1.0E-4,"d":-0}}}]}"#,
            r#"{"role":"tool","tool_name":"look","content":"home"}"#,
        ],
        &[],
    );
}

#[test]
fn truncated_call_is_sent_with_empty_arguments() {
    check(
        &Formatter::new(Provider::Anthropic),
        &[Msg::assistant("Friday", (call("c1", r#"{"ci"#), result("c1", "not run")))],
        &[
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"not run"}]}]}"#,
        ],
        &["c1: the arguments are not a JSON object; sent as `{}`"],
    );
}

#[test]
fn cut_blocks_are_dropped() {
    let cut = |mut block: TextBlock| {
        block.extra.insert("cut", true);
        block
    };
    let mut cut_call = call("c1", r#"{"at"#);
    cut_call.extra.insert("cut", true);
    let blocks: Vec<ContentBlock> = vec![
        cut(TextBlock::new("I sho")).into(),
        cut_call.into(),
        result("c1", "interrupted").into(),
        "I should.".into(),
    ];
    check(
        &Formatter::new(Provider::Ollama),
        &[Msg::assistant("Friday", blocks)],
        &[r#"{"role":"assistant","content":"I should."}"#],
        &[],
    );
}

#[test]
fn call_and_result_ids_are_mapped_together() {
    let blocks: Vec<ContentBlock> = vec![
        call("a.b", "{}").into(),
        call("a_b", "{}").into(),
        result("a_b", "second").into(),
        result("a.b", "first").into(),
    ];
    check(
        &Formatter::new(Provider::Anthropic),
        &[Msg::assistant("Friday", blocks)],
        &[
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a_b_2","name":"look","input":{}},{"type":"tool_use","id":"a_b","name":"look","input":{}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a_b","content":[{"type":"text","text":"second"}]},{"type":"tool_result","tool_use_id":"a_b_2","content":[{"type":"text","text":"first"}]}]}"#,
        ],
        &[],
    );
}

#[test]
fn missing_results_and_orphans_are_repaired() {
    let messages = [
        Msg::assistant("Friday", (call("c1", "{}"), HintBlock::new("Be quick."))),
        Msg::user("Alice", "Well?"),
        Msg::assistant("Friday", (result("c1", "home"), call("c2", "{}"), result("c3", "stray").without_name())),
    ];
    check(
        &Formatter::new(Provider::Ollama),
        &messages,
        &[
            r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{}}}]}"#,
            r#"{"role":"tool","tool_name":"look","content":"home"}"#,
            r#"{"role":"user","content":"Be quick."}"#,
            r#"{"role":"user","content":"Well?"}"#,
            r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{}}}]}"#,
            r#"{"role":"tool","tool_name":"look","content":"<system-reminder>The tool call was not finished, and its outcome is unknown.</system-reminder>"}"#,
            r#"{"role":"user","content":"[result of a tool]\nstray"}"#,
        ],
        &["c2: the call has no result; a placeholder was sent", "c3: the result has no call; it was sent as text"],
    );
}

#[test]
fn result_belongs_to_latest_call_with_its_id() {
    let messages = [
        Msg::assistant("Friday", call("call_0", r#"{"n":1}"#)),
        Msg::assistant("Friday", (call("call_0", r#"{"n":2}"#), result("call_0", "two"))),
    ];
    check(
        &Formatter::new(Provider::Ollama),
        &messages,
        &[
            r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"n":1}}}]}"#,
            r#"{"role":"tool","tool_name":"look","content":"<system-reminder>The tool call was not finished, and its outcome is unknown.</system-reminder>"}"#,
            r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"n":2}}}]}"#,
            r#"{"role":"tool","tool_name":"look","content":"two"}"#,
        ],
        &["call_0: the call has no result; a placeholder was sent"],
    );
}

#[test]
fn unknown_block_becomes_text() {
    let poll = UnknownBlock::new(recount_message::Object::from([("type", "poll"), ("id", "p1")]));
    check(
        &Formatter::new(Provider::OpenAi),
        &[Msg::assistant("Friday", ContentBlock::Unknown(poll))],
        &[
            r#"{"role":"assistant","name":"Friday","content":[{"type":"text","text":"[a block of type \"poll\", not supported by this provider]"}]}"#,
        ],
        &["p1: unknown block type `poll`; replaced by a text"],
    );
}

#[test]
fn result_images_follow_all_results() {
    let picture = DataBlock::new(Base64Source::new("png", "image/png")).with_id("p1");
    let blocks: Vec<ContentBlock> = vec![
        call("c1", "{}").into(),
        call("c2", "{}").into(),
        ToolResultBlock::success("c1", "look", picture).into(),
        result("c2", "nothing").into(),
    ];
    check(
        &Formatter::new(Provider::Xai),
        &[Msg::assistant("Friday", blocks)],
        &[
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c1","content":"<system-reminder>A(n) image file is returned and will be presented to you with the identifier [p1].</system-reminder>","name":"look"}"#,
            r#"{"role":"tool","tool_call_id":"c2","content":"nothing","name":"look"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"<system-reminder>The multimodal data and their identifiers are listed as follows:"},{"type":"text","text":"- p1 (image file): "},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}},{"type":"text","text":"</system-reminder>"}]}"#,
        ],
        &[],
    );
}

#[test]
fn prompt_mode_sends_calls_and_results_as_text() {
    let messages = [
        Msg::system("system", "Be brief."),
        Msg::user("Alice", "Look"),
        Msg::assistant(
            "Friday",
            ("Looking.", call("c1", r#"{"at": 1.0}"#), call("c2", ""), result("c1", "home"), result("c2", "\"away\"")),
        ),
    ];
    let formatter = Formatter::new(Provider::Ollama).tool_mode(ToolMode::Prompt);
    check(
        &formatter,
        &messages,
        &[
            r#"{"role":"system","content":"Be brief."}"#,
            r#"{"role":"user","content":"Look"}"#,
            r#"{"role":"assistant","content":"Looking.\n<tool_call>\n{\"name\":\"look\",\"arguments\":{\"at\":1.0}}\n</tool_call>\n<tool_call>\n{\"name\":\"look\",\"arguments\":{}}\n</tool_call>"}"#,
            r#"{"role":"user","content":"<tool_response>\n{\"name\":\"look\",\"content\":\"home\"}\n</tool_response>\n<tool_response>\n{\"name\":\"look\",\"content\":\"\\\"away\\\"\"}\n</tool_response>"}"#,
        ],
        &[],
    );
    let options = RequestOptions::new("gemma").tools([Tool::new("look").description("Look somewhere")]);
    let body = formatter.request(&messages, &Media::new(), &options).unwrap().body.to_string();
    assert!(body.contains(r#"Be brief.\n# Tools\n"#) && !body.contains(r#""tools""#), "{body}");
    assert!(body.contains(r#"<tools>\n{\"name\":\"look\",\"description\":\"Look somewhere\"}\n</tools>"#), "{body}");
}
