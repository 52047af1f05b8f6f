//! The process that makes the attempts, as the user whom the test has chosen.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use super::attempts::{self, Action, Attempt, PRECONDITIONS, Scope, Sign};
use super::world::{Mode, World};

/// The variables that make this process a worker: how attempts are started, and where.
pub(crate) const MODE: &str = "RECOUNT_ESCAPE_MODE";
pub(crate) const BASE: &str = "RECOUNT_ESCAPE_BASE";
/// The variable of the service that holds the secret.
pub(crate) const SECRET: &str = "RECOUNT_API_KEY";
/// Restricts a worker to the attempts whose names hold this text.
pub(crate) const ONLY: &str = "RECOUNT_ESCAPE_ONLY";

/// The outcome of one attempt, a line of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// As expected: it succeeded with the sandbox off, or had no effect in the sandbox.
    Expected,
    /// It could not be tried, because this precondition does not hold.
    NotTried(&'static str),
    Unexpected(String),
}

/// Does nothing unless the process was started as a worker.
#[test]
fn worker() {
    let (Ok(mode), Ok(base), Ok(secret)) = (std::env::var(MODE), std::env::var(BASE), std::env::var(SECRET)) else {
        return;
    };
    let mode = match mode.as_str() {
        "control" => Mode::Control,
        "read-only" => Mode::ReadOnly,
        "workspace" => Mode::Workspace,
        "landlock" => Mode::Landlock,
        _ => panic!("unknown mode `{mode}`"),
    };
    let base = PathBuf::from(base);
    let mut world = World::create(mode, &base, &secret);
    world.reset();
    let missing = missing_preconditions(&world);
    world.evidence("", None);
    let only = std::env::var(ONLY).unwrap_or_default();
    let mut report = fs::File::create(base.join("own/report")).unwrap();
    for attempt in attempts::all().filter(|attempt| attempt.name.contains(&only)) {
        if mode == Mode::Landlock && attempt.scope == Scope::Full {
            continue;
        }
        let start = Instant::now();
        let line = match check(&mut world, attempt, &missing) {
            Outcome::Expected => "ok".to_owned(),
            Outcome::NotTried(cause) => format!("not tried\t{cause}"),
            Outcome::Unexpected(cause) => {
                let shown = cause.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
                format!("failed\t{}", shown.take(1_000).collect::<String>())
            }
        };
        writeln!(report, "{}\t{}\t{line}", attempt.name, start.elapsed().as_millis()).unwrap();
    }
}

/// Makes one attempt.
fn check(world: &mut World, attempt: &Attempt, missing: &BTreeSet<&'static str>) -> Outcome {
    if let Some(cause) = attempt.needs.iter().find(|need| missing.contains(*need)) {
        return Outcome::NotTried(cause);
    }
    world.reset();
    let output = match (&attempt.action, attempt.control) {
        (_, Some(script)) if world.mode == Mode::Control => world.script(&world.profile(), script),
        (Action::Scripts(scripts), _) => {
            let profile = world.profile_for(&scripts.concat());
            scripts.iter().map(|script| world.script(&profile, script)).collect::<String>()
        }
        (Action::Function(function), _) => function(world),
    };
    let is_control = world.mode == Mode::Control;
    let evidence = world.evidence(&output, is_control.then_some(attempt.sign));
    let is_writable = world.mode == Mode::Workspace;
    let is_success_expected = is_control || (is_writable && attempt.scope == Scope::AllowedInWorkspace);
    if is_success_expected && !evidence.iter().any(|(sign, _)| *sign == attempt.sign) {
        return Outcome::Unexpected(format!("no sign of success: {output}"));
    }
    let forbidden: Vec<_> = evidence.iter().filter(|(sign, _)| !(is_writable && *sign == Sign::Workspace)).collect();
    if !is_control && !forbidden.is_empty() {
        return Outcome::Unexpected(format!("{forbidden:?}: {output}"));
    }
    Outcome::Expected
}

/// The names of the preconditions that do not hold for this user on this machine.
fn missing_preconditions(world: &World) -> BTreeSet<&'static str> {
    let holds = |script: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-c", script]).envs(&world.variables).stdin(std::process::Stdio::null());
        shell.output().is_ok_and(|output| output.status.success())
    };
    PRECONDITIONS.iter().filter(|(_, script)| !holds(script)).map(|(name, _)| *name).collect()
}

#[test]
fn attempts_have_unique_names_and_known_preconditions() {
    let mut names = BTreeSet::new();
    for attempt in attempts::all() {
        assert!(names.insert(attempt.name), "`{}` is there twice", attempt.name);
        for need in attempt.needs {
            assert!(PRECONDITIONS.iter().any(|(name, _)| name == need), "`{need}` of `{}` is unknown", attempt.name);
        }
    }
}
