//! Intended differences from the reference.

/// A set of cases that differ, and the reason.
#[derive(Debug)]
pub(crate) struct Deviation {
    /// The heading in `conformance/DEVIATIONS.md`.
    pub(crate) heading: &'static str,
    /// The file of vectors.
    pub(crate) file: &'static str,
    /// The cases. `*` matches any text.
    pub(crate) cases: &'static str,
}

impl Deviation {
    /// Returns whether a case is listed.
    pub(crate) fn covers(&self, case: &str) -> bool {
        matches(self.cases, case)
    }

    /// Returns whether a case is listed by its exact name.
    pub(crate) fn is_exact(&self, case: &str) -> bool {
        self.cases == case
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
    ($($heading:literal { $($file:literal: $($cases:literal),+;)+ })+) => {
        /// Every deviation, under the headings of `conformance/DEVIATIONS.md`.
        pub(crate) const DEVIATIONS: &[Deviation] = &[
            $($($( Deviation { heading: $heading, file: $file, cases: $cases }, )+)+)+
        ];
    };
}

deviations! {
    "`null` is accepted for fields with a default" {
        "events.jsonl": "*/null-*";
        "messages.jsonl": "*/null-*";
    }
    "Numbers and booleans are strict JSON" {
        "events.jsonl": "*tokens-*", "*/wrong-confirmed-*", "CUSTOM/reply-id-number";
        "messages.jsonl": "*tokens-*";
        "folds.jsonl": "usage/negative";
    }
    "Free-form JSON is preserved as written" {
        "events.jsonl": "*/number-*", "*/key-twice", "CUSTOM/value-twice", "*/depth-*";
        "messages.jsonl": "*/number-*", "*/key-twice", "*/depth-*";
    }
    "Unknown types are preserved" {
        "events.jsonl": "REPLY_START/wrong-role-*";
        "messages.jsonl": "*/wrong-type", "*/unknown", "untagged/*unknown*", "untagged/legacy-*";
    }
    "Blocks and sources require a type" {
        "messages.jsonl": "*/missing-type", "*untagged*";
    }
    "Messages with the role `tool` are accepted" {
        "messages.jsonl": "role/tool-*";
    }
    "URLs are not rewritten" {
        "events.jsonl": "HINT_BLOCK/blocks-url";
        "messages.jsonl": "url/*", "source/url/*";
        "folds.jsonl": "url/*", "*url*", "hint/blocks", "result/mixed";
    }
    "Missing ids are derived" {
        "events.jsonl": "TOOL_RESULT_DATA_DELTA/minimal";
        "folds.jsonl": "replies/empty-id";
    }
    "Repeated block starts" {
        "folds.jsonl": "repeat/*";
        "traces.jsonl": "tool_args_interleaved", "tool_call_id_reuse";
    }
    "Events for ended blocks and replies are ignored" {
        "folds.jsonl": "late/*", "text/end-text-second", "usage/after-reply", "end/twice", "result-end/metadata-*";
        "traces.jsonl": "reentry_duplicate_external*";
    }
    "The end of a reply ends its blocks" {
        "folds.jsonl": "end/open-blocks";
    }
    "Results require a call and finish it" {
        "folds.jsonl": "external/*", "result/without-call", "call/result-before-call";
        "traces.jsonl": "reentry_bad_confirm/wire";
    }
    "Confirmations can edit the input" {
        "folds.jsonl": "confirm/edited-input", "confirm/partial", "confirm/two-calls";
        "traces.jsonl": "perm_ask_edit_input/wire";
    }
    "Base64 data can be split anywhere" {
        "folds.jsonl": "base64/*", "result-data/not-base64", "result-data/spaced";
    }
    "Data of a tool result is appended by its id" {
        "folds.jsonl": "result-data/same-id";
    }
    "Additional data is carried in event metadata" {
        "folds.jsonl": "end/metadata";
    }
}
