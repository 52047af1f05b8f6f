//! Full requests without a counterpart in the published package.

use pretty_assertions::assert_eq;
use recount_message::{Json, Msg, Object, ThinkingBlock};
use recount_model::Provider;
use recount_model::format::{
    Cache, Formatter, Media, RequestError, RequestOptions, StructuredMethod, Thinking, Tool, ToolChoice,
};

use crate::body;

fn schema() -> Json {
    Json::parse(r#"{"type":"object","properties":{"age":{"type":"integer","minimum":0.0}}}"#).unwrap()
}

#[track_caller]
fn check(provider: Provider, options: &RequestOptions, expected: &str) {
    assert_eq!(body(provider, options), expected);
}

#[test]
fn native_structured_output() {
    let options = RequestOptions::new("m").structured(schema(), StructuredMethod::Native).unstreamed();
    let form = r#"{"type":"object","properties":{"age":{"type":"integer","minimum":0.0}}}"#;
    check(
        Provider::Xai,
        &options,
        &format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"Hello"}}],"response_format":{{"type":"json_schema","json_schema":{{"name":"structured_output","schema":{form}}}}},"stream":false}}"#
        ),
    );
    check(
        Provider::OpenAiResponses,
        &options,
        &format!(
            r#"{{"model":"m","input":[{{"role":"user","content":[{{"type":"input_text","text":"Hello"}}]}}],"text":{{"format":{{"type":"json_schema","name":"structured_output","schema":{form}}}}},"stream":false}}"#
        ),
    );
    check(
        Provider::Ollama,
        &options,
        &format!(r#"{{"model":"m","messages":[{{"role":"user","content":"Hello"}}],"format":{form},"stream":false}}"#),
    );
    check(
        Provider::Gemini,
        &options,
        r#"{"contents":[{"role":"user","parts":[{"text":"Hello"}]}],"generation_config":{"response_mime_type":"application/json","response_schema":{"type":"OBJECT","properties":{"age":{"type":"INTEGER","minimum":0.0}}}}}"#,
    );
}

#[test]
fn cache_marks_follow_the_stable_prefix() {
    let messages = [
        Msg::system("system", "Be brief."),
        Msg::user("Alice", "One"),
        Msg::user("Alice", "Two"),
        Msg::assistant("Friday", ThinkingBlock::new("Hm.").with_extra("signature", "sig")),
        Msg::user("Alice", "Three"),
    ];
    let options = RequestOptions::new("m")
        .tools([Tool::new("a"), Tool::new("b")])
        .cache(Cache::Marked { key: Some("s1".into()) });
    let body =
        |provider| Formatter::new(provider).request(&messages, &Media::new(), &options).unwrap().body.to_string();
    assert_eq!(
        body(Provider::Anthropic),
        concat!(
            r#"{"model":"m","system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"#,
            r#""messages":[{"role":"user","content":[{"type":"text","text":"One"}]},"#,
            r#"{"role":"user","content":[{"type":"text","text":"Two","cache_control":{"type":"ephemeral"}}]},"#,
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"sig"}]},"#,
            r#"{"role":"user","content":[{"type":"text","text":"Three","cache_control":{"type":"ephemeral"}}]}],"#,
            r#""tools":[{"name":"a","description":"","input_schema":{"type":"object","properties":{}}},"#,
            r#"{"name":"b","description":"","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}}],"#,
            r#""max_tokens":8192,"stream":true}"#,
        ),
    );
    assert!(body(Provider::DashScope).contains(r#""text":"Three","cache_control":{"type":"ephemeral"}"#));
    assert!(body(Provider::OpenAi).contains(r#""prompt_cache_key":"s1""#));
    assert!(!body(Provider::Moonshot).contains("cache"));
}

#[test]
fn extra_fields_override() {
    let extra = Object::parse(r#"{"temperature":0.70,"generation_config":{"seed":1},"stream":false}"#).unwrap();
    let mut options = RequestOptions::new("m").extra(extra);
    options.temperature = Some(0.5);
    check(
        Provider::Gemini,
        &options,
        r#"{"contents":[{"role":"user","parts":[{"text":"Hello"}]}],"generation_config":{"temperature":0.5,"seed":1},"temperature":0.70,"stream":false}"#,
    );
}

#[test]
fn default_thinking_sends_no_option() {
    for provider in Provider::ALL {
        let body = body(provider, &RequestOptions::new("m"));
        assert!(!body.contains("think"), "{body}");
    }
}

#[test]
fn anthropic_budget_is_below_max_tokens() {
    let mut options = RequestOptions::new("m").thinking(Thinking::On { budget: Some(9000) }).max_tokens(4096);
    options.temperature = Some(0.5);
    check(
        Provider::Anthropic,
        &options,
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Hello"}]}],"max_tokens":10024,"thinking":{"type":"enabled","budget_tokens":9000},"stream":true}"#,
    );
}

#[test]
fn without_parallel_tool_calls() {
    let options = RequestOptions::new("m").tools([Tool::new("look")]).without_parallel_tool_calls();
    assert!(
        body(Provider::Anthropic, &options)
            .contains(r#""tool_choice":{"type":"auto","disable_parallel_tool_use":true}"#)
    );
    assert!(body(Provider::OpenAi, &options).contains(r#""parallel_tool_calls":false"#));
}

#[test]
fn unknown_tool_choice_is_an_error() {
    let options = RequestOptions::new("m").tools([Tool::new("look")]).tool_choice(ToolChoice::named("book"));
    let error = Formatter::new(Provider::OpenAi).request(&[], &Media::new(), &options).unwrap_err();
    assert_eq!(error, RequestError::UnknownTool { name: "book".into(), known: "look".into() });
    assert_eq!(error.to_string(), "`tool_choice`: there is no tool `book`; the tools are look");
}
