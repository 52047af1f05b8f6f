//! Measures the log, compares it with a bare insert loop and checks the targets.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use recount_bench::clock::Percentiles;
use recount_bench::log::{
    BATCH, BareLoopTime, Load, LongSession, SESSIONS, WriterTime, appends, bare_loop, size, writer_loop,
};
use recount_bench::report::{Limit, Target, write_targets};
use recount_log::Durability;
use serde::Serialize;

/// Measures the log and compares it with a bare insert loop
#[derive(Debug, Parser)]
struct Options {
    /// Number of deltas per session
    #[arg(long, default_value_t = 100)]
    deltas: usize,
    /// Number of alternating rounds of the bare loop and the log; the median counts
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Length of the long session, in thousands of entries
    #[arg(long, default_value_t = 1_000)]
    thousands: usize,
}

/// All measurements.
#[derive(Debug, Serialize)]
struct Figures {
    appends: Vec<Appends>,
    entries: u64,
    join_ms: Percentiles,
    join_after_restart_ms: Percentiles,
    snapshot_ms: Percentiles,
    open_join_ms: Percentiles,
    open_snapshot_ms: Percentiles,
    open_first_snapshot_ms: f64,
    bytes_per_event: f64,
    bytes_per_event_compacted: f64,
}

#[derive(Debug, Serialize)]
struct Appends {
    durability: &'static str,
    /// CPU time of the bare loop and of the two threads of the log.
    bare_us_per_entry: f64,
    planner_us_per_entry: f64,
    committer_us_per_entry: f64,
    /// The rate of the log relative to the bare loop if each thread has a core: the slower thread determines it.
    share: f64,
    /// Rates in wall-clock time.
    bare_per_second: f64,
    writer_per_second: f64,
    wall_share: f64,
    handles_per_second: f64,
    handles_share: f64,
}

/// The same entries, written in three ways one after the other.
struct Round {
    bare: BareLoopTime,
    writer: WriterTime,
    handles: Duration,
}

impl Round {
    /// Measures all three. The order of the first two alternates, because the first one warms caches for the second.
    async fn measure(load: &Load, durability: Durability, is_writer_first: bool) -> anyhow::Result<Self> {
        let bare = || tokio::task::block_in_place(|| bare_loop(load, durability));
        let writer = || tokio::task::block_in_place(|| writer_loop(load, durability));
        let (bare, writer) = if is_writer_first {
            let writer = writer()?;
            (bare()?, writer)
        } else {
            (bare()?, writer()?)
        };
        Ok(Self { bare, writer, handles: appends(load, durability).await? })
    }
}

impl Appends {
    /// Returns the medians. The median of a share is that of the shares of all rounds, so that temporary load on the machine
    /// affects both sides.
    fn of(durability: Durability, entries: usize, rounds: &[Round]) -> Self {
        let median = |figure: &dyn Fn(&Round) -> f64| {
            let mut figures: Vec<f64> = rounds.iter().map(figure).collect();
            figures.sort_unstable_by(f64::total_cmp);
            figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
        };
        let us_per_entry = |time: Duration| time.as_secs_f64() * 1e6 / entries as f64;
        let per_second = |time: Duration| entries as f64 / time.as_secs_f64();
        Self {
            durability: durability.as_str(),
            bare_us_per_entry: median(&|round| us_per_entry(round.bare.cpu)),
            planner_us_per_entry: median(&|round| us_per_entry(round.writer.planner)),
            committer_us_per_entry: median(&|round| us_per_entry(round.writer.committer)),
            share: median(&|round| {
                let slower = round.writer.planner.max(round.writer.committer);
                round.bare.cpu.as_secs_f64() / slower.as_secs_f64()
            }),
            bare_per_second: median(&|round| per_second(round.bare.wall)),
            writer_per_second: median(&|round| per_second(round.writer.wall)),
            wall_share: median(&|round| round.bare.wall.as_secs_f64() / round.writer.wall.as_secs_f64()),
            handles_per_second: median(&|round| per_second(round.handles)),
            handles_share: median(&|round| round.bare.wall.as_secs_f64() / round.handles.as_secs_f64()),
        }
    }
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
        let mut rounds = Vec::new();
        for round in 0..options.rounds.max(1) {
            rounds.push(Round::measure(&load, durability, round % 2 == 1).await?);
        }
        rates.push(Appends::of(durability, load.entries(), &rounds));
    }

    let directory = tempfile::tempdir()?;
    let long = LongSession::write(directory.path(), options.thousands).await?;
    long.shrink().await?;
    let entries = long.entries();
    let bytes_per_event = size(directory.path())? as f64 / entries as f64;
    // Fills the caches, as in a session that is in use.
    long.joins(100).await?;
    let join_ms = Percentiles::of(&long.joins(2_000).await?);
    let snapshot_ms = Percentiles::of(&long.snapshots(200).await?);
    let long = long.reopen(directory.path()).await?;
    let join_after_restart_ms = Percentiles::of(&long.joins(200).await?);
    long.compact().await?;
    let bytes_per_event_compacted = size(directory.path())? as f64 / entries as f64;
    long.close().await?;

    // The same with one open reply.
    let directory = tempfile::tempdir()?;
    let open = LongSession::write_open_reply(directory.path(), options.thousands * 1_000).await?;
    open.joins(100).await?;
    let open_join_ms = Percentiles::of(&open.joins(1_000).await?);
    let open = open.reopen(directory.path()).await?;
    let open_first_snapshot_ms = Percentiles::of(&open.snapshots(1).await?).max;
    let open_snapshot_ms = Percentiles::of(&open.snapshots(100).await?);
    open.close().await?;
    Ok(Figures {
        appends: rates,
        entries,
        join_ms,
        join_after_restart_ms,
        snapshot_ms,
        open_join_ms,
        open_snapshot_ms,
        open_first_snapshot_ms,
        bytes_per_event,
        bytes_per_event_compacted,
    })
}

fn print(figures: &Figures, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "appends, {SESSIONS} sessions in turn, {BATCH} per commit")?;
    let columns =
        ["", "bare loop", "planning", "committing", "share", "bare loop", "writer", "share", "handles", "share"];
    let units =
        ["durability", "us of CPU", "us of CPU", "us of CPU", "", "entries/s", "entries/s", "", "entries/s", ""];
    for [first, bare, plan, commit, share, bare_rate, writer_rate, wall_share, handles, handles_share] in
        [columns, units]
    {
        write!(out, "{first:<12} {bare:>10} {plan:>10} {commit:>10} {share:>6} ")?;
        writeln!(out, "{bare_rate:>11} {writer_rate:>11} {wall_share:>6} {handles:>12} {handles_share:>6}")?;
    }
    for row in &figures.appends {
        writeln!(
            out,
            "{:<12} {:>10.2} {:>10.2} {:>10.2} {:>6.2} {:>11.0} {:>11.0} {:>6.2} {:>12.0} {:>6.2}",
            row.durability,
            row.bare_us_per_entry,
            row.planner_us_per_entry,
            row.committer_us_per_entry,
            row.share,
            row.bare_per_second,
            row.writer_per_second,
            row.wall_share,
            row.handles_per_second,
            row.handles_share
        )?;
    }
    writeln!(out)?;
    writeln!(out, "a session of {} entries, ms to the first frame", figures.entries)?;
    writeln!(out, "{:<28} {:>8} {:>8} {:>8}", "", "p50", "p99", "max")?;
    for (name, times) in [
        ("at a random cursor", figures.join_ms),
        ("after a restart", figures.join_after_restart_ms),
        ("with a snapshot", figures.snapshot_ms),
        ("within one open reply", figures.open_join_ms),
        ("with a snapshot of it", figures.open_snapshot_ms),
    ] {
        writeln!(out, "{name:<28} {:>8.2} {:>8.2} {:>8.2}", times.p50, times.p99, times.max)?;
    }
    let first = figures.open_first_snapshot_ms;
    writeln!(out, "the first snapshot of the open reply after a restart: {first:.2}")?;
    writeln!(out)?;
    let Figures { bytes_per_event, bytes_per_event_compacted, .. } = figures;
    writeln!(out, "bytes on disk per event: {bytes_per_event:.0}, compacted {bytes_per_event_compacted:.1}")?;
    writeln!(out)
}

fn targets(figures: &Figures) -> Vec<Target> {
    let share = |durability| figures.appends.iter().find(|row| row.durability == durability).map(|row| row.wall_share);
    vec![
        Target {
            name: "appends, process: entries per second as a share of a bare loop",
            limit: Limit::AtLeast(0.8),
            measured: share("process"),
        },
        Target {
            name: "appends, disk: entries per second as a share of a bare loop",
            limit: Limit::AtLeast(0.8),
            measured: share("disk"),
        },
        Target {
            name: "join at a random cursor of a long session: ms, p99",
            limit: Limit::AtMost(10.0),
            measured: Some(figures.join_ms.p99),
        },
        Target {
            name: "join after a restart: ms, p99",
            limit: Limit::AtMost(10.0),
            measured: Some(figures.join_after_restart_ms.p99),
        },
        Target {
            name: "snapshot of a long session: ms, p99",
            limit: Limit::AtMost(10.0),
            measured: Some(figures.snapshot_ms.p99),
        },
        Target {
            name: "join within an open reply: ms, p99",
            limit: Limit::AtMost(10.0),
            measured: Some(figures.open_join_ms.p99),
        },
        Target {
            name: "snapshot of an open reply: ms, p99",
            limit: Limit::AtMost(10.0),
            measured: Some(figures.open_snapshot_ms.p99),
        },
    ]
}
