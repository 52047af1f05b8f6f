//! Replacement of ids and names that a provider does not allow.

use std::borrow::Cow;
use std::collections::HashSet;

/// The ids or names that a provider allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameRule {
    allowed: fn(char) -> bool,
    max: usize,
}

impl NameRule {
    /// Letters, digits, `_` and `-`: Anthropic's ids, and the tool names of most providers.
    pub(crate) const fn word(max: usize) -> Self {
        Self { allowed: |c| c.is_ascii_alphanumeric() || c == '_' || c == '-', max }
    }

    /// Printable characters, up to a maximum length.
    pub(crate) const fn length(max: usize) -> Self {
        Self { allowed: |c| !c.is_control(), max }
    }

    /// The sender in OpenAI's `name`: `^[^\s<|\\/>]+$`.
    pub(crate) const SPEAKER: Self = Self {
        allowed: |c| !c.is_whitespace() && !c.is_control() && !matches!(c, '<' | '|' | '\\' | '/' | '>'),
        max: 64,
    };

    pub(crate) fn accepts(self, text: &str) -> bool {
        !text.is_empty() && text.chars().all(self.allowed) && text.chars().count() <= self.max
    }

    /// Replaces forbidden characters by `_` and truncates the text. An empty text stays empty.
    pub(crate) fn sanitized(self, text: &str) -> Cow<'_, str> {
        if self.accepts(text) {
            return Cow::Borrowed(text);
        }
        text.chars().take(self.max).map(|c| if (self.allowed)(c) { c } else { '_' }).collect()
    }

    /// Appends a number, truncating the text if necessary.
    fn numbered(self, text: &str, number: usize) -> String {
        let end = format!("_{number}");
        text.chars().take(self.max.saturating_sub(end.len())).collect::<String>() + &end
    }
}

/// Assigns each call of a request a unique id that the provider allows.
///
/// The first occurrence of an allowed id is kept, regardless of earlier replacements.
#[derive(Debug)]
pub(crate) struct CallIds {
    rule: NameRule,
    /// Allowed ids, which no replacement may use.
    reserved: HashSet<String>,
    taken: HashSet<String>,
}

impl CallIds {
    pub(crate) fn new<'a>(rule: NameRule, all: impl Iterator<Item = &'a str>) -> Self {
        let reserved = all.filter(|id| rule.accepts(id)).map(str::to_owned).collect();
        Self { rule, reserved, taken: HashSet::new() }
    }

    /// Returns the id for the next call.
    pub(crate) fn next(&mut self, id: &str) -> String {
        if self.rule.accepts(id) && self.taken.insert(id.to_owned()) {
            return id.to_owned();
        }
        let sanitized = self.rule.sanitized(id);
        let base = if sanitized.is_empty() { "call" } else { &*sanitized };
        let candidates = std::iter::once(base.to_owned()).chain((2..).map(|n| self.rule.numbered(base, n)));
        let free = candidates.into_iter().find(|id| !self.taken.contains(id) && !self.reserved.contains(id));
        let free = free.unwrap_or_default();
        self.taken.insert(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: NameRule, ids: &[&str], expected: &[&str]) {
        let mut calls = CallIds::new(rule, ids.iter().copied());
        let mapped: Vec<String> = ids.iter().map(|id| calls.next(id)).collect();
        assert_eq!(mapped, expected);
    }

    #[test]
    fn allowed_ids_are_kept() {
        check(NameRule::word(64), &["call_1", "toolu_01A"], &["call_1", "toolu_01A"]);
    }

    #[test]
    fn replacements_never_use_an_allowed_id() {
        check(NameRule::word(64), &["a.b", "a_b", "a:b", ""], &["a_b_2", "a_b", "a_b_3", "call"]);
    }

    #[test]
    fn repeated_ids_are_numbered() {
        check(NameRule::word(64), &["call_0", "call_0", "call_0_2"], &["call_0", "call_0_3", "call_0_2"]);
    }

    #[test]
    fn truncated_ids_stay_unique() {
        let rule = NameRule::length(10);
        check(rule, &["0123456789abc", "0123456789abd"], &["0123456789", "01234567_2"]);
    }
}
