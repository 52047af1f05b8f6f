//! Whether rules are about a script.

use recount_message::PermissionBehavior;

use super::rule::Rule;
use super::whereabouts::Whereabouts;
use super::{Command, Script};
use crate::permission::Coverage;
use crate::permission::path::PathResolver;

impl Script {
    /// Whether rules of a behaviour are about this script.
    ///
    /// Those that allow have to cover, together, every command that changes something; those that deny or ask need to be
    /// about a single one.
    ///
    /// ```
    /// use recount_agent::permission::{Coverage, path::PathResolver, shell::{Dialect, Script}};
    /// use recount_message::PermissionBehavior::{Allow, Deny};
    ///
    /// let places = PathResolver::default();
    /// let script = Script::read("git add . && git commit -m done", Dialect::Bash);
    /// assert_eq!(script.covered(&["git commit:*"], Allow, &places), Coverage::No);
    /// assert_eq!(script.covered(&["git commit:*", "git add:*"], Allow, &places), Coverage::Yes);
    /// assert_eq!(script.covered(&["git commit:*"], Deny, &places), Coverage::Yes);
    /// ```
    pub fn covered(&self, rules: &[&str], behavior: PermissionBehavior, places: &PathResolver) -> Coverage {
        let rules: Vec<_> = rules.iter().map(|content| Rule::read(content)).collect();
        match behavior {
            PermissionBehavior::Allow => Coverage::from(self.allowed(&rules, places)),
            _ => self.concerned(&rules),
        }
    }

    fn allowed(&self, rules: &[Rule], places: &PathResolver) -> bool {
        if rules.iter().any(|rule| rule.is_text(&self.text)) {
            return true;
        }
        let whereabouts = self.whereabouts(places);
        self.unclear.is_none() && self.commands.iter().all(|command| self.is_allowed(command, rules, &whereabouts))
    }

    fn is_allowed(&self, command: &Command, rules: &[Rule], whereabouts: &Whereabouts<'_>) -> bool {
        if !command.disturbing.is_empty() {
            return false;
        }
        // In another directory, `./run` is another program.
        let elsewhere =
            command.moved && command.name().is_some_and(|name| name.contains('/') && !name.starts_with('/'));
        let by_rule = !elsewhere && rules.iter().any(|rule| rule.allows(command));
        let named = || {
            let (outer, at) = command.within?;
            let outer = self.commands.get(outer)?;
            rules.iter().find(|rule| rule.names(outer, at))
        };
        by_rule || command.transparent || command.only_reads(whereabouts) || named().is_some()
    }

    fn concerned(&self, rules: &[Rule]) -> Coverage {
        let mut coverage = Coverage::from(rules.iter().any(|rule| rule.is_text(&self.text)));
        for command in &self.commands {
            for rule in rules {
                match rule.concerns(command) {
                    Coverage::Yes => return Coverage::Yes,
                    Coverage::Unclear if coverage == Coverage::No => coverage = Coverage::Unclear,
                    Coverage::Unclear | Coverage::No => {}
                }
            }
        }
        let may_do_anything = || self.commands.iter().any(Command::may_do_anything);
        match coverage {
            Coverage::No if self.unclear.is_some() || may_do_anything() => Coverage::Unclear,
            Coverage::No | Coverage::Unclear | Coverage::Yes => coverage,
        }
    }
}
