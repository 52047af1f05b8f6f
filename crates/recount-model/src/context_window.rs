//! Context window sizes.

use crate::Provider;

/// Returns the context window of a model in tokens. `None` if it is not known.
///
/// Model names match by prefix, so dated and sized variants are covered. [Ollama](Provider::Ollama) models have no
/// entry, because their window depends on the local configuration.
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
    // A gateway may put the vendor before the name.
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
    window_from_name(name).or(known)
}

/// Parses the window from names that end in it, such as `-32k`.
fn window_from_name(name: &str) -> Option<u64> {
    let (_, last) = name.rsplit_once('-')?;
    let thousands: u64 = last.strip_suffix('k')?.parse().ok()?;
    // `-128k` means 128 * 1024 in the names that use this suffix.
    thousands.checked_mul(1_024)
}

/// Name prefixes and context windows in tokens. The first match wins, so a longer prefix comes before a shorter one.
///
/// The values are those of the providers' documentation, or of gateways to them, as of November 2026. If sources
/// differ, the table holds the smaller number: compressing early is better than a rejected request.
type Families = &'static [(&'static str, u64)];

const OPENAI: Families = &[
    ("gpt-5-chat", 128_000),
    ("gpt-5.1-chat", 128_000),
    ("gpt-5.2-chat", 128_000),
    ("gpt-5.4-mini", 272_000),
    ("gpt-5.4-nano", 272_000),
    // 128,000 tokens of the window are reserved for output: of 1,050,000 in total here, and of 400,000 below.
    ("gpt-5.4", 922_000),
    ("gpt-5.5", 922_000),
    ("gpt-5.6", 922_000),
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

const ANTHROPIC: Families = &[
    ("claude-opus-4-6", 1_000_000),
    ("claude-opus-5", 1_000_000),
    ("claude-sonnet-4-6", 1_000_000),
    ("claude-sonnet-5", 1_000_000),
    ("claude-haiku-5", 1_000_000),
    ("claude-fable-5", 1_000_000),
    ("claude", 200_000),
];

const DASHSCOPE: Families = &[
    ("qwen3.8-max", 991_000),
    ("qwen3.7-max", 991_000),
    ("qwen3.6-plus", 1_000_000),
    ("qwen3-max", 262_144),
    ("qwen3-coder", 262_144),
    ("qwen-long", 10_000_000),
    ("qwen-max", 32_768),
    ("qwen", 131_072),
    ("qwq", 131_072),
    ("deepseek-v4", 1_048_576),
    ("deepseek", 131_072),
];

const GEMINI: Families = &[
    ("gemini-1.5-pro", 2_097_152),
    ("gemini-3-pro-image", 65_536),
    ("gemini-3.1-flash-image", 65_536),
    ("gemini", 1_048_576),
];

const DEEPSEEK: Families = &[("deepseek-v4", 1_048_576), ("deepseek", 131_072)];

const MOONSHOT: Families =
    &[("kimi-k2-0711", 131_072), ("kimi-k2", 262_144), ("kimi", 131_072), ("moonshot-v1", 8_192)];

const XAI: Families = &[
    ("grok-4-fast", 2_000_000),
    ("grok-4-1-fast", 2_000_000),
    ("grok-4.1-fast", 2_000_000),
    // The provider documents 2,000,000, gateways half of it.
    ("grok-4.20", 1_000_000),
    ("grok-4.3", 1_000_000),
    ("grok-4.5", 500_000),
    ("grok-code", 256_000),
    ("grok-build", 256_000),
    ("grok-4", 256_000),
    ("grok", 131_072),
];

const MINIMAX: Families =
    &[("minimax-m3", 1_000_000), ("minimax-m1", 1_000_000), ("minimax-text", 1_000_000), ("minimax", 204_800)];

const VOLCENGINE: Families = &[
    ("doubao-seed", 256_000),
    ("doubao", 131_072),
    ("kimi-k2", 256_000),
    ("glm", 200_000),
    ("deepseek-v4", 1_048_570),
    ("deepseek", 128_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_prefix_wins() {
        for (provider, model, tokens) in [
            (Provider::OpenAi, "gpt-4o-mini", Some(128_000)),
            (Provider::OpenAi, "gpt-4-0613", Some(8_192)),
            (Provider::OpenAi, "openai/gpt-5-mini", Some(272_000)),
            (Provider::OpenAi, "gpt-5.5-2026-04-23", Some(922_000)),
            (Provider::Anthropic, "claude-opus-5-5", Some(1_000_000)),
            (Provider::Moonshot, "kimi-k2.6", Some(262_144)),
            (Provider::DeepSeek, "deepseek-v4-flash", Some(1_048_576)),
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
    fn every_prefix_is_reachable() {
        let tables = [OPENAI, ANTHROPIC, DASHSCOPE, GEMINI, DEEPSEEK, MOONSHOT, XAI, MINIMAX, VOLCENGINE];
        for table in tables {
            for (index, (name, tokens)) in table.iter().enumerate() {
                let found = table.iter().position(|(family, _)| name.starts_with(family));
                assert_eq!(found, Some(index), "{name} with {tokens} stands behind a shorter name");
            }
        }
    }
}
