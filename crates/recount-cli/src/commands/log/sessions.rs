//! `recount log sessions`: lists the sessions.

use std::io::{self, Write};

use anyhow::{Context, Result};
use clap::Args;
use recount_log::storage::{SessionRow, View, Views};
use recount_message::{Json, Object};

use super::{DataArgs, Status, TenantArgs, each_session};
use crate::visible::visible_line;

/// List the sessions
///
/// Prints a table with one session per line: its cursor, when it was made, how
/// many replies are open, its name, and what is known about it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct SessionsArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,

    #[command(flatten)]
    tenant: TenantArgs,

    /// Print each session as a JSON object with `session`, `cursor`, `created_at`, `open` and `about`
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount log sessions data
  recount log sessions data --tenant acme
  recount log sessions data --json | jq -r .session";

pub(crate) fn run(args: &SessionsArgs) -> Result<Status> {
    let readers = args.data.readers()?;
    let view = readers.view()?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut write = |line: &str| writeln!(out, "{line}").context("cannot write to standard output");
    if !args.json {
        write(&columns("CURSOR", "CREATED", "OPEN", "SESSION", "ABOUT"))?;
    }
    each_session(&*view, args.tenant.name(), |row| write(&line(&*view, row, args.json)?))?;
    out.flush().context("cannot write to standard output")?;
    Ok(Status::Clean)
}

fn line(view: &dyn View, row: &SessionRow, is_json: bool) -> Result<String> {
    let SessionRow { key, epoch, head, created_at, properties: about } = row;
    let cursor = format!("{}.{head}", epoch.get());
    let open = view.open_reply_infos(key)?.len();
    if is_json {
        let mut object = Object::new();
        object.insert("session", key.to_string());
        object.insert("cursor", cursor);
        object.insert("created_at", created_at.as_str());
        object.insert("open", open as u64);
        object.insert("about", Json::parse(about).unwrap_or_else(|_| Json::null()));
        return Ok(object.to_json());
    }
    let about = if about == "{}" { "" } else { about };
    let line = columns(&cursor, created_at, &open.to_string(), &key.to_string(), about);
    Ok(visible_line(&line).into_owned())
}

/// Formats a row with fixed column widths: reading all sessions first to measure them could take too long.
fn columns(cursor: &str, created_at: &str, open: &str, session: &str, about: &str) -> String {
    let line = format!("{cursor:<20}  {created_at:<32}  {open:>4}  {session:<24}  {about}");
    line.trim_end().to_owned()
}
