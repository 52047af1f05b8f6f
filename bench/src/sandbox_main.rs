//! Measures the overhead of the sandbox for a command.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use recount_bench::report::{Limit, Target, write_targets};
use recount_sandbox::{Access, Launch, Level, Profile, Sandbox};
use serde::Serialize;

/// Measures the overhead of the sandbox for a command
#[derive(Debug, Parser)]
struct Options {
    /// The sandbox helper program
    #[arg(long, value_name = "PATH")]
    helper: PathBuf,
    /// Number of alternating rounds
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

/// The mode in which the command is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    /// In the namespaces of a session, as the shell tool does it.
    InSession,
    /// In new namespaces.
    Single,
    /// With Landlock only.
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
        "this machine cannot enforce all profiles: {}",
        full.support().explanation()
    );
    let landlock = full.at_most(Level::Landlock);
    let mut modes = vec![Mode::Plain, Mode::InSession, Mode::Single];
    if landlock.support().level == Level::Landlock {
        modes.push(Mode::Landlock);
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); modes.len()];
    // The first round creates the session and warms the page cache. It is not counted.
    for round in 0..=options.rounds {
        for (mode, times) in modes.iter().zip(&mut times) {
            let sandbox = if *mode == Mode::Landlock { &landlock } else { &full };
            let time = measured(*mode, sandbox, &profile)?;
            if round > 0 {
                times.push(time);
            }
        }
    }
    let mut median = |mode: Mode| {
        let at = modes.iter().position(|known| *known == mode)?;
        let times = times.get_mut(at)?;
        times.sort_unstable();
        times.get(times.len() / 2).map(|time| time.as_secs_f64() * 1e3)
    };
    report(&mut median)
}

fn report(median: &mut impl FnMut(Mode) -> Option<f64>) -> anyhow::Result<ExitCode> {
    let mut known = |mode| median(mode).unwrap_or(f64::NAN);
    let figures = Figures {
        plain_ms: known(Mode::Plain),
        session_ms: known(Mode::InSession),
        single_ms: known(Mode::Single),
        landlock_ms: median(Mode::Landlock),
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

/// Measures one run of the command, including its preparation.
fn measured(mode: Mode, sandbox: &Sandbox, profile: &Profile) -> anyhow::Result<Duration> {
    let arguments: Vec<OsString> = ["--noprofile", "--norc", "-c", ":"].map(OsString::from).to_vec();
    let begun = Instant::now();
    let session = (mode != Mode::Single).then_some("bench");
    let (mut command, guard) = match mode {
        Mode::Plain => {
            let mut command = Command::new(COMMAND);
            command.args(&arguments).stdin(Stdio::null());
            (command, None)
        }
        Mode::InSession | Mode::Single | Mode::Landlock => {
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
