//! `recount log fork`: a copy of a session.

use std::io::{self, Write};

use anyhow::{Context, Result};
use clap::Args;
use recount_log::{Cursor, SessionKey};

use super::{DataArgs, Status, parse_key, wait};

/// Copy a session up to a place
///
/// The copy has an epoch and numbers of its own; deltas are joined, and replies
/// that are open at that place are ended. Prints the cursor of the copy.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct ForkArgs {
    #[command(flatten)]
    data: DataArgs,

    /// The session to copy
    #[arg(value_parser = parse_key)]
    from: SessionKey,

    /// The session to make
    #[arg(value_parser = parse_key)]
    to: SessionKey,

    /// The cursor after the last entry to copy; all are copied where it is left out
    #[arg(long, value_name = "CURSOR")]
    after: Option<Cursor>,
}

const EXAMPLES: &str = "\
Examples:
  recount log fork data chat-7 chat-7-retry
  recount log fork data chat-7 chat-7-retry --after 2857740885.42";

pub(crate) fn run(args: &ForkArgs) -> Result<Status> {
    let log = args.data.open()?;
    let row = wait(async {
        let forked = log.fork(&args.from, args.after, args.to.clone()).await;
        let row = match forked {
            Ok(session) => session.info().await,
            Err(error) => Err(error),
        };
        log.close().await?;
        Ok(row?)
    })?;
    writeln!(io::stdout(), "{}.{}", row.epoch.get(), row.head).context("cannot write to standard output")?;
    Ok(Status::Clean)
}
