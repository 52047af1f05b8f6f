//! The table, the targets and the figures.

use std::io::{self, Write};

use serde::Serialize;

use crate::python::Versions;

/// Everything that was measured.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// What was compared with.
    pub versions: Option<Versions>,
    /// The steps of every stream.
    pub rows: Vec<Row>,
    /// What the responses of models take.
    pub responses: Vec<Decoding>,
    /// What becomes of the time per event when messages grow.
    pub growth: Vec<Growth>,
    /// What the figures should be, and whether they are.
    pub targets: Vec<Target>,
    /// What conversion costs.
    pub dialects: Vec<Conversion>,
}

/// What converting a stream costs, as a ratio to native decode and encode.
#[derive(Debug, Clone, Serialize)]
pub struct Conversion {
    /// The stream.
    pub stream: String,
    /// The dialect.
    pub dialect: &'static str,
    /// From the dialect to native.
    pub from: f64,
    /// From native to the dialect.
    pub to: f64,
}

/// One step of one stream.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The stream.
    pub stream: String,
    /// The step.
    pub step: &'static str,
    /// Nanoseconds of CPU time for an event.
    pub ns_per_event: f64,
    /// Millions of bytes in a second: of the stream's JSON, or of the message's where that is written.
    pub mb_per_s: f64,
    /// Microseconds that Python takes for an event.
    pub python_us_per_event: Option<f64>,
    /// How many times as long Python takes.
    pub python_ratio: Option<f64>,
    /// How many times as long it takes as `serde_json` does to skip the same lines.
    pub skip_ratio: f64,
}

/// What the response of a model takes from bytes to events.
#[derive(Debug, Serialize)]
pub struct Decoding {
    /// Whose response it is.
    pub provider: &'static str,
    /// Nanoseconds of CPU time for a chunk.
    pub ns_per_chunk: f64,
    /// The part of it that writing the events takes.
    pub ns_to_write: f64,
    /// Millions of bytes of the response in a second.
    pub mb_per_s: f64,
    /// How many times as long it takes as `serde_json` does to skip the same chunks.
    pub skip_ratio: f64,
}

/// The time of an event in messages of several sizes.
#[derive(Debug, Serialize)]
pub struct Growth {
    /// What grows.
    pub of: &'static str,
    /// Each size, and nanoseconds of CPU time for an event at that size.
    pub ns_per_event: Vec<(usize, f64)>,
}

impl Growth {
    /// How many times as long an event takes in the largest message as in the smallest.
    pub fn ratio(&self) -> Option<f64> {
        let (_, first) = self.ns_per_event.first()?;
        let (_, last) = self.ns_per_event.last()?;
        Some(last / first)
    }
}

/// A figure that the product has to reach.
#[derive(Debug, Serialize)]
pub struct Target {
    /// What it is about.
    pub name: &'static str,
    /// What is asked for.
    pub limit: Limit,
    /// What it came to, if it could be measured.
    pub measured: Option<f64>,
}

/// What is asked of a figure.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// It must not be lower.
    AtLeast(f64),
    /// It must not be higher.
    AtMost(f64),
}

impl Target {
    /// Whether the figure was measured and is not as it should be.
    pub fn is_missed(&self) -> bool {
        match (self.measured, self.limit) {
            (None, _) => false,
            (Some(measured), Limit::AtLeast(limit)) => measured < limit,
            (Some(measured), Limit::AtMost(limit)) => measured > limit,
        }
    }
}

impl Report {
    /// Writes everything for people, and on the last line everything as JSON.
    ///
    /// # Errors
    ///
    /// When nothing can be written to `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_rows(out)?;
        self.write_responses(out)?;
        self.write_growth(out)?;
        self.write_dialects(out)?;
        write_targets(&self.targets, out)?;
        writeln!(out)?;
        writeln!(out, "{}", serde_json::to_string(self)?)
    }

    fn write_rows(&self, out: &mut impl Write) -> io::Result<()> {
        match &self.versions {
            Some(Versions { python, agentscope, pydantic }) => {
                writeln!(out, "Python {python}, AgentScope {agentscope}, pydantic {pydantic}")?;
            }
            None => writeln!(out, "without Python")?,
        }
        writeln!(out)?;
        writeln!(
            out,
            "{:<12} {:<26} {:>10} {:>8} {:>10} {:>8} {:>12}",
            "stream", "step", "ns/event", "MB/s", "Python us", "ratio", "x serde_json"
        )?;
        let mut stream = "";
        for row in &self.rows {
            if row.stream != stream {
                writeln!(out)?;
            }
            writeln!(
                out,
                "{:<12} {:<26} {:>10.1} {:>8.0} {:>10} {:>8} {:>12.2}",
                if row.stream == stream { "" } else { &row.stream },
                row.step,
                row.ns_per_event,
                row.mb_per_s,
                figure(row.python_us_per_event, 2),
                figure(row.python_ratio, 1),
                row.skip_ratio,
            )?;
            stream = &row.stream;
        }
        if self.versions.is_some() && self.rows.iter().any(|row| row.stream == "blocks / 10") {
            writeln!(out)?;
            writeln!(out, "Python's time for blocks and data grows with their square: it gets a tenth and a fifth of")?;
            writeln!(out, "those streams, measured on both sides. --full gives it all of them.")?;
        }
        writeln!(out)
    }

    fn write_responses(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "responses of models, bytes to events")?;
        writeln!(
            out,
            "{:<24} {:>10} {:>14} {:>8} {:>12}",
            "provider", "ns/chunk", "of it writing", "MB/s", "x serde_json"
        )?;
        for row in &self.responses {
            writeln!(
                out,
                "{:<24} {:>10.1} {:>14.1} {:>8.0} {:>12.2}",
                row.provider, row.ns_per_chunk, row.ns_to_write, row.mb_per_s, row.skip_ratio,
            )?;
        }
        writeln!(out)
    }

    fn write_growth(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "fold, ns/event as messages grow")?;
        for growth in &self.growth {
            write!(out, "{:<24}", growth.of)?;
            for (size, nanoseconds) in &growth.ns_per_event {
                write!(out, " {:>18}", format!("{size}: {nanoseconds:.1}"))?;
            }
            writeln!(out)?;
        }
        writeln!(out)
    }

    fn write_dialects(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "conversion, times the time of native decode and encode")?;
        for conversion in &self.dialects {
            let Conversion { stream, dialect, from, to } = conversion;
            writeln!(
                out,
                "{stream:<12} {dialect:<12} {:>18} {:>18}",
                format!("from: {from:.2}"),
                format!("to: {to:.2}")
            )?;
        }
        writeln!(out)
    }
}

/// Writes what figures should be, and whether they are.
///
/// # Errors
///
/// When nothing can be written to `out`.
pub fn write_targets(targets: &[Target], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "targets")?;
    for target in targets {
        let limit = match target.limit {
            Limit::AtLeast(limit) => format!(">= {limit}"),
            Limit::AtMost(limit) => format!("<= {limit}"),
        };
        let verdict = match target.measured {
            None => "not measured",
            Some(_) if target.is_missed() => "MISS",
            Some(_) => "pass",
        };
        writeln!(out, "{:<66} {limit:>7} {:>8} {verdict}", target.name, figure(target.measured, 2))?;
    }
    Ok(())
}

fn figure(value: Option<f64>, digits: usize) -> String {
    value.map(|value| format!("{value:.digits$}")).unwrap_or_default()
}
