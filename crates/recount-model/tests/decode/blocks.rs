//! Text, thinking and data blocks.

use pretty_assertions::assert_eq;
use recount_message::{ReplyWriter, Stamps};
use recount_model::Provider;
use recount_model::decode::{DecodeOptions, Decoder};

use crate::support::{chat_deltas, check_blocks, decode, sse};

#[test]
fn interrupted_text_continues_in_new_block() {
    let response = chat_deltas(
        &[
            r#""reasoning_content":"a""#,
            r#""content":"b""#,
            r#""tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{"}}]"#,
            r#""content":"c""#,
            r#""tool_calls":[{"index":0,"function":{"arguments":"}"}}]"#,
            r#""reasoning_content":"d""#,
        ],
        "tool_calls",
    );
    let decoded = decode(Provider::OpenAi, &response);
    assert_eq!(decoded.blocks(), r#"[a] "b" c1:f({}) "c" [d]"#);
    assert_eq!(decoded.outline(), "K+ K K- T+ T T- c1+ c1 T+ T c1 T- K+ K K- c1-");
}

#[test]
fn deltas_are_written_immediately() {
    let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    let mut decoder = Decoder::new(Provider::OpenAi, DecodeOptions::default());
    assert!(!decoder.has_output());
    decoder.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\nda", &mut reply).unwrap();
    assert_eq!(reply.message().text().as_deref(), Some("Hel"));
    assert!(decoder.has_output() && !decoder.is_done());
    decoder.push(b"ta: [DONE]\n\n", &mut reply).unwrap();
    assert!(decoder.is_done());
    decoder.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"too late\"}}]}\n\n", &mut reply).unwrap();
    assert!(decoder.finish(&mut reply).error.is_none());
    assert_eq!(reply.message().text().as_deref(), Some("Hel"));
}

#[test]
fn signatures_and_redacted_thinking_are_kept() {
    let response = sse(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"ZW5j"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let blocks = r#"[Hm.]{"signature":"c2ln"} []{"redacted_thinking_data":"ZW5j"}"#;
    check_blocks(Provider::Anthropic, &response, blocks);
    check_blocks(Provider::MiniMax, &response, blocks);
}

#[test]
fn gemini_signatures_are_kept() {
    let response = r#"{"candidates":[{"content":{"parts":[
        {"text":"Hm.","thought":true,"thoughtSignature":"dA=="},
        {"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"Yw=="},
        {"text":"x"},{"text":"","thoughtSignature":"eA=="}]},"finishReason":"STOP"}]}"#;
    check_blocks(
        Provider::Gemini,
        response,
        r#"[Hm.]{"thought_signature":"dA=="} $:f({"a": 1}){"thought_signature":"Yw=="} "x"{"thought_signature":"eA=="}"#,
    );
}

#[test]
fn reasoning_item_is_kept_raw() {
    let response = sse(&[
        r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"a"}"#,
        r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"b"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[1,2],"encrypted_content":"c2VjcmV0","status":null}}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"c"}"#,
        r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[1,2]}]}}"#,
    ]);
    check_blocks(
        Provider::OpenAiResponses,
        &response,
        r#"[a] [b]{"reasoning_item_id":"rs_1","reasoning_item_raw":{"type":"reasoning","id":"rs_1","summary":[1,2],"encrypted_content":"c2VjcmV0"}} "c""#,
    );
}

#[test]
fn audio_block_is_open_beside_text() {
    let response = chat_deltas(
        &[
            r#""audio":{"transcript":"Hel"}"#,
            r#""audio":{"data":"AAEC"}"#,
            r#""audio":{"transcript":"lo","data":"AwQF"}"#,
        ],
        "stop",
    );
    let decoded = decode(Provider::OpenAi, &response);
    assert_eq!(decoded.outline(), "T+ T D+ D T D T- D-");
    assert_eq!(decoded.message.text().as_deref(), Some("Hello"));
    let audio = decoded.message.audios().next().unwrap();
    let recount_message::Source::Base64(source) = &audio.source else { panic!("audio by address") };
    let bytes = source.bytes().unwrap();
    assert_eq!((bytes.get(..4), bytes.get(44..)), (Some(&b"RIFF"[..]), Some(&[0, 1, 2, 3, 4, 5][..])));
}

#[test]
fn audio_with_container_is_unchanged() {
    // "ID3" and a few more bytes.
    let body = r#"{"choices":[{"message":{"audio":{"data":"SUQzBAAA"}},"finish_reason":"stop"}]}"#;
    check_blocks(Provider::OpenAi, body, "<audio/mpeg>");
}

#[test]
fn generated_images_become_data_blocks() {
    let gemini = r#"{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"_-8"}},
        {"fileData":{"mimeType":"video/mp4","fileUri":"https://example.com/a.mp4"}}]},"finishReason":"STOP"}]}"#;
    check_blocks(Provider::Gemini, gemini, "<image/png> <video/mp4>");
    let compatible = r#"{"choices":[{"message":{"images":[{"image_url":{"url":"data:image/webp;base64,AAAA"}},
        {"image_url":{"url":"https://example.com/a.png"}}]},"finish_reason":"stop"}]}"#;
    check_blocks(Provider::OpenAi, compatible, "<image/webp> <image/png>");
    let responses = r#"{"object":"response","status":"completed","output":[
        {"type":"image_generation_call","id":"ig_1","result":"AAAA","output_format":"jpeg"}]}"#;
    check_blocks(Provider::OpenAiResponses, responses, "<image/jpeg>");
}

#[test]
fn content_may_be_a_list_of_parts() {
    let thinking = r#""content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]"#;
    let text = r#""content":[{"type":"text","text":"4"},7]"#;
    check_blocks(Provider::OpenAi, &chat_deltas(&[thinking, text, r#""content":"!""#], "stop"), r#"[Hm.] "4!""#);
}

#[test]
fn lone_surrogate_is_replaced() {
    let response = chat_deltas(&[r#""content":"a\ud83d""#, r#""content":"\ude00b \ud83d\ude00""#], "stop");
    check_blocks(Provider::OpenAi, &response, r#""a��b 😀""#);
}

#[test]
fn lone_surrogate_in_full_response_emits_nothing_twice() {
    let body = r#"{"object":"response","status":"completed","output":[7,
        {"type":"message","content":[{"text":"a"}]},
        {"type":"message","content":[{"text":"\ud83d"}]}]}"#;
    check_blocks(Provider::OpenAiResponses, body, r#""a" "�""#);
    check_blocks(Provider::OpenAiResponses, r#"{"object":"response","status":"completed","output":"none"}"#, "");
}

#[test]
fn unexpected_types_count_as_missing() {
    let response = sse(&[
        r#"{"id":7,"model":[],"choices":"none","usage":"free"}"#,
        r#"{"choices":[3,{"delta":{"content":["x"],"tool_calls":{"a":1},"reasoning_content":false}}]}"#,
        r#"{"choices":[{"delta":{"content":"x"},"finish_reason":"stop","index":"0"}]}"#,
    ]);
    check_blocks(Provider::OpenAi, &response, r#""x""#);
}
