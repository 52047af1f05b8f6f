//! Rules that a user may want after they were asked.

use super::{Command, Script, Word};
use crate::permission::path::PathResolver;

/// More than that nobody reads.
const MOST: usize = 5;

impl Script {
    /// Contents of rules that together would allow this script, five at most: two words and whatever follows them, or the
    /// whole command where the second is an option.
    ///
    /// Where only the script as it stands can be allowed, that is what is suggested.
    ///
    /// ```
    /// use recount_agent::permission::{path::PathResolver, shell::{Dialect, Script}};
    ///
    /// let script = Script::read("cd src && cargo test --all && git push", Dialect::Bash);
    /// assert_eq!(script.suggestions(&PathResolver::new(["/srv"])), ["cargo test:*", "git push:*"]);
    /// ```
    pub fn suggestions(&self, places: &PathResolver) -> Vec<String> {
        let disturbed = self.commands.iter().any(|command| !command.disturbing.is_empty());
        let mut suggestions: Vec<String> = Vec::new();
        if self.unclear.is_none() && !disturbed {
            for command in self.changing(places).filter(|command| !command.transparent) {
                let suggestion = suggestion(command);
                if !suggestions.contains(&suggestion) {
                    suggestions.push(suggestion);
                }
            }
        }
        let rules: Vec<&str> = suggestions.iter().map(String::as_str).collect();
        let allow = recount_message::PermissionBehavior::Allow;
        let helps = self.covered(&rules, allow, places) == crate::permission::Coverage::Yes;
        if !helps || suggestions.is_empty() || suggestions.len() > MOST {
            return vec![escaped(self.text.trim())];
        }
        suggestions
    }
}

fn suggestion(command: &Command) -> String {
    let second = command.words.get(1).and_then(|word| word.text.as_deref());
    let is_known = command.words().all(|word| word.is_some());
    // What follows an option says more than the option: `rm -rf target` is not every `rm -rf`, nor `python3 -c` one program.
    if matches!(command.name(), Some(">" | "<")) || (is_known && second.is_some_and(|word| word.starts_with('-'))) {
        return escaped(&command.line());
    }
    let words: Vec<_> =
        command.words.iter().take(2).map_while(|word| word.text.as_ref().map(|_| Word::shown(word))).collect();
    format!("{}:*", words.join(" "))
}

/// As a rule that means nothing but this text.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('*', r"\*")
}
