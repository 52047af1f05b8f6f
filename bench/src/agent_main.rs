//! Compares the agent with that of AgentScope for Python, with a model that responds without delay.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use recount_bench::agent::{Lag, Measurement, Workload, measure_python, measure_recount};
use recount_bench::report::{Limit, Target, write_targets};

/// Compares the agent with that of AgentScope for Python
#[derive(Debug, Parser)]
struct Options {
    /// A Python interpreter with AgentScope 2.0.10
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Number of text deltas in the workload `talk`
    #[arg(long, default_value_t = 20_000)]
    deltas: usize,
    /// Number of rounds in the workload `tools`
    #[arg(long, default_value_t = 200)]
    tool_rounds: usize,
    /// Number of times each workload is run with Recount; the minimum counts
    #[arg(long, default_value_t = 20)]
    rounds: usize,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // If standard error is closed, the exit status still reports the failure.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Measures and prints. Returns whether all targets were met.
fn run(options: &Options) -> anyhow::Result<bool> {
    let talk = measure_recount(Workload::Talk(options.deltas), options.rounds)?;
    let tools = measure_recount(Workload::Tools(options.tool_rounds), options.rounds)?;
    let python = measure_python(&options.python, options.deltas, options.tool_rounds)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "whole agent loop, events per second of CPU time")?;
    writeln!(out, "{:<8} {:>8} {:>12} {:>12} {:>7}", "", "events", "Recount", "Python", "ratio")?;
    for (name, ours, theirs) in [("talk", &talk, &python.talk), ("tools", &tools, &python.tools)] {
        let (fast, slow) = (rate(ours), rate(theirs));
        writeln!(out, "{name:<8} {:>8} {fast:>12.0} {slow:>12.0} {:>7.1}", ours.events, fast / slow)?;
    }
    writeln!(out)?;
    writeln!(out, "latency from a delta of the model to its event, us")?;
    writeln!(out, "{:<8} {:>8} {:>8}", "", "median", "p99")?;
    for (name, lag) in [("Recount", talk.lag), ("Python", python.talk.lag)] {
        if let Some(Lag { median, p99 }) = lag {
            writeln!(out, "{name:<8} {:>8.1} {:>8.1}", median * 1e6, p99 * 1e6)?;
        }
    }
    writeln!(out)?;
    let target = |name, ours: &Measurement, theirs: &Measurement| Target {
        name,
        limit: Limit::AtLeast(20.0),
        measured: Some(rate(ours) / rate(theirs)),
    };
    let targets = [
        target("agent, talk: events per second relative to Python", &talk, &python.talk),
        target("agent, tools: events per second relative to Python", &tools, &python.tools),
    ];
    write_targets(&targets, &mut out)?;
    Ok(!targets.iter().any(Target::is_missed))
}

fn rate(measurement: &Measurement) -> f64 {
    measurement.events as f64 / measurement.seconds
}
