//! The search for deny and ask rules, in any text.
//!
//! This is not a parser. It finds too many commands rather than too few, and it does not look into what a program does.

use std::collections::HashSet;

use super::base_name;
use super::list::CommandList;
use super::rule::{Rule, prefix_words};
use crate::permission::Coverage;
use crate::permission::wildcard::{self, Token};

/// Words that may precede a command.
const LEADING: [&str; 12] = ["!", "{", "}", "coproc", "do", "elif", "else", "if", "then", "time", "until", "while"];

/// A text in which rules are searched.
pub(super) struct SearchedText<'a> {
    text: &'a str,
    /// The words of everything that may be a command.
    commands: Vec<Vec<String>>,
    /// Everything that may be a word anywhere, also inside of quotes.
    words: HashSet<String>,
}

impl<'a> SearchedText<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let commands = match CommandList::parse(text) {
            Some(list) => list.commands().iter().map(|command| command.words().to_vec()).collect(),
            None => commands(text),
        };
        let mut words: HashSet<String> = split(&unquoted(text)).into_iter().collect();
        words.extend(split(&text.replace(QUOTES, " ")));
        let names: Vec<String> = words.iter().map(|word| base_name(word).to_ascii_lowercase()).collect();
        words.extend(names);
        Self { text, commands, words }
    }

    /// Returns `Yes` if a command begins with what the rule matches, `Unclear` if the text may run such a command.
    pub(super) fn coverage(&self, rule: &Rule) -> Coverage {
        if self.text.len() > CommandList::MAX_LENGTH {
            return Coverage::Unclear;
        }
        if rule.is_text(self.text) || self.commands.iter().any(|command| begins(command, rule)) {
            return Coverage::Yes;
        }
        let words = rule_words(rule);
        let occurs = |word: &Vec<Token>| self.words.iter().any(|other| wildcard::matches(word, other));
        let is_unclear = words.iter().all(occurs)
            || self.commands.iter().any(|command| has_dynamic_name(command) || may_continue(command, &words));
        if is_unclear { Coverage::Unclear } else { Coverage::No }
    }
}

const QUOTES: [char; 3] = ['\'', '"', '\\'];

/// Returns a text without quotes, backslashes and escaped newlines.
fn unquoted(text: &str) -> String {
    text.replace("\\\n", "").replace(QUOTES, "")
}

/// Returns everything between blanks and characters that end a word.
fn split(text: &str) -> Vec<String> {
    let words = text.split(|c: char| c.is_whitespace() || ";&|(){}<>`!$=,".contains(c));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns the words of everything in a text that may be a command.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut is_substitution = false;
    let mut marked = String::new();
    for c in unquoted(text).chars() {
        // `$` marks a word that depends on what the substitution returns.
        if c == '`' {
            is_substitution = !is_substitution;
            marked.push_str(if is_substitution { "$;" } else { ";" });
        } else {
            marked.push(c);
        }
    }
    let commands = marked.split(['\n', '\r', ';', '&', '|', '(', ')']).map(|command| {
        let words = command.split(|c: char| c.is_whitespace() || c == '<' || c == '>').filter(|word| !word.is_empty());
        let words = words.skip_while(|word| LEADING.contains(word) || is_assignment(word));
        words.map(str::to_owned).collect::<Vec<String>>()
    });
    commands.filter(|words| !words.is_empty()).collect()
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "_+[]".contains(c));
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && is_name(name))
}

/// Returns whether a command is, or begins with, what a rule matches.
fn begins(command: &[String], rule: &Rule) -> bool {
    let is_prefix = |words: &[String]| {
        words.len() <= command.len()
            && words.iter().zip(command).enumerate().all(|(at, (expected, word))| match at {
                0 => base_name(expected).eq_ignore_ascii_case(base_name(word)),
                _ => expected == word,
            })
    };
    match rule {
        Rule::Exact(text) => {
            let words = words_of(text);
            words.len() == command.len() && is_prefix(&words)
        }
        Rule::Prefix(text) => is_prefix(&words_of(text)),
        Rule::Pattern(patterns) => {
            let line = command.join(" ");
            let lines = [base_name_first(&line), line];
            let patterns = patterns.iter().map(|pattern| wildcard::stars(&pattern.replace(['\'', '"'], "")));
            patterns.into_iter().any(|pattern| lines.iter().any(|line| wildcard::matches(&pattern, line)))
        }
    }
}

/// Returns a line without the directory of its first word.
fn base_name_first(line: &str) -> String {
    let (name, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
    format!("{}{rest}", base_name(name))
}

fn words_of(text: &str) -> Vec<String> {
    prefix_words(text).unwrap_or_else(|| unquoted(text).split_whitespace().map(str::to_owned).collect())
}

/// Returns the words of a rule as patterns. The first one is the name of the program, without its directory.
fn rule_words(rule: &Rule) -> Vec<Vec<Token>> {
    let literal = |word: String| word.chars().map(Token::Exactly).collect();
    let name = |at: usize, word: String| if at == 0 { base_name(&word).to_ascii_lowercase() } else { word };
    match rule {
        Rule::Exact(text) | Rule::Prefix(text) => {
            split(&unquoted(text)).into_iter().enumerate().map(|(at, word)| literal(name(at, word))).collect()
        }
        Rule::Pattern(patterns) => {
            let pattern = patterns.first().map_or("", String::as_str);
            let words = split(&pattern.replace(['\'', '"'], ""));
            words.into_iter().enumerate().map(|(at, word)| wildcard::stars(&name(at, word))).collect()
        }
    }
}

/// Returns whether it depends on an expansion which program a command runs.
fn has_dynamic_name(command: &[String]) -> bool {
    command.first().is_some_and(|name| is_dynamic(name) && !matches!(name.as_str(), "[" | "[["))
}

fn is_dynamic(word: &str) -> bool {
    word.contains(['$', '*', '?', '[', '{'])
}

/// Returns whether a command has the name that a rule names, and then an expansion that may result in the rest of the rule.
fn may_continue(command: &[String], rule: &[Vec<Token>]) -> bool {
    let Some((name, rest)) = rule.split_first() else { return true };
    let is_name = |word: &String| wildcard::matches(name, &base_name(word).to_ascii_lowercase());
    command.iter().enumerate().filter(|(_, word)| is_name(word)).any(|(at, _)| {
        let mut expected = rest.iter().peekable();
        let mut follows_option = false;
        for word in command.iter().skip(at + 1) {
            if expected.peek().is_none() || is_dynamic(word) {
                return true;
            }
            let is_option = word.starts_with('-');
            if expected.next_if(|expected| wildcard::matches(expected, word)).is_none() && !is_option && !follows_option
            {
                return false;
            }
            follows_option = is_option;
        }
        false
    })
}
