//! Generator of valid and invalid responses of model providers.
//!
//! A response is a sequence of chunks in any order. Each has fields of the provider's API, of which some are missing or have
//! another type.

use recount_model::Provider;

use crate::random::Random;

/// Generates a response of a provider, as server-sent events, JSON lines or an array.
pub fn response(provider: Provider, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let count = random.between(0, 12);
    let mut chunks: Vec<String> = (0..count).map(|_| text(chunk_of(provider), &mut random, 0)).collect();
    if random.chance(50) {
        chunks.push(
            random
                .pick(&["[DONE]", "{\"type\":\"message_stop\"}", "{\"done\":true}", "{oops", "\"[DONE]\""])
                .to_owned(),
        );
    }
    let mut response = framed(&chunks, &mut random).into_bytes();
    if random.chance(15) {
        response.truncate(random.below(response.len() + 1));
    }
    if random.chance(5) && !response.is_empty() {
        let at = random.below(response.len());
        response[at] = random.number() as u8;
    }
    response
}

/// Encodes chunks as server-sent events, JSON lines or an array.
fn framed(chunks: &[String], random: &mut Random) -> String {
    let end = random.pick(&["\n", "\r\n", "\r"]);
    match random.below(4) {
        0 => chunks.iter().map(|chunk| format!("{chunk}{end}")).collect(),
        1 => format!("[{}]", chunks.join(",")),
        _ => {
            let mut out = String::from(random.pick(&["", "", "\u{feff}", ": hello\n\n"]));
            for chunk in chunks {
                let before = random.pick(&["", "", "", "event: x", "event: error", ": ping", "id: 7", "data: "]);
                if !before.is_empty() && random.chance(30) {
                    out.push_str(&format!("{before}{end}"));
                }
                out.push_str(&format!("data: {chunk}{end}{end}"));
            }
            out
        }
    }
}

/// The shape of a JSON value.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text,
    Word(&'static [&'static str]),
    Count,
    Flag,
    Base64,
    Free,
    List(&'static Shape),
    Object(&'static [(&'static str, Shape)]),
    /// A field that is usually missing, because it ends the response.
    Rare(&'static Shape),
}

const TEXTS: &[&str] = &[
    "",
    "a",
    "Hello, ",
    "é🌍",
    " ",
    "\n",
    "<think>",
    "<thi",
    "nk>",
    "</think>",
    "</thi",
    "<tool_call>",
    "</tool_call>",
    "{\"name\":\"f\",\"arguments\":{\"a\":\"</tool_call>\"}}",
    "{\"name\":",
    "\"f\"}",
    "{\"a\"",
    ":1}",
    "{}",
    "\\",
    "\"",
];

fn chunk_of(provider: Provider) -> Shape {
    match provider {
        Provider::OpenAiResponses => Shape::Object(RESPONSES),
        Provider::Anthropic | Provider::MiniMax => Shape::Object(ANTHROPIC),
        Provider::Gemini => Shape::Object(GEMINI),
        Provider::Ollama => Shape::Object(OLLAMA),
        _ => Shape::Object(CHAT),
    }
}

fn text(shape: Shape, random: &mut Random, depth: usize) -> String {
    if random.chance(4) {
        let odd = ["null", "7", "-1", "1.5", "\"x\"", "[]", "{}", "[[{}]]", "true", "\"\\ud83d\""];
        return random.pick(&odd).to_owned();
    }
    match shape {
        Shape::Text => quoted(random.pick(TEXTS)),
        Shape::Word(words) => quoted(random.pick(words)),
        Shape::Count => random.below(3).to_string(),
        Shape::Flag => random.chance(50).to_string(),
        Shape::Base64 => quoted(random.pick(&["", "AAAA", "UklGRg==", "SUQz", "_-8", "%", "AAA"])),
        Shape::Free => {
            random.pick(&["{}", "{\"a\": [1, null]}", "null", "\"{}\"", "[1]", "{\"q\":\"é, x: y\"}"]).to_owned()
        }
        Shape::List(item) => {
            let count = random.pick(&[0, 1, 1, 1, 2, 3]);
            let items: Vec<String> = (0..count).map(|_| text(*item, random, depth + 1)).collect();
            format!("[{}]", items.join(","))
        }
        Shape::Object(fields) => {
            let share = if depth < 2 { 60 } else { 45 };
            let mut entries = Vec::new();
            for (name, shape) in fields {
                // An event without a type is ignored, so the type is always present.
                let is_there = match shape {
                    Shape::Rare(_) => random.chance(2),
                    _ => *name == "type" || random.chance(share),
                };
                if is_there {
                    entries.push(format!("{}:{}", quoted(name), text(*shape, random, depth + 1)));
                }
            }
            format!("{{{}}}", random.shuffled(entries).join(","))
        }
        Shape::Rare(shape) => text(*shape, random, depth),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

type Fields = &'static [(&'static str, Shape)];

const ERROR: Shape = Shape::Object(&[
    ("message", Shape::Text),
    ("type", Shape::Word(&["server_error", "overloaded_error", "x"])),
    ("code", Shape::Word(&["429", "rate_limit_exceeded"])),
    ("status", Shape::Word(&["UNAVAILABLE"])),
]);

const CALL_ID: Shape = Shape::Word(&["c1", "c1", "c2", ""]);
const NAME: Shape = Shape::Word(&["f", "g", ""]);

const CHAT: Fields = &[
    ("id", Shape::Word(&["chatcmpl-1", ""])),
    ("model", Shape::Word(&["m"])),
    (
        "choices",
        Shape::List(&Shape::Object(&[
            ("index", Shape::Count),
            ("delta", Shape::Object(CHAT_MESSAGE)),
            ("message", Shape::Rare(&Shape::Object(CHAT_MESSAGE))),
            ("finish_reason", Shape::Rare(&Shape::Word(&["stop", "length", "tool_calls", "content_filter", "x"]))),
            ("usage", Shape::Object(CHAT_USAGE)),
        ])),
    ),
    ("usage", Shape::Object(CHAT_USAGE)),
    ("error", Shape::Rare(&ERROR)),
];

const CHAT_MESSAGE: Fields = &[
    ("content", Shape::Text),
    ("reasoning_content", Shape::Text),
    ("reasoning", Shape::Text),
    ("refusal", Shape::Text),
    (
        "tool_calls",
        Shape::List(&Shape::Object(&[
            ("index", Shape::Count),
            ("id", CALL_ID),
            ("function", Shape::Object(&[("name", NAME), ("arguments", Shape::Text)])),
        ])),
    ),
    ("audio", Shape::Object(&[("data", Shape::Base64), ("transcript", Shape::Text)])),
    ("images", Shape::List(&Shape::Object(&[("image_url", Shape::Object(&[("url", Shape::Word(PICTURES))]))]))),
];

const PICTURES: &[&str] =
    &["data:image/png;base64,AAAA", "data:image/png;base64,%", "https://example.com/a.png", "data:,x"];

const CHAT_USAGE: Fields = &[
    ("prompt_tokens", Shape::Count),
    ("completion_tokens", Shape::Count),
    ("total_tokens", Shape::Count),
    ("prompt_tokens_details", Shape::Object(&[("cached_tokens", Shape::Count)])),
    ("completion_tokens_details", Shape::Object(&[("reasoning_tokens", Shape::Count)])),
];

const ANTHROPIC: Fields = &[
    (
        "type",
        Shape::Word(&[
            "message_start",
            "content_block_start",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
            "message",
            "ping",
        ]),
    ),
    ("index", Shape::Count),
    (
        "message",
        Shape::Object(&[
            ("id", Shape::Word(&["msg_1"])),
            ("content", Shape::List(&ANTHROPIC_BLOCK)),
            ("usage", ANTHROPIC_USAGE),
        ]),
    ),
    ("content_block", ANTHROPIC_BLOCK),
    (
        "delta",
        Shape::Object(&[
            ("type", Shape::Word(&["text_delta", "thinking_delta", "signature_delta", "input_json_delta", "x"])),
            ("text", Shape::Text),
            ("thinking", Shape::Text),
            ("signature", Shape::Text),
            ("partial_json", Shape::Text),
            ("stop_reason", Shape::Rare(&Shape::Word(&["end_turn", "max_tokens", "tool_use", "refusal"]))),
        ]),
    ),
    ("usage", ANTHROPIC_USAGE),
    ("content", Shape::List(&ANTHROPIC_BLOCK)),
    ("stop_reason", Shape::Word(&["end_turn", "max_tokens"])),
    ("error", Shape::Rare(&ERROR)),
];

const ANTHROPIC_BLOCK: Shape = Shape::Object(&[
    ("type", Shape::Word(&["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use"])),
    ("text", Shape::Text),
    ("thinking", Shape::Text),
    ("signature", Shape::Text),
    ("data", Shape::Text),
    ("id", CALL_ID),
    ("name", NAME),
    ("input", Shape::Free),
]);

const ANTHROPIC_USAGE: Shape = Shape::Object(&[
    ("input_tokens", Shape::Count),
    ("output_tokens", Shape::Count),
    ("cache_read_input_tokens", Shape::Count),
    ("cache_creation_input_tokens", Shape::Count),
]);

const RESPONSES: Fields = &[
    (
        "type",
        Shape::Word(&[
            "response.created",
            "response.output_item.added",
            "response.output_item.done",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.refusal.delta",
            "response.reasoning_text.delta",
            "response.reasoning_summary_text.delta",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.completed",
            "response.incomplete",
            "response.in_progress",
        ]),
    ),
    ("output_index", Shape::Count),
    ("content_index", Shape::Count),
    ("summary_index", Shape::Count),
    ("delta", Shape::Text),
    ("arguments", Shape::Text),
    ("item", RESPONSES_ITEM),
    (
        "response",
        Shape::Object(&[
            ("id", Shape::Word(&["resp_1"])),
            ("status", Shape::Word(&["completed", "incomplete", "in_progress"])),
            ("output", Shape::List(&RESPONSES_ITEM)),
            ("usage", ANTHROPIC_USAGE),
            ("incomplete_details", Shape::Object(&[("reason", Shape::Word(&["max_output_tokens", "x"]))])),
        ]),
    ),
    ("object", Shape::Rare(&Shape::Word(&["response"]))),
    ("error", Shape::Rare(&ERROR)),
];

const RESPONSES_ITEM: Shape = Shape::Object(&[
    ("type", Shape::Word(&["message", "function_call", "reasoning", "image_generation_call", "web_search_call"])),
    ("id", Shape::Word(&["i1", "i2"])),
    ("call_id", CALL_ID),
    ("name", NAME),
    ("arguments", Shape::Text),
    ("content", Shape::List(&RESPONSES_PART)),
    ("summary", Shape::List(&RESPONSES_PART)),
    ("encrypted_content", Shape::Text),
    ("result", Shape::Base64),
]);

const RESPONSES_PART: Shape = Shape::Object(&[
    ("type", Shape::Word(&["output_text", "refusal", "summary_text"])),
    ("text", Shape::Text),
    ("refusal", Shape::Rare(&Shape::Text)),
]);

const GEMINI: Fields = &[
    (
        "candidates",
        Shape::List(&Shape::Object(&[
            ("index", Shape::Count),
            ("content", Shape::Object(&[("parts", Shape::List(&GEMINI_PART))])),
            ("finishReason", Shape::Rare(&Shape::Word(&["STOP", "MAX_TOKENS", "SAFETY", "X"]))),
        ])),
    ),
    (
        "usageMetadata",
        Shape::Object(&[
            ("promptTokenCount", Shape::Count),
            ("candidatesTokenCount", Shape::Count),
            ("thoughtsTokenCount", Shape::Count),
            ("totalTokenCount", Shape::Count),
        ]),
    ),
    ("promptFeedback", Shape::Rare(&Shape::Object(&[("blockReason", Shape::Word(&["SAFETY"]))]))),
    ("responseId", Shape::Word(&["r1"])),
    ("error", Shape::Rare(&ERROR)),
];

const GEMINI_PART: Shape = Shape::Object(&[
    ("text", Shape::Text),
    ("thought", Shape::Flag),
    ("thoughtSignature", Shape::Text),
    ("functionCall", Shape::Object(&[("id", CALL_ID), ("name", NAME), ("args", Shape::Free)])),
    ("inlineData", Shape::Rare(&Shape::Object(&[("mimeType", Shape::Word(&["image/png"])), ("data", Shape::Base64)]))),
]);

const OLLAMA: Fields = &[
    ("model", Shape::Word(&["m"])),
    (
        "message",
        Shape::Object(&[
            ("content", Shape::Text),
            ("thinking", Shape::Text),
            (
                "tool_calls",
                Shape::List(&Shape::Object(&[
                    ("id", CALL_ID),
                    ("function", Shape::Object(&[("name", NAME), ("arguments", Shape::Free)])),
                ])),
            ),
        ]),
    ),
    ("done", Shape::Rare(&Shape::Flag)),
    ("done_reason", Shape::Word(&["stop", "length"])),
    ("prompt_eval_count", Shape::Count),
    ("eval_count", Shape::Count),
    ("error", Shape::Rare(&Shape::Text)),
];
