//! Prints generated streams and messages for checkers in other languages.
//!
//! `testkit emit` prints JSON lines for the checkers in other languages. `testkit frames` prints the frames that front ends
//! receive for generated or recorded streams. `testkit corpus` writes the initial corpora of the fuzz targets.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use recount_dialect::{Dialect, FrontEnd, Target};
use recount_testkit::front_end_frames::{frames_line, scenario};
use recount_testkit::lines::{Kind, dialect_lines, lines};
use recount_testkit::{corpus, illegal, legal};

const USAGE: &str = "\
usage: testkit emit --kind legal|illegal|messages [--dialect java|java1] [--seed N] [--count M]
       testkit frames --front-end ag-ui [--kind legal|illegal] [--seed N] [--count M] [--traces FILE]
       testkit corpus --into DIRECTORY";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(command) = Command::from_arguments(&arguments) else {
        let _ = writeln!(io::stderr(), "{USAGE}");
        return ExitCode::from(2);
    };
    let done = match &command {
        Command::Emit { kind, dialect, seed, count } => emit(*kind, *dialect, *seed, *count),
        Command::Frames { front_end, kind, seed, count, traces } => {
            print_frames(*front_end, *kind, *seed..seed + count, traces)
        }
        Command::Corpus { into } => write_corpus(into),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The consumer has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "testkit: {error}");
            ExitCode::FAILURE
        }
    }
}

enum Command {
    Emit { kind: Kind, dialect: Option<Dialect>, seed: u64, count: u64 },
    Frames { front_end: FrontEnd, kind: Kind, seed: u64, count: u64, traces: Option<PathBuf> },
    Corpus { into: PathBuf },
}

impl Command {
    fn from_arguments(arguments: &[String]) -> Option<Self> {
        let (command, options) = arguments.split_first()?;
        let (options, []) = options.as_chunks::<2>() else { return None };
        match (command.as_str(), options) {
            ("corpus", [[name, into]]) if name == "--into" => Some(Self::Corpus { into: into.into() }),
            ("emit", options) => Self::emit(options),
            ("frames", options) => Self::frames(options),
            _ => None,
        }
    }

    fn emit(options: &[[String; 2]]) -> Option<Self> {
        let (mut kind, mut dialect, mut seed, mut count) = (None, None, 0, 1);
        for [name, value] in options {
            match name.as_str() {
                "--kind" => kind = Some(Kind::from_name(value)?),
                "--dialect" => dialect = Some(value.parse().ok()?),
                "--seed" => seed = value.parse().ok()?,
                "--count" => count = value.parse().ok()?,
                _ => return None,
            }
        }
        Some(Self::Emit { kind: kind?, dialect, seed, count })
    }

    fn frames(options: &[[String; 2]]) -> Option<Self> {
        let (mut front_end, mut kind, mut seed, mut count, mut traces) = (None, Kind::Legal, 0, 0, None);
        for [name, value] in options {
            match name.as_str() {
                "--front-end" => match value.parse().ok()? {
                    Target::FrontEnd(wanted) => front_end = Some(wanted),
                    Target::Dialect(_) => return None,
                },
                "--kind" => kind = Kind::from_name(value)?,
                "--seed" => seed = value.parse().ok()?,
                "--count" => count = value.parse().ok()?,
                "--traces" => traces = Some(value.into()),
                _ => return None,
            }
        }
        Some(Self::Frames { front_end: front_end?, kind, seed, count, traces })
    }
}

fn emit(kind: Kind, dialect: Option<Dialect>, seed: u64, count: u64) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for seed in seed..seed.saturating_add(count) {
        let lines = match dialect {
            Some(dialect) => dialect_lines(dialect, kind, seed),
            None => lines(kind, seed),
        };
        for line in lines {
            writeln!(out, "{line}")?;
        }
    }
    out.flush()
}

fn print_frames(front_end: FrontEnd, kind: Kind, seeds: Range<u64>, traces: &Option<PathBuf>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for seed in seeds {
        let (case, events) = match kind {
            Kind::Illegal => (format!("illegal/{seed}"), illegal(seed)),
            Kind::Legal | Kind::Messages => (format!("legal/{seed}"), legal(seed)),
        };
        writeln!(out, "{}", frames_line(front_end, &case, &events))?;
    }
    if let Some(path) = traces {
        for line in fs::read_to_string(path)?.lines() {
            let (case, events) = scenario(line).map_err(io::Error::other)?;
            writeln!(out, "{}", frames_line(front_end, &case, &events))?;
        }
    }
    out.flush()
}

fn write_corpus(into: &Path) -> io::Result<()> {
    for target in corpus::targets() {
        let directory = into.join(target);
        fs::create_dir_all(&directory)?;
        for (name, bytes) in corpus::seeds(target) {
            fs::write(directory.join(name), bytes)?;
        }
    }
    Ok(())
}
