//! Programs that run whatever a text in their arguments, or on their input, says.
//!
//! A rule that names such a program allows it, and with it all that it may do: that is what its user wanted. A rule that forbids
//! something else may still be meant, since the text can do the same in another language.

use super::{Command, Word, base_name};

/// Programs that are given others, with the words that may stand before a file and do not change what is run.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("bun", &["--version"]),
    ("deno", &["--version"]),
    ("elixir", &["--version"]),
    ("groovy", &["--version"]),
    ("guile", &["--version"]),
    ("julia", &["--version"]),
    ("lua", &["-v"]),
    ("luajit", &["-v"]),
    ("node", &["-c", "-v", "--check", "--test", "--version", "--watch"]),
    ("nodejs", &["-c", "-v", "--check", "--test", "--version", "--watch"]),
    ("osascript", &[]),
    ("perl", &["-T", "-c", "-v", "-w", "--version"]),
    ("php", &["-l", "-v", "--version"]),
    ("pypy", &["-B", "-E", "-I", "-O", "-V", "-m", "-s", "-u", "--version"]),
    ("python", &["-B", "-E", "-I", "-O", "-V", "-m", "-s", "-u", "--version"]),
    ("ruby", &["-c", "-v", "-w", "--version"]),
    ("tclsh", &[]),
    ("Rscript", &["--version"]),
];

/// Subcommands that are followed by a program.
const EVALUATES: [&str; 3] = ["eval", "exec", "repl"];

/// Programs with a command of their own that runs another one.
const WITH_ESCAPES: [&str; 20] = [
    "R", "dc", "ed", "emacs", "erl", "ex", "ftp", "gdb", "ghci", "lldb", "m4", "mysql", "nc", "ncat", "nvim", "psql",
    "socat", "sqlite3", "vi", "vim",
];

impl Command {
    /// Whether it may do anything at all, as a text says that is not looked into.
    pub(super) fn may_do_anything(&self) -> bool {
        let Some(name) = self.base_name() else { return false };
        let arguments = self.words.get(1..).unwrap_or_default();
        if WITH_ESCAPES.contains(&name) {
            return !is_version(arguments);
        }
        // `python3.12` is `python`.
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let Some((_, known)) = INTERPRETERS.iter().find(|(known, _)| *known == plain) else { return false };
        let is_known = |word: &&Word| word.text.as_deref().is_some_and(|text| known.contains(&text));
        let mut rest = arguments.iter().skip_while(is_known);
        match rest.next().map(|word| word.text.as_deref()) {
            // Without any other word it reads what to do, unless one of those before says something else.
            None => !is_version(arguments),
            Some(None) => true,
            Some(Some(word)) => {
                word.is_empty()
                    || word.starts_with('-')
                    || EVALUATES.contains(&word)
                    || ["/dev/", "/proc/"].iter().any(|place| word.starts_with(place))
            }
        }
    }
}

fn is_version(arguments: &[Word]) -> bool {
    matches!(arguments, [word] if matches!(word.text.as_deref(), Some("--version" | "-V" | "-v" | "--help" | "-h" | "--test")))
}

/// Whether it is the program that loads others, which it takes as its arguments.
pub(super) fn is_loader(name: &str) -> bool {
    ["ld-linux", "ld-musl", "ld.so", "ld64.so"].iter().any(|loader| base_name(name).starts_with(loader))
}
