//! What is true of the judgement of shell commands.

use recount_agent::permission::Coverage;
use recount_agent::permission::path::PathResolver;
use recount_agent::permission::shell::{Dialect, Script};
use recount_message::PermissionBehavior::{Allow, Deny};

use super::{Verdict, ensure, ensure_same};

/// Any text as a shell command: what was found can be forbidden, what is suggested allows it, and what is clear stays so when
/// something follows.
///
/// # Errors
///
/// When it is not so.
pub fn shell(text: &str, dialect: Dialect) -> Verdict {
    let places = PathResolver::new(["/srv/src"]);
    let script = Script::read(text, dialect);
    for command in script.commands() {
        let Some(name) = command.name().filter(|name| is_plain(name)) else { continue };
        let rule = format!("{name}:*");
        ensure_same!(script.covered(&[&rule], Deny, &places), Coverage::Yes, "{rule} and {text:?}");
    }
    if script.unclear().is_some() {
        ensure!(!script.is_read_only(&places) && !script.is_edit(&places), "{text:?} is unclear and needs no question");
        ensure!(script.covered(&["evil:*"], Deny, &places) != Coverage::No, "{text:?} is unclear and surely not evil");
    } else {
        let followed = Script::read(&format!("{text}\nevil x"), dialect);
        ensure_same!(followed.covered(&["evil:*"], Deny, &places), Coverage::Yes, "evil behind {text:?}");
        ensure!(!followed.is_edit(&places), "evil behind {text:?} needs no question");
        ensure!(
            script.is_edit(&places) || !script.is_read_only(&places),
            "{text:?} reads and edits, but does not read"
        );
    }
    let suggestions = script.suggestions(&places);
    let rules: Vec<&str> = suggestions.iter().map(String::as_str).collect();
    ensure!(rules.len() <= 5, "{} suggestions for {text:?}", rules.len());
    ensure_same!(script.covered(&rules, Allow, &places), Coverage::Yes, "{rules:?} and {text:?}");
    Ok(())
}

/// Whether a name means itself in a rule.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}
