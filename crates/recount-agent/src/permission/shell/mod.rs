//! Rules about shell commands.
//!
//! The sandbox confines a command; its text is never trusted. The text is only matched against the rules of the user, which
//! have three forms:
//!
//! | rule | matches |
//! |---|---|
//! | `make -j4 all` | the equal text, or an equal command of a [literal list](CommandList) |
//! | `git commit:*` | commands that begin with these words |
//! | `git * --amend` | commands whose [line](SimpleCommand::line) has this form |
//!
//! `\*` is a literal asterisk and `\\` a literal backslash.
//!
//! An allow rule matches a literal list only. Any other text, such as one with a substitution or a redirection to a file, is
//! matched by the exact rule and by no other.
//!
//! Deny and ask rules match too often rather than too rarely. Still they are a convenience: a text can hide a command from
//! them. The boundary is the access that the sandbox grants.
//!
//! ```
//! use recount_agent::permission::{Coverage, shell};
//! use recount_message::PermissionBehavior::{Allow, Deny};
//!
//! let text = "git add . && git commit -m 'fix the parser'";
//! assert_eq!(shell::coverage(text, &["git add:*"], Allow), Coverage::No);
//! assert_eq!(shell::coverage(text, &["git add:*", "git commit:*"], Allow), Coverage::Yes);
//! assert_eq!(shell::coverage(text, &["git commit:*"], Deny), Coverage::Yes);
//! assert_eq!(shell::coverage("sudo git commit", &["git commit:*"], Deny), Coverage::Unclear);
//! ```

mod list;
mod rule;
mod search;
mod suggest;

pub use list::{CommandList, SimpleCommand};
pub use suggest::suggestions;

use recount_message::PermissionBehavior;

use self::rule::Rule;
use self::search::SearchedText;
use super::Coverage;

/// Returns whether rules with this behavior, given by their contents, match a command text.
///
/// Allow rules must match every command of the text together. They return `Yes` or `No`. Deny and ask rules must match one
/// command. They return `Unclear` if the text may run a matching command, for example behind `sudo`.
pub fn coverage(text: &str, rules: &[&str], behavior: PermissionBehavior) -> Coverage {
    let text = trimmed(text);
    let rules: Vec<Rule> = rules.iter().map(|content| Rule::parse(content)).collect();
    if behavior == PermissionBehavior::Allow {
        return Coverage::from(is_allowed(text, &rules));
    }
    let searched = SearchedText::new(text);
    let mut found = Coverage::No;
    for rule in &rules {
        match searched.coverage(rule) {
            Coverage::Yes => return Coverage::Yes,
            Coverage::Unclear => found = Coverage::Unclear,
            Coverage::No => {}
        }
    }
    found
}

fn is_allowed(text: &str, rules: &[Rule]) -> bool {
    if rules.iter().any(|rule| rule.is_text(text)) {
        return true;
    }
    let Some(list) = CommandList::parse(text) else { return false };
    let is_allowed = |command: &SimpleCommand<'_>| rules.iter().any(|rule| rule.allows(command));
    !list.runs_programs_elsewhere() && list.commands().iter().all(is_allowed)
}

/// Returns a text without the blanks at its ends.
fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
