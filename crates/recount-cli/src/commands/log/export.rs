//! `recount log export`: prints the events of a session as JSON lines.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result};
use clap::Args;
use recount_log::SessionKey;
use recount_log::storage::Views;
use recount_log::verify::each_entry;

use super::{DataArgs, Status, TenantArgs, parse_key};
use crate::progress::Progress;

/// Print the events of a session
///
/// Prints one event per line, as they are stored. What comes out can be folded,
/// checked, shown, and imported again. Documents that were stored along with the
/// events and uploads that they name are not in it; `backup` takes those too.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,

    /// The session: `name`, or `tenant/name`
    #[arg(value_parser = parse_key)]
    session: SessionKey,

    #[command(flatten)]
    tenant: TenantArgs,
}

const EXAMPLES: &str = "\
Examples:
  recount log export data chat-7 > chat-7.jsonl
  recount log export data acme/chat-7 | recount fold";

pub(crate) fn run(args: &ExportArgs) -> Result<Status> {
    let readers = args.data.readers()?;
    let view = readers.view()?;
    let session = args.tenant.key(&args.session)?;
    let head = view.session(&session)?.map(|row| row.head);
    let mut progress = Progress::counting_entries(head);
    let mut out = BufWriter::with_capacity(256 * 1024, io::stdout().lock());
    let mut exported = 0;
    each_entry(&*view, &session, |row| {
        out.write_all(&row.body).and_then(|()| out.write_all(b"\n")).context("cannot write to standard output")?;
        progress.advance(usize::try_from(row.last - exported).unwrap_or_default());
        exported = row.last;
        anyhow::Ok(())
    })?;
    out.flush().context("cannot write to standard output")?;
    progress.finish();
    Ok(Status::Clean)
}
