//! `recount log backup`: a copy of everything.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use recount_log::storage::Views;

use super::{DataArgs, Status};

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
    Ok(Status::Clean)
}
