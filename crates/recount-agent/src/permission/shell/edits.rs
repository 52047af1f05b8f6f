//! Commands that edit files.

use super::read_only::operands;
use super::whereabouts::Whereabouts;
use super::{Command, Script, Word, sed};
use crate::permission::path::PathResolver;

impl Script {
    /// Whether all that the script does is look at files, and make, move or remove some inside of the given places.
    ///
    /// ```
    /// use recount_agent::permission::{path::PathResolver, shell::{Dialect, Script}};
    ///
    /// let places = PathResolver::new(["/srv/src"]);
    /// let edits = |text| Script::read(text, Dialect::Bash).is_edit(&places);
    /// assert!(edits("mkdir -p a/b && cp lib.rs a/b && echo done > a/note"));
    /// assert!(!edits("cp lib.rs /etc"));
    /// assert!(!edits("rm -rf ."));
    /// ```
    pub fn is_edit(&self, places: &PathResolver) -> bool {
        let whereabouts = self.whereabouts(places);
        let reads = |command: &Command| command.only_reads(&whereabouts);
        let accepted = |command: &Command| reads(command) || command.edits_inside(&whereabouts);
        let changes_nothing = self.commands.iter().all(reads);
        self.unclear.is_none()
            && self.commands.iter().all(accepted)
            && (changes_nothing || !self.may_meet_what_it_changes())
    }

    /// Whether one of its commands may come to a link that another one has moved to where it leads elsewhere, or to a file
    /// that it has named like an option. Where words lead is seen before any of them has run.
    fn may_meet_what_it_changes(&self) -> bool {
        let meets = |command: &&Command| !command.is_pure() && !matches!(command.name(), Some("mkdir" | "cd"));
        let has_pattern = |command: &Command| command.words.iter().any(|word| word.text.is_none());
        let meeting: Vec<&Command> = self.commands.iter().filter(meets).collect();
        meeting.len() > 1 && meeting.iter().any(|command| command.carries_links() || has_pattern(command))
    }
}

/// What commands that edit may be told, as letters and as words: nothing that names another file, or has links followed.
const OPTIONS: [(&str, &str, &[&str]); 6] = [
    ("cp", "afnprRTuv", &["--archive", "--force", "--no-clobber", "--recursive", "--update", "--verbose"]),
    ("mkdir", "pv", &["--parents", "--verbose"]),
    ("mv", "fnTuv", &["--force", "--no-clobber", "--update", "--verbose"]),
    ("rm", "dfrRv", &["--dir", "--force", "--recursive", "--verbose"]),
    ("rmdir", "v", &["--verbose"]),
    ("touch", "acm", &["--no-create"]),
];

impl Command {
    fn edits_inside(&self, whereabouts: &Whereabouts<'_>) -> bool {
        let arguments = self.words.get(1..).unwrap_or_default();
        if !self.disturbing.is_empty() {
            return false;
        }
        let editable = |words: &[&Word]| words.iter().all(|word| whereabouts.is_editable(word));
        let options = || arguments.iter().filter(|word| word.is_option());
        match self.name() {
            Some(">") => arguments.iter().all(|file| whereabouts.is_editable(file)),
            Some("sed") => {
                let known =
                    options().all(|word| matches!(word.text.as_deref(), Some("-i" | "-E" | "-r" | "-n" | "-s")));
                match operands(arguments).as_slice() {
                    [program, files @ ..] => {
                        known && program.text.as_deref().is_some_and(sed::substitutes) && editable(files)
                    }
                    [] => false,
                }
            }
            Some(name) => OPTIONS.iter().find(|(known, ..)| *known == name).is_some_and(|(_, letters, words)| {
                let is_known = |word: &Word| match word.text.as_deref() {
                    Some("--") => true,
                    Some(text) if text.starts_with("--") => words.contains(&text),
                    Some(text) => text.chars().skip(1).all(|letter| letters.contains(letter)),
                    None => false,
                };
                options().all(is_known) && editable(&operands(arguments))
            }),
            None => false,
        }
    }

    /// Whether links come to another place by it, as they are.
    fn carries_links(&self) -> bool {
        let keeps = |word: &Word| word.text.as_deref().is_none_or(|text| text.contains(['a', 'r', 'R', 'd', 'P']));
        match self.name() {
            Some("mv") => true,
            Some("cp") => self.words.iter().skip(1).any(|word| word.is_option() && keeps(word)),
            Some(_) | None => false,
        }
    }
}
