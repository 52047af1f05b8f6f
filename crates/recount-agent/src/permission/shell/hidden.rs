//! Commands that run another one where their arguments say so.
//!
//! A rule about `tar` means `tar`, and not whatever `tar --to-command` names. What stands in such an argument is not looked
//! for; it is only noticed that there is one.

use super::read_only::has;
use super::{Word, sed};

/// Options that have a command run, by the program that takes them.
const BY_OPTION: &[(&str, &[&str])] = &[
    ("cargo", &["--config"]),
    ("go", &["-exec", "--exec", "-toolexec", "--toolexec"]),
    ("man", &["-P", "--pager", "-H", "--html"]),
    ("npm", &["--script-shell"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-o", "-F", "-S", "-D"]),
    ("sftp", &["-o", "-F", "-S", "-D"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    ("ssh", &["-o", "-F"]),
    (
        "tar",
        &[
            "-F",
            "-I",
            "-T",
            "--checkpoint-action",
            "--files-from",
            "--info-script",
            "--new-volume-script",
            "--rmt-command",
            "--rsh-command",
            "--to-command",
            "--use-compress-program",
        ],
    ),
    ("zip", &["-TT", "--unzip-command"]),
];

/// The same for the commands of `git`.
const GIT_BY_OPTION: &[(&str, &[&str])] = &[
    ("archive", &["--exec"]),
    ("clone", &["-c", "--config", "-u", "--upload-pack", "--template"]),
    ("fetch", &["--upload-pack"]),
    ("grep", &["-O", "--open-files-in-pager"]),
    ("init", &["--template"]),
    ("ls-remote", &["--upload-pack", "--exec"]),
    ("pull", &["--upload-pack"]),
    ("push", &["--receive-pack", "--exec"]),
    ("rebase", &["-x", "--exec"]),
];

/// Commands of `git` that are there to run others.
const GIT_RUNS: [&str; 9] =
    ["daemon", "difftool", "filter-branch", "for-each-repo", "hook", "instaweb", "mergetool", "send-email", "shell"];

/// Whether a program may run a command that stands in its arguments, or in a file that they name.
pub(super) fn may_run(name: &str, arguments: &[Word]) -> bool {
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => awk(arguments),
        "sed" | "gsed" => sed_program(arguments),
        "git" => git(arguments),
        "make" | "gmake" => make(arguments),
        // Its first word may be options without a dash.
        "tar" if arguments.first().is_some_and(|word| word.is_unknown() || is_bundle(word)) => true,
        name => BY_OPTION.iter().any(|(known, options)| *known == name && takes_one(arguments, options)),
    }
}

/// Whether one of the options is there, or a word that may turn out to be one.
fn takes_one(arguments: &[Word], options: &[&str]) -> bool {
    let before = arguments.iter().take_while(|word| word.text.as_deref() != Some("--"));
    before.clone().any(Word::is_unknown) || has(arguments, options)
}

fn is_bundle(word: &Word) -> bool {
    word.text.as_deref().is_some_and(|text| !text.starts_with('-') && text.contains(['F', 'I', 'T']))
}

/// Whether rules are in no file that lies there like a program, or another shell is named for them.
fn make(arguments: &[Word]) -> bool {
    let mut words = arguments.iter().filter_map(|word| word.text.as_deref());
    while let Some(text) = words.next() {
        let file = match text.split_once('=') {
            Some(("SHELL" | "MAKEFLAGS" | "MAKEFILES", _)) => return true,
            Some((name, file)) if is_shortened(name, "--file") || is_shortened(name, "--makefile") => Some(file),
            _ if is_shortened(text, "--file") || is_shortened(text, "--makefile") => words.next(),
            // Letters may be joined: `-kf -`.
            _ if text.starts_with('-') && !text.starts_with("--") => match text.split_once('f') {
                Some((_, "")) => words.next(),
                Some((_, file)) => Some(file),
                None => continue,
            },
            _ => continue,
        };
        if !file.is_some_and(|file| is_file(&Word::literal(file))) {
            return true;
        }
    }
    takes_one(arguments, &["-E", "--eval"])
}

fn is_shortened(text: &str, option: &str) -> bool {
    text.len() > 3 && option.starts_with(text)
}

fn git(arguments: &[Word]) -> bool {
    let (options, rest) = git_options(arguments);
    let is_odd = |word: &Word| {
        let Some(text) = word.text.as_deref() else { return true };
        let name = text.split('=').next().unwrap_or(text);
        matches!(name, "-c" | "--config-env" | "--git-dir") || (name == "--exec-path" && text.contains('='))
    };
    if options.iter().any(is_odd) {
        return true;
    }
    match rest.split_first() {
        Some((Word { text: Some(command), .. }, after)) => git_command(command, after),
        Some(_) => true,
        None => false,
    }
}

/// What is said to `git` itself, and the command that it is told with what follows.
pub(super) fn git_options(arguments: &[Word]) -> (&[Word], &[Word]) {
    const VALUED: [&str; 8] =
        ["-C", "-c", "--attr-source", "--config-env", "--git-dir", "--namespace", "--super-prefix", "--work-tree"];
    let mut at = 0;
    while let Some(text) = arguments.get(at).and_then(|word| word.text.as_deref()) {
        at += match text {
            text if VALUED.contains(&text) => 2,
            text if text.starts_with('-') => 1,
            _ => break,
        };
    }
    arguments.split_at(at.min(arguments.len()))
}

fn git_command(command: &str, arguments: &[Word]) -> bool {
    let first = arguments.iter().find(|word| !word.is_option());
    let is_first = |wanted: &str| first.is_some_and(|word| word.text.as_deref().is_none_or(|text| text == wanted));
    match command {
        // What is configured is run later, under a name that looks harmless.
        "config" => !(has(arguments, &["-l", "--list", "--get", "--get-all", "--get-regexp"]) || is_first("get")),
        "bisect" => is_first("run"),
        "submodule" => is_first("foreach"),
        command if GIT_RUNS.contains(&command) => true,
        command => GIT_BY_OPTION.iter().any(|(known, options)| *known == command && takes_one(arguments, options)),
    }
}

/// Whether a program is in a file, where it is run like any other, and does not come from elsewhere.
fn is_file(word: &Word) -> bool {
    word.text.as_deref().is_some_and(|file| {
        !file.is_empty() && file != "-" && !["/dev/", "/proc/"].iter().any(|place| file.starts_with(place))
    })
}

/// Whether the program of an `awk` has a pipe or calls `system`.
fn awk(arguments: &[Word]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.text.as_deref() else { return true };
        match text {
            "-F" | "-v" => drop(words.next()),
            "-f" => return !words.next().is_some_and(is_file),
            "--" => {}
            _ if text.starts_with("-F") || text.starts_with("-v") => {}
            _ if text.starts_with('-') => return true,
            program => return program.contains("system") || program.replace("||", "").contains('|'),
        }
    }
    false
}

/// Whether one of the programs that a `sed` is given runs a command.
fn sed_program(arguments: &[Word]) -> bool {
    let mut programs: Vec<&str> = Vec::new();
    let mut operands: Vec<&str> = Vec::new();
    let (mut has_file, mut is_over) = (false, false);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.text.as_deref() else {
            let is_program = operands.is_empty() && programs.is_empty() && !has_file;
            // It may be an option too, with a program in it.
            if is_program || (word.is_unknown() && !is_over) {
                return true;
            }
            continue;
        };
        match text.strip_prefix('-').filter(|_| !is_over) {
            None | Some("") => operands.push(text),
            Some("-") => is_over = true,
            Some(long) if long.starts_with('-') => match long.split_once('=').unwrap_or((long, "")) {
                ("-expression", program) if long.contains('=') => programs.push(program),
                ("-file", file) if is_file(&Word::literal(file)) => has_file = true,
                (
                    "-quiet" | "-silent" | "-regexp-extended" | "-null-data" | "-separate" | "-in-place" | "-posix"
                    | "-unbuffered" | "-sandbox",
                    _,
                ) => {}
                _ => return true,
            },
            Some(letters) => {
                for (at, letter) in letters.char_indices() {
                    if "nErszu".contains(letter) {
                        continue;
                    }
                    let attached = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                    let takes_next = attached.is_empty() && letter != 'i';
                    let value =
                        if takes_next { words.next().and_then(|word| word.text.as_deref()) } else { Some(attached) };
                    match (letter, value) {
                        ('e', Some(program)) => programs.push(program),
                        ('f', Some(file)) if is_file(&Word::literal(file)) => has_file = true,
                        ('i' | 'l', _) => {}
                        _ => return true,
                    }
                    break;
                }
            }
        }
    }
    if programs.is_empty() && !has_file {
        programs.extend(operands.first());
    }
    sed::may_run(&programs.join("\n"))
}

impl Word {
    /// Whether nobody can tell what it is, so that it may be an option: also a pattern that may stand for a file of such a
    /// name.
    fn is_unknown(&self) -> bool {
        self.text.is_none() && self.glob.as_deref().is_none_or(|glob| glob.starts_with(['*', '?', '[', '-']))
    }
}
