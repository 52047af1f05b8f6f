//! `recount models`: lists the providers and their environment variables.

use std::env;
use std::io::{self, Write};

use anyhow::{Context, Result};
use clap::Args;
use recount_message::Object;
use recount_model::Provider;

use super::Status;

/// List the providers and the variables that they read
///
/// For each provider, the environment variables that may hold its key and its
/// address, and whether they are set. What they hold is never printed.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct ModelsArgs {
    /// Print one JSON object per variable
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount models
  recount models | awk '$3 == \"set\" { print $1 }' | sort -u";

pub(crate) fn run(args: &ModelsArgs) -> Result<Status> {
    let mut table = if args.json { String::new() } else { row("PROVIDER", "VARIABLE", "STATE") };
    for provider in Provider::ALL {
        for variable in provider.api_key_env_vars().iter().copied().chain([provider.base_url_env_var()]) {
            let is_set = env::var_os(variable).is_some_and(|value| !value.is_empty());
            let entry = if args.json {
                let mut entry = Object::from([("provider", provider.name()), ("variable", variable)]);
                entry.insert("set", is_set);
                format!("{}\n", entry.to_json())
            } else {
                row(provider.name(), variable, if is_set { "set" } else { "-" })
            };
            table.push_str(&entry);
        }
    }
    io::stdout().write_all(table.as_bytes()).context("cannot write to standard output")?;
    Ok(Status::Clean)
}

fn row(provider: &str, variable: &str, state: &str) -> String {
    format!("{provider:<16} {variable:<20} {state}\n")
}
