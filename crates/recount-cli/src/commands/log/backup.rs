//! `recount log backup`: copies the whole log.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use indicatif::BinaryBytes;
use recount_log::SqliteReaders;
use recount_log::storage::Views;

use super::{DataArgs, Status, database_size, each_session};
use crate::commands::counted;

/// Copy the whole log to another directory
///
/// The log may be in use; the copy is what was committed at one moment. It is
/// marked as a copy: when it is opened for writing, every session gets another
/// epoch, because what was written since is not in it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,

    /// The directory to copy to, in which there must not be a log yet
    #[arg(value_name = "TO")]
    to: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  recount log backup data backups/monday
  recount log verify backups/monday";

pub(crate) fn run(args: &BackupArgs) -> Result<Status> {
    args.data.readers()?.back_up(&args.to)?;
    let copy = SqliteReaders::open(&args.to)?;
    let (mut sessions, mut entries) = (0, 0);
    each_session(&*copy.view()?, None, |row| {
        sessions += 1;
        entries += row.head;
        Ok(())
    })?;
    let (sessions, entries) = (counted(sessions, "session", "sessions"), counted(entries, "entry", "entries"));
    let size = BinaryBytes(database_size(&args.to));
    // A failure of standard error cannot be reported.
    let _ = writeln!(io::stderr(), "{sessions}, {entries}, {size} copied to {}", args.to.display());
    Ok(Status::Clean)
}
