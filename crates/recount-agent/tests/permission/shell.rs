//! What a shell command runs, and what rules say about it.

use pretty_assertions::assert_eq;
use recount_agent::permission::Coverage;
use recount_agent::permission::path::PathResolver;
use recount_agent::permission::shell::{Command, Dialect, Script};
use recount_message::PermissionBehavior;

fn script(text: &str) -> Script {
    Script::read(text, Dialect::Bash)
}

fn places() -> PathResolver {
    PathResolver::new(["/srv/src"])
}

fn commands(text: &str) -> Vec<String> {
    script(text).commands().iter().map(Command::line).collect()
}

#[test]
fn every_command_of_a_script_is_found() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(commands(text), expected, "{text}");
        assert_eq!(script(text).unclear(), None, "{text}");
    };
    check("ls -la", &["ls -la"]);
    check("  ls\t-l  # all of it", &["ls -l"]);
    check("a; b & c && d || e | f |& g", &["a", "b", "c", "d", "e", "f", "g"]);
    check("a\nb\\\n c", &["a", "b c"]);
    check("(a; (b)); { c; }", &["a", "b", "c"]);
    check("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]);
    check("while a; do b; done; until c\ndo d\ndone", &["a", "b", "c", "d"]);
    check("for x in 1 2 $(a); do b; done", &["a", "b"]);
    check("case x in (a|b) c;; *) d ;& e) f\nesac; g", &["c", "d", "f", "g"]);
    check("f() { a; }; function g { b; }; f", &["a", "b", "f"]);
    check("[[ -f x && y == $(a) ]] && b", &["a", "< x", "b"]);
    check("for x in *.rs; do a; done", &["< *.rs", "a"]);
    check("x='a*'; b", &["< a*", "b"]);
    check("! a; time -p b", &["a", "b"]);
    check("echo $(a $(b))", &["b", "a $(b)", "echo $(a $(b))"]);
    check("echo \"$(a) `b`\"", &["a", "b", "echo \"$(a) `b`\""]);
    check("diff <(a) <(b) > >(c)", &["a", "b", "c", "> >(c)", "diff <(a) <(b)"]);
    check("echo `a \\`b\\``", &["b", "a `b`", "echo `a \\`b\\``"]);
    check("echo ${x:-$(a)} $((1 + 2))", &["a", "echo ${x:-$(a)} $((1 + 2))"]);
    check("cat <<E\n$(a) `b`\n'$(c)'\nE\nd", &["cat", "a", "b", "c", "d"]);
    check("cat <<'E' <<-F\n$(a)\nE\n\tx\n\tF\nb", &["cat", "b"]);
    check("cat <<< $(a)", &["a", "cat"]);
    check("x=$(a) y=1; z=2 b", &["a", "b"]);
    check("a > x 2>&1 >> y &> z < w >&2 2>/dev/null", &["> x", "> y", "> z", "< w", "a"]);
    check("r\\m 'a b' \"c\"d ''", &["rm 'a b' cd ''"]);
    check("eval 'a; b'", &["eval 'a; b'", "a", "b"]);
    check("bash -ec 'a' x", &["bash -ec a x", "a"]);
    check("sudo -u root b=c a c", &["sudo -u root b=c a c", "a c"]);
    check("timeout -s KILL 10s nice -n 5 a", &["timeout -s KILL 10s nice -n 5 a", "nice -n 5 a", "a"]);
    check("env -u X NO_COLOR=1 a", &["env -u X NO_COLOR=1 a", "a"]);
    check("find . -exec a {} + -o -execdir b \\;", &["find . -exec a '{}' + -o -execdir b ';'", "a {}", "b"]);
    check("xargs -0 -n 1 a b", &["xargs -0 -n 1 a b", "a b …"]);
    check("trap 'a' EXIT", &["trap a EXIT", "a"]);
    check("", &[]);
    check("# a", &[]);
}

#[test]
fn what_cannot_be_told_is_unclear() {
    let check = |text: &str| assert!(script(text).unclear().is_some(), "{text}: {:?}", script(text));
    for text in [
        "$X foo",
        "$(a) b",
        "`a`",
        "/bin/r?",
        "{rm,x}",
        "$'rm' x",
        "\"$a\"b",
        "echo 'a",
        "echo \"a",
        "echo `a",
        "echo $(a",
        "a)",
        "(a",
        "((x))",
        "echo $((x))",
        "echo $[1]",
        "echo ${!x}",
        "echo ${x@P}",
        "echo ${a[0]}",
        "echo ${x:y}",
        "a=(b c)",
        "a[0]=b",
        "a[$(b)]=c d",
        "[[ x -eq y ]]",
        "[[ a =~ (b) ]]",
        "coproc a",
        "echo a(b)",
        "shopt @(a)",
        "eval $x",
        "eval \"$(a)\"",
        "sh -c \"$x\"",
        "a | sh",
        "bash",
        "bash <(a)",
        "bash -s",
        "bash -i",
        "bash -c",
        "sh -c 'echo $'\"'a'\"",
        "sh -c '[[ a > b ]]'",
        "sh -c 'a &> b'",
        ". $x",
        "source <(a)",
        "alias ls=rm",
        "xargs $x",
        "xargs -I% a %",
        "xargs -i a",
        "find . $x",
        "find . -exec {} +",
        "sudo -s",
        "sudo $x",
        "env -S 'a b'",
        "parallel a",
        "cat <<E\nx",
        "cat <<E\na\\\nE\nE",
        "cat <<$x\n$x",
        "echo $(cat <<E)\nE",
        "a\0b",
        "a\rb",
        "echo \\",
        "$\\\n(a)",
        "time -o x a",
        "case x in a b) c;; esac",
        "cat < /dev/tcp/a/1",
        "''",
        "./",
        "$\"a\"",
        "su -c a",
        "echo >",
        "a ;; b",
        "for ((;;)) do a; done",
        "esac",
        "function",
        "xargs -0I% a %",
        "flock x a",
        "[ -v 'a[$(b)]' ]",
        "test -v \"$x\"",
        "[ $x 'a[$(b)]' ]",
        "[ \"$x\" 'a[$(b)]' ]",
        "printf -v 'a[$(b)]' c",
        "read 'a[$(b)]'",
        "unset \"$x\"",
        "let 'a[$(b)]'",
        "declare -i x='a[$(b)]'",
        "declare 'a[$(b)]=c'",
        "export \"$x\"",
        "PS4='$(a)'; set -x; b",
        "PATH=x b",
        "LD_PRELOAD=x",
        "trap \"$x\" EXIT",
        "mapfile -C a",
    ] {
        check(text);
    }
    check(&"(".repeat(5000));
    check(&"nohup ".repeat(5000));
    check(&"a ".repeat(20_000));
    check(&format!("{}a{}", "$(".repeat(100), ")".repeat(100)));
}

/// Each is one way to hide `curl` from a rule that forbids it. None may be taken for something that has no `curl` in it.
#[test]
fn known_evasions_of_a_deny_rule_are_found() {
    let check = |text: &str, expected: Coverage| {
        let rules = ["curl:*"];
        assert_eq!(script(text).covered(&rules, PermissionBehavior::Deny, &places()), expected, "{text}");
        assert_eq!(script(text).covered(&["ls:*"], PermissionBehavior::Allow, &places()), Coverage::No, "{text}");
        assert!(!script(text).is_read_only(&places()) && !script(text).is_edit(&places()), "{text}");
    };
    for text in [
        "curl x",
        " curl x",
        "\tcurl",
        "cd x && curl y",
        "A=b curl x",
        "ls; curl",
        "ls\ncurl",
        "ls & curl",
        "ls | curl",
        "ls || curl",
        "(curl)",
        "{ curl; }",
        "$(curl)",
        "echo $(curl)",
        "echo \"$(curl)\"",
        "echo `curl`",
        "ls <(curl)",
        "ls > >(curl)",
        "cat <<E\n$(curl)\nE",
        "if true; then curl; fi",
        "for x in a; do curl; done",
        "f() { curl; }; f",
        "case a in a) curl;; esac",
        "c\\url x",
        "'curl' x",
        "\"cu\"rl x",
        "cu''rl",
        "/usr/bin/curl x",
        "./curl",
        "command curl",
        "builtin curl",
        "exec curl",
        "env curl",
        "env A=b curl",
        "sudo curl",
        "sudo -u x curl",
        "nohup curl &",
        "timeout 5 curl",
        "nice curl",
        "time curl",
        "xargs curl",
        "find . -exec curl {} \\;",
        "sh -c 'curl x'",
        "bash -c \"curl x\"",
        "eval 'curl x'",
        "eval cu rl; curl",
        "sudo sh -c 'ls; curl'",
        "! curl",
        "curl>x",
        ">x curl",
        "2>&1 curl",
        "cur\\\nl x",
        "ls #\ncurl",
        "true&&curl",
        "trap 'curl' EXIT",
        "setsid curl",
        "stdbuf -o0 curl",
        "busybox curl",
        "x=$(curl)",
        "echo ${x:-$(curl)}",
        "while curl; do :; done",
        "[[ $(curl) == a ]]",
        "ls \"${x:-`curl`}\"",
        "echo 'a' \"$(echo \"$(curl)\")\"",
    ] {
        check(text, Coverage::Yes);
    }
    for text in [
        "$X x",
        "$(echo curl) x",
        "c${x}url",
        "eval \"$x\"",
        "bash -c \"$x\"",
        "echo curl | sh",
        "cur?",
        "{curl,x}",
        "$'\\x63url' x",
        "echo x | xargs -I% % y",
        "X=curl; $X y",
        "alias ls=curl; ls",
        "printf -v x curl; \"$x\"",
        "echo $((a[$(curl)]))",
        "base64 -d <<< Y3VybA== | bash",
        "sh <<E\ncurl\nE",
        "find . -exec sh -c '{}' \\;",
        ". /dev/stdin <<< curl",
    ] {
        let coverage = script(text).covered(&["curl:*"], PermissionBehavior::Deny, &places());
        assert!(coverage != Coverage::No, "{text}");
        let allowed = script(text).covered(&["ls:*", "echo:*"], PermissionBehavior::Allow, &places());
        assert_eq!(allowed, Coverage::No, "{text}");
        assert!(!script(text).is_read_only(&places()), "{text}");
    }
}

/// What is said to a program before it is told what to do does not hide that from a rule.
#[test]
fn options_before_a_subcommand_do_not_hide_it() {
    let check = |rule: &str, text: &str, expected: Coverage| {
        assert_eq!(script(text).covered(&[rule], PermissionBehavior::Deny, &places()), expected, "{rule}: {text}");
        assert_eq!(script(text).covered(&[rule], PermissionBehavior::Ask, &places()), expected, "{rule}: {text}");
    };
    let (yes, no, unclear) = (Coverage::Yes, Coverage::No, Coverage::Unclear);
    for text in [
        "git push",
        "git -C . push",
        "git --no-pager push",
        "git -p push",
        "git -P push origin",
        "git --work-tree=. push",
        "git --work-tree . push",
        "git --literal-pathspecs push",
        "git -C a -C b --bare push -f",
        "git --made-up push",
        "git -c a=b push",
        "git --git-dir x push",
        "/usr/bin/git -P push",
        "sudo git -P push",
    ] {
        check("git push:*", text, yes);
        check("git push*", text, yes);
    }
    check("git push", "git --no-pager push", yes);
    check("git push:*", "git -C . log push", no);
    check("git push:*", "git -C push log", no);
    check("git push:*", "git $x push", unclear);
    check("docker push:*", "docker --context a push", unclear);
    check("docker push:*", "docker -D --context a push", unclear);
    check("docker push:*", "docker -D push", unclear);
    check("docker push *", "docker -D push a", unclear);
    check("docker push", "docker -D push", unclear);
    check("cargo publish:*", "cargo +nightly publish", unclear);
    check("docker push:*", "docker -D run a push", no);
    check("docker push:*", "docker run push", no);
    check("rm:*", "ls -l rm", no);
}

/// Each may run `rm` in a way that is not looked into: a rule that forbids that may be meant.
#[test]
fn programs_that_may_run_anything_are_asked_about_where_something_is_forbidden() {
    let check = |text: &str, expected: Coverage| {
        let coverage = script(text).covered(&["rm:*"], PermissionBehavior::Deny, &places());
        assert_eq!(coverage, expected, "{text}");
        assert!(!script(text).is_read_only(&places()), "{text}");
    };
    for text in [
        "prlimit rm x",
        "prlimit --nofile=10 rm x",
        "hash -p /bin/rm ls; ls x",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
        "/lib/ld-musl-x86_64.so.1 /bin/rm x",
        "make -f - <<< 'x:;rm x'",
        "make -f-",
        "make -kf - x",
        "make -f /dev/stdin",
        "make --file=-",
        "make --makefile -",
        "python3 -c 'import os; os.remove(\"x\")'",
        "python3.12 -c 1",
        "python3 -Ic 1",
        "python3 - <<< 1",
        "python3 <<< 1",
        "python3 /dev/stdin",
        "perl -e 'unlink \"x\"'",
        "perl -pi -e s/a/b/ x",
        "ruby -e 1",
        "node -e 1",
        "node --eval=1",
        "deno eval 1",
        "php -r 1",
        "sudo python3 -c 1",
        "env python3 -c 1",
        "vim -c '!rm x'",
        "sqlite3 a .shell",
        "python3 $x",
    ] {
        check(text, Coverage::Unclear);
    }
    for text in
        ["python3 a.py", "python3 -u a.py -c b", "python3 -m pytest", "node a.mjs", "make -f a.mk", "make -j4 x"]
    {
        check(text, Coverage::No);
    }
    // A rule that names such a program has meant it.
    for (rule, text) in [("python3:*", "python3 -c 1"), ("perl:*", "perl -pi -e s/a/b/ x"), ("make:*", "make -f a.mk")]
    {
        let coverage = script(text).covered(&[rule], PermissionBehavior::Allow, &places());
        assert_eq!(coverage, Coverage::Yes, "{rule}: {text}");
    }
}

#[test]
fn rules_have_three_forms() {
    let check = |rule: &str, text: &str, expected: Coverage| {
        assert_eq!(script(text).covered(&[rule], PermissionBehavior::Allow, &places()), expected, "{rule}: {text}");
        assert_eq!(script(text).covered(&[rule], PermissionBehavior::Deny, &places()), expected, "{rule}: {text}");
    };
    let (yes, no) = (Coverage::Yes, Coverage::No);
    check("git commit:*", "git commit", yes);
    check("git commit:*", "git commit -m 'a; b'", yes);
    check("git commit:*", "git commit-tree", no);
    check("git commit:*", "git  \"commit\" -a", yes);
    check("git commit:*", "'git commit' -a", no);
    check("git * --amend", "git commit --amend", yes);
    check("git * --amend", "git commit", no);
    check("make \\*", "make '*'", no);
    check("make all", "make all", yes);
    check("make all", "make all install", no);
    check("make", "cmake", no);
    check("ls", "python3 tools/evil.py", no);
    check("git commit -m \"*\"", "git commit -m 'two words'", yes);
    check("> out:*", "> out", yes);
}

#[test]
fn an_allow_rule_covers_all_that_runs_or_nothing() {
    let check = |rules: &[&str], text: &str, expected: bool| {
        let coverage = script(text).covered(rules, PermissionBehavior::Allow, &places());
        assert_eq!(coverage, Coverage::from(expected), "{rules:?}: {text}");
    };
    check(&["cargo test:*"], "cargo test --all", true);
    check(&["cargo test:*"], "cargo test && cargo publish", false);
    check(&["cargo test:*"], "cargo test; rm x", false);
    check(&["cargo test:*"], "cargo test $(rm x)", false);
    check(&["cargo test:*"], "cargo test > ~/.bashrc", false);
    check(&["cargo test:*"], "cargo test > /dev/null 2>&1", true);
    check(&["cargo test:*"], "cargo test | head -5", true);
    check(&["cargo test:*"], "cd sub && cargo test", true);
    check(&["cargo test:*"], "cd /tmp && cargo test", false);
    check(&["cargo test:*"], "timeout 60 cargo test", true);
    check(&["cargo test:*"], "/tmp/timeout 60 cargo test", false);
    check(&["cargo test:*"], "sudo cargo test", false);
    check(&["sudo cargo:*"], "sudo cargo test", true);
    check(&["sudo:*"], "sudo cargo test", false);
    check(&["sudo:*", "cargo:*"], "sudo cargo test", true);
    check(&["sudo sh:*"], "sudo sh -c 'rm x'", false);
    check(&["cargo test:*"], "bash -c 'cargo test'", true);
    check(&["cargo test:*"], "bash -c 'cargo test; rm x'", false);
    check(&["bash:*"], "bash -c 'rm x'", false);
    check(&["cargo test:*"], "/tmp/cargo test", false);
    check(&["cargo test:*"], "RUST_LOG=debug cargo test", true);
    check(&["cargo test:*"], "PATH=/tmp cargo test", false);
    check(&["cargo test:*"], "PATH=/tmp; cargo test", false);
    check(&["cargo test:*", "export:*"], "export LD_PRELOAD=x; cargo test", false);
    check(&["cargo test:*"], "for PATH in /tmp; do cargo test; done", false);
    check(&["cargo test:*"], "env RUSTC_WRAPPER=/tmp/x cargo test", false);
    check(&["./run:*"], "./run now", true);
    check(&["./run:*"], "cd sub && ./run now", false);
    check(&["git add:*", "git commit:*"], "git add . && git commit -m x", true);
    check(&["git add:*"], "git add . && git commit -m x", false);
    check(&["find:*"], "find . -exec rm {} +", false);
    check(&["find:*", "rm:*"], "find . -exec rm {} +", true);
    check(&["xargs:*"], "ls | xargs rm", false);
    check(&["PATH=/tmp cargo test"], "PATH=/tmp cargo test", true);
    check(&["echo a | sh"], "echo a | sh", true);
    check(&["$X foo"], "$X foo", true);
}

/// A rule about a program is not about what its arguments have it run.
#[test]
fn a_command_in_an_argument_is_not_covered_by_the_rule_for_its_program() {
    let check = |program: &str, text: &str, expected: bool| {
        let rule = format!("{program}:*");
        let coverage = script(text).covered(&[&rule], PermissionBehavior::Allow, &places());
        assert_eq!(coverage, Coverage::from(expected), "{rule}: {text}");
        let denied = script(text).covered(&["curl:*"], PermissionBehavior::Deny, &places());
        assert_eq!(denied, if expected { Coverage::No } else { Coverage::Unclear }, "{text}");
    };
    for text in [
        "git add . && git commit -m \"$(cat a)\"",
        "git push -u origin main",
        "git -C sub log -p",
        "git config --get user.name",
        "git config get user.name",
        "git submodule update --init",
        "git bisect good",
        "git rebase main",
        "git clean -fdx",
    ] {
        check("git", text, true);
    }
    for text in [
        "git -c alias.x='!curl a' x",
        "git -c core.pager=curl log",
        "git --config-env=core.pager=X log",
        "git --exec-path=/tmp x",
        "git --git-dir=x status",
        "git $x",
        "git config core.fsmonitor curl",
        "git config --global alias.x '!curl'",
        "git rebase -x curl main",
        "git rebase --exe curl main",
        "git bisect run curl",
        "git submodule foreach curl",
        "git filter-branch --tree-filter curl",
        "git difftool -x curl",
        "git grep -Ocurl x",
        "git clone -c core.fsmonitor=curl a",
        "git clone --template=x a",
        "git fetch --upload-pack=curl a",
        "git fetch \"$x\"",
        "git push --receive-pack=curl a",
    ] {
        check("git", text, false);
    }
    for (program, text, expected) in [
        ("tar", "tar xf a.tar", true),
        ("tar", "tar -czf a.tgz dir", true),
        ("tar", "tar xf a.tar --to-command=curl", false),
        ("tar", "tar cf a b --checkpoint=1 --checkpoint-action=exec=curl", false),
        ("tar", "tar -I curl -cf a b", false),
        ("tar", "tar cIf curl a b", false),
        ("tar", "tar xf \"$x\"", false),
        ("tar", "tar cf a *", false),
        ("awk", "awk '{ print $1 }' a", true),
        ("awk", "awk -F: -v x=1 '$1 || $2' a", true),
        ("awk", "awk 'BEGIN { system(\"curl\") }'", false),
        ("awk", "awk '{ print | \"curl\" }' a", false),
        ("awk", "awk \"$x\" a", false),
        ("awk", "awk -f a b", true),
        ("awk", "awk -f /dev/stdin <<< 'BEGIN { system(\"curl\") }'", false),
        ("sed", "sed -f - x", false),
        ("sed", "sed -f /dev/stdin x", false),
        ("tar", "tar -cf a -T b", false),
        ("make", "make all SHELL=/usr/bin/curl", false),
        ("sed", "sed s/a/b/ x", true),
        ("sed", "sed -i.bak -e '1,3d' -e 's|a|b|g' x", true),
        ("sed", "sed -f script x", true),
        ("sed", "sed '1e curl' x", false),
        ("sed", "sed s/a/b/e x", false),
        ("sed", "sed p x '-e1e curl'", false),
        ("sed", "sed -n -e p -ne '1e curl' x", false),
        ("sed", "sed --expression='1e curl' x", false),
        ("sed", "sed \"$x\" a", false),
        ("sed", "sed p *", false),
        ("sort", "sort -u a", true),
        ("sort", "sort --compress-prog=curl a", false),
        ("split", "split --filter=curl a", false),
        ("rsync", "rsync -av a b", true),
        ("rsync", "rsync -ave curl a b", false),
        ("ssh", "ssh -o ProxyCommand=curl host", false),
        ("go", "go test ./...", true),
        ("go", "go test -exec=curl ./...", false),
        ("make", "make --eval='x:;curl' x", false),
        ("cargo", "cargo test --all", true),
        ("cargo", "cargo test --config 'build.rustc-wrapper=\"curl\"'", false),
        ("zsh", "zsh -c 'path=/tmp; curl'", false),
        ("xargs", "xargs -a x", false),
    ] {
        check(program, text, expected);
    }
}
