//! The report: tables, targets and JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::python::Versions;

/// All measurements.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The versions of Python and its packages; `None` without Python.
    pub versions: Option<Versions>,
    /// The steps of all streams.
    pub rows: Vec<Row>,
    /// The decoding of model responses.
    pub responses: Vec<Decoding>,
    /// The time per event as messages grow.
    pub growth: Vec<Growth>,
    /// The targets.
    pub targets: Vec<Target>,
    /// The conversions between dialects.
    pub dialects: Vec<Conversion>,
}

/// The time for converting a stream, relative to native decoding and encoding.
#[derive(Debug, Clone, Serialize)]
pub struct Conversion {
    /// The stream.
    pub stream: String,
    /// The dialect.
    pub dialect: &'static str,
    /// From the dialect to the native format.
    pub from: f64,
    /// From the native format to the dialect.
    pub to: f64,
}

/// One step of one stream.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The stream.
    pub stream: String,
    /// The step.
    pub step: &'static str,
    /// Nanoseconds of CPU time per event.
    pub ns_per_event: f64,
    /// Megabytes per second of the stream's JSON, or of the message's if that is encoded.
    pub mb_per_s: f64,
    /// Microseconds of CPU time per event in Python.
    pub python_us_per_event: Option<f64>,
    /// Python's time divided by Recount's.
    pub python_ratio: Option<f64>,
    /// The time divided by that of `serde_json` skipping the same lines.
    pub skip_ratio: f64,
}

/// The decoding of a model response from bytes to events.
#[derive(Debug, Serialize)]
pub struct Decoding {
    /// The provider.
    pub provider: &'static str,
    /// Nanoseconds of CPU time per chunk.
    pub ns_per_chunk: f64,
    /// The part of it for writing the events.
    pub ns_to_write: f64,
    /// Megabytes of the response per second.
    pub mb_per_s: f64,
    /// The time divided by that of `serde_json` skipping the same chunks.
    pub skip_ratio: f64,
}

/// The time per event in messages of several sizes.
#[derive(Debug, Serialize)]
pub struct Growth {
    /// The part of the message that grows.
    pub of: &'static str,
    /// Each size with the nanoseconds of CPU time per event.
    pub ns_per_event: Vec<(usize, f64)>,
}

impl Growth {
    /// Returns the time per event in the largest message divided by that in the smallest.
    pub fn ratio(&self) -> Option<f64> {
        let (_, first) = self.ns_per_event.first()?;
        let (_, last) = self.ns_per_event.last()?;
        Some(last / first)
    }
}

/// A target for a measurement.
#[derive(Debug, Serialize)]
pub struct Target {
    /// The name.
    pub name: &'static str,
    /// The limit.
    pub limit: Limit,
    /// The measured value, if it was measured.
    pub measured: Option<f64>,
}

/// The limit of a target.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The minimum.
    AtLeast(f64),
    /// The maximum.
    AtMost(f64),
}

impl Target {
    /// Whether the value was measured and is beyond the limit.
    pub fn is_missed(&self) -> bool {
        match (self.measured, self.limit) {
            (None, _) => false,
            (Some(measured), Limit::AtLeast(limit)) => measured < limit,
            (Some(measured), Limit::AtMost(limit)) => measured > limit,
        }
    }
}

impl Report {
    /// Writes the tables, and all measurements as JSON on the last line.
    ///
    /// # Errors
    ///
    /// Returns an error if `out` cannot be written to.
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
            writeln!(out, "Python's time for blocks and data is quadratic: it gets a tenth and a fifth of")?;
            writeln!(out, "these streams, measured on both sides. Use --full for the whole streams.")?;
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
        writeln!(out, "conversion, relative to native decoding and encoding")?;
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

/// Writes the targets and whether they are met.
///
/// # Errors
///
/// Returns an error if `out` cannot be written to.
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
