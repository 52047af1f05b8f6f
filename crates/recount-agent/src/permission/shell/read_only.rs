//! Commands that change nothing.

use super::whereabouts::Whereabouts;
use super::{Command, Script, Word, sed};
use crate::permission::path::PathResolver;

/// They look at nothing but their words, save for patterns in them and files that are tested.
pub(super) const PURE: [&str; 14] = [
    "echo", "true", "false", ":", "test", "[", "basename", "dirname", "seq", "pwd", "whoami", "sleep", "nproc", "arch",
];

/// They read the files that they are given, whatever their options.
const READERS: [&str; 21] = [
    "cat",
    "head",
    "tail",
    "stat",
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
    "readlink",
];

/// They only read what they are given unless one of these options is there: whole, as the beginning of `--option=value`, or as
/// a letter. Some write or run something, others have files read that are named elsewhere or that links lead to.
const READERS_UNLESS: [(&str, &[&str]); 16] = [
    ("diff", &["-r", "--recursive"]),
    ("du", &["-L", "--dereference", "--files0-from"]),
    ("egrep", &["-f", "--file", "-R", "--dereference-recursive"]),
    ("fgrep", &["-f", "--file", "-R", "--dereference-recursive"]),
    ("file", &["-C", "--compile", "-m", "--magic-file", "-f", "--files-from"]),
    ("grep", &["-f", "--file", "-R", "--dereference-recursive"]),
    ("id", &[]),
    ("jq", &["-f", "--from-file", "-L", "--library-path", "--rawfile", "--slurpfile", "--argfile"]),
    ("ls", &["-L", "--dereference"]),
    ("realpath", &[]),
    ("rg", &["--pre", "--pre-glob", "--hostname-bin", "-f", "--file", "--ignore-file", "-L", "--follow"]),
    ("sort", &["-o", "--output", "-T", "--temporary-directory", "--compress-program", "--files0-from"]),
    ("tree", &["-o", "--output", "-R", "-l", "--fromfile"]),
    ("uname", &[]),
    ("wc", &["--files0-from"]),
    ("which", &[]),
];

/// The first word that is no option is a pattern or a program, and no file.
const PATTERN_FIRST: [&str; 5] = ["grep", "egrep", "fgrep", "rg", "jq"];

/// What `find` does beside looking. What it executes is judged by itself.
/// Others have links followed, or files read that are named elsewhere.
const FIND_UNLESS: [&str; 8] = ["-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from", "-L", "-follow"];

/// They say nothing but their versions then. `cargo` and `rustc` are not among them: which of them runs is said by a file.
const VERSIONED: [&str; 9] = ["bash", "gcc", "go", "java", "make", "node", "npm", "python", "python3"];

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
    /// use recount_agent::permission::{path::PathResolver, shell::{Dialect, Script}};
    ///
    /// let places = PathResolver::new(["/srv/src"]);
    /// let reads = |text| Script::read(text, Dialect::Bash).is_read_only(&places);
    /// assert!(reads("git status && grep -rn TODO . | head -20"));
    /// assert!(!reads("find . -name '*.bak' -delete"));
    /// assert!(!reads("cat /etc/shadow"));
    /// ```
    pub fn is_read_only(&self, places: &PathResolver) -> bool {
        let whereabouts = self.whereabouts(places);
        self.unclear.is_none() && self.commands.iter().all(|command| command.only_reads(&whereabouts))
    }

    /// The commands that do more than look at files in the given places.
    pub fn changing(&self, places: &PathResolver) -> impl Iterator<Item = &Command> {
        let whereabouts = self.whereabouts(places);
        self.commands.iter().filter(move |command| !command.only_reads(&whereabouts))
    }
}

impl Command {
    /// Whether it looks at nothing but its words.
    pub(super) fn is_pure(&self) -> bool {
        self.disturbing.is_empty() && (self.transparent || self.name().is_some_and(|name| PURE.contains(&name)))
    }

    /// Whether all that it does is look at files in the places.
    pub(super) fn only_reads(&self, whereabouts: &Whereabouts<'_>) -> bool {
        let Some(name) = self.name().filter(|_| self.disturbing.is_empty()) else { return false };
        let arguments = self.words.get(1..).unwrap_or_default();
        let inside = |words: &[Word]| whereabouts.are_inside(words);
        // Names of files are put in the place of a pattern.
        let spread = |words: &[Word]| words.iter().all(|word| word.glob.is_none() || whereabouts.is_inside(word));
        let first = arguments.first().and_then(|word| word.text.as_deref());
        match name {
            "test" | "[" => tested(arguments).iter().all(|file| whereabouts.is_inside(file)) && spread(arguments),
            "printf" if first.is_none_or(|format| format.starts_with("-v")) => false,
            _ if self.is_pure() || name == "printf" => spread(arguments),
            "cd" => arguments.len() == 1 && operands(arguments).len() == 1 && inside(arguments),
            "<" => arguments.iter().all(|file| whereabouts.is_inside(file)),
            "date" => {
                arguments.iter().all(|word| matches!(&word.text, Some(text) if text == "-u" || text.starts_with('+')))
            }
            "hostname" | "uptime" | "free" => arguments.is_empty(),
            "command" => matches!(first, Some("-v" | "-V")),
            "uniq" => operands(arguments).len() <= 1 && inside(arguments),
            "find" => known(arguments) && !has(arguments, &FIND_UNLESS) && inside(arguments),
            "sed" => match operands(arguments).as_slice() {
                [program, files @ ..] => {
                    let prints = program.text.as_deref().is_some_and(sed::prints_lines);
                    let options = arguments.iter().filter(|word| word.is_option());
                    let is_quiet = options.into_iter().all(|word| word.text.as_deref() == Some("-n"));
                    prints && is_quiet && files.iter().all(|file| whereabouts.is_inside(file))
                }
                [] => false,
            },
            "git" => {
                let rest = arguments.get(1..).unwrap_or_default();
                git_reads(arguments) && inside(rest) && whereabouts.git_runs_nothing()
            }
            name if VERSIONED.contains(&name) => arguments.len() == 1 && first == Some("--version"),
            name if READERS.contains(&name) => inside(arguments),
            // It can read files and the environment from within its programs.
            "jq" if arguments.iter().any(looks_further) => false,
            name => {
                let Some((_, unless)) = READERS_UNLESS.iter().find(|(known, _)| *known == name) else { return false };
                let pattern_first = PATTERN_FIRST.contains(&name) && !has(arguments, &["-e", "--regexp"]);
                let pattern = operands(arguments).first().copied().filter(|it| pattern_first && it.text.is_some());
                let files = arguments.iter().filter(|word| !pattern.is_some_and(|it| std::ptr::eq(it, *word)));
                known(arguments) && !has(arguments, unless) && inside(&files.cloned().collect::<Vec<_>>())
            }
        }
    }
}

fn git_reads(arguments: &[Word]) -> bool {
    // Options before the subcommand may name programs to run.
    let Some(subcommand) = arguments.first().and_then(|word| word.text.as_deref()) else { return false };
    let rest = arguments.get(1..).unwrap_or_default();
    let listing =
        |allowed: &[&str]| rest.iter().all(|word| word.text.as_deref().is_some_and(|text| allowed.contains(&text)));
    let reads = match subcommand {
        "branch" => listing(&["-a", "-r", "-v", "-vv", "--all", "--list", "--show-current"]),
        "tag" => listing(&["-l", "--list"]),
        "remote" => listing(&["-v"]),
        "stash" => rest.len() == 1 && listing(&["list"]),
        _ => GIT.contains(&subcommand),
    };
    reads && known(rest) && !has(rest, &GIT_UNLESS)
}

/// Whether a program of `jq` has others read, or the environment.
fn looks_further(word: &Word) -> bool {
    let names = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|name| name.eq_ignore_ascii_case("env"))
    };
    word.text.as_deref().is_none_or(|text| text.contains("import") || text.contains("include") || names(text))
}

/// The files that a test looks at.
pub(super) fn tested(arguments: &[Word]) -> Vec<&Word> {
    let is = |word: Option<&Word>, operators: &[&str]| {
        word.and_then(|word| word.text.as_deref()).is_some_and(|text| operators.contains(&text))
    };
    let at = |index: Option<usize>| index.and_then(|index| arguments.get(index));
    let file = |index: &usize| {
        is(at(index.checked_sub(1)), &FILE_TESTS)
            || is(at(Some(index + 1)), &FILE_COMPARISONS)
            || is(at(index.checked_sub(1)), &FILE_COMPARISONS)
    };
    (0..arguments.len()).filter(file).filter_map(|index| arguments.get(index)).collect()
}

/// What `test` asks about a file.
const FILE_TESTS: [&str; 20] = [
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-u", "-w", "-x", "-G", "-L", "-N", "-O",
    "-S",
];

/// What it asks about two.
const FILE_COMPARISONS: [&str; 3] = ["-ef", "-nt", "-ot"];

fn known(words: &[Word]) -> bool {
    words.iter().all(|word| word.text.is_some() || word.glob.is_some())
}

/// The words that are no options.
pub(super) fn operands(words: &[Word]) -> Vec<&Word> {
    let mut operands = Vec::new();
    let mut rest = words.iter();
    for word in rest.by_ref() {
        if word.text.as_deref() == Some("--") {
            break;
        }
        if !word.is_option() {
            operands.push(word);
        }
    }
    operands.extend(rest);
    operands
}

/// Whether one of these options is among the words. Long ones may be shortened, and letters joined.
pub(super) fn has(words: &[Word], options: &[&str]) -> bool {
    let is = |text: &str, option: &str| {
        let name = text.split('=').next().unwrap_or(text);
        match option.strip_prefix("--") {
            Some(_) => name.len() > 2 && name.starts_with("--") && option.starts_with(name),
            None if option.len() > 2 => name == option,
            None => !text.starts_with("--") && text.starts_with('-') && text.contains(option.trim_start_matches('-')),
        }
    };
    words.iter().filter_map(|word| word.text.as_deref()).any(|text| options.iter().any(|option| is(text, option)))
}
