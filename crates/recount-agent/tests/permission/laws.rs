//! What holds for every command and every path.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use recount_agent::permission::Coverage;
use recount_agent::permission::path::PathResolver;
use recount_agent::permission::shell::{Dialect, Script};
use recount_message::PermissionBehavior::{Allow, Deny};

/// Commands that change nothing, or that a rule allows.
const HARMLESS: &[&str] =
    &["ls", "git status", "make all", "make 'a b' $x", "echo \"hi; there\"", "cat a | head -1", "cd sub"];

/// Ways to run a command; the word is put in place of `@`.
const WAYS: &[&str] = &[
    "@",
    "@ x",
    "(@)",
    "{ @; }",
    "true && @",
    "false || @",
    "ls | @",
    "@ | ls",
    "ls; @",
    "ls & @",
    "ls\n@",
    "echo $(@)",
    "echo \"$(@)\"",
    "echo `@`",
    "cat <(@)",
    "if ls; then @; fi",
    "if @; then ls; fi",
    "for x in 1 2; do @; done",
    "while @; do ls; done",
    "case a in a) @;; esac",
    "f() { @; }; f",
    "! @",
    "time @",
    "A=b @",
    "x=$(@)",
    "sudo @",
    "env A=b @",
    "nohup @",
    "timeout 5 @",
    "nice -n 3 @",
    "xargs @",
    "find . -exec @ {} +",
    "bash -c '@'",
    "sh -c 'ls; @'",
    "eval '@'",
    "trap '@' EXIT",
    "command @",
    "exec @",
    "cat <<E\n$(@)\nE\n",
    "ls > $(@)",
    "ls <<< \"$(@)\"",
    "[[ -n $(@) ]] && ls",
    "echo ${x:-$(@)}",
    "# ls\n@",
    "'@'",
    "\\@",
    "/usr/bin/@",
    "2>&1 @",
    "(ls; (@))",
    "function g { @; }",
];

fn harmless() -> impl Strategy<Value = String> {
    select(HARMLESS).prop_map(str::to_owned)
}

/// A script that runs a command somewhere, behind several ways one in the other. Ways that quote by themselves come last.
fn hiding(word: &'static str) -> impl Strategy<Value = String> {
    let inner: Vec<&str> = WAYS.iter().copied().filter(|way| !way.contains(['\'', '\\', '\n', '/', '`'])).collect();
    let ways = prop::collection::vec(select(inner), 0..4);
    let glue = select(&["; ", " && ", " || ", "\n", " | "][..]);
    (select(WAYS), ways, harmless(), harmless(), glue).prop_map(move |(first, ways, before, after, glue)| {
        let hidden = first.replace('@', word);
        let script = ways.iter().fold(hidden, |script, way| {
            // What is a script by itself cannot be put where a single command has to stand.
            let single = [
                "sudo", "env", "nohup", "timeout", "nice", "xargs", "find", "command", "exec", "A=b", "! ", "2>",
                "ls <", "time",
            ];
            if single.iter().any(|start| way.starts_with(start)) {
                format!("{script}; ls")
            } else {
                way.replace('@', &script)
            }
        });
        format!("{before}{glue}{script}\n{after}")
    })
}

/// The fuzz target, run over its corpus without a fuzzer.
#[test]
fn the_corpus_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/shell");
    let files: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 10, "{} files", files.len());
    for file in files {
        assert_eq!(recount_testkit::fuzzing::shell(&std::fs::read(&file).unwrap()), Ok(()), "{}", file.display());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_denied_command_is_found_wherever_it_is_hidden(text in hiding("evil")) {
        let script = Script::read(&text, Dialect::Bash);
        let coverage = script.covered(&["evil:*"], Deny, &PathResolver::default());
        let seen = if script.unclear().is_some() { coverage != Coverage::No } else { coverage == Coverage::Yes };
        prop_assert!(seen, "{coverage:?}: {script:?}");
    }

    #[test]
    fn an_allow_rule_never_allows_a_script_with_another_command(text in hiding("evil")) {
        let script = Script::read(&text, Dialect::Bash);
        let rules = ["make:*", "ls:*", "echo:*", "sudo:*", "bash:*", "sh:*", "xargs:*", "find:*", "env:*", "f:*", "*x*"];
        let places = PathResolver::new(["/srv/src"]);
        prop_assert_eq!(script.covered(&rules[..10], Allow, &places), Coverage::No, "{:?}", script);
        prop_assert!(!script.is_read_only(&places) && !script.is_edit(&places));
    }

    #[test]
    fn whatever_is_suggested_would_allow_the_script(text in hiding("evil")) {
        let script = Script::read(&text, Dialect::Bash);
        let places = PathResolver::new(["/srv/src"]);
        let suggestions = script.suggestions(&places);
        let rules: Vec<_> = suggestions.iter().map(String::as_str).collect();
        prop_assert!(rules.len() <= 5);
        prop_assert_eq!(script.covered(&rules, Allow, &places), Coverage::Yes, "{:?}: {:?}", rules, script);
    }

    #[test]
    fn the_laws_hold_for_any_text(text in any::<String>(), more in "[ -~\n]{0,60}", hidden in hiding("evil")) {
        for text in [text, more, hidden] {
            prop_assert_eq!(recount_testkit::fuzzing::shell(text.as_bytes()), Ok(()));
        }
    }

    #[test]
    fn a_command_reads_the_same_after_it_was_written(words in prop::collection::vec("[ -~äé]{1,8}", 1..5)) {
        let quoted: Vec<_> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        let script = Script::read(&quoted.join(" "), Dialect::Bash);
        prop_assume!(script.commands().len() == 1);
        let line = script.commands()[0].line();
        prop_assume!(!words[0].contains(['<', '>']) && script.unclear().is_none());
        let again = Script::read(&line, Dialect::Bash);
        prop_assume!(again.commands().len() == 1);
        prop_assert_eq!(again.commands()[0].line(), line);
    }

    #[test]
    fn where_a_path_leads_it_stays(path in "(/|\\.\\./|\\./|a/|b//|etc/|usr/|bin/|lib/){0,8}[a-z.]{0,5}") {
        let places = PathResolver::new(["/srv/src"]);
        let once = places.resolve(&path).unwrap();
        prop_assert_eq!(&places.resolve(&once).unwrap(), &once);
        prop_assert!(once.is_absolute() && !once.components().any(|part| part.as_os_str() == ".."));
    }

    #[test]
    fn an_allow_rule_for_a_directory_allows_nothing_outside(path in "(\\.\\./|\\./|a/|src/|srv/|//|opt/){0,8}x") {
        let places = PathResolver::new(["/srv/src"]);
        let allowed = places.covered(&path, &["/srv/src/**"], Allow) == Coverage::Yes;
        prop_assert_eq!(allowed, places.resolve(&path).unwrap().starts_with(Path::new("/srv/src")));
    }
}
