//! `recount log`: the logs in a data directory.

mod backup;
mod compact;
mod export;
mod fork;
mod import;
mod sessions;
mod verify;

use std::future::Future;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use recount_log::{Log, Options, SessionKey, SqliteReaders};
use tokio::runtime::Runtime;

use super::Status;

/// Look at and care for the log in a data directory
///
/// `sessions`, `export`, `verify` and `backup` only read and may be used while a
/// server works with the directory; the others need it for themselves.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  recount log sessions data
  recount log export data chat-7 | recount show
  recount log import data chat-8 events.jsonl
  recount log verify data && recount log backup data backups/monday";

#[derive(Debug, Subcommand)]
enum Command {
    Sessions(sessions::SessionsArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Fork(fork::ForkArgs),
    Compact(compact::CompactArgs),
    Verify(verify::VerifyArgs),
    Backup(backup::BackupArgs),
}

/// The data directory, as every command is told of it.
#[derive(Debug, Args)]
struct DataArgs {
    /// The data directory
    #[arg(value_name = "DIRECTORY")]
    data: PathBuf,
}

impl DataArgs {
    fn path(&self) -> &Path {
        &self.data
    }

    /// The log to look at, whoever may be writing it.
    fn readers(&self) -> Result<SqliteReaders> {
        Ok(SqliteReaders::open(&self.data)?)
    }

    /// The log to change. It must exist: a wrong name would make an empty one.
    fn open(&self) -> Result<Log> {
        drop(self.readers()?);
        Ok(Log::open(&self.data, Options::default())?)
    }

    /// The log to change, which is made if it is not there.
    fn open_or_create(&self) -> Result<Log> {
        Ok(Log::open(&self.data, Options::default())?)
    }
}

pub(crate) fn run(args: &LogArgs) -> Result<Status> {
    match &args.command {
        Command::Sessions(args) => sessions::run(args),
        Command::Export(args) => export::run(args),
        Command::Import(args) => import::run(args),
        Command::Fork(args) => fork::run(args),
        Command::Compact(args) => compact::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Backup(args) => backup::run(args),
    }
}

/// Runs something that waits for the log.
fn wait<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    runtime()?.block_on(work)
}

fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().build().context("cannot start the runtime")
}

fn parse_key(text: &str) -> Result<SessionKey, String> {
    text.parse().map_err(|error: recount_log::KeyError| error.to_string())
}
