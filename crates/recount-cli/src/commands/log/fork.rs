//! `recount log fork`: copies a session.

use std::io::{self, Write};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use recount_log::{Cursor, Error, ForkPoint, SessionKey};
use recount_message::Object;

use super::{DataArgs, Status, TenantArgs, block_on, close, parse_key};
use crate::commands::gap_reason_text;

/// Copy a session up to a place
///
/// The copy has an epoch and numbers of its own; deltas are joined, and replies
/// that are open at that place are ended. Prints the cursor of the copy.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct ForkArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,

    /// The session to copy: `name`, or `tenant/name`
    #[arg(value_parser = parse_key)]
    from: SessionKey,

    /// The session to make
    #[arg(value_parser = parse_key)]
    to: SessionKey,

    /// The cursor of the last entry to copy; all are copied where it is left out
    #[arg(long, value_name = "CURSOR")]
    after: Option<Cursor>,

    /// The id of a message: what was there before it is copied
    #[arg(long, value_name = "MESSAGE", conflicts_with = "after")]
    before: Option<String>,

    /// Print a JSON object with `session`, `cursor` and `entries`
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    tenant: TenantArgs,
}

const EXAMPLES: &str = "\
Examples:
  recount log fork data chat-7 chat-7-retry
  recount log fork data chat-7 chat-7-retry --after 2857740885.42
  recount log fork data chat-7 chat-7-retry --before 6b1f5e0c";

pub(crate) fn run(args: &ForkArgs) -> Result<Status> {
    let (from, to) = (args.tenant.key(&args.from)?, args.tenant.key(&args.to)?);
    let log = args.data.open()?;
    let row = block_on(async {
        let until = args.before.clone().map_or(args.after.into(), ForkPoint::Before);
        let forked = log.fork(&from, until, to).await;
        let row = match forked {
            Ok(session) => session.info().await,
            Err(error) => Err(error),
        };
        close(log).await;
        row.map_err(|error| match error {
            Error::Gap { session, reason } => anyhow!(
                "{session} cannot be copied up to that cursor: {}\nhint: `recount log sessions` shows where it stands",
                gap_reason_text(reason.as_str()),
            ),
            error => error.into(),
        })
    })?;
    let cursor = format!("{}.{}", row.epoch.get(), row.head);
    let mut out = io::stdout();
    let printed = if args.json {
        let mut object = Object::new();
        object.insert("session", row.key.to_string());
        object.insert("cursor", cursor);
        object.insert("entries", row.head);
        writeln!(out, "{}", object.to_json())
    } else {
        writeln!(out, "{cursor}")
    };
    printed.context("cannot write to standard output")?;
    Ok(Status::Clean)
}
