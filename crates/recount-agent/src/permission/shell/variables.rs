//! Which variables a script may set without changing what its programs do.

use super::{Command, Word};

/// Whether this is the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The name in `name=value` or `name+=value`.
pub(super) fn assigned(plain: &str) -> &str {
    plain.split(['=', '+', '[']).next().unwrap_or_default()
}

/// Whether setting it changes nothing but output and the script itself.
///
/// Any program may have variables that make it run something (`GIT_SSH_COMMAND`, `LD_PRELOAD`), so those that do not are
/// listed. Names in lower case are taken for the script's own, save those of proxies.
pub(super) fn is_harmless(name: &str) -> bool {
    const KNOWN: [&str; 16] = [
        "CARGO_TERM_COLOR",
        "CI",
        "CLICOLOR",
        "COLUMNS",
        "DEBUG",
        "DEBIAN_FRONTEND",
        "FORCE_COLOR",
        "LANG",
        "LANGUAGE",
        "NO_COLOR",
        "NODE_ENV",
        "PYTHONUNBUFFERED",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "TERM",
        "TZ",
    ];
    let own = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (own && name != "_" && !name.ends_with("_proxy")) || name.starts_with("LC_") || KNOWN.contains(&name)
}

/// Notes what `export`, `declare` and their like set.
pub(super) fn note_declared(command: &mut Command) {
    if !matches!(command.name(), Some("export" | "declare" | "typeset" | "local" | "readonly")) {
        return;
    }
    let mut disturbing = Vec::new();
    for word in command.words.iter().skip(1).filter(|word| !word.raw.starts_with('-')) {
        let name = assigned(word.text.as_deref().unwrap_or(&word.raw));
        if !is_name(name) || !is_harmless(name) {
            disturbing.push(name.to_owned());
        }
    }
    command.disturbing.extend(disturbing);
}

/// Whether a builtin may take a word of its own for the index of an array, and run the substitutions in it, although they were
/// quoted: `[ -v 'a[$(rm x)]' ]` does.
pub(super) fn evaluates(command: &Command) -> bool {
    let arguments = command.words.get(1..).unwrap_or_default();
    let indexed = |word: &Word| word.text.as_deref().is_none_or(|text| text.contains('['));
    match command.name() {
        Some("let") => true,
        Some("unset" | "read" | "getopts") => arguments.iter().any(indexed),
        Some("printf" | "wait") => {
            let by_name =
                arguments.first().is_some_and(|word| word.text.as_deref().is_none_or(|text| text.starts_with('-')));
            by_name && arguments.iter().any(indexed)
        }
        Some("declare" | "typeset" | "local" | "export" | "readonly") => arguments.iter().any(|word| {
            let name = word.raw.split('=').next().unwrap_or_default();
            // Integers and references are evaluated whenever they are used.
            let typed = name.starts_with(['-', '+']) && !matches!(name, "-x" | "-r" | "-g" | "-p" | "-f");
            typed || name.contains(['[', '$', '`', '\'', '"', '\\'])
        }),
        Some("test" | "[") => !is_plain_test(arguments),
        Some(_) | None => false,
    }
}

/// Whether a test has a form in which no word can turn out to be `-v`.
fn is_plain_test(arguments: &[Word]) -> bool {
    let arguments = match arguments.split_last() {
        Some((last, rest)) if last.raw == "]" => rest,
        Some(_) | None => arguments,
    };
    let known: Option<Vec<&str>> = arguments.iter().map(|word| word.text.as_deref()).collect();
    if let Some(words) = known {
        return !words.contains(&"-v");
    }
    let single = |word: &Word| {
        word.text.is_some() || (word.raw.starts_with('"') && word.raw.ends_with('"') && word.raw.len() > 1)
    };
    let binary = ["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    let form = match arguments {
        [operator, _] => operator.text.as_deref().is_some_and(|text| text != "-v"),
        [_, operator, _] => operator.text.as_deref().is_some_and(|text| binary.contains(&text)),
        [_] => true,
        _ => false,
    };
    form && arguments.iter().all(single)
}
