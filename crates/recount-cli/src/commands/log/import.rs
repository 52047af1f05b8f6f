//! `recount log import`: a session from JSON lines.

use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use clap::Args;
use recount_log::{Adoption, Error, Events, SessionKey};
use recount_message::{AgentEvent, CustomEvent, Event, Object};

use super::{DataArgs, Status, parse_key, wait};
use crate::input::{InputArgs, Lines};
use crate::line::{self, Line};

/// Make a session of events
///
/// Reads events or whole messages as JSON lines and makes a session of them, all
/// at once: if a line cannot be read, nothing is changed. Ids and times that are
/// missing are stamped.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    data: DataArgs,

    /// The session to make: `name`, or `tenant/name`
    #[arg(value_parser = parse_key)]
    session: SessionKey,

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

pub(crate) fn run(args: &ImportArgs) -> Result<Status> {
    let mut lines = Lines::open(&args.input)?;
    let mut events = Vec::new();
    let mut line = Vec::new();
    while lines.read(&mut line)? {
        match line::decode(&line) {
            Ok(Line::Event(event)) => events.push(event.into_owned()),
            Ok(Line::Message(message)) => {
                // A message's id is its entry's, so that it can be told from its repetition.
                let (id, time) = (message.id().to_owned(), message.created_at().to_owned());
                events.push(Event::stamped(id, time, CustomEvent::message(&message)));
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
        lines.tell_end("nothing was imported");
        return Ok(Status::Flawed);
    }
    adopt(args, &events)
}

fn adopt(args: &ImportArgs, events: &[AgentEvent]) -> Result<Status> {
    let log = args.data.open_or_create()?;
    let adoption = Adoption {
        key: args.session.clone(),
        about: "{}".to_owned(),
        events: Events::of(events),
        states: Vec::new(),
        replaces: args.replace,
    };
    let row = wait(async {
        let adopted = log.adopt(adoption).await;
        log.close().await?;
        match adopted {
            Err(Error::SessionExists(key)) => {
                bail!("there is a session {key} already\nhint: `--replace` puts these events in its place")
            }
            adopted => Ok(adopted?),
        }
    })?;
    let cursor = format!("{}.{}", row.epoch.get(), row.head);
    let left_out = events.len() as u64 - row.head;
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
        let noun = if row.head == 1 { "entry" } else { "entries" };
        writeln!(out, "{}: {} {noun}{repeated}, at {cursor}", row.key, row.head)
    };
    printed.context("cannot write to standard output")?;
    Ok(Status::Clean)
}
