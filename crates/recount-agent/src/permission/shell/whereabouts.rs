//! Where a script may be when one of its commands runs, and where its words lead to from there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::globs::expanded;
use super::{Command, Script, Word};
use crate::permission::path::PathResolver;

/// In more directories no script is looked for.
const MOST: usize = 64;

/// The word that stands for a file that `find` has found.
pub(super) const FOUND: &str = "{}";

/// The directories in which a script may be, and those in which it may work.
#[derive(Debug)]
pub(super) struct Whereabouts<'a> {
    places: &'a PathResolver,
    /// Nothing where that cannot be told.
    directories: Option<BTreeSet<PathBuf>>,
}

impl Script {
    pub(super) fn whereabouts<'a>(&self, places: &'a PathResolver) -> Whereabouts<'a> {
        Whereabouts { places, directories: self.directories(places) }
    }

    /// Every directory that the script may come to: a `cd` may run once, in a loop, or not at all.
    fn directories(&self, places: &PathResolver) -> Option<BTreeSet<PathBuf>> {
        let moves = self.commands.iter().filter(|command| command.moves());
        let targets: Vec<&str> = moves.map(Command::target).collect::<Option<_>>()?;
        let mut known = BTreeSet::from([places.base().to_owned()]);
        let mut new = vec![places.base().to_owned()];
        while let Some(directory) = new.pop() {
            for target in &targets {
                let next = places.resolve(directory.join(target)).ok()?;
                // What is not there yet holds nothing that leads elsewhere.
                if known.insert(next.clone()) && next.is_dir() {
                    new.push(next);
                }
                if known.len() > MOST {
                    return None;
                }
            }
        }
        Some(known)
    }
}

impl Command {
    /// Where `cd` goes. Nothing where that cannot be told.
    fn target(&self) -> Option<&str> {
        match self.words.as_slice() {
            [name, target] if name.text.as_deref() == Some("cd") => {
                target.text.as_deref().filter(|target| !target.starts_with(['-', '~']) && !target.is_empty())
            }
            _ => None,
        }
    }
}

impl Whereabouts<'_> {
    /// Whether words name nothing outside of the places: neither as operands nor in options.
    pub(super) fn are_inside(&self, words: &[Word]) -> bool {
        let mut are_operands = false;
        words.iter().all(|word| {
            let is_operand = are_operands || !word.is_option();
            are_operands |= word.text.as_deref() == Some("--");
            if is_operand { self.is_inside(word) } else { self.is_harmless_option(word) }
        })
    }

    /// The directories in which the script may be. Nothing where that cannot be told.
    pub(super) fn directories(&self) -> Option<impl Iterator<Item = &Path>> {
        self.directories.as_ref().map(|directories| directories.iter().map(PathBuf::as_path))
    }

    /// Whether a word that is no option names nothing outside of the places.
    pub(super) fn is_inside(&self, word: &Word) -> bool {
        self.all(word, |path| self.places.hold(path))
    }

    /// Whether what a word names may be changed.
    pub(super) fn is_editable(&self, word: &Word) -> bool {
        word.glob.as_deref() != Some(FOUND) && self.all(word, |path| self.places.hold_for_edit(path))
    }

    fn all(&self, word: &Word, holds: impl Fn(&Path) -> bool) -> bool {
        let Some(directories) = &self.directories else { return false };
        let leads = |directory: &Path, path: &str| {
            !path.starts_with('~') && self.places.resolve(directory.join(path)).is_ok_and(|path| holds(&path))
        };
        directories.iter().all(|directory| match (&word.text, &word.glob) {
            (Some(path), _) => leads(directory, path),
            (None, Some(pattern)) => expanded(directory, pattern).is_some_and(|paths| {
                // A file may be named like an option.
                paths.iter().all(|path| !path.starts_with('-') && leads(directory, path))
            }),
            (None, None) => false,
        })
    }

    /// Whether an option has no value, or one that names nothing outside: `--file=/etc/passwd`, `-f/etc/passwd`.
    fn is_harmless_option(&self, word: &Word) -> bool {
        let Some(text) = word.text.as_deref() else { return false };
        let value = text.split_once('=').map(|(_, value)| value);
        let value = value.or_else(|| Some(text.split_at(text.find(['/', '~'])?).1));
        value.is_none_or(|value| self.is_inside(&Word::literal(value)))
    }
}

impl Word {
    /// Whether it is an option where those are looked for. One that is known only when it runs may be one.
    pub(super) fn is_option(&self) -> bool {
        let text = self.text.as_deref().or(self.glob.as_deref()).unwrap_or(&self.raw);
        // A dash alone is what is read or written.
        text.starts_with('-') && text != "-"
    }
}
