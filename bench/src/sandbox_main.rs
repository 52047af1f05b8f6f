//! Prints how much longer a command takes in the sandbox than without it.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use recount_bench::report::{Limit, Target, write_targets};
use recount_sandbox::{Access, Launch, Level, Profile, Sandbox};
use serde::Serialize;

/// How much longer a command takes in the sandbox than without it.
#[derive(Debug, Parser)]
struct Options {
    /// The program that confines the command.
    #[arg(long, value_name = "PATH")]
    helper: PathBuf,
    /// How many times each way is measured, in turn.
    #[arg(long, default_value_t = 200)]
    rounds: usize,
}

/// Medians, in milliseconds.
#[derive(Debug, Serialize)]
struct Figures {
    plain_ms: f64,
    session_ms: f64,
    single_ms: f64,
    landlock_ms: Option<f64>,
}

/// A way to start the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    /// In the namespaces of a session, as the shell tool does it.
    InSession,
    /// With all namespaces of its own.
    Single,
    /// Without namespaces.
    Landlock,
}

const COMMAND: &str = "/bin/bash";

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let workspace = tempfile::tempdir()?;
    let profile = Profile::new(workspace.path(), Access::read_only());
    let full = Sandbox::with_helper(&options.helper);
    anyhow::ensure!(
        full.support().level == Level::Full,
        "this machine does not enforce every profile: {}",
        full.support().explanation()
    );
    let landlock = full.at_most(Level::Landlock);
    let mut ways = vec![Way::Plain, Way::InSession, Way::Single];
    if landlock.support().level == Level::Landlock {
        ways.push(Way::Landlock);
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); ways.len()];
    // The first round creates the session, and brings files into memory.
    for round in 0..=options.rounds {
        for (way, times) in ways.iter().zip(&mut times) {
            let sandbox = if *way == Way::Landlock { &landlock } else { &full };
            let time = measured(*way, sandbox, &profile)?;
            if round > 0 {
                times.push(time);
            }
        }
    }
    let mut median = |way: Way| {
        let at = ways.iter().position(|known| *known == way)?;
        let times = times.get_mut(at)?;
        times.sort_unstable();
        times.get(times.len() / 2).map(|time| time.as_secs_f64() * 1e3)
    };
    report(&mut median)
}

fn report(median: &mut impl FnMut(Way) -> Option<f64>) -> anyhow::Result<ExitCode> {
    let mut known = |way| median(way).unwrap_or(f64::NAN);
    let figures = Figures {
        plain_ms: known(Way::Plain),
        session_ms: known(Way::InSession),
        single_ms: known(Way::Single),
        landlock_ms: median(Way::Landlock),
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "`{COMMAND} -c :`, median in milliseconds")?;
    writeln!(out, "  without a sandbox          {:6.2}", figures.plain_ms)?;
    writeln!(out, "  in a session's namespaces  {:6.2}", figures.session_ms)?;
    writeln!(out, "  in namespaces of its own   {:6.2}", figures.single_ms)?;
    if let Some(landlock) = figures.landlock_ms {
        writeln!(out, "  with Landlock alone        {landlock:6.2}")?;
    }
    writeln!(out, "{}", serde_json::to_string(&figures)?)?;
    let targets = [
        Target {
            name: "overhead of a command in a session, in ms",
            limit: Limit::AtMost(10.0),
            measured: Some(figures.session_ms - figures.plain_ms),
        },
        Target {
            name: "overhead of a single command, in ms",
            limit: Limit::AtMost(10.0),
            measured: Some(figures.single_ms - figures.plain_ms),
        },
    ];
    write_targets(&targets, &mut out)?;
    Ok(if targets.iter().any(Target::is_missed) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs the command once, from the profile to its end.
fn measured(way: Way, sandbox: &Sandbox, profile: &Profile) -> anyhow::Result<Duration> {
    let arguments: Vec<OsString> = ["--noprofile", "--norc", "-c", ":"].map(OsString::from).to_vec();
    let begun = Instant::now();
    let session = (way != Way::Single).then_some("bench");
    let (mut command, guard) = match way {
        Way::Plain => {
            let mut command = Command::new(COMMAND);
            command.args(&arguments).stdin(Stdio::null());
            (command, None)
        }
        Way::InSession | Way::Single | Way::Landlock => {
            let Launch { command, guard, .. } = sandbox.launch(profile, session, COMMAND.as_ref(), &arguments)?;
            (command, Some(guard))
        }
    };
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
    let time = begun.elapsed();
    drop(guard);
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(time)
}
