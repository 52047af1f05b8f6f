//! `recount log import`: creates a session from JSON lines.

use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use clap::Args;
use recount_log::storage::SessionRow;
use recount_log::{Error, Log, SessionKey, StagedSession};
use recount_message::{AgentEvent, CustomEvent, Event, Object};
use tokio::runtime::Runtime;

use super::{DataArgs, Status, TenantArgs, close, parse_key, runtime};
use crate::commands::counted;
use crate::input::{InputArgs, Lines};
use crate::line::{self, Line};

/// Make a session of events
///
/// Reads events or whole messages as JSON lines and makes a session of them, all
/// or nothing: if a line cannot be read, nothing is changed. They are written
/// piece by piece, and nobody sees them before the last one is. Ids and times
/// that are missing are stamped.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,

    /// The session to make: `name`, or `tenant/name`
    #[arg(value_parser = parse_key)]
    session: SessionKey,

    #[command(flatten)]
    tenant: TenantArgs,

    #[command(flatten)]
    input: InputArgs,

    /// Replace the session if it exists. It gets another epoch, so that readers find out
    #[arg(long)]
    replace: bool,

    /// Print a JSON object with `session`, `cursor`, `entries` and `left_out`
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount log import data chat-7 events.jsonl
  recount log export data chat-7 | recount log import other-data chat-7
  recount log import data chat-7 --replace < corrected.jsonl";

/// The number of events that are written at once.
const BATCH_EVENTS: usize = 1_024;
/// The number of input bytes after which a smaller batch is written.
const BATCH_BYTES: usize = 1 << 20;

pub(crate) fn run(args: &ImportArgs) -> Result<Status> {
    let key = args.tenant.key(&args.session)?;
    let mut lines = Lines::open(&args.input)?;
    let mut import = Import { args, key, destination: None, events: Vec::new(), bytes: 0, total: 0 };
    let mut line = Vec::new();
    while lines.read(&mut line)? {
        match line::decode(&line) {
            // After the first invalid line, the others are only validated.
            Ok(_) if lines.bad_lines() > 0 => {}
            Ok(Line::Event(event)) => import.push(event.into_owned(), line.len())?,
            Ok(Line::Message(message)) => {
                // The entry has the id of the message, so that a repeated message is detected.
                let (id, time) = (message.id().to_owned(), message.created_at().to_owned());
                import.push(Event::stamped(id, time, CustomEvent::message(&message)), line.len())?;
            }
            Err(error) => {
                lines.report_bad(&line, &error);
                if args.input.strict {
                    break;
                }
            }
        }
    }
    if lines.bad_lines() > 0 {
        import.discard()?;
        lines.report_end("nothing was imported");
        return Ok(Status::Flawed);
    }
    let total = import.total;
    let row = import.publish()?;
    print(args, &row, total - row.head)?;
    Ok(Status::Clean)
}

/// An import in progress. Readers do not see the session before it is published.
struct Import<'a> {
    args: &'a ImportArgs,
    key: SessionKey,
    /// `None` until the first batch is full, so that no log is created if one of the first lines is invalid.
    destination: Option<Destination>,
    /// The events that are not written yet.
    events: Vec<AgentEvent>,
    bytes: usize,
    /// The number of events that were read.
    total: u64,
}

/// The destination of an import.
struct Destination {
    runtime: Runtime,
    log: Log,
    staged: StagedSession,
}

impl Import<'_> {
    fn push(&mut self, event: AgentEvent, bytes: usize) -> Result<()> {
        self.events.push(event);
        self.bytes += bytes;
        self.total += 1;
        if self.events.len() < BATCH_EVENTS && self.bytes < BATCH_BYTES {
            return Ok(());
        }
        self.write()
    }

    /// Writes the buffered events.
    fn write(&mut self) -> Result<()> {
        let destination = match self.destination.take() {
            Some(destination) => destination,
            None => self.open_destination()?,
        };
        let Destination { runtime, staged, .. } = self.destination.insert(destination);
        runtime.block_on(staged.append(&self.events))?;
        self.events.clear();
        self.bytes = 0;
        Ok(())
    }

    fn open_destination(&self) -> Result<Destination> {
        let runtime = runtime()?;
        let log = self.args.data.open_or_create()?;
        let key = &self.key;
        let staged = runtime.block_on(async {
            // Fail early, not at the end of a long import.
            if !self.args.replace && log.session(key.clone()).info().await.is_ok() {
                return Err(exists(key));
            }
            Ok(log.stage(key.clone(), &Object::new()).await?)
        })?;
        Ok(Destination { runtime, log, staged })
    }

    /// Writes the remaining events and publishes the session.
    fn publish(mut self) -> Result<SessionRow> {
        self.write()?;
        let Some(Destination { runtime, log, staged }) = self.destination else { bail!("there is nothing to import") };
        runtime.block_on(async {
            let published = if self.args.replace { staged.publish_replacing().await } else { staged.publish().await };
            close(log).await;
            match published {
                Err(Error::SessionExists(key)) => Err(exists(&key)),
                published => Ok(published?),
            }
        })
    }

    /// Deletes the staged events.
    fn discard(self) -> Result<()> {
        let Some(Destination { runtime, log, staged }) = self.destination else { return Ok(()) };
        runtime.block_on(async {
            staged.discard().await?;
            close(log).await;
            Ok(())
        })
    }
}

fn exists(key: &SessionKey) -> anyhow::Error {
    anyhow::anyhow!("there is a session {key} already\nhint: `--replace` puts these events in its place")
}

fn print(args: &ImportArgs, row: &SessionRow, left_out: u64) -> Result<()> {
    let cursor = format!("{}.{}", row.epoch.get(), row.head);
    let mut out = io::stdout();
    let printed = if args.json {
        let mut object = Object::new();
        object.insert("session", row.key.to_string());
        object.insert("cursor", cursor);
        object.insert("entries", row.head);
        object.insert("left_out", left_out);
        writeln!(out, "{}", object.to_json())
    } else {
        let repeated =
            if left_out == 0 { String::new() } else { format!(", {left_out} repeated or late ones left out") };
        let entries = counted(row.head, "entry", "entries");
        writeln!(out, "{}: {entries}{repeated}, at {cursor}", row.key)
    };
    printed.context("cannot write to standard output")
}
