//! Literal lists, allow rules and suggestions.

use pretty_assertions::assert_eq;
use recount_agent::permission::Coverage;
use recount_agent::permission::shell::{CommandList, SimpleCommand, coverage, suggestions};
use recount_message::PermissionBehavior::Allow;

fn lines(text: &str) -> Option<Vec<String>> {
    CommandList::parse(text).map(|list| list.commands().iter().map(SimpleCommand::line).collect())
}

#[test]
fn literal_lists_are_parsed() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(lines(text).as_deref(), Some(expected.map_to_owned().as_slice()), "{text}");
    };
    check("ls", &["ls"]);
    check("  ls   -la  ", &["ls -la"]);
    check("a&&b||c;d|e", &["a", "b", "c", "d", "e"]);
    check("a && b || c ; d | e", &["a", "b", "c", "d", "e"]);
    check("git commit -m 'a; $(b) && c'", &["git commit -m 'a; $(b) && c'"]);
    check("git commit -m \"it's\"", &[r"git commit -m 'it'\''s'"]);
    check("g\"i\"t pu's'h ''", &["git push ''"]);
    check("echo 'Grüße' \"日本\"", &["echo 'Grüße' '日本'"]);
    check("cargo test 2>&1 | tail -5", &["cargo test", "tail -5"]);
    check("a >/dev/null 1> /dev/null 2>  /dev/null", &["a"]);
    check("a &>/dev/null", &["a"]);
    check("a &> /dev/null&&b", &["a", "b"]);
    check("a>/dev/null", &["a"]);
    check("a2>/dev/null", &["a2"]);
    check("a 2 >/dev/null", &["a 2"]);
    check("a '2'>/dev/null", &["a 2"]);
    check("a 2>/dev/null b", &["a b"]);
    check(">/dev/null a", &["a"]);
    check("a 2>&1;b", &["a", "b"]);
    check("a b=c --d=e:f,g+h@i%j", &["a b=c --d=e:f,g+h@i%j"]);
    check("/usr/bin/git ./x ../y", &["/usr/bin/git ./x ../y"]);
    check("a if", &["a if"]);
}

trait MapToOwned {
    fn map_to_owned(&self) -> Vec<String>;
}

impl MapToOwned for [&str] {
    fn map_to_owned(&self) -> Vec<String> {
        self.iter().map(|line| (*line).to_owned()).collect()
    }
}

#[test]
fn anything_else_is_rejected() {
    let check = |text: &str| assert_eq!(lines(text), None, "{text:?}");
    let inside = [
        "$x",
        "${x}",
        "$(b)",
        "`b`",
        "\"$x\"",
        "\"`b`\"",
        "\"\\x\"",
        "\"a!b\"",
        "$'b'",
        "$\"b\"",
        "~",
        "~/x",
        "b~",
        "*",
        "b?",
        "[b]",
        "b]",
        "{b,c}",
        "{",
        "}",
        "\\b",
        "b\\",
        "#b",
        "b#c",
        "!",
        "b!",
        "(b)",
        "(",
        ")",
        "<b",
        "<(b)",
        "<<E",
        "<<<b",
        ">b",
        ">>b",
        ">>/dev/null",
        ">&2",
        "1>&2",
        "2>&12",
        "2>&1b",
        "2>& 1",
        "2>&-",
        ">/dev/nullb",
        ">/dev/null2>&1",
        ">'/dev/null'",
        ">|/dev/null",
        "3>/dev/null",
        "12>/dev/null",
        "0>/dev/null",
        "2>",
        ">",
        "2>>/dev/null",
        "</dev/null",
        "<>/dev/null",
        "&>b",
        "&>>/dev/null",
        "&>/dev/null b",
        ">&/dev/null",
        "^",
        "'b",
        "\"b",
        "&",
        "& b",
        "&b",
        "|& b",
        "b |",
        "&&",
        "&& && b",
        "; ; b",
        ";; b",
        ";",
        "|",
        "||",
        ";& b",
        ";&>/dev/null b",
        "|&>/dev/null b",
        "&&& b",
        "||| b",
        "\nb",
        "b\n",
        "b\tc",
        "\rb",
        "\0",
        "\u{7f}",
        "'\n'",
        "'\t'",
        "\u{a0}b",
        "b\u{2003}c",
        "\u{3000}",
        "'\u{200b}'",
        "'\u{202e}b'",
        "ü",
        "'\u{85}'",
        "\u{2028}",
    ];
    for text in inside {
        check(&format!("a {text}"));
        check(&format!("a x && b {text}"));
    }
    for text in
        ["", " ", "&& a", "| a", "; a", "''", "'' a", "\"\"", "X=y", "X=y a", "X+=y a", "'X'=y a", "2>&1", ">/dev/null"]
    {
        check(text);
    }
    for word in
        "! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while".split(' ')
    {
        check(word);
        check(&format!("{word} a"));
        check(&format!("a; {word} b"));
        check(&format!("'{word}' a"));
    }
    check(&"a ".repeat(CommandList::MAX_LENGTH / 2 + 1));
    assert!(lines(&"a ".repeat(CommandList::MAX_LENGTH / 2)).is_some());
}

fn check_allow(rules: &[&str], text: &str, expected: bool) {
    assert_eq!(coverage(text, rules, Allow), Coverage::from(expected), "{rules:?}: {text}");
}

#[test]
fn exact_rules_allow_the_equal_text() {
    let check = |rule: &str, text: &str, expected: bool| check_allow(&[rule], text, expected);
    check("make all", "make all", true);
    check("  make all\t", " make all ", true);
    check("make all", "make  all", false);
    check("make all", "make 'all'", false);
    check("make all", "make all install", false);
    check("make all", "make all\n", false);
    check("make", "cmake", false);
    check("make $X > log", "make $X > log", true);
    check("make $X > log", "make $X > log; rm x", false);
    check(r"rm \*.log", "rm *.log", true);
    check(r"rm \*.log", "rm x.log", false);
    check(r"grep '\\d' x", r"grep '\d' x", true);
    check(r"echo a:\*", "echo a:*", true);
    check(r"echo a:\*", "echo a:b", false);
    // An equal command of a literal list.
    check_allow(&["make all", "ls"], "make all && ls", true);
    check_allow(&["make all"], "make all && ls", false);
    check_allow(&["make all", "ls"], "make all && ls $x", false);
}

#[test]
fn prefix_rules_allow_literal_lists_only() {
    let check = |rule: &str, text: &str, expected: bool| check_allow(&[rule], text, expected);
    check("git commit:*", "git commit", true);
    check("git commit:*", "git commit -m 'a; b'", true);
    check("git commit:*", "git  \"commit\" -a 2>&1", true);
    check("git commit:*", "git commit-tree", false);
    check("git commit:*", "'git commit' -a", false);
    check("git commit:*", "git -C . commit", false);
    check("git commit:*", "/tmp/git commit", false);
    check("git commit:*", "git commit > log", false);
    check("git commit:*", "git commit -m \"$(rm x)\"", false);
    check("git commit:*", "git commit `rm x`", false);
    check("git commit:*", "git commit\nrm x", false);
    check("git commit:*", "git commit & rm x", false);
    check("git commit:*", "git commit &>/dev/null rm x", false);
    check("git commit:*", "X=y git commit", false);
    check("git commit:*", "sudo git commit", false);
    check("git commit:*", "if true; then git commit; fi", false);
    check("git commit:*", "# git commit", false);
    check("git 'commit':*", "git commit", true);
    check("git commit 2>&1:*", "git commit", false);
    check("git && ls:*", "git", false);
    check("git $x:*", "git $x", false);
    check(":*", "ls", false);
    check("ls*:*", "ls", true);
    check(r"ls '\*':*", "ls '*' x", true);
}

#[test]
fn patterns_match_the_line_of_a_literal_command() {
    let check = |rule: &str, text: &str, expected: bool| check_allow(&[rule], text, expected);
    check("git * --amend", "git commit --amend", true);
    check("git * --amend", "git   commit  '--amend'", true);
    check("git * --amend", "git commit", false);
    check("git * --amend", "git commit; rm x --amend", false);
    check("git * --amend", "git $(rm x) --amend", false);
    check("git commit -m \"*\"", "git commit -m 'two words'", true);
    check("git * push:*", "git -C . push", true);
    check("git * push:*", "git -C . push origin", true);
    check("git * push:*", "git -C . pushed", false);
    check("*", "rm x", true);
    check("*", "rm $x", false);
}

#[test]
fn every_command_of_a_list_needs_a_rule() {
    check_allow(&["cargo test:*"], "cargo test && cargo publish", false);
    check_allow(&["cargo test:*", "cargo p*"], "cargo test && cargo publish", true);
    check_allow(&["cargo test:*", "tail -5"], "cargo test 2>&1 | tail -5", true);
    check_allow(&["cargo test:*", "tail:*"], "cargo test --all | tail -5; cargo test", true);
    check_allow(&["cd sub", "cargo test:*"], "cd sub && cargo test", true);
    check_allow(&[], "ls", false);
    // In another directory, the same path is another program.
    check_allow(&["cd:*", "./run:*"], "cd other && ./run", false);
    check_allow(&["cd:*", "./run:*"], "./run && ./run x", true);
    check_allow(&["cd:*", "/opt/run:*"], "cd other && /opt/run", true);
    check_allow(&["cd other && ./run"], "cd other && ./run", true);
}

#[test]
fn suggestions_are_exact_or_subcommands() {
    let check = |text: &str, expected: &[&str]| {
        let suggested = suggestions(text);
        assert_eq!(suggested, expected, "{text}");
        let rules: Vec<&str> = suggested.iter().map(String::as_str).collect();
        if !rules.is_empty() {
            check_allow(&rules, text, true);
        }
    };
    check("cargo test --all", &["cargo test:*"]);
    check(" git push ", &["git push:*"]);
    check("cargo", &["cargo"]);
    check("git -C sub push", &["git -C sub push"]);
    check("git ./push", &["git ./push"]);
    check("cargo +nightly test", &["cargo +nightly test"]);
    check("/usr/bin/git push", &["/usr/bin/git push"]);
    check("npm run build", &["npm run build"]);
    check("uv run x.py", &["uv run x.py"]);
    check("rm build.log", &["rm build.log"]);
    check("make all", &["make all"]);
    check("cargo test 2>&1 | tail -5", &["cargo test:*", "tail -5"]);
    check("git push && git push -f && rm x 2>/dev/null", &["git push:*", "rm x 2>/dev/null"]);
    check("cd sub && cargo test", &["cd sub", "cargo test:*"]);
    check("cd sub && ./run", &["cd sub && ./run"]);
    check("a 1; b 1; c 1; d 1; e 1; f 1", &["a 1; b 1; c 1; d 1; e 1; f 1"]);
    check("rm *.log", &[r"rm \*.log"]);
    check(r"grep '\*' x", &[r"grep '\\\*' x"]);
    check("echo a:*", &[r"echo a:\*"]);
    check("cargo test > log", &["cargo test > log"]);
    check("", &[]);
    check("a\nb", &[]);
    check("a\tb", &[]);
    check("a 'b\u{202e}c'", &[]);
    check(&"a".repeat(300), &[&"a".repeat(300)]);
    check(&"a".repeat(301), &[]);
}
