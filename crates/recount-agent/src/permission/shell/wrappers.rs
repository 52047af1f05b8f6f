//! Commands that run other commands.

use super::reader::{MAX_DEPTH, Reader};
use super::whereabouts::FOUND;
use super::{Command, Dialect, Word, hidden, interpreters};

/// How a command names the one that it runs.
struct Wrapper {
    name: &'static str,
    /// Options without a value: letters, then long names.
    flags: (&'static str, &'static [&'static str]),
    /// Options with one.
    valued: (&'static str, &'static [&'static str]),
    /// How many words stand before the command.
    operands: usize,
    /// Variables may be set before the command.
    sets: bool,
    /// It does nothing but run the other one.
    transparent: bool,
}

const NONE: Wrapper =
    Wrapper { name: "", flags: ("", &[]), valued: ("", &[]), operands: 0, sets: false, transparent: true };

const WRAPPERS: &[Wrapper] = &[
    Wrapper { name: "nohup", ..NONE },
    Wrapper { name: "builtin", ..NONE },
    Wrapper { name: "command", flags: ("p", &[]), ..NONE },
    Wrapper { name: "exec", flags: ("cl", &[]), valued: ("a", &[]), ..NONE },
    Wrapper { name: "setsid", flags: ("cfw", &["--ctty", "--fork", "--wait"]), ..NONE },
    Wrapper { name: "nice", valued: ("n", &["--adjustment"]), ..NONE },
    Wrapper { name: "ionice", flags: ("t", &["--ignore"]), valued: ("cn", &["--class", "--classdata"]), ..NONE },
    Wrapper { name: "chrt", flags: ("abfior", &[]), operands: 1, ..NONE },
    Wrapper { name: "taskset", operands: 1, ..NONE },
    Wrapper { name: "stdbuf", valued: ("ioe", &["--input", "--output", "--error"]), ..NONE },
    Wrapper { name: "time", flags: ("pv", &["--portability", "--verbose"]), valued: ("f", &["--format"]), ..NONE },
    Wrapper {
        name: "timeout",
        flags: ("fpv", &["--foreground", "--preserve-status", "--verbose"]),
        valued: ("ks", &["--kill-after", "--signal"]),
        operands: 1,
        ..NONE
    },
    Wrapper {
        name: "env",
        flags: ("i0v", &["--ignore-environment", "--null", "--debug"]),
        valued: ("u", &["--unset"]),
        sets: true,
        ..NONE
    },
    Wrapper {
        name: "xargs",
        flags: ("0rtxop", &["--null", "--no-run-if-empty", "--verbose", "--exit", "--interactive", "--open-tty"]),
        valued: ("dEILnPs", &["--delimiter", "--max-lines", "--max-args", "--max-procs", "--max-chars", "--replace"]),
        ..NONE
    },
    Wrapper {
        name: "sudo",
        flags: ("AbEHknPS", &["--background", "--preserve-env", "--set-home", "--non-interactive", "--stdin"]),
        valued: ("CDghprtTuU", &["--user", "--group", "--chdir", "--host", "--prompt"]),
        sets: true,
        transparent: false,
        ..NONE
    },
    Wrapper { name: "doas", flags: ("Lns", &[]), valued: ("aCu", &[]), transparent: false, ..NONE },
    Wrapper { name: "chroot", valued: ("", &["--userspec", "--groups"]), operands: 1, transparent: false, ..NONE },
    Wrapper {
        name: "strace",
        flags: ("cCdfFhiqrtTvVwxXyYzZ", &[]),
        valued: ("abeEIoOpPsSuU", &[]),
        transparent: false,
        ..NONE
    },
    Wrapper { name: "busybox", transparent: false, ..NONE },
];

/// They run other commands too, in ways that are not looked for.
const RUNNERS: &[&str] = &[
    "at",
    "batch",
    "bwrap",
    "capsh",
    "choom",
    "chpst",
    "chronic",
    "complete",
    "crontab",
    "daemonize",
    "dbus-run-session",
    "eatmydata",
    "enable",
    "entr",
    "expect",
    "faketime",
    "fakeroot",
    "fd",
    "fdfind",
    "firejail",
    "flock",
    "gosu",
    "hyperfine",
    "ifne",
    "linux32",
    "linux64",
    "ltrace",
    "mapfile",
    "nsenter",
    "numactl",
    "parallel",
    "pee",
    "perf",
    "pkexec",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "readarray",
    "rlwrap",
    "runcon",
    "runuser",
    "screen",
    "script",
    "setarch",
    "setpriv",
    "sg",
    "ssh-agent",
    "start-stop-daemon",
    "su",
    "su-exec",
    "systemd-inhibit",
    "systemd-run",
    "tini",
    "tmux",
    "torsocks",
    "unbuffer",
    "unshare",
    "valgrind",
    "watch",
    "watchexec",
    "xvfb-run",
];

const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "ksh", "mksh", "rbash"];

/// Looks for what a command runs itself, and has that noted too.
pub(super) fn unwrap(reader: &mut Reader, index: usize) {
    let Some(command) = reader.commands.get(index) else { return };
    let Some(name) = command.base_name().map(str::to_owned) else { return };
    let words = command.words.clone();
    let arguments = words.get(1..).unwrap_or_default();
    match name.as_str() {
        name if SHELLS.contains(&name) => shell(reader, index, name, arguments),
        "eval" => evaluated(reader, index, arguments),
        "trap" => match arguments.iter().find(|word| word.text.as_deref() != Some("--")) {
            Some(Word { text: Some(text), .. }) if text.starts_with('-') => {}
            Some(action) => text_of(reader, index, action),
            None => {}
        },
        "find" => executed(reader, index, &words),
        // What it reads may give every later name another meaning.
        "source" | "." => reader.vague("it reads commands from a file"),
        "alias" if !arguments.is_empty() => reader.vague("it gives a command another name"),
        "hash" if arguments.iter().any(|word| word.is_option() && word.text.as_deref() != Some("-r")) => {
            reader.vague("it gives a command another name");
        }
        "command" if arguments.first().is_some_and(|word| matches!(word.text.as_deref(), Some("-v" | "-V"))) => {}
        name if RUNNERS.contains(&name) || interpreters::is_loader(name) => {
            reader.vague(&format!("`{name}` may run a command that is not looked for"));
        }
        "zsh" | "fish" | "csh" | "tcsh" => reader.vague(&format!("the language of `{name}` is not known here")),
        name if hidden::may_run(name, arguments) => {
            reader.vague(&format!("`{name}` is told to run a command, or may be"));
        }
        name => {
            if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
                wrapped(reader, index, wrapper, &words);
            }
        }
    }
}

/// `sh -c SCRIPT`. What it reads from elsewhere is not known.
fn shell(reader: &mut Reader, index: usize, name: &str, arguments: &[Word]) {
    let mut takes_script = false;
    for (at, word) in arguments.iter().enumerate() {
        match word.text.as_deref() {
            Some(text) if takes_script && !text.starts_with(['-', '+']) => {
                let dialect = if name == "bash" { Dialect::Bash } else { Dialect::Sh };
                transparent(reader, index);
                return reader.script(text, dialect, Some((index, at + 1)));
            }
            Some(text) if text.starts_with('-') && !text.starts_with("--") => {
                let letters = text.trim_start_matches('-');
                takes_script |= letters.contains('c');
                if !letters.chars().all(|c| "cefux".contains(c)) {
                    return reader.vague("a shell is started in a way that is not known here");
                }
            }
            // A file: it is run like any other program.
            Some(text) if !takes_script && !text.starts_with(['-', '+', '/']) => return,
            Some(text)
                if !takes_script
                    && text.starts_with('/')
                    && !text.starts_with("/dev/")
                    && !text.starts_with("/proc/") =>
            {
                return;
            }
            Some("--version" | "--help") => return,
            Some(_) | None => return reader.vague("a shell runs what is known only when it runs"),
        }
    }
    reader.vague("a shell runs what it reads");
}

/// `eval` joins its words and runs them.
fn evaluated(reader: &mut Reader, index: usize, arguments: &[Word]) {
    let words: Option<Vec<_>> = arguments.iter().map(|word| word.text.as_deref()).collect();
    match words {
        Some(words) => {
            transparent(reader, index);
            let dialect = reader.dialect;
            reader.script(&words.join(" "), dialect, Some((index, 1)));
        }
        None => reader.vague("`eval` runs what is known only when it runs"),
    }
}

fn text_of(reader: &mut Reader, index: usize, word: &Word) {
    match &word.text {
        Some(text) => {
            let dialect = reader.dialect;
            reader.script(text, dialect, Some((index, 1)));
        }
        None => reader.vague("it runs what is known only when it runs"),
    }
}

/// What `find` executes stands behind one of these.
const EXECUTES: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// `find … -exec command … ;`, as often as there are some.
fn executed(reader: &mut Reader, index: usize, words: &[Word]) {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        match word.text.as_deref() {
            Some(text) if EXECUTES.contains(&text) => {}
            Some(_) => continue,
            None => {
                reader.vague("`find` has an expression that is known only when it runs");
                continue;
            }
        }
        let rest = words.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|word| !matches!(word.text.as_deref(), Some(";" | "+"))).count();
        let inside = filled(rest.get(..length).unwrap_or_default());
        inner(reader, index, at, if finds_files(words) { inside } else { unknown(inside) });
        at += length;
    }
}

/// The command behind options, operands and variables.
fn wrapped(reader: &mut Reader, index: usize, wrapper: &Wrapper, words: &[Word]) {
    let mut at = 1;
    let mut operands = wrapper.operands;
    while let Some(word) = words.get(at) {
        let Some(text) = word.text.as_deref() else {
            return reader.vague(&format!("it is known only when it runs what `{}` runs", wrapper.name));
        };
        match wrapper.option(text) {
            Some(length) => at += length,
            None if text == "--" => {
                at += 1 + operands;
                break;
            }
            None if text.starts_with('-') && text.len() > 1 => {
                return reader.vague(&format!("`{}` has an option that is not known here", wrapper.name));
            }
            None if wrapper.sets && text.contains('=') => {
                let name = super::variables::assigned(text).to_owned();
                if !super::variables::is_harmless(&name)
                    && let Some(command) = reader.commands.get_mut(index)
                {
                    command.disturbing.push(name);
                    reader.vague("it sets a variable that may change what programs do");
                }
                at += 1;
            }
            None if operands > 0 => {
                operands -= 1;
                at += 1;
            }
            None => break,
        }
    }
    let rest = words.get(at..).unwrap_or_default();
    if !rest.is_empty() {
        if wrapper.transparent {
            transparent(reader, index);
        }
        let mut inside = rest.to_vec();
        if wrapper.name == "xargs" {
            if !replaces_braces_only(words.get(1..at).unwrap_or_default()) {
                reader.vague("`xargs` puts what it reads where it is not looked for");
            }
            inside = unknown(filled(&inside));
            inside.push(Word { text: None, glob: None, raw: "…".to_owned() });
        }
        inner(reader, index, at, inside);
    }
}

/// Whether the options of `xargs` name no other placeholder than `{}`.
fn replaces_braces_only(options: &[Word]) -> bool {
    let mut options = options.iter().filter_map(|word| word.text.as_deref());
    while let Some(option) = options.next() {
        let placeholder = match option {
            "-I" | "--replace" => options.next(),
            _ => option.strip_prefix("-I").or_else(|| option.strip_prefix("--replace=")),
        };
        // Letters may be joined, as in `-0I`.
        let joined = !option.starts_with("--") && option.chars().skip(2).any(|c| c == 'I');
        if joined || placeholder.is_some_and(|placeholder| placeholder != "{}") {
            return false;
        }
    }
    true
}

/// Whether what `find` has found when it comes to execute something is a file, and no link that may lead elsewhere.
fn finds_files(words: &[Word]) -> bool {
    let is = |word: &Word, texts: &[&str]| word.text.as_deref().is_some_and(|text| texts.contains(&text));
    let before = words.split(|word| is(word, &EXECUTES)).next().unwrap_or_default();
    let is_file =
        before.windows(2).any(|pair| matches!(pair, [test, kind] if is(test, &["-type"]) && is(kind, &["f"])));
    let other_ways = ["-L", "-H", "-follow", "-o", "-or", ",", "!", "-not"];
    is_file && !words.iter().any(|word| is(word, &other_ways))
}

/// The same words, where what was filled in may be anything.
fn unknown(words: Vec<Word>) -> Vec<Word> {
    words.into_iter().map(|word| Word { glob: None, ..word }).collect()
}

/// Words in which `{}` stands for something that is known only when it runs.
fn filled(words: &[Word]) -> Vec<Word> {
    let fill = |word: &Word| match &word.text {
        // By itself it is a file that was found.
        Some(text) if text == FOUND => Word { text: None, glob: Some(text.clone()), raw: word.raw.clone() },
        Some(text) if text.contains("{}") => Word { text: None, glob: None, raw: word.raw.clone() },
        Some(_) | None => word.clone(),
    };
    words.iter().map(fill).collect()
}

impl Wrapper {
    /// How many words an option takes, if this is one.
    fn option(&self, text: &str) -> Option<usize> {
        let (name, attached) = text.split_once('=').map_or((text, false), |(name, _)| (name, true));
        if self.flags.1.contains(&name) {
            return Some(1);
        }
        if self.valued.1.contains(&name) {
            return Some(if attached { 1 } else { 2 });
        }
        let letters = text.strip_prefix('-').filter(|letters| !letters.is_empty() && !letters.starts_with('-'))?;
        for (at, letter) in letters.char_indices() {
            if self.valued.0.contains(letter) {
                return Some(if at + letter.len_utf8() < letters.len() { 1 } else { 2 });
            }
            if !self.flags.0.contains(letter) {
                return None;
            }
        }
        Some(1)
    }
}

fn inner(reader: &mut Reader, index: usize, at: usize, words: Vec<Word>) {
    if words.is_empty() {
        return;
    }
    if reader.depth >= MAX_DEPTH {
        return reader.vague("it is nested too deeply");
    }
    reader.depth += 1;
    reader.run(Command { words, within: Some((index, at)), ..Command::default() });
    reader.depth -= 1;
}

/// Notes that a command does nothing but run another one. A program of that name in some directory may do more.
fn transparent(reader: &mut Reader, index: usize) {
    if let Some(command) = reader.commands.get_mut(index) {
        command.transparent = command.name().is_some_and(|name| !name.contains('/'));
    }
}
