//! `recount token`: creates, lists and revokes access tokens.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use recount_message::Object;
use recount_server::{Scope, TokenInfo, Tokens};
use secrecy::ExposeSecret as _;

use super::Status;
use super::config::{self, ConfigArgs, missing_directory_message};
use crate::table::table;

/// Make, list and revoke tokens
///
/// As soon as there is one, every request needs one. They are kept as hashes in
/// the data directory, and a running service notices at once.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  recount token create --tenant acme --scope write
  recount token list
  recount token revoke 1a2b3c4d";

#[derive(Debug, Subcommand)]
enum Command {
    Create(CreateArgs),
    List(ListArgs),
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
struct DataArgs {
    /// The data directory [default: that of the configuration, else recount-data]
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
}

impl DataArgs {
    fn directory(&self) -> Result<PathBuf> {
        match &self.data {
            Some(data) => Ok(data.clone()),
            None => Ok(config::load(&self.config)?.config.server.data),
        }
    }

    /// Returns the data directory. Fails if it does not exist: a wrong path would look like a service without tokens.
    fn existing_directory(&self) -> Result<PathBuf> {
        let directory = self.directory()?;
        if !directory.is_dir() {
            bail!("{}", missing_directory_message(&directory));
        }
        Ok(directory)
    }
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
    /// Print each as a JSON object with `id`, `tenant`, `scope` and `created_at`
    #[arg(long)]
    json: bool,
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
            let directory = args.data.directory()?;
            let created = Tokens::in_directory(&directory).create(&args.tenant, args.scope);
            let (_, token) = created.with_context(|| format!("cannot make a token in {}", directory.display()))?;
            format!("{}\n", token.expose_secret())
        }
        Command::List(args) => {
            let directory = args.data.existing_directory()?;
            let tokens = Tokens::in_directory(&directory).list();
            let tokens = tokens.with_context(|| format!("cannot read {}", directory.display()))?;
            if args.json { tokens.iter().map(json).collect() } else { table(&rows(&tokens)) }
        }
        Command::Revoke(args) => {
            let directory = args.data.existing_directory()?;
            let revoked = Tokens::in_directory(&directory).revoke(&args.id);
            if !revoked.with_context(|| format!("cannot change {}", directory.display()))? {
                bail!(
                    "there is no token `{}` in {}\nhint: `recount token list` shows them",
                    args.id,
                    directory.display()
                );
            }
            format!("revoked {}\n", args.id)
        }
    };
    std::io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")?;
    Ok(Status::Clean)
}

fn rows(tokens: &[TokenInfo]) -> Vec<[String; 4]> {
    let mut rows = vec![["ID", "TENANT", "SCOPE", "CREATED"].map(str::to_owned)];
    rows.extend(tokens.iter().map(|token| {
        // The empty tenant, in the form that `create` accepts in a shell.
        let tenant = if token.tenant.is_empty() { "''" } else { &token.tenant };
        [&token.id, tenant, token.scope.as_str(), &token.created_at].map(str::to_owned)
    }));
    rows
}

fn json(token: &TokenInfo) -> String {
    let TokenInfo { id, tenant, scope, created_at, .. } = token;
    let fields = [("id", id.as_str()), ("tenant", tenant), ("scope", scope.as_str()), ("created_at", created_at)];
    format!("{}\n", Object::from(fields).to_json())
}
