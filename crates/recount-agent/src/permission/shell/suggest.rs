//! Rules that are suggested to the user along with a question.

use super::list::{CommandList, SimpleCommand, is_hidden};
use super::trimmed;

/// The maximum number of suggestions. Of a longer list, the whole text is suggested.
const MAX_SUGGESTIONS: usize = 5;

/// The maximum length of a text for which rules are suggested, in characters.
const MAX_LENGTH: usize = 300;

/// Programs whose first argument is a subcommand.
const WITH_SUBCOMMANDS: [&str; 16] = [
    "bundle",
    "cargo",
    "docker",
    "dotnet",
    "gh",
    "git",
    "go",
    "kubectl",
    "npm",
    "pip",
    "pnpm",
    "poetry",
    "rustup",
    "terraform",
    "uv",
    "yarn",
];

/// Subcommands that run what their arguments name.
const RUNNERS: [&str; 4] = ["dlx", "exec", "run", "x"];

/// Returns contents of allow rules that match a command text together: the prefix `program subcommand:*` for programs that
/// have subcommands, else the exact text.
///
/// Returns none for a text that a user cannot review: one that is long or has newlines or other control characters.
///
/// ```
/// use recount_agent::permission::shell::suggestions;
///
/// assert_eq!(suggestions("cargo test --all && rm build.log"), ["cargo test:*", "rm build.log"]);
/// assert_eq!(suggestions("rm *.log"), [r"rm \*.log"]);
/// ```
pub fn suggestions(text: &str) -> Vec<String> {
    let text = trimmed(text);
    if text.is_empty() || text.chars().any(is_hidden) || text.chars().nth(MAX_LENGTH).is_some() {
        return Vec::new();
    }
    let whole = || vec![exact(text)];
    let Some(list) = CommandList::parse(text).filter(|list| !list.runs_programs_elsewhere()) else { return whole() };
    let mut suggestions = Vec::new();
    for command in list.commands() {
        let suggestion = suggestion(command);
        if !suggestions.contains(&suggestion) {
            suggestions.push(suggestion);
        }
    }
    if suggestions.len() > MAX_SUGGESTIONS { whole() } else { suggestions }
}

fn suggestion(command: &SimpleCommand<'_>) -> String {
    match command.words() {
        [program, subcommand, ..] if WITH_SUBCOMMANDS.contains(&program.as_str()) && is_subcommand(subcommand) => {
            format!("{program} {subcommand}:*")
        }
        _ => exact(command.text()),
    }
}

fn is_subcommand(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(is_plain) && !RUNNERS.contains(&word)
}

/// Returns the rule that matches this text only.
fn exact(text: &str) -> String {
    text.replace('\\', r"\\").replace('*', r"\*")
}
