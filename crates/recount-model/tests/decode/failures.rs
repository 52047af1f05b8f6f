//! Failures have a class and close all blocks.

use pretty_assertions::assert_eq;
use recount_message::ErrorType;
use recount_model::Provider;
use recount_model::decode::{CallErrorKind, DecodeOptions};

use crate::support::{Decoded, chat_deltas, decode, decode_with, sse};

#[track_caller]
fn check(decoded: &Decoded, kind: CallErrorKind, class: ErrorType, message: &str) {
    let error = decoded.end.error.as_ref().unwrap();
    assert_eq!((error.kind(), error.class(), error.to_string().as_str()), (kind, class, message));
    assert!(decoded.message.content().iter().all(|block| block.finished_at().is_some()));
}

#[test]
fn classifies_reported_errors() {
    use ErrorType::{Authentication, InvalidRequest, Permission, RateLimit, Upstream};
    for (provider, response, class, message) in [
        (Provider::OpenAi, r#"{"error":{"message":"busy","type":"server_error","code":null}}"#, Upstream, "busy"),
        (
            Provider::OpenAi,
            r#"{"error":{"message":"no","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            Authentication,
            "no",
        ),
        (Provider::OpenAi, r#"{"error":{"message":"slow","code":429}}"#, RateLimit, "slow"),
        (Provider::OpenAi, r#"{"error":"out of memory"}"#, Upstream, "out of memory"),
        (
            Provider::OpenAi,
            r#"{"object":"error","message":"too long","type":"BadRequestError","code":400}"#,
            InvalidRequest,
            "too long",
        ),
        (Provider::DashScope, r#"{"code":"Arrearage","message":"pay","request_id":"1"}"#, Permission, "pay"),
        (
            Provider::DeepSeek,
            r#"{"choices":[{"finish_reason":"insufficient_system_resource"}]}"#,
            Upstream,
            "insufficient_system_resource",
        ),
        (
            Provider::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Upstream,
            "Overloaded",
        ),
        (
            Provider::Anthropic,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}"#,
            RateLimit,
            "slow",
        ),
        (
            Provider::OpenAiResponses,
            r#"{"type":"error","code":"rate_limit_exceeded","message":"slow"}"#,
            RateLimit,
            "slow",
        ),
        (
            Provider::OpenAiResponses,
            r#"{"error":{"type":"invalid_request_error","message":"no"}}"#,
            InvalidRequest,
            "no",
        ),
        (
            Provider::OpenAiResponses,
            r#"{"object":"response","status":"failed","error":{"code":"server_error","message":"x"}}"#,
            Upstream,
            "x",
        ),
        (
            Provider::Gemini,
            r#"{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}"#,
            Upstream,
            "overloaded",
        ),
        (Provider::Gemini, r#"[{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}}]"#, Permission, "no"),
        (Provider::Ollama, r#"{"error":"model 'x' not found"}"#, Upstream, "model 'x' not found"),
    ] {
        check(&decode(provider, response), CallErrorKind::Provider, class, message);
    }
}

#[test]
fn error_inside_stream_keeps_received_text() {
    let response = sse(&[
        r#"{"choices":[{"delta":{"content":"Par"}}]}"#,
        r#"{"error":{"message":"The server had an error","type":"server_error"}}"#,
        r#"{"choices":[{"delta":{"content":"is"}}]}"#,
    ]);
    let decoded = decode(Provider::OpenAi, &response);
    check(&decoded, CallErrorKind::Provider, ErrorType::Upstream, "The server had an error");
    assert_eq!(decoded.blocks(), r#""Par"{"cut":true}"#);
}

#[test]
fn event_named_error_is_an_error() {
    let decoded = decode(Provider::DashScope, "event: error\ndata: {\"reason\":\"none\"}\n\n");
    check(&decoded, CallErrorKind::Provider, ErrorType::Upstream, r#"{"reason":"none"}"#);
}

#[test]
fn invalid_json_is_malformed() {
    for (response, start) in [
        ("data: {oops\n\n", "\"{oops\""),
        ("data: [1,2]\n\n", "\"[1,2]\""),
        ("{\"choices\":[}]", "\"{\\\"choices\\\":[}]\""),
        ("data: \"\\\"x\\\"\"\n\n", "\"\\\"\\\\\\\"x\\\\\\\"\\\"\""),
    ] {
        let message = format!("the response contains a chunk that is not a JSON object: {start}");
        for provider in Provider::ALL {
            check(&decode(provider, response), CallErrorKind::Malformed, ErrorType::Upstream, &message);
        }
    }
}

#[test]
fn invalid_utf8_is_malformed() {
    let decoded = decode_with(Provider::OpenAi, b"data: {\"a\":\"\xff\"}\n\n", DecodeOptions::default());
    check(&decoded, CallErrorKind::Malformed, ErrorType::Upstream, "the response is not UTF-8");
}

#[test]
fn html_or_plain_text_is_malformed() {
    for (response, start) in
        [("<html>\n<body>502 Bad Gateway</body>\n</html>\n", "<html>"), ("upstream timed out", "upstream timed out")]
    {
        let message = format!("the response is neither a stream of events nor JSON: {start:?}");
        check(&decode(Provider::OpenAi, response), CallErrorKind::Malformed, ErrorType::Upstream, &message);
    }
    assert!(decode(Provider::OpenAi, "strange: line\n: and a comment\n\n").end.is_truncated());
    assert!(decode(Provider::OpenAi, "dat").end.is_truncated());
}

#[test]
fn invalid_base64_is_malformed() {
    let picture =
        r#"{"candidates":[{"content":{"parts":[{"text":"x"},{"inlineData":{"mimeType":"image/png","data":"%"}}]}}]}"#;
    let error = decode(Provider::Gemini, picture).end.error.unwrap();
    assert_eq!((error.kind(), error.class()), (CallErrorKind::Malformed, ErrorType::Upstream));
    let audio = chat_deltas(&[r#""audio":{"data":"%"}"#], "stop");
    check(
        &decode(Provider::OpenAi, &audio),
        CallErrorKind::Malformed,
        ErrorType::Upstream,
        "the response contains invalid base64 audio",
    );
}

#[test]
fn oversized_response_is_rejected() {
    let response = chat_deltas(&[r#""content":"0123456789""#, r#""content":"0123456789""#], "stop");
    let one_event = DecodeOptions { max_event_bytes: 50, ..DecodeOptions::default() };
    check(
        &decode_with(Provider::OpenAi, response.as_bytes(), one_event),
        CallErrorKind::TooLarge,
        ErrorType::Upstream,
        "an event of the response is larger than 50 bytes",
    );
    let whole = DecodeOptions { max_response_bytes: 100, ..DecodeOptions::default() };
    let mut reply =
        recount_message::ReplyWriter::start(|_event| {}, recount_message::Stamps::repeatable(), "s1", "Friday");
    let mut decoder = recount_model::decode::Decoder::new(Provider::OpenAi, whole);
    let outcome = response.as_bytes().chunks(70).try_for_each(|piece| decoder.push(piece, &mut reply));
    assert_eq!(outcome.unwrap_err().to_string(), "the response is larger than 100 bytes");
    assert_eq!(decoder.finish(&mut reply).error.unwrap().kind(), CallErrorKind::TooLarge);
    assert_eq!(reply.message().text().as_deref(), Some("0123456789"));
}

#[test]
fn too_many_blocks_are_rejected() {
    let calls: String = (0..20)
        .map(|index| format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"id\":\"c{index}\",\"function\":{{\"name\":\"f\"}}}}]}}}}]}}\n\n"))
        .collect();
    let options = DecodeOptions { max_blocks: 8, ..DecodeOptions::default() };
    let decoded = decode_with(Provider::OpenAi, calls.as_bytes(), options);
    check(&decoded, CallErrorKind::TooLarge, ErrorType::Upstream, "the response has more than 8 blocks");
    assert_eq!(decoded.message.blocks::<recount_message::ToolCallBlock>().count(), 8);
}

#[test]
fn response_of_another_provider_is_malformed() {
    let response = "data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n";
    let decoded = decode(Provider::Anthropic, response);
    let message = "the response contains no chunk in the format of the provider";
    check(&decoded, CallErrorKind::Malformed, ErrorType::Upstream, message);
}
