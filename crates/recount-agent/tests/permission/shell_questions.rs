//! Which shell commands need no question, and what is suggested for those that do.

use pretty_assertions::assert_eq;
use recount_agent::permission::Coverage;
use recount_agent::permission::path::Places;
use recount_agent::permission::shell::{Dialect, Script};
use recount_message::PermissionBehavior;

fn script(text: &str) -> Script {
    Script::read(text, Dialect::Bash)
}

fn places() -> Places {
    Places::new(["/srv/src"])
}

#[test]
fn commands_that_only_read_are_told_from_those_that_do_not() {
    let check = |text: &str, expected: bool| {
        assert_eq!(script(text).is_read_only(&places()), expected, "{text}");
    };
    for text in [
        "ls",
        "ls -la src",
        "cat a b",
        "head -5 a | wc -l",
        "git status",
        "git log --oneline -5",
        "git diff HEAD~1 -- src",
        "git branch -a",
        "grep -rn '/api' src",
        "rg TODO",
        "find . -name '*.rs'",
        "find . -type f -exec cat {} +",
        "sed -n 1,5p a",
        "echo $HOME",
        "cd src && ls",
        "sort -u a",
        "date +%s",
        "[ -f a ] && cat a",
        "cat /srv/src/a",
        "ls *.rs",
        "timeout 5 ls",
        "git show HEAD:a",
        "cargo --version",
        "ls 2>/dev/null",
        "bash -c 'ls; pwd'",
        "x=1; echo $x",
        "cat a/../b",
        "for f in 1 2; do echo $f; done",
        "[ -n \"$x\" ] && [ \"$x\" = a ] && test -f a",
    ] {
        check(text, true);
    }
    for text in [
        "rm a",
        "ls > a",
        "cat /etc/passwd",
        "cat ../x",
        "cat ~/.ssh/id_rsa",
        "cat $x",
        "cd / && cat etc/passwd",
        "cd .. && ls",
        "cd - && ls",
        "cd && ls",
        "find . -delete",
        "find . -fprint x",
        "find . -exec rm {} +",
        "find / -name x",
        "sed -i s/a/b/ x",
        "sed -n 'w x' a",
        "sed 1e",
        "sort -o x a",
        "sort --out=x a",
        "sort -uo x a",
        "git -c core.pager=x log",
        "git log --output=x",
        "git diff --ext-diff",
        "git -C /tmp log",
        "git branch new",
        "git push",
        "git stash",
        "git --exec-path=/tmp status",
        "rg --pre=x a",
        "rg --pr x a",
        "date -s 1",
        "hostname x",
        "uniq a b",
        "tree -o x",
        "file -C",
        "PATH=. ls",
        "./ls",
        "/tmp/ls",
        "awk 1",
        "tee x",
        "printf -v x a",
        "grep -f/etc/passwd a",
        "grep --file=/etc/passwd a",
        "git diff --no-index a /etc/passwd",
        "cat {/etc/passwd,a}",
        "command rm",
        "time rm",
        "python3 -c 1",
        "env",
        "nice sort -o x a",
        "bash x",
        "ls $(rm a)",
        "cat < $x",
        "cat < /etc/passwd",
        "diff a /etc/passwd",
    ] {
        check(text, false);
    }
}

#[test]
fn edits_are_accepted_inside_of_the_working_directories_only() {
    let check = |text: &str, expected: bool| assert_eq!(script(text).is_edit(&places()), expected, "{text}");
    for text in [
        "mkdir -p a/b",
        "touch a",
        "rm -rf target",
        "rmdir a",
        "mv a b",
        "cp a /srv/src/b",
        "sed -i s/a/b/g x",
        "sed -i -E 's|a\\|b|c|' x",
        "echo a > b",
        "mkdir a && cd a && touch b",
        "rm *.bak",
        "ls | head > x",
    ] {
        check(text, true);
    }
    for text in [
        "rm -rf .",
        "rm -rf /srv/src",
        "rm -rf /srv",
        "rm ../a",
        "cp a /etc",
        "cp /etc/passwd a",
        "mv -t/etc a",
        "mv --target-directory=/etc a",
        "touch ~/a",
        "rm $x",
        "echo a > $x",
        "echo a > ../b",
        "sed -i 's/a/b/e' x",
        "sed -i 's/a/b/w /etc/x' x",
        "sed -i '1e rm' x",
        "sed -i -f x y",
        "sed -i s/a/b/ /etc/x",
        "touch .git/hooks/pre-commit",
        "echo x > .git/config",
        "cd .. && rm a",
        "cd sub && rm ../../a",
        "rm a; curl",
        "chmod +x a",
        "ln -s / a",
        "dd of=a",
        "PATH=. touch a",
        "mkdir $(curl)",
        "cp a b; sh b",
    ] {
        check(text, false);
    }
}

#[test]
fn suggestions_are_two_words_of_what_changes_something() {
    let check = |text: &str, expected: &[&str]| {
        let suggestions = script(text).suggestions(&places());
        assert_eq!(suggestions, expected, "{text}");
        let rules: Vec<_> = suggestions.iter().map(String::as_str).collect();
        assert_eq!(script(text).covered(&rules, PermissionBehavior::Allow, &places()), Coverage::Yes, "{text}");
    };
    check("cargo test --all", &["cargo test:*"]);
    check("cargo", &["cargo:*"]);
    check("ls && git push && git push -f", &["git push:*"]);
    check("make > log", &["> log", "make:*"]);
    check("$X foo*", &[r"$X foo\*"]);
    check("PATH=. make", &["PATH=. make"]);
    check("a 1; b 1; c 1; d 1; e 1; f 1", &["a 1; b 1; c 1; d 1; e 1; f 1"]);
    check("sudo apt install x", &["sudo apt:*", "apt install:*"]);
    check("rm \"$x\"", &["rm:*"]);
}
