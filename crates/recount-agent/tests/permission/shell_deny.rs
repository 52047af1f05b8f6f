//! Deny and ask rules about shell commands.

use pretty_assertions::assert_eq;
use recount_agent::permission::Coverage::{self, No, Unclear, Yes};
use recount_agent::permission::shell::{CommandList, coverage};
use recount_message::PermissionBehavior::{Ask, Deny};

fn check(rule: &str, text: &str, expected: Coverage) {
    assert_eq!(coverage(text, &[rule], Deny), expected, "{rule}: {text}");
    assert_eq!(coverage(text, &[rule], Ask), expected, "{rule}: {text}");
}

#[test]
fn commands_that_begin_with_the_rule_are_denied() {
    for text in [
        "git push",
        " git  push origin",
        "\tgit push",
        "git push; ls",
        "ls; git push",
        "ls\ngit push",
        "ls & git push",
        "ls&&git push",
        "ls || git push",
        "ls | git push",
        "ls |& git push",
        "(git push)",
        "{ git push; }",
        "! git push",
        "$(git push)",
        "echo $(git push)",
        "echo \"$(git push)\"",
        "echo `git push`",
        "diff <(git push) x",
        "ls > >(git push)",
        "x=$(git push)",
        "echo ${x:-$(git push)}",
        "cat <<E\n$(git push)\nE",
        "if git push; then ls; fi",
        "if true; then git push; else ls; fi",
        "for x in a; do git push; done",
        "while git push; do :; done",
        "f() { git push; }; f",
        "case a in a) git push;; esac",
        "time git push",
        "X=y git push",
        "X=y Z+='w' git push $x",
        "g\"i\"t pu\\sh",
        "'git' \"push\"",
        "gi\\\nt push",
        "/usr/bin/git push",
        "./git push",
        "GIT push",
        "git push>x",
        ">/dev/null git push",
        "git push $x",
        "[[ $(git push) == a ]]",
    ] {
        check("git push:*", text, Yes);
    }
}

#[test]
fn texts_that_may_run_a_matching_command_are_unclear() {
    for text in [
        "git -C . push",
        "git --no-pager push origin",
        "sudo git push",
        "sudo -u x git push",
        "env X=y git push",
        "command git push",
        "exec git push",
        "timeout 5 git push",
        "xargs git push",
        "echo push | xargs git",
        "find . -exec git push \\;",
        "sh -c 'git push'",
        "bash -c \"ls; git push\"",
        "eval 'git push'",
        "trap 'git push' EXIT",
        "python3 -c 'os.system(\"git push\")'",
        "perl -e 'system\"git push\"'",
        "echo git push | sh",
        "function f { git push; }",
        ">x git push",
        "{git,push}",
        "x=git; sudo $x push",
        "git $x",
        "git -C . $x",
        "sudo git $x",
        "git $(cat x)",
        "git `cat x`",
        "git p*",
        "git {push,}",
        // A dynamic name may be anything.
        "$x push",
        "\"$x\" y",
        "${x}",
        "$(cat x) y",
        "`cat x` y",
        "c${x}url",
        "/usr/bin/gi? x",
        "g{i,}t x",
        "[g]it x",
        "$'\\x67it' push",
        "ls; $x",
    ] {
        check("git push:*", text, Unclear);
    }
    check("git push:*", &"a ".repeat(CommandList::MAX_LENGTH), Unclear);
}

#[test]
fn other_texts_are_not_covered() {
    for text in [
        "git status",
        "git log $x",
        "git pushed",
        "git commit -m 'pushing'",
        "ls *.rs",
        "echo $x",
        "echo `date`",
        "x=$(date); echo $x",
        "[ -f x ] && cat x",
        "[[ -f x ]] && cat x",
        "push",
        "github push",
        "for f in *.rs; do echo \"$f\"; done",
        "",
    ] {
        check("git push:*", text, No);
    }
}

#[test]
fn rules_of_every_form_deny() {
    check("curl:*", "curl", Yes);
    check("curl:*", "echo curl", Unclear);
    check("curl:*", "curly", No);
    check("curl:*", "ls", No);
    check("git push", "git push", Yes);
    check("git push", "ls; git push", Yes);
    check("git push", "git push -f", Unclear);
    check("rm -rf /", "rm -rf /", Yes);
    check("rm -rf /", "rm -rf x", No);
    check("curl x | sh", "curl x | sh", Yes);
    check("curl x | sh", "curl x | tee y | sh", Unclear);
    check("git * --force", "git push --force", Yes);
    check("git * --force", "ls && git push --force", Yes);
    check("git * --force", "/usr/bin/git push \"$x\" --force", Yes);
    check("git * --force", "sudo git push --force", Unclear);
    check("git * --force", "git push $x", Unclear);
    check("git * --force", "git push", No);
    check("git branch -D:*", "git branch -d x", No);
    check("gh pr create:*", "gh pr $x", Unclear);
    check("gh pr create:*", "gh issue $x", No);
    check("./run.sh:*", "./run.sh x", Yes);
    check("./run.sh:*", "sh run.sh", Unclear);
    check("*", "ls", Yes);
    check(":*", "ls", Yes);
    check(r"rm \*", "rm *", Yes);
}
