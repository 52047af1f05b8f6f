//! `recount sandbox`: runs a command in a profile, or shows what this machine enforces.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitStatus;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use recount_sandbox::{Access, Level, Policy, Sandbox};
use serde_json::json;

use super::Status;
use super::config::{self, ConfigArgs};
use crate::visible::visible_line;

/// Run a command as the shell tool of an agent would
///
/// The command runs in a profile that the kernel enforces. `read-only` reads the
/// workspace and the programs of the system, writes to a private /tmp and has no
/// network; `workspace` writes to the workspace too. `--access` adds to the profile.
/// Without a command, it shows what this machine enforces.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct SandboxArgs {
    /// The profile
    #[arg(long, value_enum, default_value = "read-only")]
    profile: ProfileName,
    /// Add access: write, network, read:PATH or write:PATH; can be repeated
    #[arg(long, value_name = "ACCESS")]
    access: Vec<Access>,
    /// The workspace [default: the current directory]
    #[arg(long, value_name = "DIRECTORY")]
    workspace: Option<PathBuf>,
    /// Use no more than this of what the machine offers
    #[arg(long, value_enum, default_value = "full")]
    level: LevelName,
    /// Show what this machine enforces as a JSON object
    #[arg(long, conflicts_with = "command")]
    json: bool,
    #[command(flatten)]
    config: ConfigArgs,
    /// The command and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ProfileName {
    ReadOnly,
    Workspace,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LevelName {
    Full,
    Landlock,
}

const EXAMPLES: &str = "\
Examples:
  recount sandbox
  recount sandbox -- ls -la
  recount sandbox --profile workspace -- cargo build --offline
  recount sandbox --access network -- curl https://example.org

Exit status:
  that of the command; 125 if it could not be confined, 127 if it was not found";

pub(crate) fn run(args: &SandboxArgs) -> Result<Status> {
    let max_level = match args.level {
        LevelName::Full => Level::Full,
        LevelName::Landlock => Level::Landlock,
    };
    let sandbox = Sandbox::detect().at_most(max_level);
    let Some((program, arguments)) = args.command.split_first() else { return show(&sandbox, args.json) };
    let base = match args.profile {
        ProfileName::ReadOnly => Access::read_only(),
        ProfileName::Workspace => Access::workspace(),
    };
    let access = args.access.iter().fold(base, Access::union);
    let workspace =
        args.workspace.clone().map_or_else(std::env::current_dir, Ok).context("cannot find the workspace")?;
    let confinement = config::load(&args.config)?.confinement(Policy::Required).with(Policy::Required, sandbox);
    let mut launch = confinement.launch(&confinement.profile(workspace, access), None, program, arguments)?;
    let status = launch.command.status().context("cannot start the helper of the sandbox")?;
    drop(launch.guard);
    Ok(Status::Exit(code(status)))
}

fn code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

fn show(sandbox: &Sandbox, as_json: bool) -> Result<Status> {
    let support = sandbox.support();
    let text = if as_json {
        let report = json!({
            "level": support.level.to_string(),
            "cause": support.cause,
            "hint": support.hint,
            "gaps": support.gaps,
        });
        format!("{report:#}\n")
    } else {
        report(sandbox).iter().map(|line| format!("{}\n", visible_line(line))).collect()
    };
    io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")?;
    Ok(Status::flawed_if(support.level == Level::None))
}

/// Describes what this machine enforces, one line for each fact.
pub(crate) fn report(sandbox: &Sandbox) -> Vec<String> {
    let support = sandbox.support();
    let mut lines = vec![match support.level {
        Level::Full => "full: namespaces, read-only mounts, Landlock, seccomp and resource limits".to_owned(),
        Level::Landlock => {
            "landlock-only: Landlock, seccomp and resource limits, for the `read-only` profile".to_owned()
        }
        _ => "none: commands cannot be confined".to_owned(),
    }];
    lines.extend(support.cause.iter().map(|cause| format!("cause: {cause}")));
    lines.extend(support.hint.iter().map(|hint| format!("hint: {hint}")));
    lines.extend(support.gaps.iter().map(|gap| format!("not enforced: {gap}")));
    lines
}
