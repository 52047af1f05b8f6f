//! The content of a rule about shell commands.

use super::list::{CommandList, SimpleCommand};
use super::trimmed;
use crate::permission::wildcard::{self, Token};

#[derive(Debug)]
pub(super) enum Rule {
    /// `make all`: this text.
    Exact(String),
    /// `git commit:*`: commands that begin with the words of this text.
    Prefix(String),
    /// `git * --amend`: commands whose line has one of these forms.
    Pattern(Vec<String>),
}

impl Rule {
    pub(super) fn parse(content: &str) -> Self {
        let content = trimmed(content);
        let (stem, is_prefix) = content.strip_suffix(":*").map_or((content, false), |stem| (stem, true));
        match (literal(stem), is_prefix) {
            (Some(text), false) => Self::Exact(text),
            (Some(text), true) => Self::Prefix(text),
            (None, false) => Self::Pattern(vec![stem.to_owned()]),
            (None, true) => Self::Pattern(vec![stem.to_owned(), format!("{stem} *")]),
        }
    }

    /// Returns whether this is the exact rule for a whole text.
    pub(super) fn is_text(&self, text: &str) -> bool {
        matches!(self, Self::Exact(expected) if expected == text)
    }

    /// Returns whether this rule, as an allow rule, matches a command.
    pub(super) fn allows(&self, command: &SimpleCommand<'_>) -> bool {
        match self {
            Self::Exact(text) => text == command.text(),
            Self::Prefix(text) => prefix_words(text).is_some_and(|words| command.words().starts_with(&words)),
            // The line has single quotes only.
            Self::Pattern(patterns) => {
                let line = command.line();
                patterns.iter().any(|pattern| wildcard::matches(&wildcard::stars(&pattern.replace('"', "'")), &line))
            }
        }
    }
}

/// Returns the text that a pattern stands for, or `None` if it has a wildcard.
fn literal(pattern: &str) -> Option<String> {
    let character = |token| if let Token::Exactly(c) = token { Some(c) } else { None };
    wildcard::stars(pattern).into_iter().map(character).collect()
}

/// Returns the words of a prefix, or `None` if it is not one literal command without redirections.
pub(super) fn prefix_words(text: &str) -> Option<Vec<String>> {
    let list = CommandList::parse(text).filter(|_| !text.contains('>'))?;
    match list.commands() {
        [command] => Some(command.words().to_vec()),
        _ => None,
    }
}
