//! The published rules of every provider for requests.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

use recount_model::Provider;
use serde_json::Value;

/// The first violated rule, if any.
pub(crate) type Rules = Result<(), String>;

/// Fails with a description of the violated rule.
macro_rules! rule {
    ($holds:expr, $($says:tt)+) => {
        if !$holds {
            return Err(format!($($says)+));
        }
    };
}
use rule;

pub(crate) fn check(provider: Provider, body: &Value) -> Rules {
    match provider {
        Provider::Anthropic | Provider::MiniMax => anthropic::check(provider, body),
        Provider::OpenAiResponses => responses::check(body),
        Provider::Gemini => gemini::check(body),
        Provider::Ollama => ollama::check(body),
        _ => chat::check(provider, body),
    }
}
