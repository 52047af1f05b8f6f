//! `recount convert`: translates between dialects.

use std::io::{self, Write as _};

use anyhow::{Result, bail};
use clap::Args;
use recount_dialect::{Dialect, Target, TurnMerger, split_turn, with_duplicate_type_key};
use recount_message::{AgentEvent, CustomEvent, DecodeError, Event, EventKind, Fold, Msg};

use super::Status;
use crate::dialects::{self, Kind, Translator, explain, is_native_event};
use crate::input::{InputArgs, Lines};
use crate::line::Line;
use crate::output::Output;

/// Translate between what the sides of AgentScope speak
///
/// Reads JSON lines of one dialect and prints them in another. Nothing gets lost:
/// what the target has no place for is kept under the key `recount`, and comes
/// back when the target is converted to the first dialect again.
///
/// Dialects are `native` (Recount and AgentScope Python 2), `java` (AgentScope
/// Java 2), `java1` (AgentScope Java 1) and `typescript`. What front ends read is
/// written only: `ag-ui` and `ai-sdk`.
///
/// What the lines are is guessed from the first one, unless `--kind` says it. The
/// events of a `stream` belong together: a Java stream becomes one native reply
/// per turn, with every call paired and every block ended. As an `event`, each
/// line is taken by itself. As `message`s, Java's messages of one turn become one,
/// and one with tool calls and results becomes several.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Whose JSON the input is
    #[arg(long, value_name = "DIALECT", value_parser = dialects::dialect_values())]
    from: Dialect,

    /// Whose JSON to print
    #[arg(long, value_name = "DIALECT", value_parser = dialects::target_values())]
    to: Target,

    /// What each line is
    #[arg(long)]
    kind: Option<Kind>,

    /// Write Java's events byte for byte as its own mapper does: with the key `type` twice
    #[arg(long)]
    exact: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount convert --from java --to native java-agent.jsonl | recount fold
  recount convert --from native --to java --kind message messages.jsonl
  recount convert --from java1 --to java --kind block < block.json
  recount convert --from native --to ag-ui events.jsonl";

pub(crate) fn run(args: &ConvertArgs) -> Result<Status> {
    if args.exact && args.to != Target::Dialect(Dialect::Java) {
        bail!("`--exact` is about Java's events, and the output is {}", args.to);
    }
    let lines = Lines::open(&args.input)?;
    let out = Output::plain(&lines);
    let conversion = Conversion {
        args,
        lines,
        out,
        translator: Translator::new(args.from),
        merger: TurnMerger::new(),
        fold: Fold::new(),
        session: String::new(),
    };
    conversion.run()
}

struct Conversion<'a> {
    args: &'a ConvertArgs,
    lines: Lines,
    out: Output,
    translator: Translator,
    merger: TurnMerger,
    /// The fold of the previous events. The frames of a stream depend on it.
    fold: Fold,
    /// The session id of the last reply.
    session: String,
}

impl Conversion<'_> {
    fn run(mut self) -> Result<Status> {
        let mut line = Vec::new();
        let mut kind = self.args.kind;
        let mut is_unverified = is_java(self.args.from);
        while self.lines.read(&mut line)? {
            let text = String::from_utf8_lossy(&line).into_owned();
            let line_kind = match kind {
                Some(kind) => kind,
                None => match Kind::of(&text) {
                    Some(guessed) => *kind.insert(guessed),
                    None => Kind::Stream,
                },
            };
            if std::mem::take(&mut is_unverified) && is_native_event(&text) {
                let from = self.args.from;
                // A failure of standard error cannot be reported.
                let _ = writeln!(
                    io::stderr(),
                    "warning: the first line reads as native, not as {from}\nhint: `--from native`"
                );
            }
            if let Err(error) = self.convert(line_kind, &line, &text)? {
                let explained = explain(self.args.from, line_kind, &text, &error);
                self.lines.report_bad_as(&line, &error, &explained);
                if self.args.input.strict {
                    break;
                }
            }
        }
        for message in self.merger.finish() {
            self.message(&message)?;
        }
        for event in self.translator.finish() {
            self.event(&event)?;
        }
        self.out.flush()?;
        Ok(Status::flawed_if(self.lines.bad_lines() > 0))
    }

    /// Converts a line. The inner result is the error of the line, the outer one an error of the output.
    fn convert(&mut self, kind: Kind, line: &[u8], text: &str) -> Result<Result<(), DecodeError>> {
        let from = self.args.from;
        let decoded = match kind {
            Kind::Message => match from.read_message(text) {
                Ok(message) if is_java(from) => {
                    for message in self.merger.push(message) {
                        self.message(&message)?;
                    }
                    return Ok(Ok(()));
                }
                Ok(message) => return self.message(&message).map(Ok),
                Err(error) => Err(error),
            },
            Kind::Block => {
                let to = self.dialect("a block")?;
                from.read_block(text).map(|block| to.write_block(&block))
            }
            Kind::Event => {
                let to = self.dialect("an event")?;
                from.read_event(text).map(|event| self.format_event(to.write_event(&event)))
            }
            Kind::Stream => match self.translator.decode(line) {
                Ok(lines) => {
                    for line in lines {
                        match line {
                            Line::Event(event) => self.event(&event)?,
                            Line::Message(message) => self.event(&message_event(&message))?,
                        }
                    }
                    return Ok(Ok(()));
                }
                Err(error) => Err(error),
            },
        };
        match decoded {
            Ok(written) => self.print(written).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    /// Returns the target dialect. Fails for front ends, which have no form for a separate `what`.
    fn dialect(&self, what: &str) -> Result<Dialect> {
        match self.args.to {
            Target::Dialect(dialect) => Ok(dialect),
            Target::FrontEnd(front_end) => bail!("{front_end} has streams and messages, not {what} by itself"),
        }
    }

    fn message(&mut self, message: &Msg) -> Result<()> {
        let Target::Dialect(to) = self.args.to else { return self.event(&message_event(message)) };
        let parts = if is_java(to) { split_turn(message) } else { vec![message.clone()] };
        parts.iter().try_for_each(|part| self.print(to.write_message(part)))
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        if let EventKind::ReplyStart(start) = &event.kind {
            self.session = start.session_id.to_string();
        }
        for frame in self.args.to.frames(&self.session, &self.fold, event) {
            let frame = self.format_event(frame);
            self.print(frame)?;
        }
        let _ = self.fold.apply(event);
        self.fold.take_ended();
        Ok(())
    }

    fn format_event(&self, event: String) -> String {
        if self.args.exact { with_duplicate_type_key(&event) } else { event }
    }

    fn print(&mut self, mut text: String) -> Result<()> {
        text.push('\n');
        self.out.write(&text)
    }
}

/// Whether a dialect has tool calls and results in separate messages.
fn is_java(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Java | Dialect::Java1)
}

/// Wraps a whole message in an event.
fn message_event(message: &Msg) -> AgentEvent {
    Event::stamped(message.id().to_owned(), message.created_at().to_owned(), CustomEvent::message(message))
}
