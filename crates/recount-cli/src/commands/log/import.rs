//! `recount log import`: a session from JSON lines.

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

/// How many events are read before they are written.
const PIECE: usize = 1_024;
/// How many bytes of them.
const PIECE_BYTES: usize = 1 << 20;

pub(crate) fn run(args: &ImportArgs) -> Result<Status> {
    let key = args.tenant.key(&args.session)?;
    let mut lines = Lines::open(&args.input)?;
    let mut import = Import { args, key, into: None, events: Vec::new(), bytes: 0, total: 0 };
    let mut line = Vec::new();
    while lines.read(&mut line)? {
        match line::decode(&line) {
            // After a line that cannot be read, the others are only looked at.
            Ok(_) if lines.bad_lines() > 0 => {}
            Ok(Line::Event(event)) => import.push(event.into_owned(), line.len())?,
            Ok(Line::Message(message)) => {
                // A message's id is its entry's, so that it can be told from its repetition.
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
        lines.tell_end("nothing was imported");
        return Ok(Status::Flawed);
    }
    let total = import.total;
    let row = import.adopt()?;
    print(args, &row, total - row.head)?;
    Ok(Status::Clean)
}

/// An import that is going on. Nobody sees anything of it before it is adopted.
struct Import<'a> {
    args: &'a ImportArgs,
    key: SessionKey,
    /// Nothing before the first piece is full: where the first lines cannot be read, no log is made.
    into: Option<Into>,
    /// What has been read and not written.
    events: Vec<AgentEvent>,
    bytes: usize,
    /// How many events were read.
    total: u64,
}

/// What an import is written to.
struct Into {
    runtime: Runtime,
    log: Log,
    draft: StagedSession,
}

impl Import<'_> {
    fn push(&mut self, event: AgentEvent, bytes: usize) -> Result<()> {
        self.events.push(event);
        self.bytes += bytes;
        self.total += 1;
        if self.events.len() < PIECE && self.bytes < PIECE_BYTES {
            return Ok(());
        }
        self.write()
    }

    /// Writes what has been read.
    fn write(&mut self) -> Result<()> {
        let into = match self.into.take() {
            Some(into) => into,
            None => self.begin()?,
        };
        let Into { runtime, draft, .. } = self.into.insert(into);
        runtime.block_on(draft.append(&self.events))?;
        self.events.clear();
        self.bytes = 0;
        Ok(())
    }

    fn begin(&self) -> Result<Into> {
        let runtime = runtime()?;
        let log = self.args.data.open_or_create()?;
        let key = &self.key;
        let draft = runtime.block_on(async {
            // To be told so at the end of a long import would be late.
            if !self.args.replace && log.session(key.clone()).info().await.is_ok() {
                return Err(exists(key));
            }
            Ok(log.stage(key.clone(), &Object::new()).await?)
        })?;
        Ok(Into { runtime, log, draft })
    }

    /// Makes the session of it.
    fn adopt(mut self) -> Result<SessionRow> {
        self.write()?;
        let Some(Into { runtime, log, draft }) = self.into else { bail!("there is nothing to import") };
        runtime.block_on(async {
            let adopted = if self.args.replace { draft.publish_replacing().await } else { draft.publish().await };
            close(log).await;
            match adopted {
                Err(Error::SessionExists(key)) => Err(exists(&key)),
                adopted => Ok(adopted?),
            }
        })
    }

    /// Leaves nothing behind.
    fn discard(self) -> Result<()> {
        let Some(Into { runtime, log, draft }) = self.into else { return Ok(()) };
        runtime.block_on(async {
            draft.discard().await?;
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
