//! The content of a rule about shell commands.

use super::hidden::git_options;
use super::{Command, Dialect, Script, Word, base_name};
use crate::permission::Coverage;
use crate::permission::wildcard::{self, Token};

/// What a rule is about.
#[derive(Debug)]
pub(super) enum Rule {
    /// `git commit:*`: these words, and any others after them.
    Prefix(Vec<String>),
    /// `git * --amend`: the whole line, `*` being anything.
    Wildcard { pattern: Vec<Token>, first_word: String },
    /// The whole line.
    Exact { line: String, text: String },
}

impl Rule {
    pub(super) fn read(content: &str) -> Self {
        let content = content.trim();
        if let Some(prefix) = content.strip_suffix(":*") {
            return Self::Prefix(
                words(prefix).unwrap_or_else(|| prefix.split_whitespace().map(str::to_owned).collect()),
            );
        }
        let pattern = wildcard::stars(content);
        if pattern.contains(&Token::Anything) {
            let first_word = content.split_whitespace().next().unwrap_or_default().to_owned();
            let pattern = wildcard::stars(&content.replace('"', "'"));
            return Self::Wildcard { pattern, first_word };
        }
        let text: String =
            pattern.iter().filter_map(|token| if let Token::Exactly(c) = token { Some(*c) } else { None }).collect();
        let line = words(&text).map_or_else(|| text.clone(), |words| line(&words));
        Self::Exact { line, text }
    }

    /// Whether it is exactly this script.
    pub(super) fn is_text(&self, script: &str) -> bool {
        match self {
            Self::Exact { text, .. } => text == script.trim(),
            Self::Prefix(_) | Self::Wildcard { .. } => false,
        }
    }

    /// Whether it allows this command, whatever its unknown words turn out to be.
    pub(super) fn allows(&self, command: &Command) -> bool {
        match self {
            Self::Prefix(words) => {
                let starts = || words.iter().zip(command.words()).all(|(expected, word)| word == Some(expected));
                !words.is_empty() && words.len() <= command.words.len() && starts()
            }
            Self::Wildcard { pattern, .. } => command.name().is_some() && wildcard::matches(pattern, &command.line()),
            Self::Exact { line, .. } => command.words().all(|word| word.is_some()) && *line == command.line(),
        }
    }

    /// Whether its own words reach beyond the given one of the command.
    pub(super) fn names(&self, command: &Command, beyond: usize) -> bool {
        match self {
            Self::Prefix(words) => words.len() > beyond && self.allows(command),
            Self::Exact { .. } => self.allows(command),
            Self::Wildcard { .. } => false,
        }
    }

    /// Whether it is about this command, or may be.
    pub(super) fn concerns(&self, command: &Command) -> Coverage {
        let bare = command.without_directory();
        let bare = bare.as_ref().unwrap_or(command);
        let plain = bare.without_git_options();
        let forms = [Some(command), Some(bare), plain.as_ref()];
        let coverages: Vec<Coverage> = forms.into_iter().flatten().map(|form| self.concerns_so(form)).collect();
        if coverages.contains(&Coverage::Yes) {
            return Coverage::Yes;
        }
        let may_begin_later = || bare.beginnings().any(|form| self.concerns_so(&form) != Coverage::No);
        // Of what is said to `git` itself it is known where it ends.
        if coverages.contains(&Coverage::Unclear) || (plain.is_none() && may_begin_later()) {
            return Coverage::Unclear;
        }
        Coverage::No
    }

    fn concerns_so(&self, command: &Command) -> Coverage {
        let Some(name) = command.name() else { return Coverage::Unclear };
        let unknown = command.words().any(|word| word.is_none());
        let may = |named: bool| if unknown && named { Coverage::Unclear } else { Coverage::No };
        match self {
            Self::Prefix(words) => {
                for (expected, word) in words.iter().zip(command.words()) {
                    match word {
                        Some(word) if same(word, expected) => {}
                        Some(_) => return Coverage::No,
                        None => return Coverage::Unclear,
                    }
                }
                Coverage::from(words.len() <= command.words.len())
            }
            Self::Wildcard { pattern, first_word } => {
                let plain: Vec<_> =
                    command.words.iter().map(|word| word.text.as_deref().unwrap_or(&word.raw)).collect();
                if wildcard::matches(pattern, &command.line()) || wildcard::matches(pattern, &plain.join(" ")) {
                    return Coverage::Yes;
                }
                may(wildcard::matches(&wildcard::stars(first_word), name))
            }
            Self::Exact { line, .. } if *line == command.line() => Coverage::Yes,
            Self::Exact { line, .. } => may(line.split(' ').next().is_some_and(|first| same(first, name))),
        }
    }
}

impl Command {
    /// `rm x` for `/bin/rm x`.
    fn without_directory(&self) -> Option<Self> {
        let name = self.name().filter(|name| name.contains('/'))?;
        let mut bare = self.clone();
        *bare.words.first_mut()? = Word::literal(base_name(name));
        Some(bare)
    }
}

impl Command {
    /// `git push` for `git -C . push`.
    fn without_git_options(&self) -> Option<Self> {
        let (name, arguments) = self.words.split_first().filter(|_| self.name() == Some("git"))?;
        let (_, rest) = git_options(arguments);
        Some(Self { words: [name].into_iter().chain(rest).cloned().collect(), ..self.clone() })
    }

    /// `docker push` for `docker --tls push`: the same without the options that stand before the first operand. Whether a word
    /// behind one of them is its value or that operand is not known, so there may be several.
    fn beginnings(&self) -> impl Iterator<Item = Self> {
        let is_option = |at: usize| {
            let text = self.words.get(at).map(|word| word.text.as_deref().unwrap_or(&word.raw));
            text.is_some_and(|text| text.starts_with(['-', '+']))
        };
        let length = (1..self.words.len()).take_while(|at| is_option(*at) || (*at > 1 && is_option(*at - 1))).count();
        let places = (2..length + 2).filter(move |at| length > 0 && !is_option(*at) && *at < self.words.len());
        places.map(|at| {
            let words = self.words.iter().take(1).chain(self.words.iter().skip(at)).cloned().collect();
            Self { words, ..self.clone() }
        })
    }
}

/// Names are the same in another case where files are.
fn same(word: &str, expected: &str) -> bool {
    if cfg!(any(target_os = "macos", windows)) { word.eq_ignore_ascii_case(expected) } else { word == expected }
}

/// The words of a rule that is one command without anything unknown.
fn words(text: &str) -> Option<Vec<String>> {
    let script = Script::read(text, Dialect::Bash);
    let command = script.commands.first()?;
    let single = script.commands.iter().all(|other| other.within.is_some() || other == command);
    let written = text.split_whitespace().next().is_some_and(|first| command.name() == Some(first));
    if !single || !written || !command.disturbing.is_empty() {
        return None;
    }
    command.words().map(|word| word.map(str::to_owned)).collect()
}

fn line(words: &[String]) -> String {
    Command { words: words.iter().map(Word::literal).collect(), ..Command::default() }.line()
}
