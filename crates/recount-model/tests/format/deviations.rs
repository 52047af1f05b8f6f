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
    "Media that cannot be read is said" {
        "*": "*/media/file-missing", "*/media/url-missing";
    }
    "The path of a file is decoded" {
        "*": "*/media/file-spaces", "*/media/file-unicode";
    }
    "A URL is sent as it was written" {
        "*": "*/media/url-bare";
    }
    "Broken arguments are mended or empty" {
        "anthropic gemini minimax ollama": "*/call/cut-key", "*/call/list", "*/call/null", "*/call/text";
        "dashscope": "*/call/cut-*", "*/call/comma", "*/call/line-break", "*/call/open", "*/call/text";
        "dashscope deepseek moonshot openai openai_response volcengine": "*/call/nothing", "*/call/space";
    }
    "Sounds that cannot be sent are said" {
        "openai moonshot": "*/media/*-ogg*", "*/result/ogg-*";
    }
    "A type under another name is the same type" {
        "openai": "*-exact/media/*-mpeg*", "*-exact/result/mpeg-*";
    }
    "Blank texts are left out" {
        "anthropic minimax": "*/plain/blank-text";
    }
    "Reasoning stands before what came of it" {
        "openai_response": "chat*/thinking/item*-alone", "chat*/thinking/item*-last", "chat*/thinking/one-item-twice",
            "*/thinking/item*-after-call";
    }
    "An assistant shows nothing" {
        "openai openai_response deepseek": "chat*/media/agent-*", "chat*/agents/*image*";
    }
    "Results stand next to their calls" {
        "*": "*/hint/before-result", "*/hint/between-results", "*/tools/user-between", "*/tools/one-result-of-two",
            "*/tools/no-result", "*/tools/no-call", "*/tools/same-id-later";
        "anthropic dashscope deepseek gemini minimax moonshot ollama openai volcengine": "*/result/images-apart";
        "anthropic gemini minimax": "*/tools/results-apart";
    }
    "Ids and names of calls are what the provider takes" {
        "anthropic minimax": "*/tools/odd-id";
        "openai openai_response": "*/tools/long-id";
        "*": "*/tools/other-name", "*/tools/same-id-twice";
    }
    "Names of speakers are what the provider takes" {
        "openai moonshot": "chat/name/*", "chat/agents/empty-names";
    }
    "Gemini has a system prompt" {
        "gemini": "*/system/*", "*/plain/turns", "*/agents/system-*", "*/agents/*-with-prompt",
            "*/agents/talk-around-tools", "*/agents/tools-around-talk";
    }
    "Gemini answers all calls at once" {
        "gemini": "*/tools/parallel*", "*/tools/text-between-calls", "*/result/image*-of-*";
    }
    "Ollama's calls of one round are one message" {
        "ollama": "*/tools/parallel*", "*/tools/text-*", "*/tools/results-apart", "*/result/image*-of-*";
    }
    "Late system messages are a user's" {
        "anthropic minimax": "chat/system/*", "chat/agents/system-late";
    }
    "Hints are told among agents" {
        "*": "multi*/hint/*", "multi/agents/hint";
    }
    "History has tags, and media in its place" {
        "anthropic minimax": "multi*/media/*", "multi*/agents/*", "multi/tools/in-two-messages";
        "ollama": "multi*/agents/*", "multi/tools/in-two-messages";
    }
    "A system prompt without words is left out" {
        "*": "multi/system/empty-*";
    }
    "What cannot be sent is said" {
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
    "A choice without tools is left out" {
        "*": "choice/without-tools";
    }
    "A tool without parameters takes an object" {
        "anthropic minimax": "tools/without-parameters";
    }
    "Gemini has a system prompt" {
        "gemini": "system";
    }
    "Ollama gets whole schemas" {
        "ollama": "tools", "choice/*", "parameters/one-call", "structured*";
    }
}
