//! `recount log compact`: old deltas joined.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use recount_log::{Compacted, SessionKey};
use recount_message::Object;

use super::{DataArgs, Status, TenantArgs, close, parse_key, wait};

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
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = parse_age)]
    older_than: Duration,

    /// Print a JSON object with `entries`, `rows`, `bytes_before` and `bytes_after`
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount log compact data
  recount log compact data chat-7 --older-than 12h";

fn parse_age(text: &str) -> Result<Duration, String> {
    let expected = || format!("{text:?} is no age: expected a number with s, m, h or d, such as 30d");
    let unit = text.chars().next_back().ok_or_else(expected)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return Err(expected()),
    };
    let number: u64 = text.trim_end_matches(unit).parse().map_err(|_| expected())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(expected)
}

pub(crate) fn run(args: &CompactArgs) -> Result<Status> {
    let file = args.data.path().join("log.sqlite");
    let size = || std::fs::metadata(&file).map(|metadata| metadata.len()).unwrap_or_default();
    let session = args.session.as_ref().map(|session| args.tenant.key(session)).transpose()?;
    let log = args.data.open()?;
    let (before, compacted) = wait(async {
        // What is in the write-ahead log counts too.
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
        writeln!(out, "{entries} entries became {rows}; {before} bytes became {after}")
    };
    printed.context("cannot write to standard output")?;
    Ok(Status::Clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_unit() {
        assert_eq!(parse_age("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_age("30d"), Ok(Duration::from_secs(30 * 24 * 3_600)));
        for text in ["", "30", "d", "-1d", "3 d", "1é", "99999999999999999999d"] {
            assert!(parse_age(text).is_err(), "{text:?}");
        }
    }
}
