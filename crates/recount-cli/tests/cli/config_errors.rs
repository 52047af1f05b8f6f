//! Configuration errors contain the place, the invalid value and the expected one.

use std::sync::atomic::{AtomicUsize, Ordering};

use pretty_assertions::assert_eq;

use crate::run::{Run, command, directory, finish, recount};

/// Runs a command with a configuration file and environment variables.
fn run(args: &str, text: &str, variables: &[(&str, &str)]) -> Run {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let here = directory(&format!("configured-{}", RUNS.fetch_add(1, Ordering::Relaxed)));
    std::fs::write(here.join("recount.toml"), text).unwrap();
    let mut command = command(args);
    command.current_dir(&here).env_remove("RECOUNT_MODEL").envs(variables.iter().copied());
    finish(command, b"")
}

#[track_caller]
fn check(text: &str, variables: &[(&str, &str)], expected: &str) {
    let config = run("config", text, variables);
    assert_eq!((config.exit, config.stdout.as_str()), (Some(2), ""), "{}", config.stderr);
    assert!(config.stderr.starts_with(&format!("error: {expected}")), "{}", config.stderr);
    let doctor = run("doctor", text, variables);
    assert_eq!(doctor.exit, Some(1), "{}", doctor.stdout);
    assert!(doctor.stdout.contains(&format!("wrong {expected}")), "{}", doctor.stdout);
}

#[test]
fn file_errors_contain_the_line() {
    for (text, expected) in [
        ("[server]\nlisten 7171\n", "recount.toml:2: key with no value, expected `=`"),
        ("[limits]\nbodies = 1\n", "recount.toml:2: unknown field `bodies`, expected one of `body`, `event`"),
        (
            "[limits]\n\nbody = true\n",
            "recount.toml:3: `body`: invalid type: boolean `true`, expected a number, or a string such as",
        ),
        ("[limits]\nbody = \"large\"\n", "recount.toml:2: invalid size \"large\": expected a number of bytes, KiB"),
        (
            "[server]\ndrain = \"10\"\n",
            "recount.toml:2: invalid duration \"10\": expected a number and one of s, m, h, d",
        ),
        (
            "[server]\nhosts = 7\n",
            "recount.toml:2: `hosts`: invalid type: integer `7`, expected an array of strings, or a",
        ),
        ("[limits]\nconnections = 0\n", "recount.toml:2: expected at least 1, found 0"),
        (
            "[server]\nhosts = [\"http://x/\"]\n",
            "recount.toml:2: invalid host name \"http://x/\": expected one without scheme and port",
        ),
        ("[telemetry]\notlp = \"nope\"\n", "recount.toml:2: invalid URL \"nope\": expected one such as"),
        ("[telemetry]\nlog = \"!!!\"\n", "recount.toml: cannot use `log` of `[telemetry]`: \"!!!\""),
        ("[server]\nmodel = \"gpt-5\"\n", "recount.toml:2: `gpt-5` is neither `provider/name` nor `demo`"),
        ("[log]\ndurability = \"disc\"\n", "recount.toml:2: unknown variant `disc`, expected `disk` or `process`"),
        ("[agents.a]\npromt = \"Hi\"\n", "recount.toml:2: unknown field `promt`, expected one of `model`"),
        ("[agents.a]\nhelpers = [\"b\"]\n", "recount.toml: agent `a`: unknown sub-agent `b`"),
    ] {
        check(text, &[], expected);
    }
}

#[test]
fn listen_rejects_addresses_without_host_and_port() {
    for listen in ["abc", "7171", ":7171", "localhost:http", "::1:7171", "127.0.0.1:70000", "http://127.0.0.1:7171", ""]
    {
        check(
            &format!("[server]\nlisten = {listen:?}\n"),
            &[],
            &format!(
                "recount.toml:2: invalid address {listen:?}: expected a host and a port, such as \"127.0.0.1:7171\""
            ),
        );
        let serve = run(&format!("serve --model demo --listen={listen}"), "", &[]);
        assert_eq!(serve.exit, Some(2));
        assert!(serve.stderr.contains(&format!("invalid address {listen:?}: expected")), "{}", serve.stderr);
    }
    for listen in ["localhost:0", "[::1]:7171", "recount.example:80"] {
        let config = run("config", &format!("[server]\nlisten = {listen:?}\n"), &[]);
        assert_eq!((config.exit, config.stderr.as_str()), (Some(0), ""));
    }
}

#[test]
fn environment_errors_contain_the_variable() {
    for (name, value, expected) in [
        ("RECOUNT_SERVER_LISTEN", "abc", "invalid address \"abc\": expected"),
        ("RECOUNT_LIMITS_BODY", "large", "invalid size \"large\": expected"),
        ("RECOUNT_LOG_ON_RESTART", "stop", "unknown variant `stop`, expected `continue` or `close`"),
        ("RECOUNT_LIMITS_BODIES", "1", "unknown field `bodies`, expected one of `body`"),
        ("RECOUNT_MODEL", "gpt-5", "`gpt-5` is neither `provider/name` nor `demo`"),
    ] {
        check("", &[(name, value)], &format!("the variable {name}: {expected}"));
    }
}

#[test]
fn missing_file_is_named() {
    let named = recount("config --config no/such.toml", b"");
    assert_eq!(named.exit, Some(2));
    let expected = "error: no/such.toml: cannot read the configuration: No such file or directory";
    assert!(named.stderr.starts_with(expected), "{}", named.stderr);
}

#[test]
fn relative_paths_start_at_the_directory_of_the_file() {
    let here = directory("configured-paths");
    std::fs::create_dir_all(here.join("etc/work")).unwrap();
    std::fs::write(here.join("etc/recount.toml"), "[agents.a]\nmodel = \"demo\"\nworkspace = \"work\"\n").unwrap();
    let mut command = command("config --config etc/recount.toml");
    command.current_dir(&here);
    let config = finish(command, b"");
    assert_eq!(config.exit, Some(0), "{}", config.stderr);
    assert!(config.stdout.contains("/etc/work\"\n"), "{}", config.stdout);
}

#[test]
fn config_shows_the_telemetry_variables() {
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.example:4318"), ("OTEL_SERVICE_NAME", "front desk")];
    let config = run("config", "", &variables);
    for line in ["otlp = \"http://collector.example:4318\"\n", "service_name = \"front desk\"\n"] {
        assert!(config.stdout.contains(line), "{}", config.stdout);
    }
}
