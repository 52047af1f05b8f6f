//! `recount log verify`: checks the integrity of a log.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result};
use clap::Args;
use recount_log::storage::{View, Views};
use recount_log::{Error, SessionKey, StorageError, verify};
use recount_message::Object;

use super::{DataArgs, PAGE_SIZE, Status, TenantArgs, each_session, parse_key};
use crate::commands::counted;
use crate::progress::Progress;
use crate::visible::visible_line;

/// Check that a log is sound
///
/// Checks the database itself, then folds every reply of every session again and
/// compares it with what is stored. Prints one fault per line, `SESSION: text`,
/// and `database: text` for what is wrong with the database. The exit status is 1
/// if there is any.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,

    /// Only this session: `name`, or `tenant/name`
    #[arg(value_parser = parse_key)]
    session: Option<SessionKey>,

    #[command(flatten)]
    tenant: TenantArgs,

    /// Print each fault as a JSON object with `session` (or null) and `fault`
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount log verify data
  recount log verify backups/monday --json | jq -r .fault";

pub(crate) fn run(args: &VerifyArgs) -> Result<Status> {
    let readers = args.data.readers()?;
    let view = readers.view()?;
    let mut report = Report { is_json: args.json, out: BufWriter::new(io::stdout().lock()), faults: 0 };
    let mut sessions = 0_u64;
    if let Some(key) = &args.session {
        sessions = 1;
        report.session(&*view, &args.tenant.key(key)?)?;
    } else {
        match view.integrity_errors() {
            Err(StorageError::Damaged(problem)) => report.fault(None, &problem)?,
            faults => {
                for fault in faults? {
                    report.fault(None, &fault)?;
                }
            }
        }
        let tenant = args.tenant.name();
        let mut progress = Progress::counting_entries(count_entries(&*view, tenant).ok());
        let mut after = None;
        loop {
            let page = match view.sessions(tenant, after.as_ref(), PAGE_SIZE) {
                Err(StorageError::Damaged(problem)) => {
                    report.fault(None, &format!("the sessions cannot be listed: {problem}"))?;
                    break;
                }
                page => page?,
            };
            let Some(last) = page.last() else { break };
            after = Some(last.key.clone());
            for row in &page {
                sessions += 1;
                report.session(&*view, &row.key)?;
                progress.advance(usize::try_from(row.head).unwrap_or_default());
            }
        }
        progress.finish();
    }
    report.out.flush().context("cannot write to standard output")?;
    let (sessions, faults) = (counted(sessions, "session", "sessions"), counted(report.faults, "fault", "faults"));
    let _ = writeln!(io::stderr(), "{sessions}, {faults}");
    Ok(Status::flawed_if(report.faults > 0))
}

fn count_entries(view: &dyn View, tenant: Option<&str>) -> Result<u64> {
    let mut total = 0;
    each_session(view, tenant, |row| {
        total += row.head;
        Ok(())
    })?;
    Ok(total)
}

struct Report<W: Write> {
    is_json: bool,
    out: W,
    faults: u64,
}

impl<W: Write> Report<W> {
    fn session(&mut self, view: &dyn View, key: &SessionKey) -> Result<()> {
        match verify::session(view, key) {
            // Continue with the other sessions.
            Err(Error::Storage(StorageError::Damaged(problem))) => self.fault(Some(key), &problem),
            faults => faults?.iter().try_for_each(|fault| self.fault(Some(key), fault)),
        }
    }

    fn fault(&mut self, key: Option<&SessionKey>, fault: &str) -> Result<()> {
        self.faults += 1;
        let line = if self.is_json {
            let mut object = Object::new();
            object.insert("session", key.map(ToString::to_string));
            object.insert("fault", fault);
            object.to_json()
        } else {
            let subject = key.map_or_else(|| "database".to_owned(), ToString::to_string);
            visible_line(&format!("{subject}: {fault}")).into_owned()
        };
        writeln!(self.out, "{line}").context("cannot write to standard output")
    }
}
