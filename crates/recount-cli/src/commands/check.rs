//! `recount check`: validates a stream.

use std::collections::HashSet;

use anyhow::Result;
use clap::Args;
use recount_message::check::{Checker, Finding, Severity};
use recount_message::{CustomName, Event, EventKind, Json, Object};

use super::Status;
use crate::dialects::{DialectArgs, Translator};
use crate::input::{InputArgs, Lines};
use crate::line::Line;
use crate::output::Output;
use crate::visible::visible_line;

/// Verify a stream
///
/// Checks the order of the events, the pairing of tool calls and results, ids,
/// types, and what a message of each role may hold. Lines may be events or whole
/// messages.
///
/// Prints one finding per line, `LINE: error[code]: text` or
/// `LINE: warning[code]: text`; what only shows at the end of the stream is
/// reported for its last line. The exit status is 1 if any finding is an error.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    dialect: DialectArgs,

    /// Print each finding as a JSON object with `line`, `severity`, `code` and `message`
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount check events.jsonl
  recount check --json events.jsonl | jq -r .code | sort | uniq -c";

pub(crate) fn run(args: &CheckArgs) -> Result<Status> {
    let lines = Lines::open(&args.input)?;
    let out = Output::plain(&lines);
    let translator = Translator::new(args.dialect.dialect);
    CheckRun { json: args.json, lines, out, translator, counts: Counts::default() }.run(args.input.strict)
}

struct CheckRun {
    json: bool,
    lines: Lines,
    out: Output,
    translator: Translator,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    events: u64,
    messages: u64,
    errors: u64,
    warnings: u64,
    /// The replies counted as messages, since a repeated `REPLY_START` is not a new message.
    reply_ids: HashSet<String>,
}

impl CheckRun {
    fn run(mut self, strict: bool) -> Result<Status> {
        let mut checker = Checker::new();
        let mut line = Vec::new();
        let mut is_complete = true;
        while is_complete && self.lines.read(&mut line)? {
            let findings = match self.translator.decode(&line) {
                Ok(lines) => lines.into_iter().flat_map(|line| self.counts.check(&mut checker, &line)).collect(),
                Err(error) => {
                    is_complete = !strict;
                    let message = match self.lines.hint(&line, &error) {
                        Some(hint) => format!("{error} (hint: {hint})"),
                        None => error.to_string(),
                    };
                    vec![Finding { severity: Severity::Error, code: "bad_line", message }]
                }
            };
            self.print(&findings)?;
        }
        // Findings about a truncated stream do not apply if reading stopped early.
        if is_complete {
            let last: Vec<Finding> = self.translator.finish().iter().flat_map(|event| checker.event(event)).collect();
            self.print(&last)?;
            self.print(&checker.finish())?;
        }
        self.out.flush()?;
        self.lines.report_end(&self.counts.summary());
        Ok(Status::flawed_if(self.counts.errors > 0))
    }

    fn print(&mut self, findings: &[Finding]) -> Result<()> {
        for finding in findings {
            match finding.severity {
                Severity::Error => self.counts.errors += 1,
                _ => self.counts.warnings += 1,
            }
            let mut text =
                if self.json { as_json(self.lines.number(), finding) } else { as_text(self.lines.number(), finding) };
            text.push('\n');
            self.out.write(&text)?;
        }
        Ok(())
    }
}

impl Counts {
    fn check(&mut self, checker: &mut Checker, line: &Line<'_>) -> Vec<Finding> {
        match line {
            Line::Event(event) => {
                self.event(event);
                checker.event(event)
            }
            Line::Message(message) => {
                self.messages += 1;
                checker.message(message)
            }
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        self.events += 1;
        let begins_message = match &event.kind {
            EventKind::ReplyStart(start) => self.reply_ids.insert(start.reply_id.to_string()),
            kind => kind.recount_name() == Some(CustomName::Message),
        };
        self.messages += u64::from(begins_message);
    }

    fn summary(&self) -> String {
        let count = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        [
            count(self.events, "event"),
            count(self.messages, "message"),
            count(self.errors, "error"),
            count(self.warnings, "warning"),
        ]
        .join(", ")
    }
}

fn as_text(line: u64, finding: &Finding) -> String {
    let Finding { severity, code, message } = finding;
    format!("{line}: {severity}[{code}]: {}", visible_line(message))
}

fn as_json(line: u64, finding: &Finding) -> String {
    let fields: [(&str, Json); 4] = [
        ("line", line.into()),
        ("severity", finding.severity.to_string().into()),
        ("code", finding.code.into()),
        ("message", finding.message.as_str().into()),
    ];
    Object::from(fields).to_json()
}
