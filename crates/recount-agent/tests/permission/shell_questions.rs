//! Which shell commands need no question, and what is suggested for those that do.

use std::fs;
use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;
use recount_agent::permission::Coverage;
use recount_agent::permission::path::PathResolver;
use recount_agent::permission::shell::{Dialect, Script};
use recount_message::PermissionBehavior;

fn script(text: &str) -> Script {
    Script::read(text, Dialect::Bash)
}

fn places() -> PathResolver {
    PathResolver::new(["/srv/src"])
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
        "node --version",
        "ls 2>/dev/null",
        "bash -c 'ls; pwd'",
        "x=1; echo $x",
        "cat a/../b",
        "for f in 1 2; do echo $f; done",
        "[ -n \"$x\" ] && [ \"$x\" = a ] && test -f a",
        "[ a -nt b ] && [[ -d src ]]",
        "echo *.rs \"[$x] *\" '/etc/*'",
        "for f in *.rs; do echo $f; done",
        "x='*.rs'; echo $x",
        "jq -r .environment a",
        "find -P . -type f",
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
        // An option may be quoted, or stand behind what it changes.
        "sed -n 1p '-e1e id' a",
        "sed -n 1p \\-i a",
        "printf '-v' PATH x; ls",
        "printf -\"v\" PATH x; ls",
        "uniq -- -a b",
        "uniq - b",
        "cd '-' && ls",
        "cat < -/../../etc/passwd",
        // What it reads may stand in another file, or in a program.
        "xargs -a /etc/passwd echo",
        "wc --files0-from=a",
        "jq 'import \"a\" as $a {search: \"/\"}; $a' b",
        "jq -n 'include \"a\" {search: \"/\"}; b'",
        "jq -L / . a",
        // Links may be met on the way.
        "grep -R x .",
        "grep -nR x .",
        "rg --follow x",
        "ls -lL",
        "tree -l",
        "diff -r a b",
        "find . -exec cat {} +",
        "find . -exec cat {} -type f \\;",
        "find -L . -type f -exec cat {} +",
        "find . -type f -o -exec cat {} +",
        "cat .*/a",
        "find -L .",
        "find . -follow -name a",
        // The environment may hold what is nobody's business.
        "jq -n env",
        "jq -n '$ENV.HOME'",
        "jq -n '$ENV'",
        // Names of files elsewhere are looked at in many ways.
        "echo /etc/pass*",
        "printf '%s' /etc/*",
        "echo $x/*",
        "x=/etc; echo $x/pass*",
        "x='/etc/*'; echo $x",
        "x=$y/*; echo $x",
        "for f in /etc/*; do echo \"$f\"; done",
        "test -f /etc/passwd",
        "[ -e /etc/passwd ]",
        "[ a -nt /etc/passwd ]",
        "[[ -f /etc/passwd ]]",
        "[[ -n a && -r ../b ]]",
        "[ -f \"$x\" ]",
        // Which program that is depends on files that are there.
        "cargo --version",
        "rustc --version",
        "zsh -c ls",
    ] {
        check(text, false);
    }
}

/// A repository may name programs that `git` runs even when it only looks.
#[test]
fn a_repository_that_names_programs_is_asked_about() {
    let directory = tempfile::tempdir().unwrap();
    let work = directory.path().join("work");
    fs::create_dir_all(work.join("sub")).unwrap();
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(args).current_dir(&work).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        assert!(git.output().unwrap().status.success(), "{args:?}");
    };
    git(&["init"]);
    git(&["remote", "add", "origin", "https://example.org/a.git"]);
    git(&["config", "user.name", "A"]);
    git(&["config", "branch.main.merge", "refs/heads/main"]);
    let plain = fs::read_to_string(work.join(".git/config")).unwrap();
    let places = PathResolver::new([&work]);
    let check = |expected: bool, what: &str| {
        for text in ["git status", "git diff", "git log", "git show HEAD:a", "cd sub && git status"] {
            assert_eq!(script(text).is_read_only(&places), expected, "{what}: {text}");
        }
    };
    check(true, "a plain repository");
    for (key, value) in [
        ("core.fsmonitor", "./evil"),
        ("diff.external", "./evil"),
        ("diff.a.textconv", "./evil"),
        ("filter.a.clean", "./evil"),
        ("core.pager", "./evil"),
        ("pager.log", "./evil"),
        ("core.hooksPath", "./evil"),
        ("gpg.program", "./evil"),
        ("include.path", "../evil"),
        ("core.sshCommand", "./evil"),
        ("remote.origin.uploadpack", "./evil"),
        ("core.worktree", ".."),
    ] {
        git(&["config", key, value]);
        check(false, key);
        fs::write(work.join(".git/config"), &plain).unwrap();
        check(true, &format!("without {key}"));
    }
    for odd in ["[core] fsmonitor = x", "[CORE]\nFsMonitor=x", "[user]\nname = a\\\n[core]\nfsmonitor=x", "a = b", "[x"]
    {
        fs::write(work.join(".git/config"), format!("{odd}\n{plain}")).unwrap();
        check(false, odd);
    }
    fs::write(work.join(".git/config"), &plain).unwrap();
    fs::write(work.join(".git/hooks/post-index-change"), "").unwrap();
    check(false, "a hook");
    fs::remove_file(work.join(".git/hooks/post-index-change")).unwrap();
    check(true, "a plain repository again");

    // What lies in another repository has a configuration of its own.
    git(&["init", "inner"]);
    git(&["-C", "inner", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-m", "a"]);
    check(true, "a repository that is not a part of this one");
    git(&["add", "inner"]);
    check(false, "a repository in the index");
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
        "cd .git && touch config",
        "cd .git/hooks; echo x > pre-commit",
        "cp -t.. a",
        "cp -t.git a",
        "cp --target-directory=.git/hooks a",
        "cp -L a b",
        "sed -i s/a/b/ '-e1e id' x",
        "find .git -type f -exec cp a {} +",
        "mv a/b c && cat c",
        "cp -r a b; cat b/c",
        "touch ./-rf && rm *",
    ] {
        check(text, false);
    }
}

/// Where a word leads is looked up, for every directory that the script may come to.
#[test]
fn links_and_patterns_are_followed() {
    let directory = tempfile::tempdir().unwrap();
    let work = directory.path().join("work");
    for name in ["a/b/in.rs", "a/out.rs", "plain/x.rs", ".git/config"] {
        let path = work.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    fs::write(directory.path().join("secret"), "").unwrap();
    symlink("../../../secret", work.join("a/b/link")).unwrap();
    symlink(directory.path(), work.join("up")).unwrap();
    let places = PathResolver::new([&work]);
    let reads = |text: &str, expected: bool| assert_eq!(script(text).is_read_only(&places), expected, "{text}");
    reads("cat plain/*.rs", true);
    reads("cat */*.rs", true);
    reads("cat a/b/*.rs", true);
    reads("cat a/b/link", false);
    reads("cat a/b/l*", false);
    reads("cat */b/*", false);
    reads("cat u?/secret", false);
    reads("cat */secret", false);
    reads("cat [u]p/secret", false);
    reads("cd a/b && cat in.rs", true);
    reads("cd a/b && cat link", false);
    reads("cd a && cd b && cat link", false);
    reads("for x in 1 2; do cd a; cd b; done; cat link", false);
    reads("cd plain && ls", true);
    reads("cd up && ls", false);
    reads("cat 'a'/b/*.rs", true);
    reads("cat '['a]*", false);

    let edits = |text: &str, expected: bool| assert_eq!(script(text).is_edit(&places), expected, "{text}");
    edits("rm plain/*", true);
    edits("rm a/b/*", false);
    edits("echo x > .gi?/config", false);
    edits("cp plain/x.rs .g*/config", false);

    // A file may be named like an option.
    fs::write(work.join("--pre=x"), "").unwrap();
    reads("rg a *", false);
    reads("cat -- *.rs", true);
    reads("grep x ./*.rs", true);
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
    check("rm -rf target", &["rm -rf target"]);
    check("python3 -c 'print(1)' && make", &["python3 -c 'print(1)'", "make:*"]);
    check("git -C sub push *", &[r"git -C sub push \*"]);
}
