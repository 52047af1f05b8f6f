//! Prints how fast the log is beside a bare loop on the same table, and whether that is as fast as it should be.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use recount_bench::log::{BATCH, Load, LongSession, SESSIONS, Spent, appends, bare_loop, size, writer_loop};
use recount_bench::report::{Limit, Target, write_targets};
use recount_log::Durability;
use serde::Serialize;

/// How fast the log is.
#[derive(Debug, Parser)]
struct Options {
    /// How many deltas each of a thousand sessions gets.
    #[arg(long, default_value_t = 100)]
    deltas: usize,
    /// How often the bare loop and the log are measured, in turn; the least time of each counts.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How many thousand entries the long session has.
    #[arg(long, default_value_t = 1_000)]
    thousands: usize,
}

/// What was measured.
#[derive(Debug, Serialize)]
struct Figures {
    appends: Vec<Appends>,
    entries: u64,
    join_ms: Percentiles,
    join_after_restart_ms: Percentiles,
    snapshot_ms: Percentiles,
    bytes_per_event: f64,
    bytes_per_event_compacted: f64,
}

#[derive(Debug, Serialize)]
struct Appends {
    durability: &'static str,
    /// Of the processor, in the thread that writes.
    bare_us_per_entry: f64,
    writer_us_per_entry: f64,
    share: f64,
    /// On the wall.
    bare_per_second: f64,
    writer_per_second: f64,
    handles_per_second: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Percentiles {
    p50: f64,
    p99: f64,
    max: f64,
}

impl Percentiles {
    fn of(sorted: &[Duration]) -> Self {
        let at = |share: usize| {
            let index = (sorted.len() * share / 100).min(sorted.len().saturating_sub(1));
            sorted.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
        };
        Self { p50: at(50), p99: at(99), max: at(100) }
    }
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

/// Measures everything, prints it, and tells whether no target was missed.
fn run(options: &Options) -> anyhow::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    let figures = runtime.block_on(measure(options))?;
    let targets = targets(&figures);
    let mut out = std::io::stdout().lock();
    print(&figures, &mut out)?;
    write_targets(&targets, &mut out)?;
    writeln!(out)?;
    writeln!(out, "{}", serde_json::to_string(&serde_json::json!({ "log": figures, "targets": targets }))?)?;
    Ok(!targets.iter().any(Target::is_missed))
}

async fn measure(options: &Options) -> anyhow::Result<Figures> {
    let load = Load::new(options.deltas)?;
    let mut rates = Vec::new();
    for durability in [Durability::Process, Durability::Disk] {
        let (mut bare, mut ours, mut handles) = (Spent::MOST, Spent::MOST, Duration::MAX);
        for _ in 0..options.rounds {
            bare = bare.least(tokio::task::block_in_place(|| bare_loop(&load, durability))?);
            ours = ours.least(tokio::task::block_in_place(|| writer_loop(&load, durability))?);
            handles = handles.min(appends(&load, durability).await?);
        }
        let rate = |time: Duration| load.entries() as f64 / time.as_secs_f64();
        rates.push(Appends {
            durability: durability.as_str(),
            bare_us_per_entry: 1e6 / rate(bare.cpu),
            writer_us_per_entry: 1e6 / rate(ours.cpu),
            share: rate(ours.cpu) / rate(bare.cpu),
            bare_per_second: rate(bare.wall),
            writer_per_second: rate(ours.wall),
            handles_per_second: rate(handles),
        });
    }

    let directory = tempfile::tempdir()?;
    let long = LongSession::write(directory.path(), options.thousands).await?;
    long.shrink().await?;
    let entries = long.entries();
    let bytes_per_event = size(directory.path())? as f64 / entries as f64;
    // The first ones fill the caches; what is meant is a session that is in use.
    long.joins(100).await?;
    let join_ms = Percentiles::of(&long.joins(2_000).await?);
    let snapshot_ms = Percentiles::of(&long.snapshots(200).await?);
    let long = long.reopen(directory.path()).await?;
    let join_after_restart_ms = Percentiles::of(&long.joins(200).await?);
    long.compact().await?;
    let bytes_per_event_compacted = size(directory.path())? as f64 / entries as f64;
    long.close().await?;
    Ok(Figures {
        appends: rates,
        entries,
        join_ms,
        join_after_restart_ms,
        snapshot_ms,
        bytes_per_event,
        bytes_per_event_compacted,
    })
}

fn print(figures: &Figures, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "appends, {SESSIONS} sessions in turn, {BATCH} to a commit")?;
    writeln!(
        out,
        "{:<12} {:>12} {:>12} {:>7}   {:>12} {:>12} {:>12}",
        "", "bare loop", "the writer", "share", "bare loop", "the writer", "the handles"
    )?;
    writeln!(
        out,
        "{:<12} {:>12} {:>12} {:>7}   {:>12} {:>12} {:>12}",
        "durability", "us of CPU", "us of CPU", "", "entries/s", "entries/s", "entries/s"
    )?;
    for row in &figures.appends {
        writeln!(
            out,
            "{:<12} {:>12.2} {:>12.2} {:>7.2}   {:>12.0} {:>12.0} {:>12.0}",
            row.durability,
            row.bare_us_per_entry,
            row.writer_us_per_entry,
            row.share,
            row.bare_per_second,
            row.writer_per_second,
            row.handles_per_second
        )?;
    }
    writeln!(out)?;
    writeln!(out, "a session of {} entries, ms to the first frame", figures.entries)?;
    writeln!(out, "{:<28} {:>8} {:>8} {:>8}", "", "p50", "p99", "max")?;
    for (name, times) in [
        ("at a random cursor", figures.join_ms),
        ("right after a restart", figures.join_after_restart_ms),
        ("with a snapshot", figures.snapshot_ms),
    ] {
        writeln!(out, "{name:<28} {:>8.2} {:>8.2} {:>8.2}", times.p50, times.p99, times.max)?;
    }
    writeln!(out)?;
    let Figures { bytes_per_event, bytes_per_event_compacted, .. } = figures;
    writeln!(out, "bytes on disk per event: {bytes_per_event:.0}, compacted {bytes_per_event_compacted:.1}")?;
    writeln!(out)
}

fn targets(figures: &Figures) -> Vec<Target> {
    let share = |durability| figures.appends.iter().find(|row| row.durability == durability).map(|row| row.share);
    vec![
        Target {
            name: "appends, process: share of a bare loop on the same table",
            limit: Limit::AtLeast(0.8),
            measured: share("process"),
        },
        Target {
            name: "appends, disk: share of a bare loop on the same table",
            limit: Limit::AtLeast(0.8),
            measured: share("disk"),
        },
        Target {
            name: "join at a random cursor of a long session: ms, p99",
            limit: Limit::AtMost(10.0),
            measured: Some(figures.join_ms.p99),
        },
        Target {
            name: "join right after a restart: ms, p99",
            limit: Limit::AtMost(10.0),
            measured: Some(figures.join_after_restart_ms.p99),
        },
        Target {
            name: "snapshot of a long session: ms, p99",
            limit: Limit::AtMost(10.0),
            measured: Some(figures.snapshot_ms.p99),
        },
    ]
}
