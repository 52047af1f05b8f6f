//! Commands that change nothing.

use super::{Command, Script, Word};
use crate::permission::path::Places;

/// They look at nothing but their words.
const PURE: [&str; 14] = [
    "echo", "true", "false", ":", "test", "[", "basename", "dirname", "seq", "pwd", "whoami", "sleep", "nproc", "arch",
];

/// They read the files that they are given, whatever their options.
const READERS: [&str; 26] = [
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "stat",
    "du",
    "df",
    "cut",
    "nl",
    "tac",
    "rev",
    "paste",
    "comm",
    "cmp",
    "tr",
    "fold",
    "expand",
    "od",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "cksum",
    "realpath",
    "readlink",
    "diff",
];

/// They only read unless one of these options is there: whole, as the beginning of `--option=value`, or as a letter.
const READERS_UNLESS: [(&str, &[&str]); 11] = [
    ("sort", &["-o", "--output", "-T", "--temporary-directory", "--compress-program", "--files0-from"]),
    ("file", &["-C", "--compile", "-m", "--magic-file", "-f", "--files-from"]),
    ("tree", &["-o", "--output", "-R"]),
    ("grep", &["-f", "--file"]),
    ("egrep", &["-f", "--file"]),
    ("fgrep", &["-f", "--file"]),
    ("rg", &["--pre", "--pre-glob", "--hostname-bin", "-f", "--file", "--ignore-file"]),
    ("jq", &["-f", "--from-file", "-L", "--rawfile", "--slurpfile"]),
    ("which", &[]),
    ("uname", &[]),
    ("id", &[]),
];

/// The first word that is no option is a pattern or a program, and no file.
const PATTERN_FIRST: [&str; 5] = ["grep", "egrep", "fgrep", "rg", "jq"];

/// What `find` does beside looking. What it executes is judged by itself.
const FIND_WRITES: [&str; 6] = ["-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"];

/// What `git` can be asked without changing anything.
const GIT: [&str; 14] = [
    "status",
    "log",
    "diff",
    "show",
    "rev-parse",
    "ls-files",
    "ls-tree",
    "blame",
    "describe",
    "shortlog",
    "rev-list",
    "merge-base",
    "cat-file",
    "name-rev",
];

/// Options with which one of them runs or writes something after all.
const GIT_UNLESS: [&str; 7] =
    ["--output", "--ext-diff", "--textconv", "--exec", "--open-files-in-pager", "--filters", "--no-index"];

impl Script {
    /// Whether all that the script does is look at files in the given places.
    ///
    /// ```
    /// use recount_agent::permission::{path::Places, shell::{Dialect, Script}};
    ///
    /// let places = Places::new(["/srv/src"]);
    /// let reads = |text| Script::read(text, Dialect::Bash).is_read_only(&places);
    /// assert!(reads("git status && grep -rn TODO . | head -20"));
    /// assert!(!reads("find . -name '*.bak' -delete"));
    /// assert!(!reads("cat /etc/shadow"));
    /// ```
    pub fn is_read_only(&self, places: &Places) -> bool {
        self.unclear.is_none() && self.commands.iter().all(|command| self.only_reads(command, places))
    }

    /// The commands that do more than look at files in the given places.
    pub fn changing(&self, places: &Places) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(move |command| !self.only_reads(command, places))
    }

    pub(super) fn only_reads(&self, command: &Command, places: &Places) -> bool {
        let Some(name) = command.name() else { return false };
        let arguments = command.words.get(1..).unwrap_or_default();
        if !command.disturbing.is_empty() {
            return false;
        }
        if command.transparent || PURE.contains(&name) {
            return true;
        }
        let inside = |words: &[Word]| words.iter().all(|word| self.is_inside(word, places));
        match name {
            "cd" => arguments.len() == 1 && operands(arguments).count() == 1 && inside(arguments),
            "<" => inside(arguments),
            "printf" => !arguments.first().is_none_or(|word| word.text.is_none() || word.raw.starts_with("-v")),
            "date" => {
                arguments.iter().all(|word| matches!(&word.text, Some(text) if text == "-u" || text.starts_with('+')))
            }
            "hostname" | "uptime" | "free" => arguments.is_empty(),
            "command" => arguments.first().is_some_and(|word| matches!(word.text.as_deref(), Some("-v" | "-V"))),
            "uniq" => operands(arguments).count() <= 1 && inside(arguments),
            "find" => known(arguments) && !has(arguments, &FIND_WRITES) && inside(arguments),
            "sed" => {
                prints_lines(arguments) && inside(operands(arguments).skip(1).cloned().collect::<Vec<_>>().as_slice())
            }
            "git" => self.git_reads(arguments, places),
            "cargo" | "rustc" | "node" | "npm" | "python3" | "python" | "go" | "java" | "make" | "gcc" | "bash" => {
                arguments.len() == 1 && arguments.iter().all(|word| word.text.as_deref() == Some("--version"))
            }
            name if READERS.contains(&name) => inside(arguments),
            name => {
                let Some((_, unless)) = READERS_UNLESS.iter().find(|(known, _)| *known == name) else { return false };
                let by_option = ["-e", "--regexp"];
                let pattern_first = PATTERN_FIRST.contains(&name) && !has(arguments, &by_option);
                let files: Vec<_> = if pattern_first {
                    let pattern = operands(arguments).next();
                    arguments
                        .iter()
                        .filter(|word| !pattern.is_some_and(|it| std::ptr::eq(it, *word)))
                        .cloned()
                        .collect()
                } else {
                    arguments.to_vec()
                };
                known(arguments) && !has(arguments, unless) && inside(&files)
            }
        }
    }

    fn git_reads(&self, arguments: &[Word], places: &Places) -> bool {
        // Options before the subcommand may name programs to run.
        let Some(subcommand) = arguments.first().and_then(|word| word.text.as_deref()) else { return false };
        let rest = arguments.get(1..).unwrap_or_default();
        let listing =
            |allowed: &[&str]| rest.iter().all(|word| word.text.as_deref().is_some_and(|text| allowed.contains(&text)));
        let reads = match subcommand {
            "branch" => listing(&["-a", "-r", "-v", "-vv", "--all", "--list", "--show-current"]),
            "tag" => listing(&["-l", "--list"]),
            "remote" => listing(&["-v"]),
            "stash" => rest.first().is_some_and(|word| word.text.as_deref() == Some("list")) && rest.len() == 1,
            _ => GIT.contains(&subcommand),
        };
        reads && known(rest) && !has(rest, &GIT_UNLESS) && rest.iter().all(|word| self.is_inside(word, places))
    }

    /// Whether a word names nothing outside of the places, wherever the script has gone.
    pub(super) fn is_inside(&self, word: &Word, places: &Places) -> bool {
        let Some(text) = word.text.as_deref().or(word.glob.as_deref()) else { return false };
        let path = match text.strip_prefix('-') {
            // `--file=/etc/passwd`, `-f/etc/passwd`
            Some(option) => option
                .split_once('=')
                .map(|(_, value)| value)
                .or_else(|| Some(option.split_at(option.find(['/', '~'])?).1)),
            None => Some(text),
        };
        let Some(path) = path else { return true };
        if path.starts_with('~') {
            return false;
        }
        let moves = self.commands.iter().filter(|command| command.moves());
        let mut bases =
            moves.map(|command| command.words.get(1).and_then(|word| word.text.as_deref())).chain([Some("")]);
        bases.all(|base| {
            let Some(base) = base.filter(|base| !base.starts_with('-')) else { return false };
            let resolved = places.resolve(base).and_then(|base| places.resolve(base.join(path)));
            resolved.is_ok_and(|resolved| places.hold(&resolved))
        })
    }
}

fn known(words: &[Word]) -> bool {
    words.iter().all(|word| word.text.is_some() || word.glob.is_some())
}

pub(super) fn operands(words: &[Word]) -> impl Iterator<Item = &Word> {
    words.iter().filter(|word| !word.raw.starts_with('-'))
}

/// Whether one of these options is among the words. Long ones may be shortened, and letters joined.
fn has(words: &[Word], options: &[&str]) -> bool {
    let is = |text: &str, option: &str| {
        let name = text.split('=').next().unwrap_or(text);
        match option.strip_prefix("--") {
            Some(_) => name.len() > 2 && name.starts_with("--") && option.starts_with(name),
            None if option.len() > 2 => text == option,
            None => !text.starts_with("--") && text.starts_with('-') && text.contains(option.trim_start_matches('-')),
        }
    };
    words.iter().filter_map(|word| word.text.as_deref()).any(|text| options.iter().any(|option| is(text, option)))
}

/// `sed -n 10,20p`: every other program of `sed` may write files or run commands.
fn prints_lines(words: &[Word]) -> bool {
    let mut options = words.iter().filter(|word| word.raw.starts_with('-'));
    let program = operands(words).next().and_then(|word| word.text.as_deref());
    let prints = |program: &str| {
        let Some(lines) = program.strip_suffix('p') else { return false };
        lines.split(',').count() <= 2 && lines.chars().all(|c| c.is_ascii_digit() || c == ',' || c == '$')
    };
    options.all(|word| word.text.as_deref() == Some("-n")) && program.is_some_and(prints)
}
