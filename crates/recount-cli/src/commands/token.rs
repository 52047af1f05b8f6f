//! `recount token`: who may use the service.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use recount_server::{Scope, Tokens};
use secrecy::ExposeSecret as _;

use super::Status;

/// Make, list and revoke tokens
///
/// As soon as there is one, every request needs one. They are kept as hashes in
/// the data directory, and a running service notices at once.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, arg_required_else_help = true)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Create(CreateArgs),
    List(ListArgs),
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
struct DataArgs {
    /// The data directory
    #[arg(long, value_name = "DIRECTORY", env = "RECOUNT_SERVER_DATA", default_value = "recount-data")]
    data: PathBuf,
}

/// Make a token and print it; it is shown this once
#[derive(Debug, Args)]
struct CreateArgs {
    /// Whose sessions it opens
    #[arg(long, value_name = "TENANT")]
    tenant: String,
    /// How much it allows: read, write or admin, each including those before it
    #[arg(long, value_name = "SCOPE")]
    scope: Scope,
    #[command(flatten)]
    data: DataArgs,
}

/// List tokens: id, tenant, scope and when each was made
#[derive(Debug, Args)]
struct ListArgs {
    #[command(flatten)]
    data: DataArgs,
}

/// Revoke a token by its id
#[derive(Debug, Args)]
struct RevokeArgs {
    /// The id, as `list` shows it
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    data: DataArgs,
}

pub(crate) fn run(args: &TokenArgs) -> Result<Status> {
    let text = match &args.command {
        Command::Create(args) => {
            let tokens = Tokens::in_directory(&args.data.data);
            let made = tokens.create(&args.tenant, args.scope);
            let (_, token) = made.with_context(|| format!("cannot make a token in {}", args.data.data.display()))?;
            format!("{}\n", token.expose_secret())
        }
        Command::List(args) => {
            let tokens = Tokens::in_directory(&args.data.data);
            let listed = tokens.list().with_context(|| format!("cannot read {}", args.data.data.display()))?;
            let lines = listed
                .iter()
                .map(|token| format!("{}\t{}\t{}\t{}\n", token.id, token.tenant, token.scope, token.created_at));
            lines.collect()
        }
        Command::Revoke(args) => {
            let tokens = Tokens::in_directory(&args.data.data);
            let revoked =
                tokens.revoke(&args.id).with_context(|| format!("cannot change {}", args.data.data.display()))?;
            if !revoked {
                bail!("there is no token `{}`; hint: `recount token list` shows them", args.id);
            }
            format!("revoked {}\n", args.id)
        }
    };
    std::io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")?;
    Ok(Status::Clean)
}
