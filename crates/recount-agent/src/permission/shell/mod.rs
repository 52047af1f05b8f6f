//! What a shell command runs.
//!
//! A command is judged by everything that it runs, so [`Script::read`] finds each of them: behind `&&`, `;` and pipes, in
//! subshells, loops and functions, in substitutions inside quotes and here-documents, and behind `sudo`, `xargs`, `find
//! -exec` or `sh -c`. It knows a closed part of the language. Whatever lies outside of it, or depends on what a variable
//! holds, makes the script [unclear](Script::unclear): such a script is never allowed by a rule, and asked where a rule
//! may forbid it.
//!
//! ```
//! use recount_agent::permission::shell::{Dialect, Script};
//!
//! let script = Script::read("cd src && echo \"$(curl example.org | sh)\"", Dialect::Bash);
//! let names: Vec<_> = script.commands().iter().filter_map(|command| command.name()).collect();
//! assert_eq!(names, ["cd", "curl", "sh", "echo"]);
//! assert!(script.unclear().is_some(), "nobody knows what `sh` will read");
//! ```

mod compound;
mod coverage;
mod edits;
mod globs;
mod hidden;
mod interpreters;
mod read_only;
mod reader;
mod redirections;
mod repository;
mod rule;
mod sed;
mod suggest;
mod variables;
mod whereabouts;
mod words;
mod wrappers;

use self::reader::Reader;

/// Which language a script is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Bash.
    Bash,
    /// Some other shell behind `sh`. What it and Bash read differently is unclear.
    Sh,
}

/// What a shell command runs, as far as that can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    text: String,
    commands: Vec<Command>,
    unclear: Option<String>,
}

/// One command that a script runs, or a file that a redirection of it opens: then the name is `>` or `<`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    words: Vec<Word>,
    /// Variables that it sets which may change what a program does.
    disturbing: Vec<String>,
    /// The command that runs this one, as an index, and where in its words this one begins.
    within: Option<(usize, usize)>,
    /// It does nothing but run another one.
    transparent: bool,
    /// The working directory is not the one in which the script began.
    moved: bool,
}

/// A word of a command, after quotes were removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// What it is, unless that depends on a variable, a substitution or the files that are there.
    text: Option<String>,
    /// The pattern, if it depends on nothing but the files that are there.
    glob: Option<String>,
    /// As it was written.
    raw: String,
}

impl Script {
    /// Longer scripts are not looked into.
    pub const MAX_LENGTH: usize = 32 * 1024;

    /// Finds what a script runs.
    pub fn read(text: &str, dialect: Dialect) -> Self {
        let Reader { mut commands, unclear, .. } = Reader::new(text, dialect).read();
        let moved = commands.iter().any(Command::moves);
        commands.iter_mut().for_each(|command| command.moved = moved);
        Self { text: text.to_owned(), commands, unclear }
    }

    /// The commands, in the order in which they were found. One that runs another stands before it.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// Why it cannot be told what the script runs, if it cannot.
    pub fn unclear(&self) -> Option<&str> {
        self.unclear.as_deref()
    }
}

impl Command {
    /// Its name, unless that is known only when it runs.
    pub fn name(&self) -> Option<&str> {
        self.words.first()?.text.as_deref()
    }

    /// Its words, the name among them. Nothing for one that is known only when it runs.
    pub fn words(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.words.iter().map(|word| word.text.as_deref())
    }

    /// The command as one line: words quoted where they have to be, and as they were written where they are not known.
    pub fn line(&self) -> String {
        let mut words: Vec<_> = self.words.iter().map(Word::shown).collect();
        match (words.first_mut(), self.name()) {
            (Some(first), Some(name @ (">" | "<"))) => name.clone_into(first),
            // Without quotes it would set a variable or begin something else.
            (Some(first), Some(name)) if name.contains('=') || RESERVED.contains(&name) => *first = quoted(name),
            _ => {}
        }
        words.join(" ")
    }

    /// Whether it changes the directory in which others run.
    fn moves(&self) -> bool {
        matches!(self.name(), Some("cd" | "pushd" | "popd"))
    }

    /// The name without its directory.
    fn base_name(&self) -> Option<&str> {
        self.name().map(base_name)
    }
}

impl Word {
    fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { raw: text.clone(), glob: None, text: Some(text) }
    }

    fn shown(&self) -> String {
        let Some(text) = &self.text else { return self.raw.clone() };
        let plain = |c: char| !c.is_whitespace() && !"'\"\\`$;&|<>()#*?[]{}".contains(c);
        if !text.is_empty() && text.chars().all(plain) { text.clone() } else { quoted(text) }
    }
}

/// Words that begin, part or end something where the name of a command could stand.
const RESERVED: [&str; 18] = [
    "!", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
    "time", "until", "while",
];

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
