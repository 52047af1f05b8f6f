//! `recount log`: inspects and maintains the log in a data directory.

mod backup;
mod compact;
mod export;
mod fork;
mod import;
mod sessions;
mod verify;

use std::future::Future;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use recount_log::storage::{SessionRow, View};
use recount_log::{Error, Log, Options, SessionKey, SqliteReaders, StorageError};
use tokio::runtime::Runtime;

use super::Status;

/// Look at and care for the log in a data directory
///
/// `sessions`, `export`, `verify` and `backup` only read and may be used while a
/// server works with the directory; the others need it for themselves.
///
/// A session is named `NAME`, or `TENANT/NAME` where it belongs to a tenant: with
/// tokens, each session belongs to the tenant of the token that made it. `--tenant
/// TENANT NAME` says the same.
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
  recount log export data chat-7 --tenant acme > chat-7.jsonl
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

/// The number of sessions per page.
const PAGE_SIZE: usize = 256;

/// The data directory, as every command is told of it.
#[derive(Debug, Args)]
struct DataArgs {
    /// The data directory
    #[arg(value_name = "DIRECTORY")]
    data: PathBuf,
}

/// Whose sessions are meant.
#[derive(Debug, Args)]
struct TenantArgs {
    /// The tenant that the sessions belong to
    #[arg(long, value_name = "TENANT", value_parser = parse_tenant)]
    tenant: Option<String>,
}

impl TenantArgs {
    /// Returns the value of `--tenant`.
    fn name(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Returns the key of a session in the tenant of `--tenant`. Fails if the key names another tenant.
    fn key(&self, session: &SessionKey) -> Result<SessionKey> {
        match self.name() {
            Some(tenant) if session.tenant().is_empty() => Ok(SessionKey::of_tenant(tenant, session.name())?),
            Some(tenant) if session.tenant() != tenant => {
                bail!("the session {session} is none of the tenant {tenant:?}")
            }
            Some(_) | None => Ok(session.clone()),
        }
    }
}

impl DataArgs {
    fn path(&self) -> &Path {
        &self.data
    }

    /// Opens the log for reading. Another process may be writing to it.
    fn readers(&self) -> Result<SqliteReaders> {
        Ok(SqliteReaders::open(&self.data)?)
    }

    /// Opens the log for writing. It must exist, so that a wrong path does not create an empty log.
    fn open(&self) -> Result<Log> {
        drop(self.readers()?);
        self.open_or_create()
    }

    /// Opens the log for writing, and creates it if it does not exist.
    fn open_or_create(&self) -> Result<Log> {
        Log::open(&self.data, Options::default()).map_err(|error| match error {
            Error::Storage(StorageError::Locked { .. }) => {
                anyhow!("{error}\nhint: `sessions`, `export`, `verify` and `backup` only read, and work meanwhile")
            }
            error => error.into(),
        })
    }
}

pub(crate) fn run(args: &LogArgs) -> Result<Status> {
    let (data, result) = match &args.command {
        Command::Sessions(args) => (&args.data, sessions::run(args)),
        Command::Export(args) => (&args.data, export::run(args)),
        Command::Import(args) => (&args.data, import::run(args)),
        Command::Fork(args) => (&args.data, fork::run(args)),
        Command::Compact(args) => (&args.data, compact::run(args)),
        Command::Verify(args) => (&args.data, verify::run(args)),
        Command::Backup(args) => (&args.data, backup::run(args)),
    };
    let data = data.path().display();
    result.map_err(|error| match error.downcast_ref() {
        Some(Error::UnknownSession(key)) => {
            anyhow!("there is no session {key}\nhint: `recount log sessions {data}` lists those that there are")
        }
        _ => match damage(&error) {
            Some(problem) => {
                anyhow!("the log in {data} is damaged: {problem}\nhint: a backup can be used in its place")
            }
            None => error,
        },
    })
}

/// Returns the description of the damage if an error is caused by a damaged database.
fn damage(error: &anyhow::Error) -> Option<&str> {
    let error = error.downcast_ref().or_else(|| match error.downcast_ref()? {
        Error::Storage(error) => Some(error),
        _ => None,
    });
    match error? {
        StorageError::Damaged(problem) => Some(problem),
        _ => None,
    }
}

/// Calls `visit` for each session, or for each session of a tenant.
pub(super) fn each_session(
    view: &dyn View,
    tenant: Option<&str>,
    mut visit: impl FnMut(&SessionRow) -> Result<()>,
) -> Result<()> {
    let mut after = None;
    loop {
        let page = view.sessions(tenant, after.as_ref(), PAGE_SIZE)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.key.clone());
        page.iter().try_for_each(&mut visit)?;
    }
}

/// Returns the size of the database in a data directory, in bytes. Zero if it cannot be read.
fn database_size(directory: &Path) -> u64 {
    std::fs::metadata(directory.join("log.sqlite")).map(|metadata| metadata.len()).unwrap_or_default()
}

/// Closes a log. A failure is only a warning: the completed operations are already committed.
async fn close(log: Log) {
    if let Err(error) = log.close().await {
        let _ = writeln!(io::stderr(), "warning: the log was not closed in good order: {error}");
    }
}

/// Runs a future on a new single-threaded runtime.
fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    runtime()?.block_on(future)
}

fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().build().context("cannot start the runtime")
}

/// Parses a tenant name. The empty name stands for the sessions without a tenant.
fn parse_tenant(text: &str) -> Result<String, String> {
    let key = SessionKey::of_tenant(text, "any").map_err(|error| error.to_string())?;
    Ok(key.tenant().to_owned())
}

fn parse_key(text: &str) -> Result<SessionKey, String> {
    text.parse().map_err(|error: recount_log::KeyError| error.to_string())
}
