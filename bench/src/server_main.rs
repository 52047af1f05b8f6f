//! Measures the service, compares it with Nchan and checks the targets.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use recount_bench::clock::Percentiles;
use recount_bench::log::LongSession;
use recount_bench::report::{Limit, Target, write_targets};
use recount_bench::server::appends::Batches;
use recount_bench::server::fanout::{Fleet, Script};
use recount_bench::server::idle::{kib_per_reader, start};
use recount_bench::server::joins::joins;
use recount_bench::server::process::{Kind, Nginx, Programs, Server, raise_open_file_limit};
use serde::Serialize;
use tokio::runtime::{Builder, Runtime};

/// Measures the service and compares it with Nchan
#[derive(Debug, Parser)]
struct Options {
    /// The `recount` binary to measure
    #[arg(long, default_value = "target/release/recount")]
    recount: PathBuf,
    /// Another build to measure in the same rounds
    #[arg(long)]
    beside: Option<PathBuf>,
    /// Number of rounds
    #[arg(long)]
    rounds: Option<usize>,
    /// Run everything with small sizes and without checking the targets
    #[arg(long)]
    small: bool,
    /// Measurements to run: start, spread, one, idle, appends, joins
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// The sizes of the measurements.
struct Size {
    sessions: usize,
    readers: usize,
    /// Events per second and session.
    rate: u32,
    /// Events per session and round.
    events: usize,
    rounds: usize,
    idle: usize,
    deltas: usize,
    /// The length of the long session, in thousands of entries.
    thousands: usize,
    joins: u64,
}

const FULL: Size = Size {
    sessions: 100,
    readers: 2_000,
    rate: 20,
    events: 100,
    rounds: 5,
    idle: 10_000,
    deltas: 3_000,
    thousands: 1_000,
    joins: 1_000,
};

const SMALL: Size =
    Size { sessions: 4, readers: 20, rate: 20, events: 5, rounds: 1, idle: 100, deltas: 200, thousands: 2, joins: 20 };

/// The number of events per batch.
const BATCH: usize = 100;

/// The last line of the output, as JSON.
#[derive(Debug, Serialize)]
struct Outcome {
    append_share: Option<f64>,
    p99_ms: Option<f64>,
    nchan_p99_ms: Option<f64>,
    kib_per_reader: Option<f64>,
    join_ms: Option<f64>,
}

/// All measurements.
#[derive(Debug, Default)]
struct Figures {
    append_share: Option<f64>,
    p99_ms: Option<f64>,
    nchan_p99_ms: Option<f64>,
    kib_per_reader: Option<f64>,
    join_ms: Option<f64>,
    start_ms: Option<f64>,
    idle_mib: Option<f64>,
    p50_ms: Option<f64>,
    nchan_p50_ms: Option<f64>,
    one_session_p50_ms: Option<f64>,
    one_session_p99_ms: Option<f64>,
    nchan_one_session_p50_ms: Option<f64>,
    nchan_one_session_p99_ms: Option<f64>,
    nchan_kib_per_reader: Option<f64>,
    /// CPU time per event and reader, in microseconds.
    cpu_us: Option<f64>,
    nchan_cpu_us: Option<f64>,
    one_session_cpu_us: Option<f64>,
    nchan_one_session_cpu_us: Option<f64>,
    http_appends_per_second: Option<f64>,
    log_appends_per_second: Option<f64>,
    join_p50_ms: Option<f64>,
    readers: usize,
    idle_readers: usize,
    load_before: f64,
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
    let open_files = usize::try_from(raise_open_file_limit()?).unwrap_or(usize::MAX);
    let mut size = if options.small { SMALL } else { FULL };
    if open_files < size.idle + 500 {
        progress(&format!("the limit of {open_files} open files reduces the number of idle readers"));
        size.idle = open_files.saturating_sub(500);
    }
    size.rounds = options.rounds.unwrap_or(size.rounds);
    let bench = Bench {
        beside: options.beside.clone().map(|recount| Programs { recount, nchan: None }),
        programs: Programs { recount: options.recount.clone(), nchan: Nginx::find() },
        size,
        // One thread generates the load. The log has two threads, as the service has on this machine.
        load: Builder::new_current_thread().enable_all().build()?,
        log: Builder::new_multi_thread().worker_threads(2).enable_all().build()?,
    };
    let mut figures = Figures {
        readers: bench.size.readers,
        idle_readers: bench.size.idle,
        load_before: load_average(),
        ..Figures::default()
    };
    if bench.programs.nchan.is_none() {
        progress("Nchan is not installed: no comparison");
    }
    let is_wanted = |name: &str| options.only.is_empty() || options.only.iter().any(|only| only == name);
    if is_wanted("start") {
        bench.start(&mut figures)?;
    }
    if is_wanted("spread") {
        let sessions = bench.size.sessions;
        let [ours, theirs] = bench.fanout(sessions)?;
        [figures.p50_ms, figures.p99_ms, figures.cpu_us] = Spread::figures(ours);
        [figures.nchan_p50_ms, figures.nchan_p99_ms, figures.nchan_cpu_us] = Spread::figures(theirs);
    }
    if is_wanted("one") {
        let [ours, theirs] = bench.fanout(1)?;
        [figures.one_session_p50_ms, figures.one_session_p99_ms, figures.one_session_cpu_us] = Spread::figures(ours);
        let theirs = Spread::figures(theirs);
        [figures.nchan_one_session_p50_ms, figures.nchan_one_session_p99_ms, figures.nchan_one_session_cpu_us] = theirs;
    }
    if is_wanted("idle") {
        figures.kib_per_reader = Some(bench.idle(&bench.programs.start_recount()?)?);
        figures.nchan_kib_per_reader = bench.programs.start_nchan()?.map(|server| bench.idle(&server)).transpose()?;
    }
    if is_wanted("appends") {
        bench.appends(&mut figures)?;
    }
    if is_wanted("joins") {
        let times = bench.joins()?;
        (figures.join_p50_ms, figures.join_ms) = (Some(times.p50), Some(times.p99));
    }
    let targets = targets(&figures);
    let mut out = std::io::stdout().lock();
    print(&figures, &mut out)?;
    if !options.small {
        write_targets(&targets, &mut out)?;
        writeln!(out)?;
    }
    let Figures { append_share, p99_ms, nchan_p99_ms, kib_per_reader, join_ms, .. } = figures;
    let result = Outcome { append_share, p99_ms, nchan_p99_ms, kib_per_reader, join_ms };
    writeln!(out, "{}", serde_json::to_string(&result)?)?;
    Ok(options.small || !targets.iter().any(Target::is_missed))
}

/// The measurements of one round.
#[derive(Clone, Copy)]
struct Spread {
    times: Percentiles,
    cpu_us: f64,
}

impl Spread {
    /// Returns the medians of p50, p99 and CPU time over all rounds.
    fn figures(rounds: Option<Vec<Self>>) -> [Option<f64>; 3] {
        let Some(rounds) = rounds else { return [None; 3] };
        let of = |figure: fn(&Self) -> f64| Some(median(rounds.iter().map(figure)));
        [of(|round| round.times.p50), of(|round| round.times.p99), of(|round| round.cpu_us)]
    }
}

struct Bench {
    programs: Programs,
    beside: Option<Programs>,
    size: Size,
    load: Runtime,
    log: Runtime,
}

impl Bench {
    fn start(&self, figures: &mut Figures) -> anyhow::Result<()> {
        progress("measuring the start of the service");
        let (mut milliseconds, mut mebibytes) = (Vec::new(), Vec::new());
        for _ in 0..self.size.rounds {
            let (took, kib) = start(&self.programs)?;
            milliseconds.push(took.as_secs_f64() * 1e3);
            mebibytes.push(kib as f64 / 1024.0);
        }
        figures.start_ms = Some(median(milliseconds.into_iter()));
        figures.idle_mib = Some(median(mebibytes.into_iter()));
        Ok(())
    }

    /// Measures Recount and Nchan in alternating rounds, so that temporary load on the machine affects both.
    fn fanout(&self, sessions: usize) -> anyhow::Result<[Option<Vec<Spread>>; 2]> {
        let Size { readers, rate, events, rounds, .. } = self.size;
        let script = Arc::new(Script::new()?);
        let mut servers = vec![("Recount", self.programs.start_recount()?)];
        servers.extend(self.programs.start_nchan()?.map(|server| ("Nchan", server)));
        if let Some(beside) = &self.beside {
            servers.push(("beside", beside.start_recount()?));
        }
        self.load.block_on(async {
            progress(&format!("connecting {readers} readers of {sessions} sessions"));
            let mut fleets = Vec::new();
            for (name, server) in servers {
                let mut fleet = Fleet::connect(server, &script, sessions, readers).await?;
                fleet.round(&script, rate as usize, rate).await?;
                fleets.push((name, fleet, Vec::new()));
            }
            for round in 1..=rounds {
                for (name, fleet, results) in &mut fleets {
                    let before = fleet.cpu_time()?;
                    let times = fleet.round(&script, events, rate).await?;
                    let cpu = fleet.cpu_time()?.saturating_sub(before);
                    let cpu_us = cpu.as_secs_f64() * 1e6 / times.len() as f64;
                    let times = Percentiles::of(&times);
                    let Percentiles { p50, p99, .. } = times;
                    let result = format!("p50 {p50:.2} ms, p99 {p99:.2} ms, {cpu_us:.1} us of CPU");
                    progress(&format!("round {round} of {rounds}, {name}: {result}"));
                    results.push(Spread { times, cpu_us });
                }
            }
            let mut taken =
                |of| fleets.iter_mut().find(|(name, ..)| *name == of).map(|(.., results)| std::mem::take(results));
            if let [Some(p50), Some(p99), Some(cpu_us)] = Spread::figures(taken("beside")) {
                progress(&format!("beside: p50 {p50:.2} ms, p99 {p99:.2} ms, {cpu_us:.1} us of CPU"));
            }
            Ok([taken("Recount"), taken("Nchan")])
        })
    }

    fn idle(&self, server: &Server) -> anyhow::Result<f64> {
        let Size { sessions, idle, .. } = self.size;
        progress(&format!("connecting {idle} idle readers, {}", name(server.kind)));
        self.load.block_on(kib_per_reader(server, sessions, idle))
    }

    /// Measures appends over HTTP and in this process, in alternating rounds. The share is the median of the shares of all
    /// rounds.
    fn appends(&self, figures: &mut Figures) -> anyhow::Result<()> {
        let batches = Batches::new(self.size.sessions, self.size.deltas, BATCH);
        let (mut over_http, mut in_process) = (Vec::new(), Vec::new());
        for round in 1..=self.size.rounds.min(3) {
            let server = self.programs.start_recount()?;
            over_http.push(self.load.block_on(batches.over_http(&server))?);
            drop(server);
            in_process.push(self.log.block_on(batches.in_process())?);
            if let (Some(http), Some(log)) = (over_http.last(), in_process.last()) {
                progress(&format!("appends, round {round}: {http:.0} per second over HTTP, {log:.0} in process"));
            }
        }
        figures.append_share = Some(median(over_http.iter().zip(&in_process).map(|(http, log)| http / log)));
        figures.http_appends_per_second = Some(median(over_http.into_iter()));
        figures.log_appends_per_second = Some(median(in_process.into_iter()));
        Ok(())
    }

    fn joins(&self) -> anyhow::Result<Percentiles> {
        let Size { thousands, joins: count, .. } = self.size;
        progress(&format!("writing a session of {thousands} thousand entries"));
        let directory = Arc::new(tempfile::tempdir()?);
        self.log.block_on(async { LongSession::write(directory.path(), thousands).await?.close().await })?;
        let server = self.programs.start_recount_in(&directory)?;
        progress(&format!("reconnecting {count} times"));
        Ok(Percentiles::of(&self.load.block_on(joins(&server, "long", count))?))
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Recount => "Recount",
        Kind::Nchan => "Nchan",
    }
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the load average of the last minute.
fn load_average() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(f64::NAN)
}

/// Prints progress to standard error, which may be closed.
fn progress(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn print(figures: &Figures, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "latency from POST to reader, {} readers, ms", figures.readers)?;
    writeln!(out, "{:<34} {:>12} {:>12} {:>12} {:>12}", "", "p50", "p99", "Nchan p50", "Nchan p99")?;
    let Figures { p50_ms, p99_ms, nchan_p50_ms, nchan_p99_ms, .. } = *figures;
    let spread = [p50_ms, p99_ms, nchan_p50_ms, nchan_p99_ms];
    let Figures { one_session_p50_ms, one_session_p99_ms, .. } = *figures;
    let Figures { nchan_one_session_p50_ms, nchan_one_session_p99_ms, .. } = *figures;
    let one = [one_session_p50_ms, one_session_p99_ms, nchan_one_session_p50_ms, nchan_one_session_p99_ms];
    for (name, row) in [("many sessions", spread), ("one session", one)] {
        let [p50, p99, nchan_p50, nchan_p99] = row.map(figure);
        writeln!(out, "{name:<34} {p50:>12} {p99:>12} {nchan_p50:>12} {nchan_p99:>12}")?;
    }
    writeln!(out)?;
    writeln!(out, "{:<34} {:>12} {:>12}", "", "Recount", "Nchan")?;
    let [many, nchan_many] = [figures.cpu_us, figures.nchan_cpu_us].map(figure);
    writeln!(out, "{:<34} {many:>12} {nchan_many:>12}", "us of CPU per event and reader")?;
    let [one, nchan_one] = [figures.one_session_cpu_us, figures.nchan_one_session_cpu_us].map(figure);
    writeln!(out, "{:<34} {one:>12} {nchan_one:>12}", "the same, one session")?;
    let idle = format!("KiB per reader, {} idle", figures.idle_readers);
    writeln!(out, "{idle:<34} {:>12} {:>12}", figure(figures.kib_per_reader), figure(figures.nchan_kib_per_reader))?;
    writeln!(out)?;
    writeln!(out, "{:<34} {:>12} {:>12} {:>12}", "", "HTTP", "in process", "share")?;
    let rate = |rate: Option<f64>| rate.map(|rate| format!("{rate:.0}")).unwrap_or_default();
    let (http, log) = (rate(figures.http_appends_per_second), rate(figures.log_appends_per_second));
    let appends = format!("events per second, {BATCH} per batch");
    writeln!(out, "{appends:<34} {http:>12} {log:>12} {:>12}", figure(figures.append_share))?;
    writeln!(out)?;
    writeln!(out, "{:<34} {:>12} {:>12}", "", "p50", "p99")?;
    let (p50, p99) = (figure(figures.join_p50_ms), figure(figures.join_ms));
    writeln!(out, "{:<34} {p50:>12} {p99:>12}", "ms to the first event at a cursor")?;
    writeln!(out)?;
    writeln!(out, "{:<34} {:>12}", "start, ms", figure(figures.start_ms))?;
    writeln!(out, "{:<34} {:>12}", "memory after the start, MiB", figure(figures.idle_mib))?;
    writeln!(out)?;
    writeln!(out, "load average before: {:.2}", figures.load_before)?;
    writeln!(out)
}

fn figure(value: Option<f64>) -> String {
    value.map(|value| format!("{value:.2}")).unwrap_or_default()
}

fn targets(figures: &Figures) -> Vec<Target> {
    let ratio = |ours: Option<f64>, theirs: Option<f64>| Some(ours? / theirs?);
    vec![
        Target {
            name: "2,000 readers of 100 sessions: p99 relative to Nchan",
            limit: Limit::AtMost(1.0),
            measured: ratio(figures.p99_ms, figures.nchan_p99_ms),
        },
        Target { name: "2,000 readers of 100 sessions: p99, ms", limit: Limit::AtMost(5.0), measured: figures.p99_ms },
        Target {
            name: "2,000 readers of one session: p99 relative to Nchan",
            limit: Limit::AtMost(1.0),
            measured: ratio(figures.one_session_p99_ms, figures.nchan_one_session_p99_ms),
        },
        Target { name: "memory per idle reader: KiB", limit: Limit::AtMost(10.0), measured: figures.kib_per_reader },
        Target {
            name: "first event at a random cursor of a million entries: ms, p99",
            limit: Limit::AtMost(10.0),
            measured: figures.join_ms,
        },
        Target { name: "start after a clean stop: ms", limit: Limit::AtMost(100.0), measured: figures.start_ms },
        Target { name: "memory of an idle service: MiB", limit: Limit::AtMost(30.0), measured: figures.idle_mib },
    ]
}
