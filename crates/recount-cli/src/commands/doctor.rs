//! `recount doctor`: whether everything is as it should be.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;
use recount_host::AgentSource as _;
use recount_log::storage::{View, Views as _};
use recount_log::{SqliteReaders, verify};
use recount_sandbox::{Level, Policy};
use recount_server::{Config, Tokens};

use super::config::{self, ConfigArgs, Loaded, no_directory};
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
            // Nothing that follows would be about what was meant.
            report.bad(&format!("{error:#}"));
            return Ok(Status::flawed_if(true));
        }
    };
    if let Some(data) = &args.data {
        loaded.config.server.data.clone_from(data);
    }
    agents(&loaded, &mut report);
    confinement(&loaded, &mut report);
    guard(&loaded.config, &mut report);
    tenants(&loaded);
    data(&loaded.config.server.data, args.deep, &mut report)?;
    let _ = io::stdout().flush();
    Ok(Status::flawed_if(report.faults > 0))
}

/// Whether the agents can work.
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

/// Whether the programs that agents start can be confined as the configuration demands.
fn confinement(loaded: &Loaded, report: &mut Report) {
    let confinement = loaded.confinement(Policy::Required);
    let told = confinement.describe();
    match (confinement.policy(), confinement.sandbox().support().level) {
        (Policy::Required, Level::None) => report.bad(&told),
        (Policy::Required | Policy::Preferred, Level::Full) => good(&told),
        _ => note(&told),
    }
    for line in sandbox::report(confinement.sandbox()) {
        note(&format!("sandbox: {line}"));
    }
}

/// Whether it is guarded as well as it should be.
fn guard(config: &Config, report: &mut Report) {
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

/// Whether tenants could get at each other's sessions by the tools of an agent.
fn tenants(loaded: &Loaded) {
    if let Some(told) = loaded.agents().ok().and_then(|agents| shared_machine(&agents, &loaded.config.server.data)) {
        note(&told);
    }
}

/// Whether the log is sound.
fn data(directory: &Path, deep: bool, report: &mut Report) -> Result<()> {
    if !directory.exists() {
        report.bad(&no_directory(directory));
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
    let (sessions, entries) = look_through(&*view, deep, report)?;
    if report.faults == before {
        let how = if deep { ", each message is the fold of its events" } else { "" };
        let (sessions, entries) = (counted(sessions, "session", "sessions"), counted(entries, "entry", "entries"));
        good(&format!("the log is sound: {sessions}, {entries}{how}"));
    }
    Ok(())
}

fn look_through(view: &dyn View, deep: bool, report: &mut Report) -> Result<(u64, u64)> {
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

/// Writes what the user should know, although nothing is wrong.
fn note(text: &str) {
    // A closed output cannot be reported anywhere.
    let _ = writeln!(io::stdout(), "note  {}", visible_line(text));
}

/// Says that something is as it should be.
fn good(text: &str) {
    // Nobody is left to tell when this cannot be written.
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
