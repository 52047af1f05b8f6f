//! Compares Recount with AgentScope for Python and checks the targets.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use recount_bench::clock::{least, time};
use recount_bench::python::{Python, Seconds};
use recount_bench::report::{Conversion, Decoding, Growth, Limit, Report, Row, Target};
use recount_bench::responses::{self, Response};
use recount_bench::steps;
use recount_bench::streams::{self, Stream};
use recount_dialect::Dialect;

/// Compares Recount with AgentScope for Python
#[derive(Debug, Parser)]
struct Options {
    /// A Python interpreter with AgentScope 2.0.10
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Measure Recount only
    #[arg(long, conflicts_with = "python")]
    no_python: bool,
    /// Fold the whole streams `blocks` and `data` in Python
    #[arg(long)]
    full: bool,
    /// Minimum number of rounds with Recount; the minimum time counts
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// Number of Python processes per stream; the minimum time counts
    #[arg(long, default_value_t = 3)]
    processes: usize,
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
    let python = if options.no_python { None } else { Some(Python::new(options.python.clone())?) };
    let mut report = Report::default();
    for (stream, folded_by_python) in all_streams(options.full) {
        let python = python.as_ref().filter(|_| folded_by_python);
        measure(&stream, python, options, &mut report)?;
    }
    for response in responses::all(DELTAS) {
        report.responses.push(decoding(&response, options.rounds)?);
    }
    report.growth = growth(options.rounds)?;
    for stream in [streams::text(100_000), streams::mixed(50_000)] {
        for dialect in [Dialect::Java, Dialect::TypeScript] {
            report.dialects.push(conversion(&stream, dialect, options.rounds)?);
        }
    }
    report.targets = targets(&report);
    let mut out = std::io::stdout().lock();
    report.write(&mut out)?;
    out.flush()?;
    Ok(!report.targets.iter().any(Target::is_missed))
}

/// Returns the streams, and whether each is also measured in Python. Python's time is quadratic in the number of blocks and in
/// the size of data, so by default it gets smaller streams of these kinds.
fn all_streams(full: bool) -> Vec<(Stream, bool)> {
    let renamed = |stream: Stream, name: &str| Stream { name: name.to_owned(), ..stream };
    let mut all = vec![(streams::text(100_000), true), (streams::blocks(2_000, 50), full)];
    if !full {
        all.push((renamed(streams::blocks(200, 50), "blocks / 10"), true));
    }
    all.push((streams::arguments(20_000), true));
    all.push((streams::data(5_000_000, 500), full));
    if !full {
        all.push((renamed(streams::data(1_000_000, 100), "data / 5"), true));
    }
    all.push((streams::mixed(50_000), true));
    all
}

/// Measures all steps of a stream.
fn measure(stream: &Stream, python: Option<&Python>, options: &Options, report: &mut Report) -> anyhow::Result<()> {
    let (lines, byte_lines) = (stream.lines(), stream.byte_lines());
    let events = steps::events(&lines)?;
    let fold = steps::fold(&events);
    let [skip, decode, decode_owned, folding, bytes_to_message, encode, encode_messages] =
        least(options.rounds, || {
            anyhow::Ok([
                time(|| steps::skip(&lines))?,
                time(|| steps::decode(&lines))?,
                time(|| steps::decode_owned(&lines))?,
                time(|| anyhow::Ok(steps::fold(&events)))?,
                time(|| steps::bytes_to_message(&byte_lines))?,
                time(|| anyhow::Ok(steps::encode(&events)))?,
                time(|| anyhow::Ok(steps::encode_messages(&fold)))?,
            ])
        })?;

    let answer = python.map(|python| python.measure(stream, &fold, options.processes)).transpose()?;
    let theirs = |step: fn(Seconds) -> f64| answer.as_ref().map(|answer| step(answer.seconds));
    let (bytes, message_bytes) = (stream.text.len(), steps::encode_messages(&fold));
    let rows = [
        ("serde_json skips", skip, bytes, None),
        ("decode", decode, bytes, theirs(|seconds| seconds.decode)),
        ("decode, owned", decode_owned, bytes, theirs(|seconds| seconds.decode)),
        ("fold", folding, bytes, theirs(|seconds| seconds.fold)),
        (BYTES_TO_MESSAGE, bytes_to_message, bytes, theirs(|seconds| seconds.decode + seconds.fold)),
        ("encode", encode, bytes, theirs(|seconds| seconds.encode)),
        ("encode the message", encode_messages, message_bytes, theirs(|seconds| seconds.encode_messages)),
    ];
    for (step, ours, bytes, theirs) in rows {
        report.rows.push(row(stream, step, ours, bytes, theirs, skip));
    }
    if let Some(answer) = answer {
        report.versions = Some(answer.versions);
    }
    Ok(())
}

const BYTES_TO_MESSAGE: &str = "bytes to message";

fn row(
    stream: &Stream,
    step: &'static str,
    ours: Duration,
    bytes: usize,
    python_seconds: Option<f64>,
    skip: Duration,
) -> Row {
    let (seconds, events) = (ours.as_secs_f64(), stream.events as f64);
    Row {
        stream: stream.name.clone(),
        step,
        ns_per_event: seconds * 1e9 / events,
        mb_per_s: bytes as f64 / 1e6 / seconds,
        python_us_per_event: python_seconds.map(|theirs| theirs * 1e6 / events),
        python_ratio: python_seconds.map(|theirs| theirs / seconds),
        skip_ratio: seconds / skip.as_secs_f64(),
    }
}

/// Measures the conversion of a stream between dialects.
fn conversion(stream: &Stream, dialect: Dialect, rounds: usize) -> anyhow::Result<Conversion> {
    let lines = stream.lines();
    let events = steps::events(&lines)?;
    let translated: Vec<String> = events.iter().map(|event| dialect.write_event(event)).collect();
    let [native, from, to] = least(rounds, || {
        anyhow::Ok([
            time(|| steps::to_dialect(Dialect::Native, &lines))?,
            time(|| steps::from_dialect(dialect, &translated))?,
            time(|| steps::to_dialect(dialect, &lines))?,
        ])
    })?;
    let ratio = |time: Duration| time.as_secs_f64() / native.as_secs_f64();
    Ok(Conversion { stream: stream.name.clone(), dialect: dialect.name(), from: ratio(from), to: ratio(to) })
}

/// The number of deltas per response.
const DELTAS: usize = 50_000;

/// Measures the decoding of a response, compared with `serde_json` skipping its chunks.
fn decoding(response: &Response, rounds: usize) -> anyhow::Result<Decoding> {
    let chunks: Vec<&str> = response.chunks.iter().map(String::as_str).collect();
    let [skip, decode, write] = least(rounds, || {
        anyhow::Ok([
            time(|| steps::skip(&chunks))?,
            time(|| steps::decode_response(response))?,
            time(|| anyhow::Ok(steps::write_deltas(chunks.len())))?,
        ])
    })?;
    let per_chunk = |time: Duration| time.as_secs_f64() * 1e9 / chunks.len() as f64;
    Ok(Decoding {
        provider: response.provider.name(),
        ns_per_chunk: per_chunk(decode),
        ns_to_write: per_chunk(write),
        mb_per_s: response.bytes.len() as f64 / 1e6 / decode.as_secs_f64(),
        skip_ratio: decode.as_secs_f64() / skip.as_secs_f64(),
    })
}

/// Measures the time per event in messages of several sizes. The number of events is the same for each size: there are more
/// messages if they are smaller.
fn growth(rounds: usize) -> anyhow::Result<Vec<Growth>> {
    Ok(vec![
        growth_of("blocks in turn", streams::BLOCKS, streams::blocks_of_size, rounds)?,
        growth_of("blocks all open", streams::BLOCKS, streams::open_blocks_of_size, rounds)?,
        growth_of("data deltas", streams::DATA_DELTAS, streams::data_of_size, rounds)?,
    ])
}

fn growth_of<const SIZES: usize>(
    of: &'static str,
    sizes: [usize; SIZES],
    stream: fn(usize) -> Stream,
    rounds: usize,
) -> anyhow::Result<Growth> {
    let streams = sizes.map(stream);
    let mut events = Vec::new();
    for stream in &streams {
        events.push(steps::events(&stream.lines())?);
    }
    let times = least(rounds, || {
        let mut times = [Duration::ZERO; SIZES];
        for (spent, events) in times.iter_mut().zip(&events) {
            *spent = time(|| anyhow::Ok(steps::fold(events)))?;
        }
        anyhow::Ok(times)
    })?;
    let ns_per_event = times.iter().zip(&events).map(|(time, events)| time.as_secs_f64() * 1e9 / events.len() as f64);
    Ok(Growth { of, ns_per_event: sizes.into_iter().zip(ns_per_event).collect() })
}

fn targets(report: &Report) -> Vec<Target> {
    let text = report.rows.iter().find(|row| row.stream == "text" && row.step == BYTES_TO_MESSAGE);
    let conversions = report.dialects.iter().filter(|conversion| conversion.stream == "text");
    let text_conversion = conversions.map(|conversion| conversion.from.max(conversion.to)).reduce(f64::max);
    let growth = |of| report.growth.iter().find(|growth| growth.of == of).and_then(Growth::ratio);
    vec![
        Target {
            name: "text, bytes to message: speed relative to Python",
            limit: Limit::AtLeast(80.0),
            measured: text.and_then(|row| row.python_ratio),
        },
        Target {
            name: "text, bytes to message: time relative to serde_json skipping",
            limit: Limit::AtMost(2.0),
            measured: text.map(|row| row.skip_ratio),
        },
        Target {
            name: "fold at 5,000 blocks: time relative to 10",
            limit: Limit::AtMost(1.5),
            measured: growth("blocks in turn"),
        },
        Target {
            name: "fold at 4,000 data deltas: time relative to 100",
            limit: Limit::AtMost(1.5),
            measured: growth("data deltas"),
        },
        Target {
            name: "text, dialect conversion: time relative to native decode and encode",
            limit: Limit::AtMost(2.0),
            measured: text_conversion,
        },
    ]
}
