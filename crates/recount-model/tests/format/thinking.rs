//! Thinking that is sent back to its provider.

use pretty_assertions::assert_eq;
use recount_message::{ContentBlock, Json, Msg, Object, TextBlock, ThinkingBlock, ToolCallBlock};
use recount_model::Provider;
use recount_model::format::{Formatter, Media, RequestOptions};

use crate::check;

#[test]
fn gemini_signatures_are_sent() {
    let mut call = ToolCallBlock::new("c1", "look", "{}");
    call.extra.insert("thought_signature", "sig-call");
    let result = call.success("home");
    let mut text = TextBlock::new("Done");
    text.extra.insert("thought_signature", "sig-text");
    let thinking = ThinkingBlock::new("Hm.").with_extra("thought_signature", "sig-thought");
    let blocks: Vec<ContentBlock> = vec![thinking.into(), call.into(), result.into(), text.into()];
    check(
        &Formatter::new(Provider::Gemini),
        &[Msg::assistant("Friday", blocks)],
        &[
            r#"{"role":"model","parts":[{"thought":true,"text":"Hm.","thought_signature":"sig-thought"},{"function_call":{"id":"c1","name":"look","args":{}},"thought_signature":"sig-call"}]}"#,
            r#"{"role":"user","parts":[{"function_response":{"id":"c1","name":"look","response":{"output":"home"}}}]}"#,
            r#"{"role":"model","parts":[{"text":"Done","thought_signature":"sig-text"}]}"#,
        ],
        &[],
    );
}

#[test]
fn foreign_calls_get_a_gemini_placeholder_signature() {
    let call = ToolCallBlock::new("c1", "look", "{}");
    let messages = [Msg::assistant("Friday", (call.clone(), call.success("home")))];
    let signed = |model: &str| {
        let options = RequestOptions::new(model);
        let request = Formatter::new(Provider::Gemini).request(&messages, &Media::new(), &options).unwrap();
        request.body.as_raw().contains("skip_thought_signature_validator")
    };
    assert!(signed("gemini-3-pro-preview") && signed("models/gemini-3.1-flash"));
    assert!(!signed("gemini-2.5-pro") && !signed("gemma-3"));
}

#[test]
fn reasoning_item_is_sent_raw() {
    let raw = Object::parse(r#"{"type":"reasoning","id":"rs_1","summary":[],"score":1.0}"#).unwrap();
    let block = |thinking: &str| {
        ThinkingBlock::new(thinking)
            .with_extra("reasoning_item_id", "rs_1")
            .with_extra("reasoning_item_raw", raw.clone())
    };
    check(
        &Formatter::new(Provider::OpenAiResponses),
        &[Msg::assistant("Friday", (block("Hm."), block("Well."), "Done"))],
        &[
            r#"{"type":"reasoning","id":"rs_1","summary":[],"score":1.0}"#,
            r#"{"role":"assistant","content":[{"type":"output_text","text":"Done"}]}"#,
        ],
        &[],
    );
}

#[test]
fn unsigned_thinking_is_not_sent_to_anthropic() {
    let blocks = (
        ThinkingBlock::new("Hm.").with_extra("thought_signature", "sig"),
        ThinkingBlock::new("").with_extra("redacted_thinking_data", "secret"),
        "Done",
    );
    check(
        &Formatter::new(Provider::Anthropic),
        &[Msg::assistant("Friday", blocks)],
        &[
            r#"{"role":"assistant","content":[{"type":"redacted_thinking","data":"secret"},{"type":"text","text":"Done"}]}"#,
        ],
        &[],
    );
}

#[test]
fn reasoning_is_sent_only_with_its_output() {
    let reasoning = |id: &str| ThinkingBlock::new("Hm.").with_extra("reasoning_item_id", id);
    let mut call = ToolCallBlock::new("c1", "look", "{}");
    call.extra.insert("item_id", "fc_1");
    let blocks: Vec<ContentBlock> =
        vec![reasoning("rs_1").into(), call.clone().into(), call.success("home").into(), reasoning("rs_2").into()];
    check(
        &Formatter::new(Provider::OpenAiResponses),
        &[Msg::assistant("Friday", blocks), Msg::assistant("Friday", call)],
        &[
            r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"content":[]}"#,
            r#"{"type":"function_call","call_id":"c1","name":"look","arguments":"{}","id":"fc_1"}"#,
            r#"{"type":"function_call_output","call_id":"c1","output":"home"}"#,
            r#"{"type":"function_call","call_id":"c1_2","name":"look","arguments":"{}"}"#,
            r#"{"type":"function_call_output","call_id":"c1_2","output":"<system-reminder>The tool call was not finished, and its outcome is unknown.</system-reminder>"}"#,
        ],
        &["c1: the call has no result; a placeholder was sent"],
    );
}

#[test]
fn reasoning_keeps_its_position_between_calls() {
    let reasoning = |id: &str, said: &str| ThinkingBlock::new(said).with_extra("reasoning_item_id", id);
    let call = |id: &str, item: &str| {
        let mut call = ToolCallBlock::new(id, "look", "{}");
        call.extra.insert("item_id", item);
        call
    };
    for said in ["", "Hm."] {
        let blocks: Vec<ContentBlock> = vec![
            reasoning("rs_1", said).into(),
            call("c1", "fc_1").into(),
            reasoning("rs_2", said).into(),
            call("c2", "fc_2").into(),
            call("c1", "").success("home").into(),
            call("c2", "").success("away").into(),
        ];
        let formatted =
            Formatter::new(Provider::OpenAiResponses).format(&[Msg::assistant("Friday", blocks)], &Media::new());
        let kind = |item: &Json| {
            let item = item.to_object().unwrap();
            [item.get("type"), item.get("id")]
                .map(|value| value.and_then(Json::as_str).map(str::to_owned).unwrap_or_default())
                .join(" ")
        };
        let kinds: Vec<String> = formatted.messages.iter().map(kind).collect();
        let expected = [
            "reasoning rs_1",
            "function_call fc_1",
            "reasoning rs_2",
            "function_call fc_2",
            "function_call_output ",
            "function_call_output ",
        ];
        assert_eq!(kinds, expected);
    }
}
