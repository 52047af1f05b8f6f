//! Why a model stopped.

use pretty_assertions::assert_eq;
use recount_message::{EventKind, ModelFinishedReason};
use recount_model::Provider;
use recount_model::decode::{CallErrorKind, Finish};

use crate::support::{chat_deltas, decode, sse};

#[test]
fn every_reason_of_every_provider() {
    let chat = |reason: &str| chat_deltas(&[r#""content":"x""#], reason);
    for (reason, finish) in [
        ("stop", Finish::Stop),
        ("length", Finish::Length),
        ("content_filter", Finish::Filter),
        ("tool_calls", Finish::ToolCalls),
        ("function_call", Finish::ToolCalls),
        ("bored", Finish::Other),
    ] {
        let end = decode(Provider::OpenAi, &chat(reason)).end;
        assert_eq!((end.finish, end.finish_reason.as_deref(), end.error), (finish, Some(reason), None));
    }
    for (reason, finish) in [
        ("end_turn", Finish::Stop),
        ("stop_sequence", Finish::Stop),
        ("tool_use", Finish::ToolCalls),
        ("max_tokens", Finish::Length),
        ("model_context_window_exceeded", Finish::Length),
        ("refusal", Finish::Refusal),
        ("pause_turn", Finish::Other),
    ] {
        let body = format!(r#"{{"type":"message","content":[{{"type":"text","text":"x"}}],"stop_reason":"{reason}"}}"#);
        let end = decode(Provider::Anthropic, &body).end;
        assert_eq!((end.finish, end.finish_reason.as_deref(), end.error), (finish, Some(reason), None));
    }
    for (reason, finish) in [
        ("STOP", Finish::Stop),
        ("MAX_TOKENS", Finish::Length),
        ("SAFETY", Finish::Filter),
        ("PROHIBITED_CONTENT", Finish::Filter),
        ("MALFORMED_FUNCTION_CALL", Finish::Other),
    ] {
        let body =
            format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"x"}}]}},"finishReason":"{reason}"}}]}}"#);
        let end = decode(Provider::Gemini, &body).end;
        assert_eq!((end.finish, end.finish_reason.as_deref(), end.error), (finish, Some(reason), None));
    }
    for (details, finish) in [
        (r#""status":"completed""#, Finish::Stop),
        (r#""status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}"#, Finish::Length),
        (r#""status":"incomplete","incomplete_details":{"reason":"content_filter"}"#, Finish::Filter),
        (r#""status":"incomplete","incomplete_details":null"#, Finish::Other),
    ] {
        let end = decode(Provider::OpenAiResponses, &format!(r#"{{"object":"response",{details}}}"#)).end;
        assert_eq!((end.finish, end.error), (finish, None));
    }
    for (reason, finish) in [("stop", Finish::Stop), ("length", Finish::Length), ("unload", Finish::Other)] {
        let line = format!(r#"{{"message":{{"content":"x"}},"done":true,"done_reason":"{reason}"}}"#);
        assert_eq!(decode(Provider::Ollama, &line).end.finish, finish);
    }
}

#[test]
fn a_prompt_that_is_blocked_is_filtered() {
    let end = decode(Provider::Gemini, r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#).end;
    assert_eq!((end.finish, end.finish_reason.as_deref(), end.error), (Finish::Filter, Some("SAFETY"), None));
}

#[test]
fn a_model_that_stops_to_call_a_tool_calls_a_tool() {
    let line =
        r#"{"message":{"tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":true,"done_reason":"stop"}"#;
    let end = decode(Provider::Ollama, line).end;
    assert_eq!((end.finish, end.finish_reason.as_deref()), (Finish::ToolCalls, Some("stop")));
}

#[test]
fn a_refusal_is_text_with_a_mark() {
    let chat = decode(Provider::OpenAi, &chat_deltas(&[r#""refusal":"I will ""#, r#""refusal":"not.""#], "stop"));
    assert_eq!((chat.end.finish, chat.blocks().as_str()), (Finish::Refusal, r#""I will not."{"refusal":true}"#));
    let responses = sse(&[
        r#"{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"No."}"#,
        r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#,
    ]);
    let responses = decode(Provider::OpenAiResponses, &responses);
    assert_eq!((responses.end.finish, responses.blocks().as_str()), (Finish::Refusal, r#""No."{"refusal":true}"#));
}

#[test]
fn a_stream_that_ends_early_is_truncated() {
    let text = r#"{"choices":[{"delta":{"content":"Once"}}]}"#;
    let call =
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    for (provider, response, blocks) in [
        (Provider::OpenAi, sse(&[text]), r#""Once"{"cut":true}"#),
        (Provider::OpenAi, sse(&[text, call]), r#""Once" c1:f({}){"cut":true}"#),
        (Provider::OpenAi, String::new(), ""),
        (Provider::OpenAi, format!("{}data: {{\"choices\":[{{\"delta\"", sse(&[text])), r#""Once"{"cut":true}"#),
        (Provider::Ollama, r#"{"message":{"content":"Once"},"done":false}"#.to_owned(), r#""Once"{"cut":true}"#),
        (
            Provider::Gemini,
            r#"[{"candidates":[{"content":{"parts":[{"text":"Once"}]}}]}"#.to_owned(),
            r#""Once"{"cut":true}"#,
        ),
        (Provider::Anthropic, r#"{"type":"message","content":[{"type":"te"#.to_owned(), ""),
    ] {
        let decoded = decode(provider, &response);
        assert_eq!(decoded.blocks(), blocks, "{provider} {response}");
        assert!(decoded.end.is_truncated());
        assert_eq!(decoded.end.shown, !blocks.is_empty());
        assert_eq!(
            decoded.end.error.as_ref().map(recount_model::decode::CallError::kind),
            Some(CallErrorKind::Truncated)
        );
        let reason = decoded.events.iter().find_map(|event| match &event.kind {
            EventKind::ModelCallEnd(end) => Some(end.finished_reason),
            _ => None,
        });
        assert_eq!(reason, Some(ModelFinishedReason::Interrupted));
    }
}

#[test]
fn either_sign_of_the_end_is_enough() {
    let text = r#"{"choices":[{"delta":{"content":"x"}}]}"#;
    assert_eq!(decode(Provider::OpenAi, &sse(&[text, "[DONE]"])).end.error, None);
    assert_eq!(decode(Provider::OpenAi, &sse(&[text, r#"{"choices":[{"finish_reason":"stop"}]}"#])).end.error, None);
}

#[test]
fn ids_of_the_provider() {
    let end =
        decode(Provider::Gemini, r#"{"candidates":[{"finishReason":"STOP"}],"modelVersion":"g-1","responseId":"r-1"}"#)
            .end;
    assert_eq!((end.response_id.as_deref(), end.model.as_deref(), end.shown), (Some("r-1"), Some("g-1"), false));
}
