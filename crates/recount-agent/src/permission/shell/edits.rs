//! Commands that edit files.

use super::read_only::operands;
use super::{Command, Script, Word};
use crate::permission::path::Places;

impl Script {
    /// Whether all that the script does is look at files, and make, move or remove some inside of the given places.
    ///
    /// ```
    /// use recount_agent::permission::{path::Places, shell::{Dialect, Script}};
    ///
    /// let places = Places::new(["/srv/src"]);
    /// let edits = |text| Script::read(text, Dialect::Bash).is_edit(&places);
    /// assert!(edits("mkdir -p a/b && cp lib.rs a/b && echo done > a/note"));
    /// assert!(!edits("cp lib.rs /etc"));
    /// assert!(!edits("rm -rf ."));
    /// ```
    pub fn is_edit(&self, places: &Places) -> bool {
        let accepted = |command: &Command| self.only_reads(command, places) || self.edits_inside(command, places);
        self.unclear.is_none() && self.commands.iter().all(accepted)
    }

    fn edits_inside(&self, command: &Command, places: &Places) -> bool {
        let arguments = command.words.get(1..).unwrap_or_default();
        if !command.disturbing.is_empty() {
            return false;
        }
        let editable = |word: &Word| self.is_editable(word, places);
        match command.name() {
            Some(">" | "mkdir" | "touch" | "rm" | "rmdir" | "mv" | "cp") => arguments.iter().all(editable),
            Some("sed") => {
                let mut options = arguments.iter().filter(|word| word.raw.starts_with('-'));
                let known = options.all(|word| matches!(word.text.as_deref(), Some("-i" | "-E" | "-r" | "-n" | "-s")));
                let program = operands(arguments).next().and_then(|word| word.text.as_deref());
                known && program.is_some_and(substitutes) && operands(arguments).skip(1).all(editable)
            }
            Some(_) | None => false,
        }
    }

    fn is_editable(&self, word: &Word, places: &Places) -> bool {
        let Some(text) = word.text.as_deref().or(word.glob.as_deref()) else { return false };
        if !self.is_inside(word, places) {
            return false;
        }
        text.starts_with('-') || places.resolve(text).is_ok_and(|resolved| places.hold_for_edit(&resolved))
    }
}

/// Whether a program of `sed` is one substitution, which neither runs nor writes anything else.
fn substitutes(program: &str) -> bool {
    let mut chars = program.chars();
    let (Some('s'), Some(delimiter)) = (chars.next(), chars.next()) else { return false };
    if delimiter.is_alphanumeric() || delimiter.is_whitespace() || delimiter == '\\' {
        return false;
    }
    let mut parts = 0;
    while parts < 2 {
        match chars.next() {
            Some('\\') => {
                chars.next();
            }
            Some('\n') | None => return false,
            Some(c) => parts += usize::from(c == delimiter),
        }
    }
    chars.all(|flag| "gpiI0123456789".contains(flag))
}
