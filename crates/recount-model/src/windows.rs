//! How much a model can read at once.

use crate::Provider;

/// How many tokens a model can read at once, where that is known. Names are compared by how they begin, so that dated and
/// sized variants of a model are known with it.
///
/// What a model runs with on one's own machine is nobody's to know: an [Ollama](Provider::Ollama) model has no window here.
///
/// ```
/// use recount_model::{Provider, context_window};
///
/// assert_eq!(context_window(Provider::Anthropic, "claude-opus-4-5"), Some(200_000));
/// assert_eq!(context_window(Provider::Moonshot, "moonshot-v1-32k"), Some(32_768));
/// assert_eq!(context_window(Provider::OpenAi, "my-own"), None);
/// ```
#[must_use]
pub fn context_window(provider: Provider, model: &str) -> Option<u64> {
    let name = model.to_ascii_lowercase();
    // A gateway may put the maker before the name.
    let name = name.rsplit_once('/').map_or(name.as_str(), |(_, name)| name);
    let families = match provider {
        Provider::OpenAi | Provider::OpenAiResponses => OPENAI,
        Provider::Anthropic => ANTHROPIC,
        Provider::DashScope => DASHSCOPE,
        Provider::Gemini => GEMINI,
        Provider::DeepSeek => DEEPSEEK,
        Provider::Moonshot => MOONSHOT,
        Provider::Xai => XAI,
        Provider::MiniMax => MINIMAX,
        Provider::Volcengine => VOLCENGINE,
        Provider::Ollama => return None,
    };
    let known = families.iter().find(|(family, _)| name.starts_with(family)).map(|(_, tokens)| *tokens);
    said_in_name(name).or(known)
}

/// Some names end in what the model reads: `-32k`.
fn said_in_name(name: &str) -> Option<u64> {
    let (_, last) = name.rsplit_once('-')?;
    let thousands: u64 = last.strip_suffix('k')?.parse().ok()?;
    // `-128k` is 128 times 1024 in the words of those who name their models so.
    thousands.checked_mul(1_024)
}

/// How names begin, and how many tokens are read. The first that fits counts, so a longer one stands before a shorter one.
type Families = &'static [(&'static str, u64)];

const OPENAI: Families = &[
    // Of its 400,000 it keeps 128,000 for what it says.
    ("gpt-5", 272_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_192),
    ("gpt-3.5", 16_385),
    ("o1-mini", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
];

const ANTHROPIC: Families = &[("claude", 200_000)];

const DASHSCOPE: Families = &[
    ("qwen3-max", 262_144),
    ("qwen3-coder", 262_144),
    ("qwen-long", 10_000_000),
    ("qwen-max", 32_768),
    ("qwen", 131_072),
    ("qwq", 131_072),
    ("deepseek", 131_072),
];

const GEMINI: Families = &[("gemini-1.5-pro", 2_097_152), ("gemini", 1_048_576)];

const DEEPSEEK: Families = &[("deepseek", 131_072)];

const MOONSHOT: Families = &[("kimi", 131_072), ("moonshot-v1", 8_192)];

const XAI: Families = &[
    ("grok-4-fast", 2_000_000),
    ("grok-4-1-fast", 2_000_000),
    ("grok-code", 256_000),
    ("grok-4", 256_000),
    ("grok", 131_072),
];

const MINIMAX: Families = &[("minimax-m1", 1_000_000), ("minimax-text", 1_000_000), ("minimax", 204_800)];

const VOLCENGINE: Families = &[("doubao-seed", 256_000), ("doubao", 131_072), ("deepseek", 131_072)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_names_count_before_shorter_ones() {
        for (provider, model, tokens) in [
            (Provider::OpenAi, "gpt-4o-mini", Some(128_000)),
            (Provider::OpenAi, "gpt-4-0613", Some(8_192)),
            (Provider::OpenAi, "openai/gpt-5-mini", Some(272_000)),
            (Provider::OpenAiResponses, "o3", Some(200_000)),
            (Provider::DashScope, "Qwen3-Max", Some(262_144)),
            (Provider::Gemini, "gemini-2.5-flash", Some(1_048_576)),
            (Provider::Xai, "grok-4-fast-reasoning", Some(2_000_000)),
            (Provider::Volcengine, "doubao-1-5-pro-32k", Some(32_768)),
            (Provider::Ollama, "qwen3", None),
            (Provider::Anthropic, "", None),
        ] {
            assert_eq!(context_window(provider, model), tokens, "{provider}/{model}");
        }
    }

    #[test]
    fn every_name_can_be_found() {
        let tables = [OPENAI, ANTHROPIC, DASHSCOPE, GEMINI, DEEPSEEK, MOONSHOT, XAI, MINIMAX, VOLCENGINE];
        for table in tables {
            for (index, (name, tokens)) in table.iter().enumerate() {
                let found = table.iter().position(|(family, _)| name.starts_with(family));
                assert_eq!(found, Some(index), "{name} with {tokens} stands behind a shorter name");
            }
        }
    }
}
