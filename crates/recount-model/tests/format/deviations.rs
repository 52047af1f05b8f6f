//! Intended differences between the formatter and the reference.

/// A set of cases that differ, with a reason.
#[derive(Debug)]
pub(crate) struct Deviation {
    /// The heading in `conformance/DEVIATIONS.md`.
    pub(crate) heading: &'static str,
    /// The providers, separated by spaces. `*` means all.
    pub(crate) providers: &'static str,
    /// The cases, where `*` matches any characters.
    pub(crate) cases: &'static str,
}

impl Deviation {
    /// Whether a case is listed.
    pub(crate) fn covers(&self, provider: &str, case: &str) -> bool {
        let is_theirs = self.providers == "*" || self.providers.split(' ').any(|name| name == provider);
        is_theirs && matches(self.cases, case)
    }
}

fn matches(pattern: &str, case: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == case,
        Some((start, rest)) => case
            .strip_prefix(start)
            .is_some_and(|tail| (0..=tail.len()).filter_map(|at| tail.get(at..)).any(|end| matches(rest, end))),
    }
}

macro_rules! deviations {
    ($(#[$doc:meta])* $name:ident; $($heading:literal { $($providers:literal: $($cases:literal),+;)+ })+) => {
        $(#[$doc])*
        pub(crate) const $name: &[Deviation] = &[
            $($($( Deviation { heading: $heading, providers: $providers, cases: $cases }, )+)+)+
        ];
    };
}

deviations! {
    /// Deviations of messages, by their heading in `conformance/DEVIATIONS.md`.
    #[allow(dead_code, reason = "each test reads one list")]
    DEVIATIONS;
    "Unreadable media is replaced by a text" {
        "*": "*/media/file-missing", "*/media/url-missing";
    }
    "File URLs are percent-decoded" {
        "*": "*/media/file-spaces", "*/media/file-unicode";
    }
    "URLs are sent unchanged" {
        "*": "*/media/url-bare";
    }
    "Invalid arguments are repaired or replaced by `{}`" {
        "anthropic gemini minimax ollama": "*/call/cut-key", "*/call/list", "*/call/null", "*/call/text";
        "dashscope": "*/call/cut-*", "*/call/comma", "*/call/line-break", "*/call/open", "*/call/text";
        "dashscope deepseek moonshot openai openai_response volcengine": "*/call/nothing", "*/call/space";
    }
    "Unsupported audio is replaced by a text" {
        "openai moonshot": "*/media/*-ogg*", "*/result/ogg-*";
    }
    "Aliases of media types are equivalent" {
        "openai": "*-exact/media/*-mpeg*", "*-exact/result/mpeg-*";
    }
    "Blank texts are omitted" {
        "anthropic minimax": "*/plain/blank-text";
    }
    "Reasoning items precede their output" {
        "openai_response": "chat*/thinking/item*-alone", "chat*/thinking/item*-last", "chat*/thinking/one-item-twice",
            "*/thinking/item*-after-call";
    }
    "Media in assistant messages" {
        "openai openai_response deepseek": "chat*/media/agent-*", "chat*/agents/*image*";
    }
    "Results directly follow their calls" {
        "*": "*/hint/before-result", "*/hint/between-results", "*/tools/user-between", "*/tools/one-result-of-two",
            "*/tools/no-result", "*/tools/no-call", "*/tools/same-id-later";
        "anthropic dashscope deepseek gemini minimax moonshot ollama openai volcengine": "*/result/images-apart";
        "anthropic gemini minimax": "*/tools/results-apart";
    }
    "Call ids and tool names are adapted to the provider" {
        "anthropic minimax": "*/tools/odd-id";
        "openai openai_response": "*/tools/long-id";
        "*": "*/tools/other-name", "*/tools/same-id-twice";
    }
    "Author names are adapted to the provider" {
        "openai moonshot": "chat/name/*", "chat/agents/empty-names";
    }
    "Gemini receives a system instruction" {
        "gemini": "*/system/*", "*/plain/turns", "*/agents/system-*", "*/agents/*-with-prompt",
            "*/agents/talk-around-tools", "*/agents/tools-around-talk";
    }
    "Parallel results for Gemini are one content" {
        "gemini": "*/tools/parallel*", "*/tools/text-between-calls", "*/result/image*-of-*";
    }
    "Parallel calls for Ollama are one message" {
        "ollama": "*/tools/parallel*", "*/tools/text-*", "*/tools/results-apart", "*/result/image*-of-*";
    }
    "Later system messages become user messages" {
        "anthropic minimax": "chat/system/*", "chat/agents/system-late";
    }
    "Hints are kept in multi-agent conversations" {
        "*": "multi*/hint/*", "multi/agents/hint";
    }
    "`<history>` tags enclose the whole history" {
        "anthropic minimax": "multi*/media/*", "multi*/agents/*", "multi/tools/in-two-messages";
        "ollama": "multi*/agents/*", "multi/tools/in-two-messages";
    }
    "Empty system prompts are omitted" {
        "*": "multi/system/empty-*";
    }
    "Unsupported content is replaced by a text" {
        "anthropic": "*/media/*-svg*", "*/result/svg-*";
        "anthropic gemini minimax": "chat/hint/only-zip*";
        "gemini": "multi*/agents/zip-between";
        "deepseek": "multi/agents/only-images-then-talk";
    }
}

deviations! {
    /// Deviations of full requests, by their heading in `conformance/DEVIATIONS.md`.
    #[allow(dead_code, reason = "each test reads one list")]
    REQUEST_DEVIATIONS;
    "A tool choice without tools is omitted" {
        "*": "choice/without-tools";
    }
    "Tools without parameters have an object schema" {
        "anthropic minimax": "tools/without-parameters";
    }
    "Gemini receives a system instruction" {
        "gemini": "system";
    }
    "Ollama receives complete schemas" {
        "ollama": "tools", "choice/*", "parameters/one-call", "structured*";
    }
}
