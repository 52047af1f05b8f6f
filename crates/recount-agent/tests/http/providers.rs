//! A call, its result and an answer, with every provider.

use pretty_assertions::assert_eq;
use recount_message::FinishedReason;
use recount_model::Provider;
use serde_json::{Value, json};

use crate::server::Server;
use crate::support::{agent, body, model, read, streamed};

/// Returns the recorded response with text and a tool call.
fn calling(provider: Provider) -> &'static str {
    match provider {
        Provider::Gemini => "tool/after-text",
        Provider::Ollama => "tool/text-after",
        _ => "tool/fragments",
    }
}

/// Returns the text of the recorded response without tool calls.
fn answer(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAiResponses | Provider::Anthropic | Provider::MiniMax | Provider::Gemini | Provider::Ollama => {
            "Hello"
        }
        _ => "One two",
    }
}

/// Returns the messages of the second request after the user's message.
async fn second_request(provider: Provider) -> Vec<Value> {
    let server = Server::start([streamed(provider, calling(provider)), streamed(provider, "text/deltas")]).await;
    let agent = agent(model(provider, &server)).build().unwrap();
    let (_, message) = read(agent.reply_stream("Hello").unwrap(), |_| {}).await;
    assert_eq!(message.finished_reason(), Some(FinishedReason::Completed), "{provider}: {}", message.to_json());
    let results: Vec<_> = message.tool_pairs().map(|(_, result)| result.unwrap().output.text().unwrap()).collect();
    assert_eq!(results, ["3 hits"], "{provider}");
    assert!(message.text().unwrap().ends_with(answer(provider)), "{provider}: {}", message.to_json());

    let asked = server.requests();
    assert_eq!(asked.len(), 2, "{provider}");
    let (first, second) = (body(provider, &asked[0]), body(provider, &asked[1]));
    assert!(first["tools"].is_array() && first["tools"] == second["tools"], "{provider} offers its tools each time");
    let messages = ["messages", "input", "contents"].iter().find_map(|key| second[*key].as_array()).unwrap();
    // The system prompt is one of the messages, or a separate field.
    let question = messages.iter().position(|message| message.to_string().contains("Hello")).unwrap();
    messages[question + 1..].to_vec()
}

#[tokio::test]
async fn requests_of_all_providers_contain_the_call_and_its_result() {
    for provider in Provider::ALL {
        let said = json!(second_request(provider).await).to_string();
        assert!(said.contains("3 hits"), "{provider}: {said}");
    }
}

#[tokio::test]
async fn openai_chat() {
    assert_eq!(
        second_request(Provider::OpenAi).await,
        [
            json!({
                "role": "assistant",
                "name": "Friday",
                "content": [{"type": "text", "text": "Let me look."}],
                "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{\"query\": \"tea\"}"}}],
            }),
            json!({"role": "tool", "tool_call_id": "call_1", "content": "3 hits", "name": "search"}),
        ]
    );
}

#[tokio::test]
async fn openai_responses() {
    assert_eq!(
        second_request(Provider::OpenAiResponses).await,
        [
            json!({"role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]}),
            json!({"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{\"query\": \"tea\"}"}),
            json!({"type": "function_call_output", "call_id": "call_1", "output": "3 hits"}),
        ]
    );
}

#[tokio::test]
async fn anthropic() {
    assert_eq!(
        second_request(Provider::Anthropic).await,
        [
            json!({
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Looking."},
                    {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "tea"}},
                ],
            }),
            json!({
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "3 hits"}]}],
            }),
        ]
    );
}

#[tokio::test]
async fn gemini() {
    assert_eq!(
        second_request(Provider::Gemini).await,
        [
            json!({
                "role": "model",
                "parts": [
                    {"text": "Looking."},
                    // Google's placeholder for the signature of a call that the model did not sign.
                    {"function_call": {"id": "fc-1", "name": "f", "args": {}}, "thought_signature": "skip_thought_signature_validator"},
                ],
            }),
            json!({
                "role": "user",
                "parts": [{"function_response": {"id": "fc-1", "name": "f", "response": {"output": "3 hits"}}}],
            }),
        ]
    );
}

#[tokio::test]
async fn ollama() {
    assert_eq!(
        second_request(Provider::Ollama).await,
        [
            json!({"role": "assistant", "content": "a\nb", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}),
            json!({"role": "tool", "tool_name": "f", "content": "3 hits"}),
        ]
    );
}
