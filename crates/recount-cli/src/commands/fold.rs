//! `recount fold`: folds events into messages.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use recount_dialect::Dialect;
use recount_message::{CustomEvent, DecodeError, Event, EventKind, Fold, Msg};

use super::{Status, report_unapplied};
use crate::checkpoint_file::{self, CheckpointFile};
use crate::dialects::{DialectArgs, Translator};
use crate::input::{InputArgs, Lines};
use crate::line::Line;
use crate::output::{self, Output};
use crate::pretty;

/// Turn events into messages
///
/// Reads events as JSON lines and prints one message per line, in the order in
/// which they began. A message is printed as soon as it and all before it have
/// ended; those that are still open come last, as they stand.
///
/// A stream may be folded piece by piece: `--checkpoint` keeps what is still
/// open instead of printing it, and `--resume` goes on from there. The outputs
/// of the pieces, put together, are byte for byte the output of the whole.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct FoldArgs {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    dialect: DialectArgs,

    /// Write down where the fold ended, and what is still open, to this file
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Go on from a checkpoint; the input is then the rest of the stream
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// Print indented JSON
    #[arg(long)]
    pretty: bool,

    /// Tell of every event that changed nothing, and why
    #[arg(long, short)]
    verbose: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount fold events.jsonl
  agent | recount fold --pretty

  # in two pieces, with the same result as in one
  recount fold monday.jsonl --checkpoint state.json > messages.jsonl
  recount fold tuesday.jsonl --resume state.json >> messages.jsonl";

pub(crate) fn run(args: &FoldArgs) -> Result<Status> {
    let checkpoint = args.checkpoint.as_deref().map(CheckpointFile::at).transpose()?;
    if let Some(file) = &checkpoint
        && args.input.is_file(file.path())
    {
        bail!("the checkpoint would replace the input {}", file.path().display());
    }
    let dialect = args.dialect.dialect;
    let (fold, translator) = match &args.resume {
        Some(path) => {
            let (checkpoint, reader) = checkpoint_file::read(path)?;
            let translator = Translator::resume(dialect, &reader)
                .with_context(|| format!("{} is not a checkpoint of a {dialect} stream", path.display()))?;
            (Fold::resume(checkpoint), translator)
        }
        None => (Fold::new(), Translator::new(dialect)),
    };
    let lines = Lines::open(&args.input)?;
    let out = Output::plain(&lines);
    let run = FoldRun { args, lines, out, translator, fold, events: 0, unapplied: 0 };
    match checkpoint {
        None => run.fold_all(),
        Some(file) => run.fold_piece(&file),
    }
}

struct FoldRun<'a> {
    args: &'a FoldArgs,
    lines: Lines,
    out: Output,
    translator: Translator,
    fold: Fold,
    events: u64,
    unapplied: u64,
}

impl FoldRun<'_> {
    /// Folds the whole input and prints all messages, including open ones.
    fn fold_all(mut self) -> Result<Status> {
        let read = self.read_all()?;
        for event in self.translator.finish() {
            self.apply(&event)?;
        }
        for message in std::mem::take(&mut self.fold).into_messages() {
            self.print(&message)?;
        }
        self.out.flush()?;
        self.finish(read)
    }

    /// Folds one piece of a stream and saves the open messages in the checkpoint.
    ///
    /// The checkpoint is written last, so that its cursor is never ahead of the printed messages.
    fn fold_piece(mut self, file: &CheckpointFile) -> Result<Status> {
        let read = match self.read_all().and_then(|read| self.out.flush().map(|()| read)) {
            Ok(read) => read,
            // Exiting silently would hide the lost messages and the missing checkpoint.
            Err(error) if output::is_closed(&error) => {
                bail!("the output was closed, so {} is not written", file.path().display())
            }
            Err(error) => return Err(error),
        };
        file.write(&self.fold.checkpoint(), &self.translator.state())?;
        self.finish(read)
    }

    /// Folds the input to its end, or to the first invalid line with `--strict`.
    ///
    /// The inner result is the error of reading the input: the messages before it are still valid. The outer one is an error
    /// of the output.
    fn read_all(&mut self) -> Result<Result<()>> {
        let mut line = Vec::new();
        loop {
            match self.lines.read(&mut line) {
                Ok(true) => {}
                Ok(false) => return Ok(Ok(())),
                Err(error) => return Ok(Err(error)),
            }
            if let Err(error) = self.fold_line(&line)? {
                self.lines.report_bad(&line, &error);
                if self.args.input.strict {
                    return Ok(Ok(()));
                }
            }
        }
    }

    /// Folds a line. The inner result is the error of the line, the outer one an error of the output.
    fn fold_line(&mut self, line: &[u8]) -> Result<Result<(), DecodeError>> {
        // Native events are folded without copying them.
        if self.translator.dialect() == Dialect::Native {
            return match Event::from_slice(line) {
                Ok(event) => self.apply(&event).map(Ok),
                Err(error) => Ok(Err(error)),
            };
        }
        let lines = match self.translator.decode(line) {
            Ok(lines) => lines,
            Err(error) => return Ok(Err(error)),
        };
        for line in lines {
            match line {
                Line::Event(event) => self.apply(&event)?,
                Line::Message(message) => self.apply(&Event::new(CustomEvent::message(&message)))?,
            }
        }
        Ok(Ok(()))
    }

    fn apply(&mut self, event: &Event<'_>) -> Result<()> {
        self.events += 1;
        if self.events == 1 && self.args.resume.is_some() {
            self.hint_if_restarted(event);
        }
        let outcome = self.fold.apply(event);
        if outcome.reason().is_some() {
            self.unapplied += 1;
            if self.args.verbose {
                report_unapplied(&self.lines, event, &outcome);
            }
        }
        self.fold.take_ended().iter().try_for_each(|message| self.print(message))
    }

    /// Prints a hint if the input repeats the start of a reply that is in the checkpoint.
    ///
    /// JSON lines have no cursors, so the repeated events would be applied twice.
    fn hint_if_restarted(&self, first: &Event<'_>) {
        let EventKind::ReplyStart(start) = &first.kind else { return };
        if self.fold.open_reply(&start.reply_id).is_some() {
            self.lines.report(&format!(
                "hint: the checkpoint has the start of reply `{}` already; with --resume the input is the rest of the stream",
                start.reply_id
            ));
        }
    }

    fn print(&mut self, message: &Msg) -> Result<()> {
        let mut json = message.to_json();
        if self.args.pretty {
            json = pretty::indented(&json);
        }
        json.push('\n');
        self.out.write(&json)
    }

    fn finish(&self, read: Result<()>) -> Result<Status> {
        if self.args.verbose {
            let noun = if self.events == 1 { "event" } else { "events" };
            let ignored = self.unapplied;
            self.lines.report_end(&format!("{} {noun}, {ignored} of them ignored whole or in part", self.events));
        }
        read?;
        Ok(Status::flawed_if(self.lines.bad_lines() > 0))
    }
}
