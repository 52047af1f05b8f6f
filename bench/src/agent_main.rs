//! Prints how fast the agent is beside AgentScope's for Python, with a model that answers at once.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use recount_bench::agent::{Lag, Taken, Workload, ours, theirs};
use recount_bench::report::{Limit, Target, write_targets};

/// How fast the agent is.
#[derive(Debug, Parser)]
struct Options {
    /// An interpreter that has AgentScope 2.0.10.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// How many deltas of text the one answer has.
    #[arg(long, default_value_t = 20_000)]
    deltas: usize,
    /// How many rounds with a tool the other reply has.
    #[arg(long, default_value_t = 200)]
    tool_rounds: usize,
    /// How often Recount gives each reply; the least time counts.
    #[arg(long, default_value_t = 20)]
    rounds: usize,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Where even this cannot be written, the exit status still says it.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Measures, prints, and tells whether no target was missed.
fn run(options: &Options) -> anyhow::Result<bool> {
    let talk = ours(Workload::Talk(options.deltas), options.rounds)?;
    let tools = ours(Workload::Tools(options.tool_rounds), options.rounds)?;
    let theirs = theirs(&options.python, options.deltas, options.tool_rounds)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "the whole loop, events per second of the processor")?;
    writeln!(out, "{:<8} {:>8} {:>12} {:>12} {:>7}", "", "events", "Recount", "Python", "ratio")?;
    for (name, ours, theirs) in [("talk", &talk, &theirs.talk), ("tools", &tools, &theirs.tools)] {
        let (fast, slow) = (rate(ours), rate(theirs));
        writeln!(out, "{name:<8} {:>8} {fast:>12.0} {slow:>12.0} {:>7.1}", ours.events, fast / slow)?;
    }
    writeln!(out)?;
    writeln!(out, "from a piece of the model's to its event, us")?;
    writeln!(out, "{:<8} {:>8} {:>8}", "", "median", "p99")?;
    for (name, lag) in [("Recount", talk.lag), ("Python", theirs.talk.lag)] {
        if let Some(Lag { median, p99 }) = lag {
            writeln!(out, "{name:<8} {:>8.1} {:>8.1}", median * 1e6, p99 * 1e6)?;
        }
    }
    writeln!(out)?;
    let target = |name, ours: &Taken, theirs: &Taken| Target {
        name,
        limit: Limit::AtLeast(20.0),
        measured: Some(rate(ours) / rate(theirs)),
    };
    let targets = [
        target("agent, talk: events per second, times Python's", &talk, &theirs.talk),
        target("agent, tools: events per second, times Python's", &tools, &theirs.tools),
    ];
    write_targets(&targets, &mut out)?;
    Ok(!targets.iter().any(Target::is_missed))
}

fn rate(taken: &Taken) -> f64 {
    taken.events as f64 / taken.seconds
}
