//! Recorded responses decode the same over HTTP.

use std::path::Path;

use pretty_assertions::assert_eq;
use recount_message::{Msg, ReplyEnd, ReplyWriter, Stamps};
use recount_model::Provider;
use recount_model::client::{CallOptions, Retries};
use recount_model::decode::{DecodeOptions, Decoder};
use serde_json::Value;

use crate::server::{ScriptedResponse, Server};
use crate::support::{call_with, model};

fn recorded(provider: Provider) -> Vec<Value> {
    // Providers without recordings use OpenAI's format.
    let name = if provider == Provider::Xai { Provider::OpenAi } else { provider };
    let path = format!("../../conformance/vectors/python/model/stream-{name}.jsonl");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Decodes a response without HTTP.
fn decoded(provider: Provider, body: &str) -> Msg {
    let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    reply.model_call("model-x");
    let mut decoder = Decoder::new(provider, DecodeOptions::default());
    let _ = decoder.push(body.as_bytes(), &mut reply);
    let end = decoder.finish(&mut reply);
    end.end_model_call(&mut reply);
    reply.end(end.error.map_or_else(ReplyEnd::completed, |error| ReplyEnd::failed(error.info())))
}

async fn check(provider: Provider) {
    let records = recorded(provider);
    assert!(records.len() > 20);
    let bodies = records.iter().map(|record| record["body"].as_str().unwrap());
    let server = Server::start(bodies.clone().map(|body| ScriptedResponse::pieces(body.as_bytes(), 97))).await;
    let model = model(provider, &server).retries(Retries::none());
    for (record, body) in records.iter().zip(bodies) {
        let mut options = CallOptions::new();
        options.stream = record["streamed"].as_bool().unwrap();
        let result = call_with(&model, &[Msg::user("Alice", "Hello")], &options).await;
        assert_eq!(result.message, decoded(provider, body), "{provider}: {}", record["case"]);
    }
    assert_eq!(server.requests().len(), records.len());
}

macro_rules! providers {
    ($($name:ident: $provider:ident;)+) => {
        $(
            #[tokio::test]
            async fn $name() {
                check(Provider::$provider).await;
            }
        )+
    };
}

providers! {
    openai: OpenAi;
    openai_responses: OpenAiResponses;
    anthropic: Anthropic;
    dashscope: DashScope;
    gemini: Gemini;
    ollama: Ollama;
    deepseek: DeepSeek;
    moonshot: Moonshot;
    xai: Xai;
    minimax: MiniMax;
    volcengine: Volcengine;
}
