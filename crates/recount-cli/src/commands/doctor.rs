//! `recount doctor`: checks the configuration and the data of a service.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;
use recount_host::AgentSource as _;
use recount_log::storage::{View, Views as _};
use recount_log::{SqliteReaders, verify};
use recount_sandbox::{Level, Policy};
use recount_server::{Config, Tokens};

use super::config::{self, ConfigArgs, Loaded, missing_directory_message};
use super::log::each_session;
use super::tenants::shared_machine;
use super::{Status, counted, sandbox};
use crate::visible::visible_line;

/// Look for what is wrong with a service's configuration and data
///
/// It only reads, and may be used while the service runs. With --deep it folds
/// every reply of every session again and compares it with what is stored.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Fold every reply again, and compare
    #[arg(long)]
    deep: bool,
    /// The data directory [default: that of the configuration, else recount-data]
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<std::path::PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
}

const EXAMPLES: &str = "\
Examples:
  recount doctor
  recount doctor --deep --data /var/lib/recount

Exit status:
  0  everything is as it should be
  1  something is wrong";

pub(crate) fn run(args: &DoctorArgs) -> Result<Status> {
    let mut report = Report::default();
    let mut loaded = match config::load(&args.config) {
        Ok(loaded) => {
            good("the configuration can be read");
            loaded
        }
        Err(error) => {
            // The other checks need the configuration.
            report.bad(&format!("{error:#}"));
            return Ok(Status::flawed_if(true));
        }
    };
    if let Some(data) = &args.data {
        loaded.config.server.data.clone_from(data);
    }
    agents(&loaded, &mut report);
    confinement(&loaded, &mut report);
    access(&loaded.config, &mut report);
    tenants(&loaded);
    data(&loaded.config.server.data, args.deep, &mut report)?;
    let _ = io::stdout().flush();
    Ok(Status::flawed_if(report.faults > 0))
}

/// Checks that each agent has a usable model.
fn agents(loaded: &Loaded, report: &mut Report) {
    match loaded.agents() {
        Ok(agents) => {
            for agent in agents.agents() {
                match agents.check(&agent.name) {
                    Ok(()) => good(&format!("agent `{}` has the model {}", agent.name, agent.model)),
                    Err(error) => report.bad(&error.to_string()),
                }
            }
        }
        Err(error) => report.bad(&format!("{error:#}")),
    }
}

/// Checks that the sandbox can enforce the configured policy.
fn confinement(loaded: &Loaded, report: &mut Report) {
    let confinement = loaded.confinement(Policy::Required);
    let description = confinement.describe();
    match (confinement.policy(), confinement.sandbox().support().level) {
        (Policy::Required, Level::None) => report.bad(&description),
        (Policy::Required | Policy::Preferred, Level::Full) => good(&description),
        _ => note(&description),
    }
    for line in sandbox::report(confinement.sandbox()) {
        note(&format!("sandbox: {line}"));
    }
}

/// Checks that the service requires tokens, or accepts only local connections.
fn access(config: &Config, report: &mut Report) {
    let tokens = Tokens::in_directory(&config.server.data);
    let is_loopback =
        ["127.0.0.1:", "localhost:", "[::1]:"].iter().any(|start| config.server.listen.starts_with(start));
    for line in tokens.invalid_lines().unwrap_or_default() {
        report.bad(&format!("line {line} of tokens.jsonl is no token: who has that one is not let in"));
    }
    match (tokens.are_required(), is_loopback) {
        (true, _) => match tokens.list() {
            Ok(list) if list.is_empty() => report.bad("every request needs a token, and there is none"),
            Ok(list) => {
                let known = counted(list.len() as u64, "is known", "are known");
                good(&format!("every request needs a token, of which {known}"));
            }
            Err(error) => report.bad(&format!("the tokens cannot be read: {error}")),
        },
        (false, true) => good("there are no tokens, and only this machine can reach it"),
        (false, false) => {
            report.bad(&format!("{} can be reached from elsewhere, and there are no tokens", config.server.listen));
        }
    }
}

/// Notes if the tools of an agent can access the sessions of other tenants.
fn tenants(loaded: &Loaded) {
    if let Some(warning) = loaded.agents().ok().and_then(|agents| shared_machine(&agents, &loaded.config.server.data)) {
        note(&warning);
    }
}

/// Checks the integrity of the log.
fn data(directory: &Path, deep: bool, report: &mut Report) -> Result<()> {
    if !directory.exists() {
        report.bad(&missing_directory_message(directory));
        return Ok(());
    }
    let readers = match SqliteReaders::open(directory) {
        Ok(readers) => readers,
        Err(error) => {
            report.bad(&error.to_string());
            return Ok(());
        }
    };
    let view = readers.view().context("cannot read the log")?;
    let before = report.faults;
    for fault in view.integrity_errors().context("cannot read the log")? {
        report.bad(&format!("the database: {fault}"));
    }
    let (sessions, entries) = check_sessions(&*view, deep, report)?;
    if report.faults == before {
        let how = if deep { ", each message is the fold of its events" } else { "" };
        let (sessions, entries) = (counted(sessions, "session", "sessions"), counted(entries, "entry", "entries"));
        good(&format!("the log is sound: {sessions}, {entries}{how}"));
    }
    Ok(())
}

fn check_sessions(view: &dyn View, deep: bool, report: &mut Report) -> Result<(u64, u64)> {
    let (mut sessions, mut entries) = (0, 0);
    each_session(view, None, |row| {
        sessions += 1;
        entries += row.head;
        if deep {
            for fault in verify::session(view, &row.key)? {
                report.bad(&format!("{}: {fault}", row.key));
            }
        }
        Ok(())
    })
    .context("cannot read the log")?;
    Ok((sessions, entries))
}

/// Prints a note: information that is not an error.
fn note(text: &str) {
    // A closed output cannot be reported anywhere.
    let _ = writeln!(io::stdout(), "note  {}", visible_line(text));
}

/// Prints a passed check.
fn good(text: &str) {
    // A closed output cannot be reported anywhere.
    let _ = writeln!(io::stdout(), "ok    {}", visible_line(text));
}

#[derive(Default)]
struct Report {
    faults: u64,
}

impl Report {
    fn bad(&mut self, text: &str) {
        self.faults += 1;
        let lines: Vec<_> = text.trim_end().lines().map(visible_line).collect();
        let _ = writeln!(io::stdout(), "wrong {}", lines.join("\n      "));
    }
}
