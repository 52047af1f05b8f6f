//! Stop reasons.

use pretty_assertions::assert_eq;
use recount_message::{EventKind, ModelFinishedReason};
use recount_model::Provider;
use recount_model::decode::{CallErrorKind, StopReason};

use crate::support::{chat_deltas, decode, sse};

#[test]
fn maps_stop_reasons_of_every_provider() {
    let chat = |reason: &str| chat_deltas(&[r#""content":"x""#], reason);
    for (reason, finish) in [
        ("stop", StopReason::Stop),
        ("length", StopReason::Length),
        ("content_filter", StopReason::ContentFilter),
        ("tool_calls", StopReason::ToolCalls),
        ("function_call", StopReason::ToolCalls),
        ("bored", StopReason::Other),
    ] {
        let end = decode(Provider::OpenAi, &chat(reason)).end;
        assert_eq!((end.stop_reason, end.provider_stop_reason.as_deref(), end.error), (finish, Some(reason), None));
    }
    for (reason, finish) in [
        ("end_turn", StopReason::Stop),
        ("stop_sequence", StopReason::Stop),
        ("tool_use", StopReason::ToolCalls),
        ("max_tokens", StopReason::Length),
        ("model_context_window_exceeded", StopReason::Length),
        ("refusal", StopReason::Refusal),
        ("pause_turn", StopReason::Other),
    ] {
        let body = format!(r#"{{"type":"message","content":[{{"type":"text","text":"x"}}],"stop_reason":"{reason}"}}"#);
        let end = decode(Provider::Anthropic, &body).end;
        assert_eq!((end.stop_reason, end.provider_stop_reason.as_deref(), end.error), (finish, Some(reason), None));
    }
    for (reason, finish) in [
        ("STOP", StopReason::Stop),
        ("MAX_TOKENS", StopReason::Length),
        ("SAFETY", StopReason::ContentFilter),
        ("PROHIBITED_CONTENT", StopReason::ContentFilter),
        ("MALFORMED_FUNCTION_CALL", StopReason::Other),
    ] {
        let body =
            format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"x"}}]}},"finishReason":"{reason}"}}]}}"#);
        let end = decode(Provider::Gemini, &body).end;
        assert_eq!((end.stop_reason, end.provider_stop_reason.as_deref(), end.error), (finish, Some(reason), None));
    }
    for (details, finish) in [
        (r#""status":"completed""#, StopReason::Stop),
        (r#""status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}"#, StopReason::Length),
        (r#""status":"incomplete","incomplete_details":{"reason":"content_filter"}"#, StopReason::ContentFilter),
        (r#""status":"incomplete","incomplete_details":null"#, StopReason::Other),
    ] {
        let end = decode(Provider::OpenAiResponses, &format!(r#"{{"object":"response",{details}}}"#)).end;
        assert_eq!((end.stop_reason, end.error), (finish, None));
    }
    for (reason, finish) in [("stop", StopReason::Stop), ("length", StopReason::Length), ("unload", StopReason::Other)]
    {
        let line = format!(r#"{{"message":{{"content":"x"}},"done":true,"done_reason":"{reason}"}}"#);
        assert_eq!(decode(Provider::Ollama, &line).end.stop_reason, finish);
    }
}

#[test]
fn blocked_prompt_is_content_filter() {
    let end = decode(Provider::Gemini, r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#).end;
    assert_eq!(
        (end.stop_reason, end.provider_stop_reason.as_deref(), end.error),
        (StopReason::ContentFilter, Some("SAFETY"), None)
    );
}

#[test]
fn stop_with_calls_is_tool_calls() {
    let line =
        r#"{"message":{"tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":true,"done_reason":"stop"}"#;
    let end = decode(Provider::Ollama, line).end;
    assert_eq!((end.stop_reason, end.provider_stop_reason.as_deref()), (StopReason::ToolCalls, Some("stop")));
}

#[test]
fn refusal_is_marked_text() {
    let chat = decode(Provider::OpenAi, &chat_deltas(&[r#""refusal":"I will ""#, r#""refusal":"not.""#], "stop"));
    assert_eq!(
        (chat.end.stop_reason, chat.blocks().as_str()),
        (StopReason::Refusal, r#""I will not."{"refusal":true}"#)
    );
    let responses = sse(&[
        r#"{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"No."}"#,
        r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#,
    ]);
    let responses = decode(Provider::OpenAiResponses, &responses);
    assert_eq!(
        (responses.end.stop_reason, responses.blocks().as_str()),
        (StopReason::Refusal, r#""No."{"refusal":true}"#)
    );
}

#[test]
fn early_end_of_stream_is_truncated() {
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
        assert_eq!(decoded.end.has_output, !blocks.is_empty());
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
fn done_marker_or_stop_reason_ends_the_response() {
    let text = r#"{"choices":[{"delta":{"content":"x"}}]}"#;
    assert_eq!(decode(Provider::OpenAi, &sse(&[text, "[DONE]"])).end.error, None);
    assert_eq!(decode(Provider::OpenAi, &sse(&[text, r#"{"choices":[{"finish_reason":"stop"}]}"#])).end.error, None);
}

#[test]
fn provider_ids_are_returned() {
    let end =
        decode(Provider::Gemini, r#"{"candidates":[{"finishReason":"STOP"}],"modelVersion":"g-1","responseId":"r-1"}"#)
            .end;
    assert_eq!((end.response_id.as_deref(), end.model.as_deref(), end.has_output), (Some("r-1"), Some("g-1"), false));
}
