//! `recount log compact`: merges old deltas.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use indicatif::BinaryBytes;
use recount_log::{Compacted, SessionKey};
use recount_message::Object;
use recount_server::parse_duration;

use super::{DataArgs, Status, TenantArgs, block_on, close, database_size, parse_key};
use crate::commands::counted;

/// Join old deltas and give the room back
///
/// The deltas of replies that ended so long ago become one event each. No message
/// changes. A reader whose cursor is inside of such an event gets a gap and a
/// snapshot. Uploads of that age that no event names are removed.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,

    /// Only this session: `name`, or `tenant/name`
    #[arg(value_parser = parse_key)]
    session: Option<SessionKey>,

    #[command(flatten)]
    tenant: TenantArgs,

    /// How old: a number with `s`, `m`, `h` or `d`
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = parse_duration)]
    older_than: Duration,

    /// Print a JSON object with `entries`, `rows`, `bytes_before` and `bytes_after`
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount log compact data
  recount log compact data chat-7 --older-than 12h";

pub(crate) fn run(args: &CompactArgs) -> Result<Status> {
    let size = || database_size(args.data.path());
    let session = args.session.as_ref().map(|session| args.tenant.key(session)).transpose()?;
    let log = args.data.open()?;
    let (before, compacted) = block_on(async {
        // Checkpoint the write-ahead log first, so that its content is counted.
        log.shrink().await?;
        let before = size();
        let compacted = match session {
            Some(key) => log.session(key).compact(args.older_than).await,
            None => log.compact(args.tenant.name(), args.older_than).await,
        };
        if compacted.is_ok() {
            log.sweep(args.older_than).await?;
            log.shrink().await?;
        }
        close(log).await;
        Ok((before, compacted?))
    })?;
    let Compacted { entries, rows, .. } = compacted;
    let after = size();
    let mut out = io::stdout();
    let printed = if args.json {
        let counts = [("entries", entries), ("rows", rows), ("bytes_before", before), ("bytes_after", after)];
        writeln!(out, "{}", Object::from(counts).to_json())
    } else {
        let joined = if entries == rows {
            "nothing to join".to_owned()
        } else {
            format!("{} became {rows}", counted(entries, "entry", "entries"))
        };
        writeln!(out, "{joined}: {}", size_change(before, after))
    };
    printed.context("cannot write to standard output")?;
    Ok(Status::Clean)
}

/// Describes how the size of the database changed.
fn size_change(before: u64, after: u64) -> String {
    let now = format!("the database has {}", BinaryBytes(after));
    match after.cmp(&before) {
        Ordering::Less => format!("{now}, {} less than before", BinaryBytes(before - after)),
        Ordering::Equal => format!("{now}, as before"),
        // A page without space for the merged row is split into two, and neither is full.
        Ordering::Greater => {
            format!("{now}, {} more than before, with room in it for what comes", BinaryBytes(after - before))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_change_is_reported_in_both_directions() {
        assert_eq!(size_change(8_192, 4_096), "the database has 4.00 KiB, 4.00 KiB less than before");
        assert_eq!(size_change(8_192, 8_192), "the database has 8.00 KiB, as before");
        assert_eq!(
            size_change(8_192, 12_288),
            "the database has 12.00 KiB, 4.00 KiB more than before, with room in it for what comes"
        );
    }
}
