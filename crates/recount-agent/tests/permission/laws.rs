//! Properties of rules about shell commands and paths.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use recount_agent::permission::Coverage;
use recount_agent::permission::path::PathResolver;
use recount_agent::permission::shell::{CommandList, coverage};
use recount_message::PermissionBehavior::{Allow, Deny};

/// Commands that rules allow.
const ALLOWED: &[&str] =
    &["ls", "git status", "make all", "make 'a b' c", "echo \"hi; there\"", "cat a | head -1", "cd sub"];

const RULES: &[&str] = &[
    "ls:*",
    "git status:*",
    "make:*",
    "echo:*",
    "cat:*",
    "head:*",
    "cd:*",
    "true:*",
    "false:*",
    "if:*",
    "f:*",
    "[[:*",
];

/// Texts that run a command. `@` stands for the command.
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

/// Generates a text that runs a command, nested in several ways. Ways with quotes are outermost.
fn hiding(word: &'static str) -> impl Strategy<Value = String> {
    let inner: Vec<&str> = WAYS.iter().copied().filter(|way| !way.contains(['\'', '\\', '\n', '/', '`'])).collect();
    let ways = prop::collection::vec(select(inner), 0..4);
    let glue = select(&["; ", " && ", " || ", "\n", " | "][..]);
    (select(WAYS), ways, select(ALLOWED), select(ALLOWED), glue).prop_map(move |(first, ways, before, after, glue)| {
        let hidden = ways.iter().fold(first.replace('@', word), |text, way| way.replace('@', &text));
        format!("{before}{glue}{hidden}{glue}{after}")
    })
}

/// Runs the fuzz target over its corpus.
#[test]
fn fuzz_corpus_passes() {
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
    fn hidden_denied_command_is_found(text in hiding("evil")) {
        prop_assert_ne!(coverage(&text, &["evil:*"], Deny), Coverage::No, "{}", text);
        prop_assert_ne!(coverage(&text, &["evil"], Deny), Coverage::No, "{}", text);
    }

    #[test]
    fn allow_rules_never_allow_another_command(text in hiding("evil")) {
        prop_assert_eq!(coverage(&text, RULES, Allow), Coverage::No, "{}", text);
    }

    #[test]
    fn allow_rules_for_every_command_allow_a_literal_list(
        commands in prop::collection::vec(select(ALLOWED), 1..5),
        glue in select(&["; ", " && ", "||", " | ", " 2>&1 | ", ">/dev/null;"][..]),
    ) {
        let text = commands.join(glue);
        prop_assert_eq!(coverage(&text, RULES, Allow), Coverage::Yes, "{}", text);
    }

    #[test]
    fn shell_properties_hold_for_any_text(
        text in any::<String>(),
        more in "[ -~\n]{0,60}",
        plain in "[a-c'\";&| >/:*\\\\-]{0,20}",
        hidden in hiding("evil"),
    ) {
        for text in [text, more, plain, hidden] {
            prop_assert_eq!(recount_testkit::fuzzing::shell(text.as_bytes()), Ok(()));
        }
    }

    #[test]
    fn quoted_words_are_parsed_to_themselves(words in prop::collection::vec("[ -&(-~äé]{1,8}", 0..5)) {
        let quoted: Vec<_> = words.iter().map(|word| format!(" '{word}'")).collect();
        let text = format!("a{}", quoted.concat());
        let list = CommandList::parse(&text).unwrap();
        prop_assert_eq!(&list.commands()[0].words()[1..], words);
    }

    #[test]
    fn resolve_is_idempotent(path in "(/|\\.\\./|\\./|a/|b//|etc/|usr/|bin/|lib/){0,8}[a-z.]{0,5}") {
        let paths = PathResolver::new(["/srv/src"]);
        let once = paths.resolve(&path).unwrap();
        prop_assert_eq!(&paths.resolve(&once).unwrap(), &once);
        prop_assert!(once.is_absolute() && !once.components().any(|part| part.as_os_str() == ".."));
    }

    #[test]
    fn directory_rule_matches_only_inside(path in "(\\.\\./|\\./|a/|src/|srv/|//|opt/){0,8}x") {
        let paths = PathResolver::new(["/srv/src"]);
        let allowed = paths.coverage(&path, &["/srv/src/**"], Allow) == Coverage::Yes;
        prop_assert_eq!(allowed, paths.resolve(&path).unwrap().starts_with(Path::new("/srv/src")));
    }
}
