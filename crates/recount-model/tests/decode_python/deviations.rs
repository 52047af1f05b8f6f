//! Intended differences between the decoder and the reference.

/// A set of cases that differ, with a reason.
#[derive(Debug)]
pub(crate) struct Deviation {
    /// The heading in `conformance/DEVIATIONS.md`.
    pub(crate) heading: &'static str,
    /// The cases as `provider/case`, where `*` matches any characters.
    pub(crate) cases: &'static str,
}

impl Deviation {
    /// Whether a case is listed.
    pub(crate) fn covers(&self, case: &str) -> bool {
        matches(self.cases, case)
    }

    /// Whether the entry names a single case.
    pub(crate) fn is_exact(&self) -> bool {
        !self.cases.contains('*')
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
    ($($heading:literal: $($cases:literal),+;)+) => {
        /// Every deviation, by its heading in `conformance/DEVIATIONS.md`.
        pub(crate) const DEVIATIONS: &[Deviation] = &[
            $($( Deviation { heading: $heading, cases: $cases }, )+)+
        ];
    };
}

deviations! {
    "A truncated response is an error":
        "*/finish/neither", "*/finish/no-end", "*/finish/in-block", "gemini/finish/no-chunks", "gemini/error/reset";
    "Errors are classified by the provider's error type":
        "*/error/in-stream", "*/error/rate-limit-in-stream", "*/error/not-json", "*/error/overloaded", "*/error/api-error",
        "openai_response/error/event", "openai_response/error/failed", "openai_response/whole/failed",
        "gemini/error/unavailable", "gemini/error/exhausted";
    "Blocks are ordered by their start":
        "*/thinking/again", "*/tool/text-after", "openai_response/text/parts-in-turn",
        "openai_response/parallel/interleaved", "openai_response/thinking/encrypted", "gemini/whole/two-texts";
    "`<think>` tags become thinking blocks":
        "*/thinking/tags", "*/thinking/tags-never-closed", "*/whole/tags";
    "Refusals are text":
        "*/finish/refusal", "*/whole/refusal";
    "Calls start when their name and id are known":
        "*/tool/late-name", "*/tool/late-id", "*/tool/never-an-id";
    "Call ids are unique":
        "*/parallel/same-id", "ollama/tool/with-id";
    "Only the first choice is used":
        "*/text/other-choice";
    "Content of start and end events is used":
        "*/text/given-at-start", "*/text/no-start", "anthropic/tool/given-at-start", "minimax/tool/given-at-start",
        "openai_response/text/only-at-the-end";
    "Token usage is read from every place":
        "*/usage/in-choice", "*/usage/details-null", "deepseek/usage/cached-in-details-only",
        "*/usage/at-the-end", "*/usage/cache-null", "anthropic/text/nothing", "minimax/text/nothing",
        "gemini/usage/no-total", "ollama/usage/none", "ollama/error/reset",
        "openai_response/finish/length", "openai_response/finish/filter", "openai_response/finish/length-in-arguments";
    "A reasoning item is stored in its last thinking block":
        "openai_response/thinking/summary-in-parts", "openai_response/thinking/item-only-at-the-end",
        "openai_response/finish/length-after-thinking";
    "Signatures do not replace ids":
        "gemini/tool/signed", "gemini/text/signed";
    "Images are kept":
        "gemini/data/picture";
}
