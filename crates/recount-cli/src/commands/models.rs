//! `recount models`: whom one could ask.

use std::env;
use std::io::{self, Write};

use anyhow::{Context, Result};
use clap::Args;
use recount_model::Provider;

use super::Status;

/// List the providers and the variables that they read
///
/// For each provider, the environment variables that may hold its key and its
/// address, and whether they are set. What they hold is never printed.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct ModelsArgs {}

const EXAMPLES: &str = "\
Examples:
  recount models
  recount models | awk '$3 == \"set\" { print $1 }' | sort -u";

pub(crate) fn run(_: &ModelsArgs) -> Result<Status> {
    let mut table = String::new();
    for provider in Provider::ALL {
        for variable in provider.key_variables().iter().copied().chain([provider.address_variable()]) {
            let state = if env::var_os(variable).is_some_and(|value| !value.is_empty()) { "set" } else { "-" };
            table.push_str(&format!("{:<16} {variable:<20} {state}\n", provider.name()));
        }
    }
    io::stdout().write_all(table.as_bytes()).context("cannot write to standard output")?;
    Ok(Status::Clean)
}
