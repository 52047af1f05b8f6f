//! Laws of permission rules for shell commands.

use recount_agent::permission::Coverage;
use recount_agent::permission::shell::{CommandList, SimpleCommand, coverage, suggestions};
use recount_message::PermissionBehavior::{Allow, Deny};

use super::{Verdict, ensure, ensure_same};

/// For any text as a shell command: only literal lists can be allowed, formatted commands parse to the same words, the
/// suggested rules allow the text, and a denied command appended to it is detected.
///
/// # Errors
///
/// If the law is violated.
pub fn shell_rules_cover_commands(text: &str) -> Verdict {
    let list = CommandList::parse(text);
    if let Some(list) = &list {
        literal(text, list)?;
    }
    let trimmed = text.trim_matches([' ', '\t']);
    let is_literal = CommandList::parse(trimmed).is_some();
    ensure!(
        is_literal || coverage(text, &["*"], Allow) == Coverage::No,
        "{text:?} is allowed, but is not a literal list"
    );
    let behind = coverage(&format!("{text}\nevil x"), &["evil:*"], Deny);
    let may_hide = text.ends_with('\\') || text.len() + 7 > CommandList::MAX_LENGTH;
    ensure!(behind == Coverage::Yes || (may_hide && behind == Coverage::Unclear), "evil behind {text:?} is {behind:?}");
    let suggestions = suggestions(text);
    let rules: Vec<&str> = suggestions.iter().map(String::as_str).collect();
    ensure!(rules.len() <= 5, "{} suggestions for {text:?}", rules.len());
    if !rules.is_empty() {
        ensure_same!(coverage(text, &rules, Allow), Coverage::Yes, "{rules:?} and {text:?}");
        ensure!(
            coverage(&format!("{text}; another-evil x"), &rules, Allow) == Coverage::No,
            "{rules:?} allow another command behind {text:?}"
        );
    }
    Ok(())
}

/// Checks a text that is a literal list.
fn literal(text: &str, list: &CommandList<'_>) -> Verdict {
    let words: Vec<&[String]> = list.commands().iter().map(SimpleCommand::words).collect();
    ensure!(!words.is_empty() && words.iter().all(|words| !words.is_empty()), "{text:?} has empty commands");
    for command in list.commands() {
        let line = command.line();
        let parts = [command.text(), &line].map(CommandList::parse);
        // Words with a single quote are formatted with a backslash, which is not literal.
        let is_quoted = command.words().iter().any(|word| word.contains('\''));
        for part in parts.iter().take(if is_quoted { 1 } else { 2 }) {
            let part = part.as_ref().map(CommandList::commands);
            let same =
                part.is_some_and(|part| part.len() == 1 && part.iter().all(|one| one.words() == command.words()));
            ensure!(same, "{command:?} of {text:?} is parsed to {part:?}");
        }
        let name = command.words().first().map_or("", String::as_str);
        if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            let rule = format!("{name}:*");
            ensure_same!(coverage(text, &[&rule], Deny), Coverage::Yes, "{rule} and {text:?}");
        }
    }
    for hidden in ["\nevil", " $(evil)", " `evil`", " & evil", " > evil", "\t"] {
        let longer = format!("{text}{hidden}");
        ensure!(CommandList::parse(&longer).is_none(), "{longer:?} is a literal list");
    }
    let longer = format!("{text} && evil x");
    let parsed = CommandList::parse(&longer);
    let count = parsed.as_ref().map_or(0, |list| list.commands().len());
    ensure!(count == words.len() + 1 || longer.len() > CommandList::MAX_LENGTH, "{longer:?} has {count} commands");
    Ok(())
}
