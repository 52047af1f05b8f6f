//! Which files a pattern stands for.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use crate::permission::wildcard;

/// So many names are looked at for one pattern.
const MOST_NAMES: usize = 10_000;

/// The words that a shell may put in the place of a pattern in a directory now. Nothing where they are too many.
///
/// Shells differ, so it may be more than one of them would: `.*` has always `..` in it, and a class such as `[a-z]` is any
/// character.
pub(super) fn expanded(directory: &Path, pattern: &str) -> Option<Vec<String>> {
    let mut parts = pattern.split('/').peekable();
    let mut begun = VecDeque::from([String::new()]);
    let mut looked_at = 0;
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        for _ in 0..begun.len() {
            let Some(before) = begun.pop_front() else { break };
            let mut go_on = |name: &str| begun.push_back(format!("{before}{name}{}", if is_last { "" } else { "/" }));
            if !is_special(part) {
                go_on(part);
                continue;
            }
            for name in names(&directory.join(&before), part) {
                looked_at += 1;
                if looked_at > MOST_NAMES {
                    return None;
                }
                if matches(part, &name) {
                    go_on(&name);
                }
            }
        }
    }
    // One that stands for nothing stays as it is written.
    if begun.is_empty() { Some(vec![pattern.to_owned()]) } else { Some(begun.into()) }
}

/// What a part of a pattern may be compared with.
fn names(directory: &Path, part: &str) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let hidden = if part.starts_with('.') { [".", ".."].as_slice() } else { &[] };
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.chain(hidden.iter().map(|name| (*name).to_owned()))
}

fn matches(part: &str, name: &str) -> bool {
    // A dot at the beginning has to be written.
    if name.starts_with('.') && !part.starts_with('.') {
        return false;
    }
    part.contains('[') || wildcard::matches(&wildcard::path(part), name)
}

fn is_special(part: &str) -> bool {
    part.contains(['*', '?', '['])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_what_a_shell_may_find() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a.rs", "b.rs", ".hidden", "sub/c.rs", "sub/.d"] {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let check = |pattern: &str, expected: &[&str]| {
            let mut found = expanded(directory.path(), pattern).unwrap();
            found.sort();
            assert_eq!(found, expected, "{pattern}");
        };
        check("*", &["a.rs", "b.rs", "sub"]);
        check("*.rs", &["a.rs", "b.rs"]);
        check("./?.rs", &["./a.rs", "./b.rs"]);
        check("*/*.rs", &["sub/c.rs"]);
        check(".*", &[".", "..", ".hidden"]);
        check(".*/x", &["../x", "./x", ".hidden/x"]);
        check("[ab].rs", &["a.rs", "b.rs", "sub"]);
        check("*.txt", &["*.txt"]);
        let above = format!("{}/*.rs", directory.path().display());
        assert_eq!(expanded(Path::new("/nowhere"), &above).unwrap().len(), 2);
    }
}
